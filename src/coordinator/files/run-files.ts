/** The list of the files of a run: from its runner where that serves files, else from the stored result. */
import type { Abandoned } from '../../base/abandonment.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { RunFile, RunFiles, StoredResult, Uuid } from '../../contract/types.ts';
import { plural } from '../../domain/plural.ts';
import { fileKindOf, pathInAttempt } from '../../domain/files/file-path.ts';
import { fileAttempt, filesOwner } from './file-attempt.ts';
import { StoredPlace } from './object-store/stored-place.ts';
import type { ReadFileParts } from './read-file.ts';
import { RunnerPlace } from './runner/runner-place.ts';

/**
 * Lists the files of an attempt, by default of the last one.
 * @param stop aborts when the client has left.
 * @throws SimbatchError `unknown-job`, `unknown-file` for an unknown attempt, `too-many-requests`
 */
export async function jobFiles(
  parts: ReadFileParts,
  jobId: Uuid,
  wanted: number | undefined,
  stop: Abandoned,
): Promise<RunFiles> {
  const { jobId: owner, note, gone } = filesOwner(parts, jobId);
  const known = note === undefined ? [] : [note];
  if (gone !== undefined) {
    const notes = [`${known.join()}, which ${gone}`];
    return { job_id: jobId, attempt: 0, is_readable: false, files: [], notes };
  }
  const attempt = fileAttempt(parts, owner, wanted);
  if (attempt === undefined) {
    return { job_id: jobId, attempt: 0, is_readable: false, files: [], notes: ['the run has not been claimed yet'] };
  }
  const { attempt: number, runnerId, result } = attempt;
  const head = { job_id: jobId, attempt: number, runner_id: runnerId };
  const stored = await new StoredPlace(parts, attempt).list();
  const unsent = notesOf(result);
  const notes = [...known, ...unsent, ...stored.notes];
  if (result !== undefined && stored.files.length > 0 && unsent.length === 0 && isWhole(result))
    return { ...head, is_readable: stored.isServed, files: stored.files, notes };
  const found = await new RunnerPlace(parts, attempt).list(stop);
  notes.push(...found.notes);
  if (found.isServed) return { ...head, is_readable: true, files: merged(found.files, stored.files), notes };
  const files = result === undefined ? [] : await filesOfResult(parts.share, result);
  notes.push(
    result === undefined ? 'no result names its files' : 'the files are those of the result, without their sizes',
  );
  return { ...head, is_readable: stored.isServed, files: merged(files, stored.files), notes };
}

/** The files that are not in the object store, as sentences. */
function notesOf({ upload }: Partial<StoredResult> = {}): string[] {
  const { failed = [], waiting = 0, reason } = upload ?? {};
  const lost = failed.map((it) => `not uploaded: ${it}`);
  if (waiting === 0) return lost;
  const why = reason === undefined ? '' : `; the latest try failed: ${reason}`;
  return [
    ...lost,
    `${plural(waiting, 'file')} on the runner ${waiting === 1 ? 'is' : 'are'} still to be uploaded${why}`,
  ];
}

/** Whether every file of the result is in an object store. */
const isWhole = ({ output_files }: StoredResult): boolean => output_files.every((it) => it.startsWith('s3://'));

/** The files with those of the object store in the place of others of the same path. */
function merged(files: readonly RunFile[], stored: readonly RunFile[]): RunFile[] {
  if (stored.length === 0) return [...files];
  const paths = new Set(stored.map((it) => it.path));
  return [...stored, ...files.filter((it) => !paths.has(it.path))];
}

async function filesOfResult(
  share: EventLoopShare,
  { output_files, telemetry_data }: StoredResult,
): Promise<RunFile[]> {
  const addresses = new Set([...output_files, ...(telemetry_data == null ? [] : [telemetry_data])]);
  const files: RunFile[] = [];
  const fileOf = (address: string): RunFile => {
    const path = pathInAttempt(address) ?? address;
    return { path, kind: fileKindOf(path), place: 'runner', address };
  };
  // A result may name a hundred thousand files.
  for await (const part of share.mapped(addresses, fileOf)) files.push(...part);
  return files;
}
