/** The list of the files of an attempt, as a runner sends it: paths, sizes and times, bounded in number and length. */
import { lstat } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { LIMITS } from '../../contract/limits.ts';
import type { RunnerFiles } from '../../contract/types.ts';
import { filePathFault } from '../../domain/files/file-path.ts';
import { ARTIFACT_LIMITS, listFiles } from './artifacts.ts';

/** Characters of all paths: the list goes in one part. */
const LIST_LENGTH = 400_000;
const MOST_NOTES = 20;

/** Lists the regular files below the directory. A fault becomes a note. */
export async function listRunFiles(directory: string, stop: AbortSignal): Promise<RunnerFiles> {
  const notes: string[] = [];
  const limits = { ...ARTIFACT_LIMITS, files: LIMITS.filesListed, pathLength: LIST_LENGTH };
  const found = await listFiles(directory, limits, notes, stop);
  const files: RunnerFiles['files'] = [];
  let odd = 0;
  for (const address of found) {
    const path = relative(directory, address).replaceAll(sep, '/');
    const state = await lstat(address).catch(() => undefined);
    // A name that is not UTF-8 cannot be asked for.
    if (state?.isFile() !== true || filePathFault(path) !== undefined || path.includes('\ufffd')) odd += 1;
    else files.push({ path, bytes: state.size, modified_ms: Math.max(0, state.mtimeMs) });
  }
  if (odd > 0) notes.push(`${String(odd)} more are not listed: they are gone, or their names are not UTF-8`);
  return { directory, files, notes: notes.slice(0, MOST_NOTES).map((it) => it.slice(0, LIMITS.textLength)) };
}
