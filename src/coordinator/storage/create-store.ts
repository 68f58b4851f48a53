/** Making a store from something that is read piece by piece: its directory appears when it is whole, or not at all. */
import { existsSync } from 'node:fs';
import { readdir, rename, rm, rmdir } from 'node:fs/promises';
import { isDirectory } from '../../base/directories.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { openStore, type Store } from './store.ts';

/** @throws SimbatchError `store-unusable` when the directory holds something already, or is none */
export async function refuseIfUsed(directory: string): Promise<void> {
  if (existsSync(directory) && !isDirectory(directory)) throw unusable(directory, 'is a file and not a directory');
  const entries = isDirectory(directory) ? await readdir(directory) : [];
  if (entries.length > 0) throw unusable(directory, 'is not empty, and nothing is replaced');
}

const unusable = (directory: string, why: string): SimbatchError =>
  new SimbatchError('store-unusable', `${directory} ${why}; name one that does not exist, or move that away`);

/**
 * Makes the data directory, which must not exist or be empty, and gives what `fill` gives.
 * @throws SimbatchError `store-unusable` naming `directory`; what `fill` throws. Nothing is left then.
 */
export async function makeStore<T>(directory: string, fill: (store: Store) => Promise<T>): Promise<T> {
  await refuseIfUsed(directory);
  // Beside its place until it is whole, so that no coordinator ever opens half of it.
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
    return filled;
  } catch (error) {
    // Where it could not be made it cannot be removed either.
    await rm(coming, { recursive: true, force: true }).catch(() => {});
    throw error;
  }
}

/** Nobody knows of the directory that is only there for a while. */
function named({ code, message, cause }: SimbatchError, coming: string, directory: string): SimbatchError {
  return new SimbatchError(code, message.replaceAll(coming, directory), { cause });
}
