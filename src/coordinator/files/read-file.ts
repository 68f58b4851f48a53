/** Reads a file of a run from the place that has it, part by part and no faster than its reader. */
import type { Abandoned } from '../../base/abandonment.ts';
import type { Uuid } from '../../contract/types.ts';
import { filePathFault } from '../../domain/files/file-path.ts';
import { fileAttempt, filesOwner, unknownFile, type FileAttemptParts } from './file-attempt.ts';
import { StoredPlace, type StoredPlaceParts } from './object-store/stored-place.ts';
import type { FileReading, FileRedirect, FileWish, Place } from './place.ts';
import { RunnerPlace } from './runner/runner-place.ts';

/** The parts of the places. */
export interface ReadFileParts extends FileAttemptParts, StoredPlaceParts {}

/** A wish of a client. */
export interface JobFileWish extends FileWish {
  /** A file in an object store is read by the coordinator; else the client gets its address. */
  isRelayed: boolean;
}

/**
 * Begins to read a file, or signs the address of one in an object store, unless `isRelayed`.
 * @throws SimbatchError as `readFile`
 */
export async function jobFile(
  parts: ReadFileParts,
  jobId: Uuid,
  wish: JobFileWish,
  stop: Abandoned,
): Promise<FileReading | FileRedirect> {
  const place = placeOf(parts, jobId, wish);
  return place.addressOf === undefined || wish.isRelayed
    ? await place.read(wish, stop)
    : await place.addressOf(wish.path);
}

/**
 * Begins to read a file. The caller iterates `content` to its end, calls `close`, or aborts `stop`.
 * @throws SimbatchError `unknown-job`, `unknown-file`, `artifact-not-uploaded` (naming runner and path),
 * `range-not-satisfiable`, `too-many-requests`; of a file in an object store `file-too-large` and `object-store-failed`; while
 * `content` is iterated, an error for a file that changes or a runner that leaves.
 */
export async function readFile(
  parts: ReadFileParts,
  jobId: Uuid,
  wish: FileWish,
  stop: Abandoned,
): Promise<FileReading> {
  return await placeOf(parts, jobId, wish).read(wish, stop);
}

/** The object store where the result names the file there, else the runner. */
function placeOf(parts: ReadFileParts, jobId: Uuid, { path, attempt: wanted }: FileWish): Place {
  const fault = filePathFault(path);
  if (fault !== undefined) throw unknownFile(jobId, path, fault);
  const { jobId: owner, gone } = filesOwner(parts, jobId);
  if (gone !== undefined) throw unknownFile(owner, path, gone);
  const attempt = fileAttempt(parts, owner, wanted);
  if (attempt === undefined) throw unknownFile(jobId, path, 'is not there: the run has not been claimed yet');
  const stored = new StoredPlace(parts, attempt);
  return stored.has(path) ? stored : new RunnerPlace(parts, attempt);
}
