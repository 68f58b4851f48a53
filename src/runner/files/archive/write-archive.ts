/**
 * Makes one archive of the files of an attempt, without compression, in the thread for it. Until the archive has its name, all files are as they
 * were; it is durable before the first member is deleted. So each file is in the folder, in the archive, or in both, whenever the machine stops.
 */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  readSync,
  renameSync,
  rmdirSync,
  statfsSync,
  unlinkSync,
  type Stats,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { systemClock } from '../../../base/clock.ts';
import { formatBytes } from '../../../base/text/number-text.ts';
import { plural } from '../../../domain/plural.ts';
import { isDiskFull, oneLine, systemCode } from '../../system-error.ts';
import { ARCHIVE } from '../../../domain/files/file-path.ts';
import { Cancelled, commentOf, UNFINISHED, type ArchiveOutcome, type JobState } from './archive-job.ts';
import { FoundMembers, isDenied, NoArchive, versionOf, type FoundFile, type FoundFolder } from './find-members.ts';
import { OpenFolder } from './open-folder.ts';
import { ZipSink } from './zip-sink.ts';

/** Files of so many bytes are read at once. */
const READ_AT_ONCE = 64 << 10;
/** So much stays free: a full disk would fail the runs that write to it. */
const RESERVE_BYTES = 1 << 20;

/**
 * Never rejects. After `state` is `cancelled` nothing is changed but `UNFINISHED`.
 * @param directory of the attempt, absolute
 * @param keep files that stay outside, by their paths
 * @param freeBytes of the file system
 */
export async function writeArchive(
  directory: string,
  keep: readonly string[],
  state: JobState,
  freeBytes: (path: string) => number = freeBytesOf,
): Promise<ArchiveOutcome> {
  let root: OpenFolder | undefined;
  try {
    root = OpenFolder.open(directory);
    const found = new FoundMembers(root, keep, () => state.step());
    if (found.count === 0) return { type: 'unchanged' };
    const free = freeBytes(root.path);
    if (found.bytes + RESERVE_BYTES > free)
      throw new NoArchive(`it needs ${formatBytes(found.bytes)}, and the disk has ${formatBytes(free)} free`);
    await writeFile(root, found, commentOf(directory), state);
    publish(root, state);
    return removed(root, found, state);
  } catch (error) {
    return { type: 'unchanged', why: reasonOf(error) };
  } finally {
    root?.close();
  }
}

/** The paths in messages of the system are those of descriptors. */
function reasonOf(error: unknown): string {
  if (isDiskFull(error)) return 'the disk is full';
  return systemCode(error) === undefined ? oneLine(error) : (oneLine(error).split(', ', 1)[0] ?? '');
}

function freeBytesOf(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/** Writes `UNFINISHED`, durably, or nothing. */
async function writeFile(root: OpenFolder, found: FoundMembers, comment: string, state: JobState): Promise<void> {
  const file = await open(root.at(UNFINISHED), 'wx');
  const sink = new ZipSink(file, () => state.step());
  try {
    await addFolder(root, found.root, found, { sink, state });
    if (sink.members === 0) throw new NoArchive('its files cannot be read');
    await sink.end(comment);
    await file.close();
  } catch (error) {
    await sink.abort();
    await file.close().catch(() => {});
    unlinkSync(root.at(UNFINISHED));
    throw error;
  }
}

interface Writing {
  sink: ZipSink;
  state: JobState;
}

async function addFolder(at: OpenFolder, folder: FoundFolder, found: FoundMembers, to: Writing): Promise<void> {
  for (const file of folder.files) {
    to.state.step();
    const fd = opened(at, file.name);
    if (fd === undefined) found.leave(file);
    else await addFile(fd, file, to.sink);
    // The thread has other jobs.
    await new Promise<void>((resolve) => systemClock.soon(resolve));
  }
  for (const it of folder.folders) {
    const below = at.folder(it.name);
    try {
      if (it.isEmpty) to.sink.addFolder(it.path, timesOf(it.state));
      else await addFolder(below, it, found, to);
    } finally {
      below.close();
    }
  }
}

const timesOf = ({ mtime, mode }: Stats): { mtime: Date; mode: number } => ({ mtime, mode });

/** The descriptor of a file; undefined: this user may not read it. */
function opened(folder: OpenFolder, name: string): number | undefined {
  try {
    return folder.file(name);
  } catch (error) {
    if (isDenied(error)) return undefined;
    throw error;
  }
}

async function addFile(fd: number, { path, state }: FoundFile, sink: ZipSink): Promise<void> {
  let isPassedOn = false;
  try {
    if (versionOf(fstatSync(fd)) !== versionOf(state)) throw new NoArchive(`${path} changed after the run had ended`);
    const times = timesOf(state);
    if (state.size > READ_AT_ONCE) {
      isPassedOn = true;
      await sink.addFile(path, fd, state.size, times);
    } else await sink.add(path, bytesOf(fd, state.size, path), times);
  } finally {
    if (!isPassedOn) closeSync(fd);
  }
}

function bytesOf(fd: number, size: number, path: string): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  for (let at = 0; at < size;) {
    const count = readSync(fd, bytes, at, size - at, at);
    if (count === 0) throw new NoArchive(`${path} became shorter while it was read`);
    at += count;
  }
  return bytes;
}

