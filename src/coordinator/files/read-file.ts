/** Reads a file of a run from the runner or the object store that has it, part by part and no faster than its reader. */
import type { Abandoned } from '../../base/abandonment.ts';
import { LIMITS } from '../../contract/limits.ts';
import { bytesOfRange } from '../../domain/runs/byte-range.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { filePathFault, pathInAttempt } from '../../domain/runs/file-path.ts';
import type { Uuid } from '../../contract/types.ts';
import { GET_SECS } from './object-store/object-store.ts';
import { objectOf, type StoredObject } from './uploads.ts';
import { fileAttempt, silenceOf, type FileAttempt, type FileAttemptParts } from './file-attempt.ts';
import type { FileReading, FileWish } from './file-reading.ts';
import { NoAnswer, type FileAnswer } from './runner/file-requests.ts';
import { readObject } from './object-store/read-object.ts';
import type { Clock } from '../../base/clock.ts';
import type { ObjectStorePart } from './run-place.ts';

export interface ReadFileParts extends FileAttemptParts, ObjectStorePart {
  clock: Clock;
}

/** A wish of a client. */
export interface JobFileWish extends FileWish {
  /** A file in an object store is read by the coordinator; else the client gets its address. */
  isRelayed: boolean;
}

/** A file that a reader gets from the object store itself, at an address that is valid for a while. */
export interface FileRedirect {
  url: string;
  /** As an instant. */
  expiresAtMs: number;
}

type Content = Extract<FileAnswer, { type: 'content' }>;

/** A file, at the place that has it. */
interface PlacedFile {
  attempt: FileAttempt;
  /** Undefined: on the runner. */
  object: StoredObject | undefined;
}

/**
 * Begins to read a file, or signs the address of one in an object store, unless `isRelayed`.
 * @throws SimbatchError as `readFile`
 */
export async function jobFile(
  parts: ReadFileParts,
  jobId: Uuid,
  wish: JobFileWish,
  stop: Abandoned,
): Promise<FileReading | FileRedirect> {
  const file = placeOf(parts, jobId, wish);
  return file.object === undefined || wish.isRelayed
    ? await read(parts, file, wish, stop)
    : await addressOf(parts, file.object, wish.path);
}

/**
 * Begins to read a file. The caller iterates `content` to its end, calls `close`, or aborts `stop`.
 * @throws SimbatchError `unknown-job`, `unknown-file`, `artifact-not-uploaded` (naming runner and path),
 * `range-not-satisfiable`, `too-many-requests`; of a file in an object store `file-too-large` and `object-store-failed`; while
 * `content` is iterated, an error for a file that changes or a runner that leaves.
 */
export function readFile(parts: ReadFileParts, jobId: Uuid, wish: FileWish, stop: Abandoned): Promise<FileReading> {
  return read(parts, placeOf(parts, jobId, wish), wish, stop);
}

async function read(
  parts: ReadFileParts,
  { attempt, object }: PlacedFile,
  wish: FileWish,
  stop: Abandoned,
): Promise<FileReading> {
  if (object !== undefined) return await readObject(parts.clock, object, wish, stop);
  const release = parts.fileRequests.beginReading();
  stop.addEventListener('abort', release, { once: true });
  try {
    const reading = await begin(parts, attempt, wish, stop);
    const content = wish.isHead ? reading.content : until(reading.content, release);
    return { ...reading, content, close: release };
  } catch (error) {
    release();
    throw error;
  } finally {
    if (wish.isHead) release();
  }
}

function placeOf(parts: ReadFileParts, jobId: Uuid, { path, attempt: wanted }: FileWish): PlacedFile {
  const fault = filePathFault(path);
  if (fault !== undefined) throw unknown(jobId, path, fault);
  const attempt = fileAttempt(parts, jobId, wanted);
  if (attempt === undefined) throw unknown(jobId, path, 'is not there: the run has not been claimed yet');
  const { result } = attempt;
  const addresses = [...(result?.output_files ?? []), result?.telemetry_data ?? ''];
  const address = addresses.find((it) => it.startsWith('s3://') && pathInAttempt(it) === path);
  return { attempt, object: address === undefined ? undefined : objectOf(parts, address) };
}

