/** The runner that executed an attempt, as a place of its files: it sends a list and parts of files while it serves them. */
import type { Abandoned } from '../../../base/abandonment.ts';
import { LIMITS } from '../../../contract/limits.ts';
import { RunnerFiles } from '../../../contract/resources/files.ts';
import type { RunFile, StoredResult } from '../../../contract/types.ts';
import { schemaFaults } from '../../../contract/validation/validate.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { bytesOfRange } from '../../../domain/files/byte-range.ts';
import { ARCHIVE, fileKindOf, filePathFault, pathInAttempt } from '../../../domain/files/file-path.ts';
import { silenceOf, unknownFile, type FileAttempt, type FileAttemptParts } from '../file-attempt.ts';
import type { FileReading, FileWish, Place, PlaceFiles } from '../place.ts';
import { NoAnswer, type FileAnswer } from './file-requests.ts';

type Content = Extract<FileAnswer, { type: 'content' }>;

/** The last instant of a four-digit year. */
const LAST_INSTANT_MS = 253_402_300_799_999;

export class RunnerPlace implements Place {
  readonly #parts: FileAttemptParts;
  readonly #attempt: FileAttempt;

  constructor(parts: FileAttemptParts, attempt: FileAttempt) {
    this.#parts = parts;
    this.#attempt = attempt;
  }

  async list(stop: Abandoned): Promise<PlaceFiles> {
    const { jobId, attempt, runnerId } = this.#attempt;
    const unserved = (why: string): PlaceFiles => ({ files: [], notes: [why], isServed: false });
    try {
      const question = { type: 'list' as const, job_id: jobId, attempt };
      const answer = await this.#parts.fileRequests.ask(runnerId, question, stop);
      if (answer.type === 'refused') return unserved(`runner "${runnerId}" cannot list its files: ${answer.detail}`);
      const found = listFrom(answer.bytes);
      if (found !== undefined) return { files: filesOf(found), notes: found.notes, isServed: true };
      return unserved(`runner "${runnerId}" sent a list of files that cannot be read; update its program`);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      return unserved(silenceOf(this.#parts, runnerId));
    }
  }

  async read(wish: FileWish, stop: Abandoned): Promise<FileReading> {
    const release = this.#parts.fileRequests.beginReading();
    stop.addEventListener('abort', release, { once: true });
    try {
      const reading = await this.#begin(wish, stop);
      const content = wish.isHead ? reading.content : until(reading.content, release);
      return { ...reading, content, close: release };
    } catch (error) {
      release();
      throw error;
    } finally {
      if (wish.isHead) release();
    }
  }

  async #begin(wish: FileWish, stop: Abandoned): Promise<Omit<FileReading, 'close'>> {
    const { path, range, isHead } = wish;
    const { start, end } = range ?? { start: 0, end: undefined };
    const length = isHead ? 0 : Math.min(LIMITS.filePartBytes, (end ?? Infinity) - Math.max(0, start));
    const first = await this.#part(path, start, length, stop);
    const { size, version, modifiedMs } = first;
    const bytes = range === undefined ? { start: 0, end: size } : bytesOfRange(range, size);
    if (bytes === undefined) {
      throw new SimbatchError(
        'range-not-satisfiable',
        `${JSON.stringify(path)} on runner "${this.#attempt.runnerId}" has ${String(size)} bytes; ask for some of them`,
      );
    }
    const content = isHead ? nothing() : this.#rest(path, bytes, first, stop);
    return { size, part: range === undefined ? undefined : bytes, version, modifiedMs, content };
  }

  /** The next part is read while the reader takes the one before: two are in memory. */
  async *#rest(
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
        at < bytes.end ? this.#part(path, at, Math.min(LIMITS.filePartBytes, bytes.end - at), stop) : undefined;
      // A fault of the next part is thrown where the part is awaited; the reader may leave before.
      next?.catch(() => {});
      yield given;
      present = await next;
      // A file that its simulation still writes may grow.
      const isSame =
        present === undefined ||
        present.version === first.version ||
        (this.#attempt.isOpen && present.size >= first.size);
      if (!isSame) throw changed(path);
    }
  }

  async #part(path: string, offset: number, length: number, stop: Abandoned): Promise<Content> {
    const { jobId, attempt: number, runnerId, result } = this.#attempt;
    const inResult = result?.output_files.find((it) => it.endsWith(`/${path}`));
    const archive = inResult === undefined ? archiveOf(result) : undefined;
    const place = `${JSON.stringify(inResult ?? path)} is on runner "${runnerId}"`;
    // A runner has looked into its own.
    const isStored = archive?.startsWith('s3://') === true;
    const hint =
      archive === undefined ? '' : `; the result names ${JSON.stringify(archive)}, which may have it: read that`;
    try {
      const question = { type: 'part' as const, job_id: jobId, attempt: number, path, offset, length };
      const answer = await this.#parts.fileRequests.ask(runnerId, question, stop);
      if (answer.type === 'content') return answer;
      if (answer.fault === 'unknown-file')
        throw unknownFile(jobId, path, `is not on runner "${runnerId}": ${answer.detail}${isStored ? hint : ''}`);
      throw new SimbatchError('artifact-not-uploaded', `${place}, which does not send it: ${answer.detail}${hint}`);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      throw new SimbatchError('artifact-not-uploaded', `${place}: ${silenceOf(this.#parts, runnerId)}${hint}`);
    }
  }
}

/** The archive of all files that a result names, on the runner or in the object store; it has what the result does not name. */
const archiveOf = (result: StoredResult | undefined): string | undefined =>
  result?.output_files.find((it) => pathInAttempt(it) === ARCHIVE);

const filesOf = ({ files, directory }: RunnerFiles): RunFile[] =>
  files.map(({ path, bytes, modified_ms }): RunFile => {
    const modified_at = new Date(Math.min(Math.max(0, modified_ms), LAST_INSTANT_MS)).toISOString();
    return { path, kind: fileKindOf(path), bytes, modified_at, place: 'runner', address: `${directory}/${path}` };
  });

async function* until(content: AsyncIterable<Uint8Array>, release: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* content;
  } finally {
    release();
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function listFrom(bytes: Uint8Array): RunnerFiles | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    if (schemaFaults(RunnerFiles, value).length > 0) return undefined;
    const list = value as RunnerFiles;
    return list.files.some((it) => filePathFault(it.path) !== undefined) ? undefined : list;
  } catch {
    return undefined;
  }
}

const changed = (path: string): Error => new Error(`${JSON.stringify(path)} changed while it was read`);
