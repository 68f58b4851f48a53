/** The files of attempts that are members of archives, for readers: listed, and read by their paths and ranges. */
import type { FileHandle } from 'node:fs/promises';
import type { Clock } from '../../../base/clock.ts';
import { oneLine, systemCode } from '../../system-error.ts';
import { LinkInPath, openBelow } from '../open-below.ts';
import { fill, readRange, versionOf, type FilePart, type FileRefusal, type PartWish } from '../read-part.ts';
import { ARCHIVE } from '../../../domain/files/file-path.ts';
import { commentOf } from './archive-job.ts';
import type { ArchiveMember, ArchiveMembers } from './read-archive.ts';

/** Members of all archives that are remembered, about 200 bytes each. */
const MOST_REMEMBERED = 200_000;
/** The record at the end of an archive, before its comment. */
const END_BYTES = 22;
const END_SIGNATURE = 0x0605_4b50;
/** The record before the bytes of a member, before its name. */
const HEADER_BYTES = 30;
const HEADER_SIGNATURE = 0x0403_4b50;

/** An archive that is open. The caller closes the file. */
export interface OpenArchive {
  file: FileHandle;
  size: number;
  version: string;
  members: ArchiveMembers;
}

interface Remembered {
  version: string;
  members: Promise<ArchiveMembers>;
  count: number;
}

export class ArchivedFiles {
  readonly #clock: Pick<Clock, 'soon'>;
  /** By the directories of attempts, the last used at the end. */
  readonly #remembered = new Map<string, Remembered>();

  constructor(clock: Pick<Clock, 'soon'>) {
    this.#clock = clock;
  }

  /**
   * Opens the archive of an attempt; undefined where its folder has none.
   * @param attempt the directory of the attempt, where its archive was copied to another folder
   * @throws Error for an archive that cannot be read; the system's error
   */
  async open(directory: string, attempt = directory): Promise<OpenArchive | undefined> {
    const file = await opened(directory);
    if (file === undefined) return undefined;
    try {
      const state = await file.stat();
      if (state.isFile() && (await hasComment(file, state.size, commentOf(attempt)))) {
        const version = versionOf(state);
        return { file, size: state.size, version, members: await this.#members(directory, file, state.size, version) };
      }
    } catch (error) {
      await file.close();
      if (systemCode(error) !== undefined) throw error;
      throw new Error(`${ARCHIVE} is not readable as an archive: ${oneLine(error)}`, { cause: error });
    }
    await file.close();
    return undefined;
  }

  /** Reads a part of a member as `readPart` does; undefined where there is no archive, or no such member in it. */
  async part(directory: string, path: string, wish: PartWish): Promise<FilePart | FileRefusal | undefined> {
    let archive: OpenArchive | undefined;
    try {
      archive = await this.open(directory);
      const member = archive?.members.get(path);
      if (archive === undefined || member === undefined) return undefined;
      const { file, version } = archive;
      const start = startOf.bind(undefined, archive, member);
      const range = await readRange(file, member.bytes, wish, start);
      if ('fault' in range) return range;
      return { ...range, version: `${version}-${String(member.offset)}`, modifiedMs: member.modifiedMs };
    } catch (error) {
      return { fault: 'unreadable', detail: oneLine(error) };
    } finally {
      await archive?.file.close().catch(() => {});
    }
  }

  #members(directory: string, file: FileHandle, size: number, version: string): Promise<ArchiveMembers> {
    const known = this.#remembered.get(directory);
    this.#remembered.delete(directory);
    if (known?.version === version) {
      this.#remembered.set(directory, known);
      return known.members;
    }
    // Loaded on demand: most runners read no archive.
    const members = import('./read-archive.ts').then(({ membersOf }) => membersOf(file, size, this.#clock));
    const entry: Remembered = { version, members, count: 0 };
    this.#remembered.set(directory, entry);
    members.then(
      ({ size: count }) => {
        entry.count = count;
        this.#forgetSome();
      },
      () => {
        if (this.#remembered.get(directory) === entry) this.#remembered.delete(directory);
      },
    );
    return members;
  }

  #forgetSome(): void {
    let sum = 0;
    for (const [directory, { count }] of [...this.#remembered].toReversed()) {
      sum += count;
      if (sum > MOST_REMEMBERED) this.#remembered.delete(directory);
    }
  }
}

/** Where the bytes of a member begin. @throws Error for a member without its record */
export async function startOf({ file, size }: OpenArchive, { offset, bytes }: ArchiveMember): Promise<number> {
  const header = await fill(file, Buffer.alloc(HEADER_BYTES), offset);
  const isHeader = header.length === HEADER_BYTES && header.readUInt32LE(0) === HEADER_SIGNATURE;
  // Name and further fields follow.
  const start = isHeader ? offset + HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28) : Infinity;
  if (start + bytes > size) throw new Error(`${ARCHIVE} is damaged: a member is not where its directory says`);
  return start;
}

/** The archive's file; undefined: the folder has no regular file of its name. */
async function opened(directory: string): Promise<FileHandle | undefined> {
  try {
    return await openBelow(directory, ARCHIVE);
  } catch (error) {
    if (
      error instanceof LinkInPath ||
      ['ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK', 'ENXIO'].includes(systemCode(error) ?? '')
    )
      return undefined;
    throw error;
  }
}

/** Whether the archive ends with the comment of the attempt. */
async function hasComment(file: FileHandle, size: number, comment: string): Promise<boolean> {
  const length = END_BYTES + Buffer.byteLength(comment);
  if (size < length) return false;
  const end = await fill(file, Buffer.alloc(length), size - length);
  return (
    end.length === length &&
    end.readUInt32LE(0) === END_SIGNATURE &&
    end.subarray(END_BYTES).equals(Buffer.from(comment))
  );
}
