/**
 * Checkpoints of runs in the object store. A runner sends all files of a checkpoint to keys that no other upload uses; the record
 * that names the complete set is written last, so that a half upload is never read.
 */
import { inParallel } from '../../../base/async/in-parallel.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import type {
  CheckpointCompleteRequest,
  CheckpointCompleteResponse,
  CheckpointRecord,
  CheckpointRequest,
  CheckpointResponse,
  CheckpointUploadRequest,
  CheckpointUploadResponse,
  Uuid,
} from '../../../contract/types.ts';

import { keys } from '../../kernel/storage/keys.ts';
import type { Turn, Turns } from '../../kernel/turn/turn.ts';
import { recordFrom, type CheckpointRemovals } from './checkpoint-removals.ts';
import {
  notSigned,
  requireDistinct,
  requireParts,
  requireRunPlace,
  requireSent,
  signFile,
  type RunPlace,
  type RunPlaceParts,
} from '../run-place.ts';
import { requireCurrent } from '../current-attempt.ts';
import { readJob, jobOrThrow } from '../../kernel/records/lookup.ts';

interface CheckpointParts extends RunPlaceParts {
  turns: Turns;
  checkpointRemovals: CheckpointRemovals;
}

type StoredFile = NonNullable<CheckpointRecord['complete']>['files'][number];

const UNCHANGED = 'its checkpoint is not changed';
/** Files that are begun or verified side by side. */
const FILES_AT_ONCE = 8;

/** `<s3_prefix>/<batch_id>/<run_id>/checkpoint`. @throws SimbatchError `uploads-unavailable` */
function requirePlace(parts: CheckpointParts, jobId: Uuid): RunPlace {
  const place = requireRunPlace(parts, jobId);
  return { ...place, prefix: `${place.prefix}/checkpoint` };
}

/** The keys of one upload; no other upload uses them. */
const placeOfUpload = (place: RunPlace, number: number): RunPlace => ({
  ...place,
  prefix: `${place.prefix}/${String(number)}`,
});

/** Returns the checkpoint of a run for its current attempt. @throws SimbatchError `stale-attempt`, `uploads-unavailable` */
export async function openCheckpoint(
  parts: CheckpointParts,
  jobId: Uuid,
  { runner_id, attempt }: CheckpointRequest,
): Promise<CheckpointResponse> {
  requireCurrent(readJob(parts, parts.store, jobId).state, jobId, runner_id, attempt, UNCHANGED);
  const place = requirePlace(parts, jobId);
  const { complete } = recordFrom(parts.store.get(keys.checkpoint(jobId))) ?? {};
  if (complete === undefined) return {};
  const files = await Promise.all(
    complete.files.map(async ({ path, bytes, sha256, number }) => {
      const { store, bucket, prefix } = placeOfUpload(place, number);
      return { path, bytes, sha256, url: await store.signedRead(bucket, `${prefix}/${path}`) };
    }),
  );
  return { checkpoint: { attempt: complete.attempt, files } };
}

/** Signs the addresses of a checkpoint's files. @throws SimbatchError `stale-attempt`, `uploads-unavailable`, `invalid-request` */
export async function beginCheckpoint(
  parts: CheckpointParts,
  jobId: Uuid,
  { runner_id, attempt, number: again, files }: CheckpointUploadRequest,
): Promise<CheckpointUploadResponse> {
  requireCurrent(readJob(parts, parts.store, jobId).state, jobId, runner_id, attempt, UNCHANGED);
  const place = requirePlace(parts, jobId);
  const declared = files.map(({ bytes, ...file }) => ({ ...file, size: bytes }));
  requireParts(declared);
  requireDistinct(files);
  // Recorded before the first address exists: whatever is sent to them is found and removed when the run has ended.
  const record = await parts.turns.run('begin-checkpoint', (turn) => {
    requireCurrent(jobOrThrow(turn, jobId), jobId, runner_id, attempt, UNCHANGED);
    const before = recordFrom(turn.read(keys.checkpoint(jobId)));
    const { bucket, prefix } = place;
    const latest = before?.begun ?? 0;
    if (again !== undefined && again !== latest)
      throw stale(jobId, `its upload ${String(again)} is not the latest, which is ${String(latest)}`);
    const begun = again ?? latest + 1;
    return put(turn, jobId, { ...before, bucket, prefix, begun, signedAtMs: turn.now });
  });
  parts.checkpointRemovals.note(jobId);
  const { begun: number } = record;
  const uploadPlace = placeOfUpload(place, number);
  const signed = await inParallel(declared, FILES_AT_ONCE, async (file) => {
    const isKept = record.complete?.files.some((it) => isSame(it, { ...file, bytes: file.size })) === true;
    return isKept ? notSigned(file.path, file.size) : await signFile(uploadPlace, file);
  });
  return { number, files: signed };
}

