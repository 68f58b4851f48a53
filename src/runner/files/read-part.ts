/**
 * Reads a part of a file that a simulation has written, and trusts none of it: no link is followed, no pipe is waited for, and
 * nothing outside the directory of the attempt is read.
 */
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { filePathFault } from '../../domain/files/file-path.ts';
import type { FileFault } from '../../contract/types.ts';
import { LinkInPath, openBelow } from './open-below.ts';

export interface FilePart {
  bytes: Uint8Array;
  offset: number;
  /** Size of the whole file, in bytes. */
  size: number;
  version: string;
  modifiedMs: number;
}

export interface FileRefusal {
  fault: FileFault;
  detail: string;
}

/** The range that a reader wants, and the largest file that is sent, in bytes. */
export interface PartWish {
  offset: number;
  length: number;
  maxBytes: number;
}

/**
 * Reads up to `length` bytes from `offset`, which is counted from the end when it is negative.
 * @param directory absolute.
 * @param path relative, with `/`; of a regular file below the directory.
 */
export async function readPart(directory: string, path: string, wish: PartWish): Promise<FilePart | FileRefusal> {
  const fault = filePathFault(path);
  if (fault !== undefined) return { fault: 'unknown-file', detail: `the path ${fault}` };
  let file: FileHandle | undefined;
  try {
    file = await openBelow(directory, path);
    const found = await file.stat();
    if (!found.isFile()) return { fault: 'unreadable', detail: 'it is not a regular file' };
    const range = await readRange(file, found.size, wish);
    if ('fault' in range) return range;
    return { ...range, version: versionOf(found), modifiedMs: Math.max(0, Math.floor(found.mtimeMs)) };
  } catch (error) {
    return refusalOf(error);
  } finally {
    await file?.close().catch(() => {});
  }
}

export const versionOf = ({ ino, mtimeMs, size }: Pick<Stats, 'ino' | 'mtimeMs' | 'size'>): string =>
  `${String(ino)}-${String(Math.round(mtimeMs * 1000))}-${String(size)}`;

/**
 * Reads the range that a reader wants of `size` bytes of an open file.
 * @param start returns where they begin in it; called where there is something to read
 */
export async function readRange(
  file: FileHandle,
  size: number,
  { offset, length, maxBytes }: PartWish,
  start: () => Promise<number> | number = () => 0,
): Promise<Pick<FilePart, 'bytes' | 'offset' | 'size'> | FileRefusal> {
  if (size > maxBytes) {
    const most = `${String(maxBytes)} bytes, the limit of this runner; raise its --serve-files-max-gb`;
    return { fault: 'too-large', detail: `it has ${String(size)} bytes, more than ${most}` };
  }
  const from = offset < 0 ? Math.max(0, size + offset) : offset;
  const buffer = Buffer.alloc(Math.max(0, Math.min(length, size - from)));
  const bytes = buffer.length === 0 ? buffer : await fill(file, buffer, (await start()) + from);
  return { bytes, offset: from, size };
}

/** Reads to the end of the buffer or of the file; returns what was read. */
export async function fill(file: FileHandle, buffer: Buffer, from: number): Promise<Buffer> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function refusalOf(error: unknown): FileRefusal {
  if (error instanceof LinkInPath) return { fault: 'unreadable', detail: error.message };
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return { fault: 'unknown-file', detail: 'there is no such file' };
  if (code === 'ELOOP' || code === 'EMLINK') return { fault: 'unreadable', detail: 'it is a symbolic link' };
  if (code === 'ENXIO') return { fault: 'unreadable', detail: 'it is not a regular file' };
  return { fault: 'unreadable', detail: message };
}
