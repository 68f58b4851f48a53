/** The list of the files of an attempt, as a runner sends it: paths, sizes and times, bounded in number and length. */
import { lstat } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { LIMITS } from '../../contract/limits.ts';
import type { RunnerFiles } from '../../contract/types.ts';
import { ARCHIVE, filePathFault } from '../../domain/files/file-path.ts';
import { oneLine } from '../system-error.ts';
import type { ArchivedFiles } from './archive/archived-files.ts';
import { ARTIFACT_LIMITS, listFiles } from './artifacts.ts';

/** Characters of all paths: the list goes in one part. */
const LIST_LENGTH = 400_000;
const MOST_NOTES = 20;

/** Lists the regular files below the directory, and the members of its archive in place of that. A fault becomes a note. */
export async function listRunFiles(
  directory: string,
  archived: Pick<ArchivedFiles, 'open'>,
  stop: AbortSignal,
): Promise<RunnerFiles> {
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
  const isArchived = files.some((it) => it.path === ARCHIVE) && (await takeMembers(directory, archived, files, notes));
  if (isArchived) notes.unshift(`the files are in ${ARCHIVE} of the folder, which can be read too`);
  return { directory, files, notes: notes.slice(0, MOST_NOTES).map((it) => it.slice(0, LIMITS.textLength)) };
}

/** Puts the members of the archive in its place, as many as the list may have. Returns whether there is an archive that can be read. */
async function takeMembers(
  directory: string,
  archived: Pick<ArchivedFiles, 'open'>,
  files: RunnerFiles['files'],
  notes: string[],
): Promise<boolean> {
  try {
    const archive = await archived.open(directory);
    if (archive === undefined) return false;
    await archive.file.close();
    const beside = new Set(files.map((it) => it.path));
    files.splice(
      files.findIndex((it) => it.path === ARCHIVE),
      1,
    );
    let length = files.reduce((sum, it) => sum + it.path.length, 0);
    let omitted = 0;
    for (const [path, { bytes, modifiedMs }] of archive.members) {
      // A file that is there, too, is the later one.
      if (beside.has(path)) continue;
      length += path.length;
      if (files.length >= LIMITS.filesListed || length > LIST_LENGTH) omitted += 1;
      else files.push({ path, bytes, modified_ms: modifiedMs });
    }
    files.sort((a, b) => (a.path < b.path ? -1 : 1));
    if (omitted > 0) notes.push(`${String(omitted)} more files are in ${ARCHIVE}; the list is limited`);
    return true;
  } catch (error) {
    notes.push(oneLine(error));
    return false;
  }
}
