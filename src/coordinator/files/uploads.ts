/** Uploads: the addresses to which a runner sends the files of a run that has ended, and the result that names them then. */
import { isDeepStrictEqual } from 'node:util';
import { inParallel } from '../../base/async/in-parallel.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { pathInAttempt } from '../../domain/files/file-path.ts';
import { batchIdOf, runIdOf } from '../../domain/ids.ts';
import { LIMITS } from '../../contract/limits.ts';
import type {
  JobResult,
  StoredResult,
  UnsentFiles,
  UploadCompleteRequest,
  UploadRequest,
  UploadResponse,
  Uuid,
} from '../../contract/types.ts';
import { isTerminal, type JobState } from '../kernel/actors/actor-kinds.ts';
import { keys } from '../kernel/storage/keys.ts';
import type { Turn, Turns } from '../kernel/turn/turn.ts';
import {
  addressBelow,
  notSigned,
  ofAttempt,
  reached,
  requireDistinct,
  requireParts,
  requireRunPlace,
  requireSent,
  signFile,
  type RunPlace,
  type RunPlaceParts,
  type SentFile,
} from './run-place.ts';
import { countWaiting } from './object-store/outbox.ts';
import { readJob, jobOrThrow } from '../kernel/records/lookup.ts';
import { jobResult } from '../kernel/records/results.ts';

interface UploadParts extends RunPlaceParts {
  turns: Turns;
}

/** Files that are begun or completed side by side. */
const FILES_AT_ONCE = 8;
/** Runs that a finding names. */
const MOST_EXAMPLES = 5;

/** `<s3_prefix>/<batch_id>/<run_id>/attempt-<n>`. @throws SimbatchError `uploads-unavailable` */
function requirePlace(parts: UploadParts, jobId: Uuid, attempt: number): RunPlace {
  return ofAttempt(requireRunPlace(parts, jobId), attempt);
}

/** Signs the addresses of files. @throws SimbatchError `stale-attempt`, `uploads-unavailable`, `invalid-request` */
export async function beginUpload(
  parts: UploadParts,
  jobId: Uuid,
  { runner_id, attempt, files }: UploadRequest,
): Promise<UploadResponse> {
  requireEnded(readJob(parts, parts.store, jobId).state, jobId, runner_id, attempt);
  const place = requirePlace(parts, jobId, attempt);
  requireParts(files);
  requireDistinct(files);
  const { store, bucket, prefix } = place;
  return await store.lanes.run(jobId, async () => {
    const stored = storedPaths(parts, jobId, place);
    const begun = files.filter((it) => it.upload_id === undefined && !stored.has(it.path));
    const objectKeys = new Set(begun.map((it) => `${prefix}/${it.path}`));
    if (begun.length > 0) await reached(() => store.abortBegun(bucket, `${prefix}/`, objectKeys));
    return {
      files: await inParallel(files, FILES_AT_ONCE, async (file) =>
        stored.has(file.path) ? notSigned(file.path, file.size) : await signFile(place, file),
      ),
    };
  });
}

/**
 * Completes the uploads of files, and names them in the result of the run. A file that the result names is not changed any more.
 * @throws SimbatchError `stale-attempt`, `uploads-unavailable`, `invalid-request`; the result is unchanged then
 */
export async function completeUpload(
  parts: UploadParts,
  jobId: Uuid,
  { runner_id, attempt, files, failed, ...left }: UploadCompleteRequest,
): Promise<JobResult> {
  requireEnded(readJob(parts, parts.store, jobId).state, jobId, runner_id, attempt);
  // A runner may say why it sends nothing also where the study has no place any more.
  const place = files.length === 0 ? undefined : requirePlace(parts, jobId, attempt);
  requireDistinct(files);
  const name = (): Promise<void> =>
    parts.turns.run('complete-upload', (turn) => {
      requireEnded(jobOrThrow(turn, jobId), jobId, runner_id, attempt);
      const text = turn.read(keys.result(jobId));
      if (text === undefined) return;
      const result = JSON.parse(text) as StoredResult;
      const base = place === undefined ? '' : addressBelow(place);
      const after = uploaded(result, base, { files, failed, ...left });
      if (isDeepStrictEqual(after, result)) return;
      turn.put(keys.result(jobId), JSON.stringify(after));
      countWaiting(turn, { jobId, runnerId: runner_id }, result, after);
      countUnsent(turn, jobId, result.upload?.failed ?? [], after.upload?.failed ?? []);
    });
  await (place === undefined
    ? name()
    : place.store.lanes.run(jobId, async () => {
        const stored = storedPaths(parts, jobId, place);
        const sent = files.filter((it) => !stored.has(it.path)).map(requireTicket);
        await inParallel(sent, FILES_AT_ONCE, (file) => requireSent(place, file));
        await name();
      }));
  return jobResult(parts, jobId);
}