async function addressOf(
  parts: ReadFileParts,
  { store, bucket, key }: StoredObject,
  path: string,
): Promise<FileRedirect> {
  const url = await store.signedGet(bucket, key, path.slice(path.lastIndexOf('/') + 1));
  return { url, expiresAtMs: parts.clock.now() + GET_SECS * 1000 };
}

async function begin(
  parts: ReadFileParts,
  attempt: FileAttempt,
  wish: FileWish,
  stop: Abandoned,
): Promise<Omit<FileReading, 'close'>> {
  const { path, range, isHead } = wish;
  const { start, end } = range ?? { start: 0, end: undefined };
  const length = isHead ? 0 : Math.min(LIMITS.filePartBytes, (end ?? Infinity) - Math.max(0, start));
  const first = await part(parts, attempt, path, start, length, stop);
  const { size, version, modifiedMs } = first;
  const bytes = range === undefined ? { start: 0, end: size } : bytesOfRange(range, size);
  if (bytes === undefined) {
    throw new SimbatchError(
      'range-not-satisfiable',
      `${JSON.stringify(path)} on runner "${attempt.runnerId}" has ${String(size)} bytes; ask for some of them`,
    );
  }
  const content = isHead ? nothing() : rest(parts, attempt, path, bytes, first, stop);
  return { size, part: range === undefined ? undefined : bytes, version, modifiedMs, content };
}

async function* until(content: AsyncIterable<Uint8Array>, release: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* content;
  } finally {
    release();
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** The next part is read while the reader takes the one before: two are in memory. */
async function* rest(
  parts: ReadFileParts,
  attempt: FileAttempt,
  path: string,
  bytes: { start: number; end: number },
  first: Content,
  stop: Abandoned,
): AsyncGenerator<Uint8Array> {
  let present: Content | undefined = first;
  for (let at = bytes.start; at < bytes.end;) {
    if (present === undefined || present.offset !== at || present.bytes.length === 0) throw changed(path);
    const given: Uint8Array = present.bytes.subarray(0, bytes.end - at);
    at += given.length;
    const next: Promise<Content> | undefined =
      at < bytes.end ? part(parts, attempt, path, at, Math.min(LIMITS.filePartBytes, bytes.end - at), stop) : undefined;
    // Its fault is thrown where it is awaited; the reader may leave before.
    next?.catch(() => {});
    yield given;
    present = await next;
    // A file that its simulation still writes may grow.
    const isSame =
      present === undefined || present.version === first.version || (attempt.isOpen && present.size >= first.size);
    if (!isSame) throw changed(path);
  }
}

async function part(
  parts: ReadFileParts,
  attempt: FileAttempt,
  path: string,
  offset: number,
  length: number,
  stop: Abandoned,
): Promise<Content> {
  const { jobId, attempt: number, runnerId, result } = attempt;
  const inResult = result?.output_files.find((it) => it.endsWith(`/${path}`));
  const place = `${JSON.stringify(inResult ?? path)} is on runner "${runnerId}"`;
  try {
    const question = { type: 'part' as const, job_id: jobId, attempt: number, path, offset, length };
    const answer = await parts.fileRequests.ask(runnerId, question, stop);
    if (answer.type === 'content') return answer;
    if (answer.fault === 'unknown-file') throw unknown(jobId, path, `is not on runner "${runnerId}": ${answer.detail}`);
    throw new SimbatchError('artifact-not-uploaded', `${place}, which does not send it: ${answer.detail}`);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    throw new SimbatchError('artifact-not-uploaded', `${place}: ${silenceOf(parts, runnerId)}`);
  }
}

const unknown = (jobId: Uuid, path: string, why: string): SimbatchError =>
  new SimbatchError('unknown-file', `the file ${JSON.stringify(path.slice(0, 200))} of job ${jobId} ${why}`);

const changed = (path: string): Error => new Error(`${JSON.stringify(path)} changed while it was read`);
