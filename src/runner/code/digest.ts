/** The digest of the code of an engine: the one definition of its bytes. */
import { createHash } from 'node:crypto';

/** A code file: its path below the root with `/` between names, one character a byte (latin1), and the SHA-256 of its bytes. */
export interface HashedFile {
  path: string;
  hash: Uint8Array;
}

/**
 * Returns the digest of code files as 64 hex digits: SHA-256 over `simbatch-code/1`, 00, then for each file in the order of the bytes of
 * its path: the path, 00, the 32 bytes of its hash.
 */
export function codeDigest(files: Iterable<HashedFile>): string {
  const digest = createHash('sha256').update('simbatch-code/1\0');
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  for (const { path, hash } of sorted) digest.update(path, 'latin1').update('\0').update(hash);
  return digest.digest('hex');
}

/**
 * Returns the digest of code files of the machine that are executed inside an image: SHA-256 over `simbatch-code-in-image/1`, 00, the
 * 32 bytes of the digest of the files, the 32 bytes of the digest of the image.
 * @param image `sha256:` and 64 hex digits.
 */
export function digestInImage(files: string, image: string): string {
  const digest = createHash('sha256').update('simbatch-code-in-image/1\0').update(files, 'hex');
  return digest.update(hexOfImage(image), 'hex').digest('hex');
}

/** The hex digits of an image digest such as `sha256:9f3c...`. */
export const hexOfImage = (image: string): string => image.replace(/^sha256:/, '');