/** The paths of files that the result names in the store. */
function storedPaths(parts: UploadParts, jobId: Uuid, place: RunPlace): Set<string> {
  const text = parts.store.get(keys.result(jobId));
  if (text === undefined) return new Set();
  const { output_files, telemetry_data } = JSON.parse(text) as StoredResult;
  const base = addressBelow(place);
  const addresses = [...output_files, telemetry_data ?? ''].filter((it) => it.startsWith(base));
  return new Set(addresses.map((it) => it.slice(base.length)));
}

/** @throws SimbatchError `invalid-request` for a file that is neither in the store nor was sent */
function requireTicket({ path, upload_id, etags }: UploadCompleteRequest['files'][number]): SentFile {
  if (upload_id !== undefined) return { path, upload_id, etags };
  const why = `the file ${JSON.stringify(path)} has no \`upload_id\`, and the result does not name it in the store`;
  throw new SimbatchError('invalid-request', `${why}; begin its upload`);
}

/** Counts the files of a run that were lost before they could be sent, for the findings of its batch. A repeated report counts once. */
function countUnsent(turn: Turn, jobId: Uuid, before: readonly string[], after: readonly string[]): void {
  const detail = after.at(-1);
  if (after.length === before.length || detail === undefined) return;
  const key = keys.unsent(batchIdOf(jobId));
  const text = turn.read(key);
  const { files, runs, examples }: UnsentFiles =
    text === undefined ? { files: 0, runs: 0, examples: [], detail } : (JSON.parse(text) as UnsentFiles);
  const isNew = before.length === 0;
  const unsent: UnsentFiles = {
    files: files + after.length - before.length,
    runs: runs + (isNew ? 1 : 0),
    examples: isNew && examples.length < MOST_EXAMPLES ? [...examples, runIdOf(jobId)] : examples,
    detail,
  };
  turn.put(key, JSON.stringify(unsent));
}

/** The result with the addresses of uploaded files, and the reasons of the others. */
function uploaded(
  result: StoredResult,
  base: string,
  { files, failed, left = 0, reason }: Pick<UploadCompleteRequest, 'files' | 'failed' | 'left' | 'reason'>,
): StoredResult {
  const paths = new Set(files.map((it) => it.path));
  const addressOf = (address: string): string => {
    const path = address.startsWith('s3://') ? undefined : pathInAttempt(address);
    return path !== undefined && paths.has(path) ? `${base}${path}` : address;
  };
  const output_files = result.output_files.map(addressOf);
  const before = result.upload?.failed ?? [];
  // A file that the result names in the store is there, also when it is gone from the runner since.
  const stored = new Set(output_files.flatMap((it) => (it.startsWith('s3://') ? [pathInAttempt(it)] : [])));
  const lost = failed.filter((it) => !stored.has(it.path));
  const faults = [...new Set([...before, ...lost.map((it) => `${it.path}: ${it.detail}`)])].slice(
    0,
    LIMITS.uploadFiles,
  );
  return {
    ...result,
    output_files,
    ...(result.telemetry_data == null ? {} : { telemetry_data: addressOf(result.telemetry_data) }),
    upload: {
      files: output_files.filter((it) => it.startsWith('s3://')).length,
      failed: faults,
      ...(left === 0 ? {} : { waiting: left, ...(reason === undefined ? {} : { reason }) }),
    },
  };
}

function requireEnded({ value, context }: JobState, jobId: Uuid, runnerId: string, attempt: number): void {
  if (isTerminal(value) && context.attempt === attempt && context.runnerId === runnerId) return;
  throw new SimbatchError(
    'stale-attempt',
    `attempt ${String(attempt)} by runner "${runnerId}" is not the last one of run ${jobId}, or the run has not ended: it is ${value}`,
  );
}
