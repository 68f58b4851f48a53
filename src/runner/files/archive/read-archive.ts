/** Reads the directory of an archive, and trusts none of it: nothing outside the archive is read, and its paths are those of files of a run. */
import type { FileHandle } from 'node:fs/promises';
import { callbackify } from 'node:util';
import { fromRandomAccessReaderPromise, RandomAccessReader, type Entry } from 'yauzl';
import type { Clock } from '../../../base/clock.ts';
import { filePathFault } from '../../../domain/files/file-path.ts';
import { MOST_MEMBERS } from './archive-job.ts';

export interface ArchiveMember {
  /** Where its record begins. */
  offset: number;
  bytes: number;
  modifiedMs: number;
  /** Permissions. */
  mode: number;
}

/** The members by their paths, without folders. */
export type ArchiveMembers = ReadonlyMap<string, ArchiveMember>;

const WINDOW_BYTES = 256 << 10;
/** Members that are read without a pause: a few milliseconds. */
const MEMBERS_AT_ONCE = 200;

/** @throws Error for a file that is not an archive of stored members; the system's error */
export async function membersOf(file: FileHandle, size: number, clock: Pick<Clock, 'soon'>): Promise<ArchiveMembers> {
  const options = { strictFileNames: true, autoClose: false };
  const zip = await fromRandomAccessReaderPromise(new FileReader(file), size, options);
  if (zip.entryCount > MOST_MEMBERS) throw new Error(`it has ${String(zip.entryCount)} members`);
  const members = new Map<string, ArchiveMember>();
  let read = 0;
  for await (const entry of zip.eachEntry()) {
    read += 1;
    if (read % MEMBERS_AT_ONCE === 0) await new Promise<void>((resolve) => clock.soon(resolve));
    if (!entry.fileName.endsWith('/')) members.set(entry.fileName, memberOf(entry));
  }
  return members;
}

function memberOf(entry: Entry): ArchiveMember {
  const { fileName, compressionMethod, uncompressedSize: bytes, relativeOffsetOfLocalHeader: offset } = entry;
  const fault = filePathFault(fileName);
  const shown = JSON.stringify(fileName.slice(0, 200));
  if (fault !== undefined) throw new Error(`the path ${shown} ${fault}`);
  if (compressionMethod !== 0 || entry.isEncrypted()) throw new Error(`${shown} is compressed or encrypted`);
  // A date may be none.
  const modifiedMs = Math.max(0, entry.getLastModDate().getTime()) || 0;
  return { offset, bytes, modifiedMs, mode: (entry.externalFileAttributes >>> 16) & 0o777 };
}

/** Reads a file in large pieces: a directory is read record by record. */
class FileReader extends RandomAccessReader {
  readonly #file: FileHandle;
  #window = Buffer.alloc(0);
  #at = 0;

  constructor(file: FileHandle) {
    super();
    this.#file = file;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    this.#copy(buffer, offset, length, position, callback);
  }

  readonly #copy = callbackify(async (buffer: Buffer, offset: number, length: number, position: number) =>
    (await this.#bytes(position, length)).copy(buffer, offset),
  );

  async #bytes(position: number, length: number): Promise<Buffer> {
    const from = position - this.#at;
    if (from < 0 || from + length > this.#window.length) {
      const window = Buffer.allocUnsafe(Math.max(WINDOW_BYTES, length));
      const { bytesRead } = await this.#file.read(window, 0, window.length, position);
      this.#window = window.subarray(0, bytesRead);
      this.#at = position;
    }
    return this.#window.subarray(position - this.#at, position - this.#at + length);
  }
}
