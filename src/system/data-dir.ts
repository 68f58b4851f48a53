/** Making the data directory. Not with `mkdir`'s own recursion, which never ends where a file system answers ENOENT (as /proc). */
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a directory, with those above it that are missing; one that is there is left as it is.
 * @throws the system's error when it cannot be made, or when something else stands under its name.
 */
export async function makeDataDir(directory: string): Promise<void> {
  if (await isDirectory(directory)) return;
  const above = dirname(directory);
  if (above !== directory) await makeDataDir(above);
  try {
    await mkdir(directory);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!(await isDirectory(directory))) throw error;
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (it) => it.isDirectory(),
    () => false,
  );
}
