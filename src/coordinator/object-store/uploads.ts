/** Uploads: the addresses to which a runner sends the files of a run that has ended, and the result that names them then. */
import { SimbatchError } from '../../domain/errors.ts';
import { batchIdOf, runIdOf } from '../../domain/ids.ts';
import { filePathFault, pathInAttempt } from '../../domain/file-path.ts';
import { LIMITS } from '../../contract/limits.ts';
import type {
  BatchConfig,
  JobResult,
  SignedUpload,
  StoredResult,
  UploadCompleteRequest,
  UploadRequest,
  UploadResponse,
  Uuid,
} from '../../contract/types.ts';
import type { Core } from '../core.ts';
import { isTerminal, type JobState } from '../actors/actor-kinds.ts';
import { jobOrThrow } from '../operations/cancel.ts';
import { jobResult, readJob } from '../operations/readings.ts';
import { keys } from '../storage/keys.ts';
import { ObjectStoreError, type ObjectStore } from './object-store.ts';

/** A file in several parts has parts of this size. */
const PART_BYTES = 8 << 20;

/** The bucket and the prefix of the files of an attempt. */
export interface UploadPlace {
  store: ObjectStore;
  bucket: string;
  prefix: string;
}

/** Whether files of this study are uploaded: it names a bucket that this coordinator may use. */
export function uploads(core: Core, { telemetry }: Pick<BatchConfig, 'telemetry'>): boolean {
  return core.options.objectStore?.serves(telemetry.storage.s3_bucket) ?? false;
}

/** `<s3_prefix>/<batch_id>/<run_id>/attempt-<n>`; undefined where files are not uploaded. */
function placeOf(core: Core, jobId: Uuid, attempt: number): UploadPlace | undefined {
  const { batchState } = readJob(core, core.store, jobId);
  const { config } = core.studyCache.of(batchState.context).submission;
  const store = core.options.objectStore;
  if (store === undefined || !uploads(core, config)) return undefined;
  const { s3_bucket: bucket, s3_prefix } = config.telemetry.storage;
  const folders = s3_prefix.split('/').filter((it) => it !== '');
  return {
    store,
    bucket,
    prefix: [...folders, batchIdOf(jobId), runIdOf(jobId), `attempt-${String(attempt)}`].join('/'),
  };
}

/** Signs the addresses of files. @throws SimbatchError `stale-attempt`, `uploads-unavailable`, `invalid-request` */
export async function beginUpload(
  core: Core,
  jobId: Uuid,
  { runner_id, attempt, files }: UploadRequest,
): Promise<UploadResponse> {
  requireEnded(readJob(core, core.store, jobId).state, jobId, runner_id, attempt);
  const place = requirePlace(core, jobId, attempt);
  const parts = files.reduce((sum, { bytes }) => sum + Math.max(1, Math.ceil(bytes / PART_BYTES)), 0);
  if (parts > LIMITS.uploadParts) {
    const why = `the files have ${String(parts)} parts of ${String(PART_BYTES)} bytes; at most ${String(LIMITS.uploadParts)} are signed at once`;
    throw new SimbatchError('invalid-request', `${why}: send fewer files`);
  }
  const signed: SignedUpload[] = [];
  for (const { path, bytes } of files) {
    requirePath(path);
    signed.push(await sign(place, path, bytes));
  }
  return { files: signed };
}

async function sign({ store, bucket, prefix }: UploadPlace, path: string, bytes: number): Promise<SignedUpload> {
  const key = `${prefix}/${path}`;
  if (bytes <= PART_BYTES) return { path, part_bytes: PART_BYTES, urls: [await store.signedPut(bucket, key)] };
  const uploadId = await reached(() => store.begin(bucket, key));
  const urls: string[] = [];
  for (let number = 1; (number - 1) * PART_BYTES < bytes; number++) {
    urls.push(await store.signedPut(bucket, key, { uploadId, number }));
  }
  return { path, upload_id: uploadId, part_bytes: PART_BYTES, urls };
}