/**
 * Makes the files of an upload the checkpoint of the run, or gives the upload up. A repeated request is answered as the first one.
 * @throws SimbatchError `stale-attempt`, `uploads-unavailable`; the checkpoint before stays the valid one then
 */
export async function completeCheckpoint(
  parts: CheckpointParts,
  jobId: Uuid,
  request: CheckpointCompleteRequest,
): Promise<CheckpointCompleteResponse> {
  const { runner_id, attempt, number, files, failed } = request;
  requireCurrent(readJob(parts, parts.store, jobId).state, jobId, runner_id, attempt, UNCHANGED);
  const place = requirePlace(parts, jobId);
  const before = recordFrom(parts.store.get(keys.checkpoint(jobId)));
  if (before === undefined || number > before.begun) throw stale(jobId, `its upload ${String(number)} was not begun`);
  if (failed !== undefined) {
    // The checkpoint itself stays: only the answer to its completion was lost.
    parts.checkpointRemovals.giveUp(jobId, before.complete?.number === number ? number - 1 : number);
    return answerOf(before);
  }
  if (before.complete?.number === number) return answerOf(before);
  requireDistinct(files);
  const known = before.complete?.files ?? [];
  const sent = files.flatMap(({ path, upload_id, etags }) =>
    upload_id === undefined ? [] : [{ path, upload_id, etags }],
  );
  await inParallel(sent, FILES_AT_ONCE, (file) => requireSent(placeOfUpload(place, number), file));
  const record = await parts.turns.run('complete-checkpoint', (turn) => {
    requireCurrent(jobOrThrow(turn, jobId), jobId, runner_id, attempt, UNCHANGED);
    const latest = recordFrom(turn.read(keys.checkpoint(jobId)));
    if (latest === undefined || (latest.complete?.number ?? 0) !== (before.complete?.number ?? 0))
      throw notTaken(jobId, 'another checkpoint of it was completed meanwhile; send it again');
    if (parts.checkpointRemovals.isGivenUp(jobId, number))
      throw notTaken(jobId, `its upload ${String(number)} was given up; begin another one`);
    const stored = files.map(({ path, bytes, sha256, upload_id }): StoredFile => {
      if (upload_id !== undefined) return { path, bytes, sha256, number };
      const kept = known.find((it) => isSame(it, { path, bytes, sha256 }));
      if (kept === undefined) {
        const why = `the checkpoint of run ${jobId} lacks ${JSON.stringify(path)}: the file was not sent; send it`;
        throw new SimbatchError('uploads-unavailable', why);
      }
      return kept;
    });
    return put(turn, jobId, { ...latest, complete: { attempt, number, files: stored } });
  });
  parts.checkpointRemovals.prune(jobId, number);
  return answerOf(record);
}

const answerOf = ({ complete }: CheckpointRecord): CheckpointCompleteResponse =>
  complete === undefined ? {} : { attempt: complete.attempt };

function put(turn: Turn, jobId: Uuid, record: CheckpointRecord): CheckpointRecord {
  turn.put(keys.checkpoint(jobId), JSON.stringify(record));
  return record;
}

type Content = Pick<StoredFile, 'path' | 'bytes' | 'sha256'>;

const isSame = (a: Content, b: Content): boolean => a.path === b.path && a.bytes === b.bytes && a.sha256 === b.sha256;

/** The attempt is the current one: its runner may send the next checkpoint. */
const notTaken = (jobId: Uuid, why: string): SimbatchError =>
  new SimbatchError('uploads-unavailable', `the checkpoint of run ${jobId} is not changed: ${why}`);

const stale = (jobId: Uuid, why: string): SimbatchError =>
  new SimbatchError('stale-attempt', `the checkpoint of run ${jobId} is not changed: ${why}`);
