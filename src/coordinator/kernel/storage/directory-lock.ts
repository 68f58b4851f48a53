/**
 * A lock on a directory itself, by its device and inode. LevelDB locks a file in the directory, and a second process gets
 * that lock when the file has been deleted.
 */
import { statSync } from 'node:fs';
import { createServer } from 'node:net';
import { SimbatchError } from '../../../domain/errors.ts';

/**
 * Locks the directory until `release` is called or the process ends. It is a name in Linux's abstract socket namespace,
 * which leaves no file; other systems have none, and LevelDB's own lock is the only one there.
 * @throws SimbatchError `store-locked` when another process has the lock
 */
export async function lockDirectory(directory: string): Promise<{ release(): Promise<void> }> {
  if (process.platform !== 'linux') return { release: async () => {} };
  const { dev, ino } = statSync(directory, { bigint: true });
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(cause.code === 'EADDRINUSE' ? lockedError(directory, cause) : cause);
    });
    server.listen({ path: `\0simbatch-store-${dev}-${ino}`, exclusive: true }, resolve);
  });
  server.unref();
  return { release: () => new Promise((resolve) => server.close(() => resolve())) };
}

export const lockedError = (directory: string, cause: unknown): SimbatchError =>
  new SimbatchError(
    'store-locked',
    `another process uses the data directory ${directory}; stop it or choose another one`,
    { cause },
  );
