/** Reads a file of a run from the runner that has it, part by part and no faster than its reader. */
import type { Abandoned } from '../../base/abandonment.ts';
import { LIMITS } from '../../contract/limits.ts';
import { bytesOfRange, type ByteRange } from '../../domain/byte-range.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { filePathFault, pathInAttempt } from '../../domain/file-path.ts';
import type { Uuid } from '../../contract/types.ts';
import type { Core } from '../core.ts';
import { GET_SECS } from '../object-store/object-store.ts';
import { objectOf } from '../object-store/uploads.ts';
import { fileAttempt, silenceOf, type FileAttempt } from './file-attempt.ts';
import { NoAnswer, type FileAnswer } from './file-requests.ts';

export interface FileWish {
  path: string;
  attempt: number | undefined;
  range: ByteRange | undefined;
  /** Its size and version alone. */
  isHead: boolean;
}

/** A file that is being read. */
export interface FileReading {
  size: number;
  /** The bytes that follow; undefined: all. */
  part: { start: number; end: number } | undefined;
  /** Another one for each content. */
  version: string;
  modifiedMs: number;
  content: AsyncIterable<Uint8Array>;
}

/** A file that a reader gets from the object store itself, at an address that is valid for a while. */
export interface FileRedirect {
  url: string;
  /** As an instant. */
  expiresAtMs: number;
}

type Content = Extract<FileAnswer, { type: 'content' }>;

/**
 * Begins to read a file. The caller iterates `content` to its end, or aborts `stop`.
 * @throws SimbatchError `unknown-job`, `unknown-file`, `artifact-not-uploaded` (naming runner and path),
 * `range-not-satisfiable`, `too-many-requests`; while `content` is iterated, an error for a file that changes or a runner that
 * leaves.
 */
export async function jobFile(
  core: Core,
  jobId: Uuid,
  wish: FileWish,
  stop: Abandoned,
): Promise<FileReading | FileRedirect> {
  const fault = filePathFault(wish.path);
  if (fault !== undefined) throw unknown(jobId, wish.path, fault);
  const attempt = fileAttempt(core, jobId, wish.attempt);
  if (attempt === undefined) throw unknown(jobId, wish.path, 'is not there: the run has not been claimed yet');
  const redirect = await redirectOf(core, attempt, wish.path);
  if (redirect !== undefined) return redirect;
  const release = core.fileRequests.beginReading();
  stop.addEventListener('abort', release, { once: true });
  try {
    const reading = await begin(core, attempt, wish, stop);
    return wish.isHead ? reading : { ...reading, content: until(reading.content, release) };
  } catch (error) {
    release();
    throw error;
  } finally {
    if (wish.isHead) release();
  }
}

async function redirectOf(core: Core, { result }: FileAttempt, path: string): Promise<FileRedirect | undefined> {
  const addresses = [...(result?.output_files ?? []), result?.telemetry_data ?? ''];
  const address = addresses.find((it) => it.startsWith('s3://') && pathInAttempt(it) === path);
  const object = address === undefined ? undefined : objectOf(core, address);
  if (object === undefined) return undefined;
  const url = await object.store.signedGet(object.bucket, object.key, path.slice(path.lastIndexOf('/') + 1));
  return { url, expiresAtMs: core.clock.now() + GET_SECS * 1000 };
}

async function begin(core: Core, attempt: FileAttempt, wish: FileWish, stop: Abandoned): Promise<FileReading> {
  const { path, range, isHead } = wish;
  const { start, end } = range ?? { start: 0, end: undefined };
  const length = isHead ? 0 : Math.min(LIMITS.filePartBytes, (end ?? Infinity) - Math.max(0, start));
  const first = await part(core, attempt, path, start, length, stop);
  const { size, version, modifiedMs } = first;
  const bytes = range === undefined ? { start: 0, end: size } : bytesOfRange(range, size);
  if (bytes === undefined) {
    throw new SimbatchError(
      'range-not-satisfiable',
      `${JSON.stringify(path)} on runner "${attempt.runnerId}" has ${String(size)} bytes; ask for some of them`,
    );
  }
  const content = isHead ? nothing() : rest(core, attempt, path, bytes, first, stop);
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
  core: Core,
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
      at < bytes.end ? part(core, attempt, path, at, Math.min(LIMITS.filePartBytes, bytes.end - at), stop) : undefined;
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
  core: Core,
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
    const answer = await core.fileRequests.ask(runnerId, question, stop);
    if (answer.type === 'content') return answer;
    if (answer.fault === 'unknown-file') throw unknown(jobId, path, `is not on runner "${runnerId}": ${answer.detail}`);
    throw new SimbatchError('artifact-not-uploaded', `${place}, which does not send it: ${answer.detail}`);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    throw new SimbatchError('artifact-not-uploaded', `${place}: ${silenceOf(core, runnerId)}`);
  }
}

const unknown = (jobId: Uuid, path: string, why: string): SimbatchError =>
  new SimbatchError('unknown-file', `the file ${JSON.stringify(path.slice(0, 200))} of job ${jobId} ${why}`);

const changed = (path: string): Error => new Error(`${JSON.stringify(path)} changed while it was read`);
