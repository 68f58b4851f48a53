/** Directories: making one, and what can be said of one before anything is written there. */
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a directory, with those above it that are missing; one that is there is left as it is. Not with `mkdir`'s own
 * recursion, which never ends where a file system answers ENOENT (as /proc does).
 * @throws the system's error when it cannot be made, or when something else stands under its name.
 */
export function makeDirectory(directory: string): void {
  if (isDirectory(directory)) return;
  const above = dirname(directory);
  if (above !== directory) makeDirectory(above);
  try {
    mkdirSync(directory);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isDirectory(directory)) throw error;
  }
}

/** Is there a directory of this name? Links are followed. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** May this user write the file or directory of this name? */
export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
