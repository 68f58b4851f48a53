/**
 * The files of a checkpoint as they are at one moment. The simulation may replace them at any time: they are linked into a folder
 * of the runner's own, which keeps their content, and count as a set when none of them has changed meanwhile.
 */
import { constants } from 'node:fs';
import { copyFile, link, lstat, mkdir, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { LIMITS } from '../../contract/limits.ts';
import { filePathFault } from '../../domain/files/file-path.ts';
import { ARTIFACT_LIMITS, listFiles } from '../files/artifacts.ts';
import { Final } from '../files/object-transfer.ts';
import { digestFile, FileChanged, type FileDigests } from '../files/send-file.ts';
import { systemCode } from '../system-error.ts';

/** Why a checkpoint is not sent; the message says so to a reader of the result. */
export class CheckpointFault extends Error {}

/** Path in the checkpoint -> its state. Another version for each content. */
export type Look = ReadonlyMap<string, { bytes: number; version: string }>;

/** Looks at the files of a directory; undefined when it is not there. @throws CheckpointFault, the system's error */
export async function lookAt(directory: string): Promise<Look | undefined> {
  const root = await lstat(directory).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (root === undefined) return undefined;
  const notes: string[] = [];
  const limits = { ...ARTIFACT_LIMITS, files: LIMITS.checkpointFiles };
  const found = await listFiles(directory, limits, notes, undefined);
  if (notes.length > 0) {
    const most = `at most ${String(LIMITS.checkpointFiles)} regular files are sent`;
    throw new CheckpointFault(`${notes.join('; ')}; ${most}: keep few files, and no links`);
  }
  const look = new Map<string, { bytes: number; version: string }>();
  for (const address of found) {
    const path = relative(directory, address).replaceAll(sep, '/');
    if (filePathFault(path) !== undefined || path.includes('\ufffd'))
      throw new CheckpointFault(`the name of ${JSON.stringify(path)} is not UTF-8; rename the file`);
    const state = await lstat(address).catch((error: unknown) => {
      // The checkpoint was replaced or removed since it was listed.
      if (systemCode(error) === 'ENOENT') return undefined;
      throw error;
    });
    if (state !== undefined) look.set(path, { bytes: state.size, version: versionOf(state) });
  }
  return look;
}

const versionOf = ({ ino, mtimeMs, size }: { ino: number; mtimeMs: number; size: number }): string =>
  `${String(ino)}-${String(mtimeMs)}-${String(size)}`;

export const isSameLook = (a: Look | undefined, b: Look | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  a.size === b.size &&
  [...a].every(([path, it]) => b.get(path)?.version === it.version);

/**
 * Links the files of a look into `folder`, which is made anew.
 * @returns false when one of them changed before all were linked.
 * @throws CheckpointFault, the system's error
 */
export async function linkSet(directory: string, look: Look, folder: string): Promise<boolean> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  try {
    for (const path of look.keys()) {
      const target = join(folder, path);
      await mkdir(dirname(target), { recursive: true });
      await linkOrCopy(join(directory, path), target);
    }
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
  // The set is that of the moment before this look, in which all of them are still there as they were.
  const after = await lookAt(directory);
  return [...look].every(([path, { version }]) => after?.get(path)?.version === version);
}

/** Errors of a file system or a user that cannot link. */
const UNLINKABLE = ['EPERM', 'EACCES', 'EXDEV', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!UNLINKABLE.includes(systemCode(error) ?? '')) throw error;
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  }
}

/** The size and digests of a linked file. @throws CheckpointFault when it cannot be read as it was */
export async function digestsOf(
  folder: string,
  path: string,
  bytes: number,
  clock: Pick<Clock, 'soon'>,
): Promise<FileDigests> {
  try {
    const digests = await digestFile(folder, path, clock);
    if (digests.size === bytes) return digests;
  } catch (error) {
    throw error instanceof Final ? faultOf(path, error) : error;
  }
  throw changed(path);
}

/** Why a file of a checkpoint is not sent. */
export const faultOf = (path: string, error: Final): CheckpointFault =>
  error instanceof FileChanged
    ? changed(path)
    : new CheckpointFault(`${JSON.stringify(path)} cannot be sent: ${error.message}`);

/** A file was written to in place, and not replaced, while it was sent. */
const changed = (path: string): CheckpointFault =>
  new CheckpointFault(`${JSON.stringify(path)} changed while it was sent; write another file and rename it`);
