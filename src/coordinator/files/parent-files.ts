/** The files of the run that a run of an extraction is about, for the runner of the extraction's attempt. */
import type { ParentFiles, ParentFilesRequest, StoredResult, Uuid } from '../../contract/types.ts';
import { isDamage, SimbatchError } from '../../domain/errors.ts';
import { batchIdOf, jobId as jobIdOf, runIdOf } from '../../domain/ids.ts';
import { pathInAttempt } from '../../domain/files/file-path.ts';
import { storedResult } from '../kernel/records/results.ts';
import { readJob } from '../kernel/records/lookup.ts';
import type { BatchState } from '../kernel/actors/actor-kinds.ts';
import { requireCurrent } from './current-attempt.ts';
import { fileAttempt, filesOwner, type FileAttemptParts } from './file-attempt.ts';
import type { StoredPlaceParts } from './object-store/stored-place.ts';
import { attemptPlace, objectOf, reached } from './run-place.ts';

interface ParentFileParts extends FileAttemptParts, StoredPlaceParts {}

/**
 * Returns where the telemetry of the parent's run is, and its result.
 * @throws SimbatchError `stale-attempt`, `illegal-transition` for a run of another study, `uploads-unavailable` while the object store does not answer
 */
export async function parentFiles(
  parts: ParentFileParts,
  jobId: Uuid,
  { runner_id, attempt }: ParentFilesRequest,
): Promise<ParentFiles> {
  const { state, batchState } = readJob(parts, parts.store, jobId);
  requireCurrent(state, jobId, runner_id, attempt, 'the files of its parent are not read');
  const parentJob = jobIdOf(requireExtraction(batchState), runIdOf(jobId));
  try {
    return await filesOf(parts, parentJob);
  } catch (error) {
    const isGone = error instanceof SimbatchError && error.code === 'unknown-job';
    if (isGone || isDamage(error)) return { gone: `job ${parentJob} cannot be read: ${(error as Error).message}` };
    throw error;
  }
}

async function filesOf(parts: ParentFileParts, parentJob: Uuid): Promise<ParentFiles> {
  const { jobId: owner, gone } = filesOwner(parts, parentJob);
  if (gone !== undefined) return { gone: `job ${owner} ${gone}` };
  const found = fileAttempt(parts, owner, undefined);
  const result = storedResult(parts, parts.store, parentJob);
  if (found?.result === undefined || result === undefined) return { gone: `job ${parentJob} has no result` };
  const files = await addressed(parts, owner, found.attempt, found.result);
  return { batch_id: batchIdOf(owner), run_id: runIdOf(owner), attempt: found.attempt, result, files };
}

/** The telemetry file, with its address where it is in the object store and there still. */
async function addressed(
  parts: ParentFileParts,
  owner: Uuid,
  attempt: number,
  { telemetry_data: address }: StoredResult,
): Promise<NonNullable<ParentFiles['files']>> {
  if (address == null) return [];
  const path = pathInAttempt(address) ?? '';
  if (!address.startsWith('s3://')) return [{ path }];
  const place = attemptPlace(parts, owner, attempt);
  const object = place && objectOf(place, address);
  if (object === undefined) return [{ path }];
  const { store, bucket, key } = object;
  const stored = (await reached(() => store.list(bucket, key))).find((it) => it.key === key);
  if (stored === undefined) return [{ path }];
  return [{ path, bytes: stored.bytes, url: await store.signedRead(bucket, key) }];
}

/** The batch whose files are read. @throws SimbatchError `illegal-transition` for a batch that is not an extraction */
function requireExtraction({ context: { parent, batchId } }: BatchState): Uuid {
  if (parent?.relation === 'extraction') return parent.batchId;
  const why = 'only runs of an extraction read the files of other runs';
  throw new SimbatchError('illegal-transition', `batch ${batchId} is not an extraction: ${why}`);
}
