/** Directories: they are created and checked before anything is written; paths below them. */
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, sep } from 'node:path';

/**
 * Creates a directory and its missing parents; an existing one is left unchanged. Does not use `mkdir`'s own recursion,
 * which never ends on a file system that answers ENOENT (as /proc does).
 * @throws the system's error when the directory cannot be created, or when its name is taken by something else.
 */
export function makeDirectory(directory: string): void {
  if (isDirectory(directory)) return;
  const above = dirname(directory);
  if (above !== directory) makeDirectory(above);
  try {
    mkdirSync(directory);
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!isDirectory(directory)) throw error;
  }
}

/** Returns whether a directory of this name exists. Links are followed. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Whether a path is a folder, without blocking the event loop. Never rejects. */
export const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (it) => it.isDirectory(),
    () => false,
  );

/** Whether a file of this name exists. Links are followed. Never rejects. */
export const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (it) => it.isFile(),
    () => false,
  );

/** Returns whether this user may write the file or directory. */
export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** A path below a folder whose own is absolute and normalized: `join` would look at each character. */
export const below = (folder: string, path: string): string => `${folder}${folder.endsWith(sep) ? '' : sep}${path}`;
