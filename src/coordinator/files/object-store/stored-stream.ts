/** Objects of any size as streams, for programs that have the credential of the store: written in parts, read with a limit on silence. */
import { createHash } from 'node:crypto';
import { withDeadline } from '../../../base/async/deadline.ts';
import { sleep, type Clock } from '../../../base/clock.ts';
import type { SignedPart } from '../../../contract/types.ts';
import { CALL_MS, type ObjectStore } from './object-store.ts';
import { ObjectStoreError, refusalOf, unreachable } from './store-answers.ts';

/** An upload has at most 10,000 parts: objects of up to 160 GB. */
const PART_BYTES = 16 << 20;
/** For one part, on the slowest connection that is waited for. */
const PART_MS = 240_000;
const TRIES = 4;
const FIRST_PAUSE_MS = 500;

/** Codes of stores for bytes that arrived damaged, or too slowly. */
const DAMAGED = /\b(?:BadDigest|XAmzContentSHA256Mismatch|RequestTimeout)\b/;

/** The place of an object. */
export interface ObjectPlace {
  store: ObjectStore;
  bucket: string;
  key: string;
}

/**
 * Writes an object; it is there when the promise resolves, as a whole, and not at all when it rejects.
 * @returns its bytes
 * @throws ObjectStoreError, and the errors of `source`
 */
export async function writeObject(
  { store, bucket, key }: ObjectPlace,
  source: AsyncIterable<Uint8Array>,
  clock: Pick<Clock, 'after'>,
): Promise<number> {
  const uploadId = await store.begin(bucket, key);
  let bytes = 0;
  try {
    const etags: string[] = [];
    for await (const part of partsOf(source)) {
      bytes += part.length;
      const sha256 = createHash('sha256').update(part).digest('hex');
      const number = etags.length + 1;
      const sign = () => store.signedPart(bucket, key, { uploadId, number, bytes: part.length, sha256 });
      etags.push(await repeated(clock, async () => await putPart(await sign(), part)));
    }
    await store.complete(bucket, key, uploadId, etags);
  } catch (error) {
    // A bucket keeps what was begun; the error that ended it is the one to report.
    await store.abort(bucket, key, uploadId).catch(() => {});
    throw error;
  }
  return bytes;
}

async function* partsOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of source) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes < PART_BYTES) continue;
    yield Buffer.concat(pieces);
    [pieces, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(pieces);
}

/** A store that is busy or silent for a moment takes a part later. */
async function repeated<T>(clock: Pick<Clock, 'after'>, action: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof ObjectStoreError) || error instanceof Refused || tries === TRIES) throw error;
      await sleep(clock, FIRST_PAUSE_MS * 2 ** (tries - 1));
    }
  }
}

/** A refusal that would come again. */
class Refused extends ObjectStoreError {}

async function putPart({ url, headers }: SignedPart, body: Buffer): Promise<string> {
  let response: Response;
  try {
    response = await withDeadline(PART_MS, undefined, (signal) =>
      fetch(url, { method: 'PUT', headers, body: body as Uint8Array<ArrayBuffer>, signal }),
    );
  } catch (error) {
    throw unreachable(error, PART_MS);
  }
  const etag = response.headers.get('etag');
  if (response.ok && etag !== null) {
    await response.body?.cancel();
    return etag;
  }
  const why = response.ok ? 'the object store returned no entity tag of a part' : await refusalOf(response);
  const mayPass = response.status >= 500 || response.status === 429 || DAMAGED.test(why);
  throw mayPass ? new ObjectStoreError(why) : new Refused(why);
}

/**
 * The bytes of an object as they come.
 * @throws ObjectStoreError also when the store sends nothing for a while, or ends the connection early
 */
export async function* readObjectStream(
  { store, bucket, key }: ObjectPlace,
  clock: Pick<Clock, 'after'>,
): AsyncGenerator<Uint8Array> {
  const abort = new AbortController();
  const inTime = async <T>(answer: Promise<T>): Promise<T> => {
    let late = (): void => {};
    const silent = new Promise<never>((_resolve, reject) => {
      late = () => reject(new ObjectStoreError(`the object store sent nothing for ${String(CALL_MS / 1000)} s`));
    });
    const cancel = clock.after(CALL_MS, late);
    return await Promise.race([answer, silent]).finally(cancel);
  };
  const response = await inTime(store.open('GET', bucket, key, { range: undefined, signal: abort.signal }));
  if (!response.ok) throw new ObjectStoreError(await refusalOf(response));
  const reader = response.body?.getReader();
  try {
    while (reader !== undefined) {
      const { done, value } = await inTime(reader.read()).catch((error: unknown) => {
        throw error instanceof ObjectStoreError ? error : unreachable(error, CALL_MS);
      });
      if (done) break;
      yield value;
    }
  } finally {
    abort.abort();
    reader?.cancel().catch(() => {});
  }
}

/** Removes an object, and what was begun in parts at its key; a missing one counts as removed. @throws ObjectStoreError */
export const removeObject = ({ store, bucket, key }: ObjectPlace): Promise<void> =>
  store.removeBelow(bucket, key, (it) => it !== key);
