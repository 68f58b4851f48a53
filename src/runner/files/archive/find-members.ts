/** Finds the members of an archive in a folder that a simulation has written, and what it cannot have. */
import { lstatSync, opendirSync, type Dirent, type Stats } from 'node:fs';
import { ARCHIVE, filePathFault } from '../../../domain/files/file-path.ts';
import { systemCode } from '../../system-error.ts';
import { ARTIFACT_LIMITS } from '../artifacts.ts';
import { MOST_MEMBERS, UNFINISHED } from './archive-job.ts';
import type { OpenFolder } from './open-folder.ts';

export interface FoundFile {
  name: string;
  /** In the folder of the attempt, with `/`. */
  path: string;
  state: Stats;
  /** Another user's, which this one may not read: it stays. */
  isUnreadable?: true;
}

export interface FoundFolder {
  name: string;
  /** Empty: the folder of the attempt itself. */
  path: string;
  state: Stats;
  files: FoundFile[];
  folders: FoundFolder[];
  /** It has no entry, and is a member itself. */
  isEmpty: boolean;
}

/** The members, and the entries that stay where they are. */
export class FoundMembers {
  readonly root: FoundFolder;
  /** Files and empty folders. */
  count = 0;
  /** The sizes of the members and of their records in the archive. */
  bytes = 0;
  /** Regular files that stay, by their paths. */
  readonly kept: string[] = [];
  /** Links, special files and folders that are too deep. */
  odd = 0;
  /** Entries whose names an archive cannot have. */
  unnamed = 0;
  /** Files and folders that this user may not read. */
  unreadable = 0;
  readonly #keep: ReadonlySet<string>;
  readonly #step: () => void;
  readonly #most: number;

  /**
   * @param keep files that stay, by their paths
   * @param step called for each entry; ends the search by an error
   * @param most the most members
   * @throws NoArchive; the system's error
   */
  constructor(directory: OpenFolder, keep: readonly string[], step: () => void, most: number = MOST_MEMBERS) {
    this.#most = most;
    this.#keep = new Set(keep);
    this.#step = step;
    this.root = this.#folder(directory, '', '', lstatSync(directory.path), 0);
  }

  #folder(open: OpenFolder, name: string, path: string, state: Stats, depth: number): FoundFolder {
    const found: FoundFolder = { name, path, state, files: [], folders: [], isEmpty: true };
    const listing = opendirSync(open.path);
    try {
      for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
        this.#step();
        found.isEmpty = false;
        this.#entry(open, found, entry, depth);
      }
    } finally {
      listing.closeSync();
    }
    if (found.isEmpty && depth > 0) this.#count(path, 0);
    return found;
  }

  #entry(open: OpenFolder, folder: FoundFolder, entry: Dirent, depth: number): void {
    const { name } = entry;
    const path = folder.path === '' ? name : `${folder.path}/${name}`;
    if (path === ARCHIVE || path === UNFINISHED)
      throw new NoArchive(`the simulation wrote ${path} itself; give that file another name`);
    if (!isMemberPath(path)) {
      this.unnamed += 1;
      if (entry.isFile()) this.kept.push(path);
      return;
    }
    const state = lstatSync(open.at(name));
    if (state.isDirectory() && depth < ARTIFACT_LIMITS.depth) {
      const below = this.#below(open, name);
      if (below === undefined) return;
      try {
        folder.folders.push(this.#folder(below, name, path, state, depth + 1));
      } finally {
        below.close();
      }
    } else if (!state.isFile()) this.odd += 1;
    else if (this.#keep.has(path)) this.kept.push(path);
    else {
      folder.files.push({ name, path, state });
      this.#count(path, state.size);
    }
  }

  #below(open: OpenFolder, name: string): OpenFolder | undefined {
    try {
      return open.folder(name);
    } catch (error) {
      if (!isDenied(error)) throw error;
      this.unreadable += 1;
      return undefined;
    }
  }

  /** Leaves a file where it is that turned out not to be readable. */
  leave(file: FoundFile): void {
    file.isUnreadable = true;
    this.unreadable += 1;
    this.kept.push(file.path);
  }

  #count(path: string, size: number): void {
    this.count += 1;
    this.bytes += size + RECORD_BYTES + 2 * Buffer.byteLength(path);
    if (this.count > this.#most)
      throw new NoArchive(`it has more than ${String(this.#most)} files, the most of an archive`);
  }
}

export const isDenied = (error: unknown): boolean => ['EACCES', 'EPERM'].includes(systemCode(error) ?? '');

/** Why there can be no archive. */
export class NoArchive extends Error {}

/** The records of a member without its name, which two of them have. */
const RECORD_BYTES = 160;

/** The format has no other separator, and no path that begins with a drive of Windows. A name that is not UTF-8 cannot be opened by its text. */
const isMemberPath = (path: string): boolean =>
  filePathFault(path) === undefined && !/[\\\ufffd]|^[A-Za-z]:/.test(path);

/** Another one when a file was exchanged, or written to. */
export const versionOf = ({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string =>
  [dev, ino, size, mtimeMs, ctimeMs].join('/');
