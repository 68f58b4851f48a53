/** A clone of a store's files by hard links: LevelDB can open or repair the clone and never changes the original. */
import { constants } from 'node:fs';
import { copyFile, link, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDataFile } from '../kernel/storage/leveldb/inspection.ts';

/**
 * Creates `target` with the data files of `directory`. LevelDB writes new files, renames and deletes, and never writes into
 * an existing file, so links are enough; where the file system has none, the files are copied.
 */
export async function cloneFiles(directory: string, target: string): Promise<void> {
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { mode: 0o700 });
  for (const name of (await readdir(directory)).filter(isDataFile)) {
    const [from, to] = [join(directory, name), join(target, name)];
    await link(from, to).catch(() => copyFile(from, to, constants.COPYFILE_FICLONE));
  }
}
