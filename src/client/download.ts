/**
 * Copies files of runs to this machine: a copy that was interrupted is continued, a file that is there is never overwritten
 * silently, and a file has its name only when it is complete.
 */
import { createHash } from 'node:crypto';
import { link, mkdir, open, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { filePathFault } from '../domain/files/file-path.ts';
import { SimbatchError } from '../domain/errors.ts';
import type { RunFile, Uuid } from '../contract/types.ts';
import type { Files, OpenFile } from './files.ts';
import { ApiError, UnreachableError } from './transport.ts';

export interface DownloadOptions {
  attempt?: number;
  /** Replaces a file that differs; without it such a file stays. */
  overwrite?: boolean;
}

/** `present`: it was there before. `differs`: another file is there, and stays. */
export type DownloadOutcome = 'copied' | 'present' | 'differs';

/** How often an interrupted copy is continued at once. */
const TRIES = 4;

/**
 * Copies a file of a list below `directory`, in the folders of its path.
 * @throws ApiError, UnreachableError, SimbatchError `unknown-file` for a path that leaves the directory, or the system's error
 */
export async function downloadFile(
  files: Files,
  jobId: Uuid,
  file: Pick<RunFile, 'path' | 'bytes' | 'modified_at'>,
  directory: string,
  options: DownloadOptions = {},
): Promise<DownloadOutcome> {
  const { path } = file;
  const fault = filePathFault(path) ?? (sep === '\\' && path.includes('\\') ? 'has a backslash' : undefined);
  if (fault !== undefined) throw new SimbatchError('unknown-file', `the path ${JSON.stringify(path)} ${fault}`);
  const target = join(directory, ...path.split('/'));
  const there = await stat(target).catch(() => undefined);
  if (there !== undefined && isSame(there, file)) return 'present';
  if (there !== undefined && options.overwrite !== true) return 'differs';
  await mkdir(dirname(target), { recursive: true });
  for (let tries = 1; ; tries++) {
    try {
      const begun = await receive(files, jobId, file, target, options);
      return await place(begun, target, file, options);
    } catch (error) {
      const isPassing = error instanceof UnreachableError || (error instanceof ApiError && error.transient);
      if (!isPassing || tries >= TRIES) throw error;
    }
  }
}

/** True for files of the same size that were last written at the same millisecond; a file of an unknown size is never the same. */
function isSame(
  there: { size: number; mtimeMs: number },
  { bytes, modified_at }: Pick<RunFile, 'bytes' | 'modified_at'>,
): boolean {
  if (bytes === undefined || bytes !== there.size) return false;
  return modified_at === undefined || Math.abs(Date.parse(modified_at) - there.mtimeMs) < 2;
}

/** Writes the bytes that are missing in the unfinished copy of this version. Returns its path. */
async function receive(
  files: Files,
  jobId: Uuid,
  { path }: Pick<RunFile, 'path'>,
  target: string,
  { attempt }: DownloadOptions,
): Promise<string> {
  const ofAttempt = attempt === undefined ? {} : { attempt };
  let opened = await files.read(jobId, path, ofAttempt);
  try {
    const { size, version } = opened;
    // The download of another version of the file begins at its first byte.
    const begun = `${target}.${createHash('sha256').update(version).digest('hex').slice(0, 12)}.part`;
    const have = (await stat(begun).catch(() => undefined))?.size ?? 0;
    if (have > size) await rm(begun);
    else if (have > 0 && have < size) {
      opened.close();
      opened = await files.read(jobId, path, { ...ofAttempt, start: have });
      if (opened.version !== version || opened.start !== have) throw interrupted();
    }
    if (have === size && size > 0) return begun;
    await append(opened, begun);
    return begun;
  } finally {
    opened.close();
  }
}

async function append({ content, start, size }: OpenFile, begun: string): Promise<void> {
  const output = await open(begun, 'a');
  let at = start;
  try {
    for await (const piece of content) {
      await output.write(piece);
      at += piece.length;
    }
    await output.sync();
  } finally {
    await output.close();
  }
  if (at !== size) throw interrupted();
}

const interrupted = (): UnreachableError =>
  new UnreachableError('the coordinator', 'the file changed, or ended early, while it was read');

/** Gives the complete copy its name, and the time of the original. */
async function place(
  begun: string,
  target: string,
  { modified_at }: Pick<RunFile, 'modified_at'>,
  { overwrite }: DownloadOptions,
): Promise<DownloadOutcome> {
  if (modified_at !== undefined) {
    const time = new Date(modified_at);
    await utimes(begun, time, time);
  }
  if (overwrite === true) {
    await rename(begun, target);
    return 'copied';
  }
  try {
    // Fails for a name that exists, which `rename` would replace.
    await link(begun, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return 'differs';
    throw error;
  }
  await rm(begun);
  return 'copied';
}
