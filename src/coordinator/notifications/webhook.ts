/**
 * A webhook: sends a notification as one POST with the headers of the Standard Webhooks specification
 * (https://www.standardwebhooks.com). It follows no redirect, waits at most ten seconds, and reads at most 64 KiB of an answer.
 */
import { createHash, createHmac } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { readBody, withDeadline } from '../../base/async/deadline.ts';
import { packageVersion } from '../../base/package.ts';
import type { NotificationMessage, NotificationOutcome, NotificationReceiver } from './receivers.ts';

/** The whole exchange: connection, request and answer. */
const TIMEOUT_MS = 10_000;
/** Most bytes that are read of an answer. They are discarded; the connection of an answer that was read whole can be used again. */
const MOST_READ = 64 * 1024;

export interface WebhookOptions {
  url: URL;
  /** The key of the signature; undefined: messages are not signed. */
  secret: Uint8Array | undefined;
  clock: Pick<Clock, 'now'>;
  /** Limit of the exchange, in ms; 10 s when absent. */
  timeoutMs?: number;
}

/**
 * The signature of a message: HMAC-SHA256 over `<id>.<timestamp>.<body>` in base64, with the prefix `v1,`.
 * @param timestamp seconds since the epoch
 */
export const signatureOf = (secret: Uint8Array, id: string, timestamp: string, body: string): string =>
  `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`;

export class Webhook implements NotificationReceiver {
  readonly id: string;
  readonly label: string;
  readonly #options: WebhookOptions;

  constructor(options: WebhookOptions) {
    this.#options = options;
    const { url } = options;
    this.id = createHash('sha256').update(url.href).digest('hex').slice(0, 16);
    // Paths and queries of webhooks often are their secret.
    this.label = url.origin;
  }

  async send({ eventId, body }: NotificationMessage, stopped: AbortSignal): Promise<NotificationOutcome> {
    const { url, secret, clock, timeoutMs = TIMEOUT_MS } = this.#options;
    const timestamp = String(Math.floor(clock.now() / 1000));
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'user-agent': `simbatch/${packageVersion}`,
      'webhook-id': eventId,
      'webhook-timestamp': timestamp,
      ...(secret === undefined ? {} : { 'webhook-signature': signatureOf(secret, eventId, timestamp, body) }),
    };
    try {
      const { ok, status } = await withDeadline(timeoutMs, stopped, async (signal) => {
        const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
        // The status of the answer counts, whatever happens to its body.
        await readBody(response, signal, MOST_READ).catch(() => {});
        return response;
      });
      return ok ? { accepted: true } : { accepted: false, reason: refusal(status) };
    } catch (error) {
      return { accepted: false, reason: failure(error, timeoutMs) };
    }
  }
}

const refusal = (status: number): string =>
  status >= 300 && status < 400
    ? `it answered ${String(status)}, a redirect, which is not followed`
    : `it answered ${String(status)}`;

/** The reason in words, without the address, which may be a secret. */
function failure(error: unknown, timeoutMs: number): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `it did not answer within ${String(timeoutMs / 1000)} s`;
  const { cause } = error as { cause?: { code?: string } };
  return `it cannot be reached: ${cause?.code ?? (error as Error).name}`;
}