/**
 * Completes the uploads of files, and names them in the result of the run.
 * @throws SimbatchError `stale-attempt`, `uploads-unavailable`; the result is unchanged then
 */
export async function completeUpload(
  core: Core,
  jobId: Uuid,
  { runner_id, attempt, files, failed }: UploadCompleteRequest,
): Promise<JobResult> {
  requireEnded(readJob(core, core.store, jobId).state, jobId, runner_id, attempt);
  const { store, bucket, prefix } = requirePlace(core, jobId, attempt);
  for (const { path, upload_id: uploadId, etags } of files) {
    requirePath(path);
    const key = `${prefix}/${path}`;
    if (uploadId !== undefined) await reached(() => store.complete(bucket, key, uploadId, etags));
    // The result names only objects that are there with the bytes that the runner has sent.
    else if ((await reached(() => store.etagOf(bucket, key))) !== etags[0]?.replaceAll('"', '')) {
      throw new SimbatchError(
        'uploads-unavailable',
        `the object store does not have ${JSON.stringify(key)} as it was sent`,
      );
    }
  }
  await core.turns.run('complete-upload', (turn) => {
    requireEnded(jobOrThrow(turn, jobId), jobId, runner_id, attempt);
    const text = turn.read(keys.result(jobId));
    if (text === undefined) return;
    const result = JSON.parse(text) as StoredResult;
    turn.put(keys.result(jobId), JSON.stringify(uploaded(result, `s3://${bucket}/${prefix}/`, files, failed)));
  });
  return jobResult(core, jobId);
}

/** The result with the addresses of uploaded files, and the reasons of the others. */
function uploaded(
  result: StoredResult,
  base: string,
  files: UploadCompleteRequest['files'],
  failed: UploadCompleteRequest['failed'],
): StoredResult {
  const paths = new Set(files.map((it) => it.path));
  const addressOf = (address: string): string => {
    const path = address.startsWith('s3://') ? undefined : pathInAttempt(address);
    return path !== undefined && paths.has(path) ? `${base}${path}` : address;
  };
  const output_files = result.output_files.map(addressOf);
  const before = result.upload?.failed ?? [];
  const faults = [...before, ...failed.map((it) => `${it.path}: ${it.detail}`)].slice(0, LIMITS.uploadFiles);
  return {
    ...result,
    output_files,
    ...(result.telemetry_data == null ? {} : { telemetry_data: addressOf(result.telemetry_data) }),
    upload: { files: output_files.filter((it) => it.startsWith('s3://')).length, failed: faults },
  };
}

function requireEnded({ value, context }: JobState, jobId: Uuid, runnerId: string, attempt: number): void {
  if (isTerminal(value) && context.attempt === attempt && context.runnerId === runnerId) return;
  throw new SimbatchError(
    'stale-attempt',
    `attempt ${String(attempt)} by runner "${runnerId}" is not the last one of job ${jobId}, or the job has not ended: it is ${value}`,
  );
}

function requirePlace(core: Core, jobId: Uuid, attempt: number): UploadPlace {
  const place = placeOf(core, jobId, attempt);
  if (place !== undefined) return place;
  throw new SimbatchError(
    'uploads-unavailable',
    `files of job ${jobId} are not uploaded: the study names no bucket that this coordinator may use; see --s3-bucket`,
  );
}

function requirePath(path: string): void {
  const fault = filePathFault(path);
  if (fault !== undefined) throw new SimbatchError('invalid-request', `the path ${JSON.stringify(path)} ${fault}`);
}

/** @throws SimbatchError `uploads-unavailable` for a store that refuses or does not answer */
async function reached<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ObjectStoreError)) throw error;
    throw new SimbatchError('uploads-unavailable', error.message, { cause: error });
  }
}

/** Where an address of a result is, for a reader; undefined for addresses outside the object store of this coordinator. */
export function objectOf(core: Core, address: string): { store: ObjectStore; bucket: string; key: string } | undefined {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/s.exec(address) ?? [];
  const store = core.options.objectStore;
  if (bucket === undefined || key === undefined || store === undefined || !store.serves(bucket)) return undefined;
  return { store, bucket, key };
}
