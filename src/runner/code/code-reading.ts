/** Reads code files into their hashes. */
import { createHash } from 'node:crypto';
import { closeSync, constants, createReadStream, openSync, readFileSync, readlinkSync } from 'node:fs';
import { isSame, isSettled, stampOf, type Stamp } from './byte-paths.ts';

/** Larger files are read in pieces. */
const SMALL_BYTES = 1 << 20;
/** Files that change while they are read are read again so often. */
const READINGS = 3;

/** A code file as it was read last. */
export interface CodeFile {
  /** Below the root, in bytes. */
  path: string;
  /** The absolute path. */
  at: Buffer;
  stamp: Stamp | undefined;
  /** A change shows in the stamp. */
  isSettled: boolean;
  /** Undefined: it cannot be read, or is not a file. */
  hash: Buffer | undefined;
}

export const sameHash = (a: Buffer | undefined, b: Buffer | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a.equals(b);

/** A file that becomes a pipe in between is not waited for. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK;
const FORMAT = 0o170000;
const REGULAR = 0o100000;
const FOLDER = 0o040000;

/** Reads a file into its entry, again when it changes meanwhile. A link counts with the bytes it leads to; a link to no file with its text. */
export async function readCode(file: CodeFile, first: Stamp | undefined, nowMs: number): Promise<void> {
  let stamp = first;
  for (let reading = 1; ; reading++) {
    file.hash = stamp === undefined ? undefined : await hashOf(file.at, stamp).catch(() => undefined);
    const after = stampOf(file.at);
    file.stamp = after;
    file.isSettled = isSettled(after, nowMs) && isSame(stamp, after);
    if (isSame(stamp, after) || reading === READINGS) return;
    stamp = after;
  }
}

async function hashOf(path: Buffer, { mode, size }: Stamp): Promise<Buffer | undefined> {
  const hash = createHash('sha256');
  const format = mode & FORMAT;
  if (format === REGULAR) {
    const fd = openSync(path, READ);
    if (size > SMALL_BYTES) {
      // The stream closes the file.
      for await (const chunk of createReadStream(path, { fd })) hash.update(chunk as Buffer);
      return hash.digest();
    }
    try {
      return hash.update(readFileSync(fd)).digest();
    } finally {
      closeSync(fd);
    }
  }
  // A link to a folder, or to nothing. A pipe, a socket or a device is never opened.
  if (format !== FOLDER && format !== 0o120000) return undefined;
  return hash.update(readlinkSync(path, { encoding: 'buffer' })).digest();
}
