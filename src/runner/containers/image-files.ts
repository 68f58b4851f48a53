/** Images that are files: their digests, and a cache for those that are fetched. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Digests by path, each with the state of the file for which it was computed. */
const known = new Map<string, { state: string; digest: Promise<string> }>();

/** SHA-256 of a file as `sha256:...`; computed once for each state of the file. @throws the system's error. */
export async function digestOfFile(path: string): Promise<string> {
  const { size, mtimeMs, ino } = await stat(path);
  const state = [size, mtimeMs, ino].join('/');
  const before = known.get(path);
  if (before?.state === state) return await before.digest;
  const digest = hash(path);
  known.set(path, { state, digest });
  digest.catch(() => known.delete(path));
  return await digest;
}

async function hash(path: string): Promise<string> {
  const sum = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) sum.update(chunk as Buffer);
  return `sha256:${sum.digest('hex')}`;
}

export interface CachedFile {
  path: string;
  /** Path at which the image is written until it is whole. */
  partial: string;
  /** Makes the partial file the cached one. */
  keep: () => Promise<void>;
}

/** The file of the cache for a reference. @throws the system's error when the folder cannot be made. */
export async function cachedFile(cache: string, reference: string): Promise<CachedFile> {
  await mkdir(cache, { recursive: true, mode: 0o700 });
  const path = join(cache, `${createHash('sha256').update(reference).digest('hex').slice(0, 32)}.sif`);
  const partial = `${path}.${String(process.pid)}.partial`;
  return { path, partial, keep: () => rename(partial, path) };
}
