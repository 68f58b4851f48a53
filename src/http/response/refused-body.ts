/** Answers to requests that are refused while their client still sends. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import type { Context } from '../application.ts';

/**
 * Sends the answer at once, and ends it when the rest of the refused body has been read and discarded. A connection that is
 * closed while its client still sends is reset, and the client never sees the answer. A connection that sends for longer is closed.
 */
export function answerBeforeRest(ctx: Context, clock: Pick<Clock, 'after'>): void {
  const { req } = ctx;
  const text = ctx.body as string;
  const discarded = new Promise<void>((resolve) => {
    const cancel = clock.after(DISCARD_MS, resolve);
    for (const event of ['end', 'close', 'error']) req.once(event, () => resolve(cancel()));
    req.unpipe();
    req.resume();
  });
  async function* pieces(): AsyncGenerator<string> {
    yield text;
    await discarded;
  }
  ctx.body = Readable.from(pieces(), { objectMode: false });
  ctx.length = Buffer.byteLength(text);
}

/** Whether the client may still be sending a body. */
export const isSending = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0');

/** The time for which the rest of a refused body is read. */
const DISCARD_MS = 10_000;
