/** Opens files that a simulation has written, and none that its links lead to, although it may exchange folders and links meanwhile. */
import { constants, existsSync } from 'node:fs';
import { lstat, open, realpath, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** A pipe would wait for its writer without O_NONBLOCK, and hold one of Node's few threads. */
const FILE = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
const FOLDER = O_RDONLY | O_NOFOLLOW | O_DIRECTORY;

/** A link where a folder or a file should be. */
export class LinkInPath extends Error {}

/**
 * Opens a file below a directory by its relative path, with `/`.
 * @param descriptors where the system has the open files of this process: each folder is opened in the one before, so that no
 * exchange of a name leads elsewhere. Where there is no such place, the file is compared with its path after it was opened.
 * @throws LinkInPath, or the error of the system
 */
export async function openBelow(directory: string, path: string, descriptors = '/proc/self/fd'): Promise<FileHandle> {
  return existsSync(descriptors)
    ? await openInFolders(directory, path, descriptors)
    : await openCompared(directory, path);
}

async function openInFolders(directory: string, path: string, descriptors: string): Promise<FileHandle> {
  const names = path.split('/');
  let folder = await openFolder(directory);
  try {
    for (const name of names.slice(0, -1)) {
      const next = await openFolder(join(descriptors, String(folder.fd), name));
      await folder.close();
      folder = next;
    }
    return await open(join(descriptors, String(folder.fd), names.at(-1)!), FILE);
  } finally {
    await folder.close();
  }
}

async function openFolder(path: string): Promise<FileHandle> {
  try {
    return await open(path, FOLDER);
  } catch (error) {
    const state = await lstat(path);
    if (state.isSymbolicLink()) throw new LinkInPath('a folder of its path is a symbolic link', { cause: error });
    throw error;
  }
}

async function openCompared(directory: string, path: string): Promise<FileHandle> {
  const file = await open(join(directory, path), FILE);
  try {
    const [root, real, found] = [await realpath(directory), await realpath(join(directory, path)), await file.stat()];
    const there = await stat(real);
    if (real === join(root, path) && there.dev === found.dev && there.ino === found.ino) return file;
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  throw new LinkInPath('a folder of its path is a symbolic link');
}