/** Gives the archive its name, durably, or leaves all as it was. */
function publish(root: OpenFolder, state: JobState): void {
  try {
    if (!state.advance('writing', 'renaming')) throw new Cancelled();
    if (exists(root.at(ARCHIVE))) throw new NoArchive(`${ARCHIVE} was written after the run had ended`);
    renameSync(root.at(UNFINISHED), root.at(ARCHIVE));
  } catch (error) {
    unlinkSync(root.at(UNFINISHED));
    throw error;
  }
  try {
    syncFolder(root.fd);
  } catch (error) {
    unlinkSync(root.at(ARCHIVE));
    throw error;
  }
  state.advance('renaming', 'deleting');
}

/** Some file systems cannot do it; then a name is as durable as they make it. */
function syncFolder(fd: number): void {
  try {
    fsyncSync(fd);
  } catch (error) {
    if (!['EINVAL', 'ENOTSUP', 'EPERM', 'EBADF'].includes(systemCode(error) ?? '')) throw error;
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** A member that is still in the folder. */
interface Left {
  path: string;
  why: string;
}

/** Deletes the members, where they are as they were read. */
function removed(root: OpenFolder, found: FoundMembers, state: JobState): ArchiveOutcome {
  const left: Left[] = [];
  removeIn(root, found.root, state, left);
  const outside: readonly [number, string][] = [
    [found.odd, 'links, special files or too deep folders'],
    [found.unnamed, 'their names do not fit into an archive'],
    [found.unreadable, 'the runner may not read them'],
  ];
  const notes = outside
    .filter(([count]) => count > 0)
    .map(([count, why]) => `${plural(count, 'entry', 'entries')} stayed beside ${ARCHIVE}: ${why}`);
  const [first] = left;
  if (first !== undefined)
    notes.push(`${plural(left.length, 'file')} of ${ARCHIVE} could not be deleted: ${first.path}: ${first.why}`);
  return { type: 'archived', kept: [...found.kept, ...left.map((it) => it.path)], notes };
}

function removeIn(at: OpenFolder, folder: FoundFolder, state: JobState, left: Left[]): void {
  for (const { name, path, state: known, isUnreadable } of folder.files) {
    state.step();
    if (isUnreadable === true) continue;
    try {
      if (versionOf(lstatSync(at.at(name))) === versionOf(known)) unlinkSync(at.at(name));
      else left.push({ path, why: 'it changed after the run had ended' });
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') left.push({ path, why: reasonOf(error) });
    }
  }
  for (const it of folder.folders) {
    try {
      const below = at.folder(it.name);
      try {
        removeIn(below, it, state, left);
      } finally {
        below.close();
      }
    } catch (error) {
      left.push(...filesIn(it).map((path) => ({ path, why: reasonOf(error) })));
      continue;
    }
    try {
      rmdirSync(at.at(it.name));
    } catch {
      // It has what stays.
    }
  }
}

const filesIn = ({ files, folders }: FoundFolder): string[] => [
  ...files.map((it) => it.path),
  ...folders.flatMap(filesIn),
];
