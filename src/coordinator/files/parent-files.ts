/** The files of the run that a run of an extraction is about, for the runner of the extraction's attempt. */
import { LIMITS } from '../../contract/limits.ts';
import type { ParentFiles, ParentFilesRequest, Uuid } from '../../contract/types.ts';
import { isDamage, SimbatchError } from '../../domain/errors.ts';
import { batchIdOf, jobId as jobIdOf, runIdOf } from '../../domain/ids.ts';
import { filesRead } from '../../domain/extraction/submission.ts';
import { pathInAttempt } from '../../domain/files/file-path.ts';
import { storedResult } from '../kernel/records/results.ts';
import { readJob } from '../kernel/records/lookup.ts';
import type { BatchState } from '../kernel/actors/actor-kinds.ts';
import { requireCurrent } from './current-attempt.ts';
import { fileAttempt, filesOwner, type FileAttemptParts } from './file-attempt.ts';
import type { StoredPlaceParts } from './object-store/stored-place.ts';
import { attemptPlace, objectOf, reached } from './run-place.ts';

/** Files of an answer: as many addresses are signed. */
const MOST_FILES = 500;

interface ParentFileParts extends FileAttemptParts, StoredPlaceParts {}

/**
 * Returns where the files of the parent's run are that the extraction reads, and its result.
 * @throws SimbatchError `stale-attempt`, `illegal-transition` for a run of another study, `uploads-unavailable` while the object store does not answer
 */
export async function parentFiles(
  parts: ParentFileParts,
  jobId: Uuid,
  { runner_id, attempt, from = 0 }: ParentFilesRequest,
): Promise<ParentFiles> {
  const { state, batchState } = readJob(parts, parts.store, jobId);
  requireCurrent(state, jobId, runner_id, attempt, 'the files of its parent are not read');
  const parentJob = jobIdOf(requireExtraction(batchState), runIdOf(jobId));
  const { config } = parts.studyCache.of(batchState.context).submission;
  try {
    return await filesFor(parts, parentJob, filesRead(config), from);
  } catch (error) {
    const isGone = error instanceof SimbatchError && error.code === 'unknown-job';
    if (isGone || isDamage(error)) return { gone: `run ${parentJob} cannot be read: ${(error as Error).message}` };
    throw error;
  }
}

async function filesFor(
  parts: ParentFileParts,
  parentJob: Uuid,
  read: ReturnType<typeof filesRead>,
  from: number,
): Promise<ParentFiles> {
  const { jobId: owner, gone } = filesOwner(parts, parentJob);
  if (gone !== undefined) return { gone: `run ${owner} ${gone}` };
  const found = fileAttempt(parts, owner, undefined);
  const result = storedResult(parts, parts.store, parentJob);
  if (found?.result === undefined || result === undefined) return { gone: `run ${parentJob} has no result` };
  const addresses = read(found.result);
  const next = from + MOST_FILES;
  const files = await addressed(parts, owner, found.attempt, addresses.slice(from, next));
  return {
    batch_id: batchIdOf(owner),
    run_id: runIdOf(owner),
    attempt: found.attempt,
    result,
    files,
    ...(next < addresses.length ? { next } : {}),
  };
}

/** The files, with their addresses where they are in the object store and there still. */
async function addressed(
  parts: ParentFileParts,
  owner: Uuid,
  attempt: number,
  addresses: readonly string[],
): Promise<NonNullable<ParentFiles['files']>> {
  const place = attemptPlace(parts, owner, attempt);
  const objects = addresses.map((it) =>
    place !== undefined && it.startsWith('s3://') ? objectOf(place, it) : undefined,
  );
  const bytes = new Map<string, number>();
  const [first, ...others] = objects.filter((it) => it !== undefined);
  if (first !== undefined && place !== undefined) {
    const { store, bucket, key } = first;
    const prefix = others.length === 0 ? key : `${place.prefix}/`;
    for (const it of await reached(() => store.list(bucket, prefix, LIMITS.outputFiles))) bytes.set(it.key, it.bytes);
  }
  return await Promise.all(
    addresses.map(async (address, at) => {
      const path = pathInAttempt(address) ?? '';
      const object = objects[at];
      const size = object && bytes.get(object.key);
      if (object === undefined || size === undefined) return { path };
      return { path, bytes: size, url: await object.store.signedRead(object.bucket, object.key) };
    }),
  );
}

/** The batch whose files are read. @throws SimbatchError `illegal-transition` for a batch that is not an extraction */
function requireExtraction({ context: { parent, batchId } }: BatchState): Uuid {
  if (parent?.relation === 'extraction') return parent.batchId;
  const why = 'only runs of an extraction read the files of other runs';
  throw new SimbatchError('illegal-transition', `study ${batchId} is not an extraction: ${why}`);
}
