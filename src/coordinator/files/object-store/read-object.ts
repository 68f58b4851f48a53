/** Reads a file of a run from the object store, for readers that cannot ask the store themselves, no faster than they take it. */
import type { Abandoned } from '../../../base/abandonment.ts';
import type { Clock } from '../../../base/clock.ts';
import { LIMITS } from '../../../contract/limits.ts';
import { bytesOfRange, isEmptyRange, type ByteRange } from '../../../domain/files/byte-range.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { CALL_MS } from './object-store.ts';
import { ObjectStoreError, refusalOf } from './store-answers.ts';
import type { StoredObject } from '../run-place.ts';
import type { FileReading, FileWish } from '../place.ts';

/** For one answer: a reader that takes it slowly must not keep others from reading. */
export const READ_OBJECT_MS = 120_000;

/** The part of an answer of the store that is known before its body. */
type Head = Omit<FileReading, 'content' | 'close'> & { bytes: number };

/**
 * Begins to read an object. The caller iterates `content` to its end, calls `close`, or aborts `stop`: each ends the exchange with the store.
 * @throws SimbatchError `unknown-file`, `file-too-large`, `range-not-satisfiable`, `object-store-failed`, `too-many-requests`; while
 * `content` is iterated, an error for a store that stops in the middle.
 */
export async function readObject(
  clock: Clock,
  object: StoredObject,
  wish: Pick<FileWish, 'path' | 'range' | 'isHead'>,
  stop: Abandoned,
): Promise<FileReading> {
  const release = object.store.readings.begin();
  const abort = new AbortController();
  const close = (why = new Error('the reading was closed')): void => {
    stop.removeEventListener('abort', left);
    cancel();
    release();
    abort.abort(why);
  };
  const left = (): void => close(stop.reason instanceof Error ? stop.reason : new Error('the reader has left'));
  const cancel = clock.after(READ_OBJECT_MS, () =>
    close(new ObjectStoreError(`it was not read within ${String(READ_OBJECT_MS / 1000)} s`)),
  );
  if (stop.aborted) left();
  else stop.addEventListener('abort', left, { once: true });
  const patience = <T>(answer: () => Promise<T>): Promise<T> => inTime(clock, abort, answer);
  try {
    const response = await patience(() => opened(object, wish, abort.signal));
    // The signal alone does not do: fetch holds it weakly, and loses it in a garbage collection.
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    abort.signal.addEventListener('abort', () => {
      (reader ?? response.body)?.cancel().catch(() => {});
    });
    const { bytes, ...head } = await patience(() => headOf(response, wish));
    if (wish.isHead) close();
    else reader = response.body?.getReader();
    const content = wish.isHead ? nothing() : contentOf(reader, bytes, patience, close);
    return { ...head, content, close: () => close() };
  } catch (error) {
    close();
    throw problemOf(wish.path, error);
  }
}

/** Ends the exchange when the store does not answer in time. */
async function inTime<T>(clock: Clock, abort: AbortController, answer: () => Promise<T>): Promise<T> {
  const late = new ObjectStoreError(`the object store sent nothing for ${String(CALL_MS / 1000)} s`);
  const cancel = clock.after(CALL_MS, () => abort.abort(late));
  let fail = (): void => {};
  const ended = new Promise<never>((_resolve, reject) => {
    fail = () => reject(abort.signal.reason as Error);
  });
  ended.catch(() => {});
  if (abort.signal.aborted) fail();
  else abort.signal.addEventListener('abort', fail, { once: true });
  try {
    return await Promise.race([answer(), ended]);
  } finally {
    cancel();
    abort.signal.removeEventListener('abort', fail);
  }
}

function opened(
  { store, bucket, key }: StoredObject,
  { range, isHead }: Pick<FileWish, 'range' | 'isHead'>,
  signal: AbortSignal,
): Promise<Response> {
  if (isHead || (range !== undefined && isEmptyRange(range)))
    return store.open('HEAD', bucket, key, { range: undefined, signal });
  return store.open('GET', bucket, key, { range: headerOf(range), signal });
}

