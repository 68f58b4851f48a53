/** The parts in which a file is sent to an object store: the runner that declares them and the coordinator that signs them agree. */
import { LIMITS } from '../../contract/limits.ts';

/** The size of each part but the last, in bytes: 8 MiB, and twice as much again until a thousand parts are enough. */
export function partBytesOf(size: number): number {
  let bytes: number = LIMITS.uploadPartBytes;
  while (size > bytes * LIMITS.fileParts) bytes *= 2;
  return bytes;
}

/** How many parts a file has; an empty one has an empty part. */
export const partCountOf = (size: number): number => Math.max(1, Math.ceil(size / partBytesOf(size)));

/** The size of the part of this index, from 0, in bytes. */
export const partSizeOf = (size: number, index: number): number =>
  Math.min(partBytesOf(size), size - index * partBytesOf(size));
