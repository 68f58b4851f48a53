/** Creates a store from a stream of records: its directory appears when it is complete, or not at all. */
import { existsSync } from 'node:fs';
import { readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDirectory } from '../../../base/directories.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { syncDirectory } from './integrity/high-water-mark.ts';
import { openStore } from './open-store.ts';
import type { Store } from './store.ts';

/** @throws SimbatchError `store-unusable` when the directory is not empty, or is a file */
export async function refuseIfUsed(directory: string): Promise<void> {
  if (existsSync(directory) && !isDirectory(directory)) throw unusable(directory, 'is a file');
  const entries = isDirectory(directory) ? await readdir(directory) : [];
  if (entries.length > 0) throw unusable(directory, 'is not empty');
}

const unusable = (directory: string, why: string): SimbatchError =>
  new SimbatchError(
    'store-unusable',
    `the data directory ${directory} cannot be created: it ${why}; name a directory that does not exist`,
  );

/**
 * Creates the data directory, which must not exist or be empty. Returns the result of `fill`.
 * @throws SimbatchError `store-unusable` naming `directory`; the error of `fill`. Nothing remains then.
 */
export async function makeStore<T>(directory: string, fill: (store: Store) => Promise<T>): Promise<T> {
  await refuseIfUsed(directory);
  // Beside its place until it is complete, so that no coordinator opens a part of it.
  const coming = `${directory}.making-${process.pid}`;
  try {
    const store = await openStore(coming).catch((error: unknown) => {
      throw error instanceof SimbatchError ? named(error, coming, directory) : error;
    });
    let filled: T;
    try {
      filled = await fill(store);
    } finally {
      await store.close();
    }
    await rmdir(directory).catch(() => {});
    await rename(coming, directory);
    await syncDirectory(dirname(directory));
    return filled;
  } catch (error) {
    // A directory that could not be created cannot be removed either.
    await rm(coming, { recursive: true, force: true }).catch(() => {});
    throw error;
  }
}

/** The error with the name of the directory that was asked for, in place of the temporary one. */
function named({ code, message, cause }: SimbatchError, coming: string, directory: string): SimbatchError {
  return new SimbatchError(code, message.replaceAll(coming, directory), { cause });
}