/** @throws SimbatchError; ObjectStoreError for an answer that is not the requested part of an object. */
async function headOf(
  response: Response,
  { path, range, isHead }: Pick<FileWish, 'path' | 'range' | 'isHead'>,
): Promise<Head> {
  const { status, headers } = response;
  if (status === 404) throw new SimbatchError('unknown-file', `the object store does not have ${quoted(path)}`);
  if (status === 416) throw outside(path, sizeIn(headers));
  const isPart = range !== undefined && !isHead && !isEmptyRange(range);
  if (!response.ok) throw new ObjectStoreError(await refusalOf(response));
  const encoding = headers.get('content-encoding') ?? 'identity';
  // `fetch` would decode such a body: its bytes would not be those of the range and the length.
  if (!['', 'identity', 'aws-chunked'].includes(encoding)) throw wrong(`has the content encoding ${quoted(encoding)}`);
  if (status !== (isPart ? 206 : 200)) throw wrong(`has the status ${String(status)}`);
  const length = wholeNumber(headers.get('content-length'));
  const size = isPart ? sizeIn(headers) : length;
  if (length === undefined || size === undefined) throw wrong('does not have the size of the object');
  const part = range === undefined ? undefined : bytesOfRange(range, size);
  if (range !== undefined && part === undefined) throw outside(path, size);
  const { start, end } = part ?? { start: 0, end: size };
  if (isPart && headers.get('content-range') !== `bytes ${String(start)}-${String(end - 1)}/${String(size)}`) {
    throw wrong(`has the range ${quoted(headers.get('content-range') ?? '')}`);
  }
  if (!isHead && length !== end - start) throw wrong(`has ${String(length)} bytes for ${String(end - start)}`);
  if (!isHead && length > LIMITS.relayedFileBytes) throw tooLarge(path, length);
  const modifiedMs = Date.parse(headers.get('last-modified') ?? '');
  const version =
    headers.get('etag')?.replace(/^W\//, '').replaceAll('"', '') ?? `${String(size)}-${String(modifiedMs)}`;
  return { size, part, version, modifiedMs: Number.isFinite(modifiedMs) ? modifiedMs : undefined, bytes: length };
}

/** The bytes as they come: one chunk is in memory, the next is asked for when the reader has taken it. */
async function* contentOf(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  bytes: number,
  patience: <T>(answer: () => Promise<T>) => Promise<T>,
  close: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    let at = 0;
    while (reader !== undefined) {
      const next = await patience(() => reader.read());
      if (next.done) break;
      const chunk = next.value;
      at += chunk.length;
      if (at > bytes) break;
      yield chunk;
    }
    if (at !== bytes) throw wrong(`has ${at > bytes ? 'more' : 'fewer'} than ${String(bytes)} bytes`);
  } finally {
    close();
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** A range as a `Range` header. */
function headerOf(range: ByteRange | undefined): string | undefined {
  if (range === undefined) return undefined;
  const { start, end } = range;
  return start < 0 ? `bytes=${String(start)}` : `bytes=${String(start)}-${end === undefined ? '' : String(end - 1)}`;
}

/** The size of the whole object in `Content-Range`. */
const sizeIn = (headers: Headers): number | undefined =>
  wholeNumber(/\/(\d+)$/.exec(headers.get('content-range') ?? '')?.[1] ?? null);

const wholeNumber = (text: string | null): number | undefined =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;

const quoted = (text: string): string => JSON.stringify(text.slice(0, 200));

const wrong = (why: string): ObjectStoreError => new ObjectStoreError(`its answer ${why}`);

const outside = (path: string, size: number | undefined): SimbatchError =>
  new SimbatchError(
    'range-not-satisfiable',
    `${quoted(path)} in the object store has ${size === undefined ? 'fewer' : String(size)} bytes; ask for some of them`,
  );

const tooLarge = (path: string, bytes: number): SimbatchError =>
  new SimbatchError(
    'file-too-large',
    `${quoted(path)} would be an answer of ${String(bytes)} bytes, more than ${String(LIMITS.relayedFileBytes)}; ask for a part of it with Range, or for its address with redirect=false`,
  );

/** A failure of the store as a problem with a remedy; any other error unchanged. */
const problemOf = (path: string, error: unknown): unknown =>
  error instanceof ObjectStoreError
    ? new SimbatchError(
        'object-store-failed',
        `${quoted(path)} cannot be read from the object store: ${error.message}; try again, and check the store and the options --s3-* of the coordinator`,
        { cause: error },
      )
    : error;
