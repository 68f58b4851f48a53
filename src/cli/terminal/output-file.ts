/**
 * Writes a file that the user named. Errors name the path as given, not the temporary file beside it.
 */
import { once } from 'node:events';
import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { finished } from 'node:stream/promises';
import { isDirectory, isWritable } from '../../base/directories.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';

export type Put = (data: string | Uint8Array) => Promise<void>;

interface Place {
  /** Temporary file that receives the bytes. Default: the path itself. */
  begun?: string;
  mode?: number;
}

/**
 * Writes a file piece by piece with `put`.
 * @throws Failure `cannotOpen` naming `path` when the file cannot be written.
 */
export async function writeFileFrom(
  path: string,
  fill: (put: Put) => Promise<void>,
  { begun = path, mode = 0o666 }: Place = {},
): Promise<void> {
  // Checked first: a rename onto a folder would fail only after everything was fetched.
  if (isDirectory(path)) throw unwritable(path, 'EISDIR');
  if (endsInSlash(path)) throw unwritable(path, 'ENOENT');
  const stream = createWriteStream(begun, { mode });
  const ended = finished(stream).catch((error: unknown) => {
    throw asUnwritable(path, error);
  });
  const opened = new Promise<void>((resolve) => stream.once('open', () => resolve()));
  // Work that takes long, such as a simulation, must not begin for a file that cannot be written.
  await Promise.race([opened, ended]);
  const put = async (data: string | Uint8Array): Promise<void> => {
    if (!stream.write(data)) await Promise.race([once(stream, 'drain'), ended]);
  };
  try {
    await Promise.race([fill(put), ended]);
  } catch (error) {
    stream.destroy();
    throw error;
  }
  stream.end();
  await ended;
}

/**
 * Creates a file atomically: `make` writes the temporary file `begun` beside it, which is then renamed. Returns the result of
 * `make`.
 * @throws Failure `cannotOpen` naming `path` when the file cannot be written; other errors of `make`
 */
export async function makeWhole<T>(path: string, begun: string, make: () => Promise<T>): Promise<T> {
  try {
    const made = await make();
    await rename(begun, path);
    return made;
  } catch (error) {
    // A file that could not be created cannot be removed.
    await rm(begun, { force: true }).catch(() => {});
    throw asUnwritable(path, error);
  }
}

/** Returns an error of writing `path` as a failure for the user; other errors are returned unchanged. */
export function asUnwritable(path: string, error: unknown): unknown {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return error instanceof Failure || code === undefined || reasonOf(path, code) === undefined
    ? error
    : unwritable(path, code, error);
}

function unwritable(path: string, code: string, cause?: unknown): Failure {
  const failure = new Failure(EXIT.cannotOpen, `cannot write ${path}: ${reasonOf(path, code) ?? code} (${code})`);
  failure.cause = cause;
  return failure;
}

/** Returns cause and remedy for the error codes of opening, writing and renaming a file. */
function reasonOf(path: string, code: string): string | undefined {
  const folder = endsInSlash(path) ? path : dirname(path);
  switch (code) {
    case 'ENOENT':
      return existsSync(folder)
        ? `no file can be made in ${folder}; name a file elsewhere`
        : `the folder ${folder} does not exist; make it first, or name a file elsewhere`;
    case 'ENOTDIR':
      return `a part of ${folder} is a file and not a folder; name a file elsewhere`;
    case 'EACCES':
    case 'EPERM':
      return `this user may not write ${isWritable(folder) ? 'this file' : `in the folder ${folder}`}; name a file elsewhere, or have it allowed`;
    case 'EROFS':
      return `the folder ${folder} is on a read-only file system; name a file elsewhere`;
    case 'ENOSPC':
    case 'EDQUOT':
      return 'no space is left there; make room, or name a file elsewhere';
    case 'EISDIR':
      return 'it is a folder; name a file in it';
    case 'ENAMETOOLONG':
      return 'the name is too long; choose a shorter one';
    default:
      return undefined;
  }
}

const endsInSlash = (path: string): boolean => path.endsWith('/');
