/** Parts of files on their way to and from an object store, by addresses that the coordinator has signed. */
import type { Hash } from 'node:crypto';
import { sleep, type Clock } from '../../base/clock.ts';
import { failureOf, readBody, withDeadline } from '../../base/async/deadline.ts';
import { ApiError } from '../../client/client.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { SignedPart } from '../../contract/types.ts';
import { Stopped } from '../connection/coordinator-connection.ts';
import { oneLine } from '../system-error.ts';

/** A refusal that would come again. */
export class Final extends Error {}

export interface Tries {
  clock: Clock;
  stop: AbortSignal;
}

/** How often an operation is tried before it is given up. */
const TRIES = 4;
const FIRST_PAUSE_MS = 500;
/** The slowest connection that is waited for: 8 MiB in four minutes. */
const PART_MS = 240_000;
/** Hashed without a pause: about 2 ms. */
const HASHED_AT_ONCE = 1 << 20;

/** Answers of a store that may be others later. */
const REPEATED_STATUS = new Set([408, 429, 500, 502, 503, 504]);
/** Codes of stores for bytes that arrived damaged, or too slowly. */
const REPEATED_CODES = new Set(['BadDigest', 'XAmzContentSHA256Mismatch', 'RequestTimeout']);

/** The store, or its use by the coordinator, is what fails. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'uploads-unavailable';

/** Adds bytes to a digest, in pieces between which the event loop runs. */
export async function addTo(hash: Hash, bytes: Uint8Array, clock: Pick<Clock, 'soon'>): Promise<void> {
  for (let at = 0; at < bytes.length; at += HASHED_AT_ONCE) {
    if (at > 0) await new Promise<void>((resolve) => clock.soon(resolve));
    hash.update(bytes.subarray(at, at + HASHED_AT_ONCE));
  }
}

/** Sends a part, and returns its entity tag. The store compares its bytes with the digest that was signed. @throws Final, Error */
export async function putPart(
  { url, headers: given }: SignedPart,
  bytes: Uint8Array,
  stop: AbortSignal,
): Promise<string> {
  const init = { method: 'PUT', headers: given, body: bytes as Uint8Array<ArrayBuffer> };
  const { headers } = await exchange(url, init, stop, PART_MS * Math.max(1, bytes.length / LIMITS.uploadPartBytes));
  const etag = headers.get('etag');
  if (etag === null) throw new Final('the object store returned no entity tag of a part');
  return etag;
}

/** Reads `length` bytes from `offset`. @throws Final, Error */
export async function getPart(
  url: string,
  { offset, length }: { offset: number; length: number },
  stop: AbortSignal,
): Promise<Uint8Array> {
  if (length === 0) return new Uint8Array();
  const headers = { range: `bytes=${String(offset)}-${String(offset + length - 1)}` };
  const { bytes } = await exchange(url, { headers }, stop);
  // A store may send the whole of a small file in place of the range that is all of it.
  if (bytes.length !== length)
    throw new Final(`the object store sent ${String(bytes.length)} bytes of ${String(length)}`);
  return bytes;
}

/** @throws Final, Error */
async function exchange(
  url: string,
  init: RequestInit,
  stop: AbortSignal,
  limitMs = PART_MS,
): Promise<{ headers: Headers; bytes: Uint8Array }> {
  let response: Response;
  let bytes: Uint8Array;
  try {
    [response, bytes] = await withDeadline(limitMs, stop, async (signal) => {
      const answer = await fetch(url, { ...init, signal, redirect: 'error' });
      return [answer, await readBody(answer, signal)];
    });
  } catch (error) {
    const { cause, isLate } = failureOf(error);
    const why = isLate ? `no answer within ${String(Math.round(limitMs / 1000))} s` : oneLine(cause);
    throw new Error(`the object store cannot be reached: ${why}`, { cause: error });
  }
  if (!response.ok) throw refusal(response.status, Buffer.from(bytes).toString('utf8'));
  return { headers: response.headers, bytes };
}

function refusal(status: number, text: string): Error {
  const [, code = ''] = /<Code>([^<]*)<\/Code>/.exec(text) ?? [];
  const why = `the object store refuses it: ${code === '' ? '' : `${code}, `}status ${String(status)}`;
  return REPEATED_STATUS.has(status) || REPEATED_CODES.has(code) ? new Error(why) : new Final(why);
}

/** Repeats what may succeed later, with growing pauses. @throws Stopped */
export async function repeated<T>(operation: () => Promise<T>, { clock, stop }: Tries): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await operation();
    } catch (error) {
      if (stop.aborted) throw new Stopped();
      const isFinal =
        error instanceof Final || error instanceof Stopped || (error instanceof ApiError && !isUnavailable(error));
      if (isFinal || tries >= TRIES) throw error;
      await sleep(clock, FIRST_PAUSE_MS * 4 ** (tries - 1), stop);
    }
  }
}
