/** The place of a run in the object store, and the steps that all uploads share: addresses of parts, and the check of what was sent. */
import { createHash } from 'node:crypto';
import { SimbatchError } from '../../domain/errors.ts';
import { filePathFault } from '../../domain/runs/file-path.ts';
import { batchIdOf, runIdOf } from '../../domain/ids.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { BatchConfig, SignedUpload, Uuid } from '../../contract/types.ts';
import { ObjectStoreError, type ObjectStore } from './object-store/object-store.ts';
import { type StoreReader, readJob } from '../kernel/records/lookup.ts';

export interface ObjectStorePart {
  /** Where files of runs are uploaded to; undefined: nowhere. */
  objectStore: ObjectStore | undefined;
}

export interface RunPlaceParts extends StoreReader, ObjectStorePart {}

/** A file in several parts has parts of this size. */
const PART_BYTES = 8 << 20;

/** A bucket, and the prefix of keys in it. */
export interface RunPlace {
  store: ObjectStore;
  bucket: string;
  prefix: string;
}

/** Whether files of this study are uploaded: it names a bucket that this coordinator may use. */
export function uploads(parts: ObjectStorePart, { telemetry }: Pick<BatchConfig, 'telemetry'>): boolean {
  return parts.objectStore?.serves(telemetry.storage.s3_bucket) ?? false;
}

/** `<s3_prefix>/<batch_id>/<run_id>`. @throws SimbatchError `uploads-unavailable` where files are not uploaded */
export function requireRunPlace(parts: RunPlaceParts, jobId: Uuid): RunPlace {
  const { batchState } = readJob(parts, parts.store, jobId);
  const { config } = parts.studyCache.of(batchState.context).submission;
  const store = parts.objectStore;
  if (store === undefined || !uploads(parts, config)) {
    throw new SimbatchError(
      'uploads-unavailable',
      `files of job ${jobId} are not uploaded: the study names no bucket that this coordinator may use; see --s3-bucket`,
    );
  }
  const { s3_bucket: bucket, s3_prefix } = config.telemetry.storage;
  const folders = s3_prefix.split('/').filter((it) => it !== '');
  return { store, bucket, prefix: [...folders, batchIdOf(jobId), runIdOf(jobId)].join('/') };
}

/** @throws SimbatchError `invalid-request` for a path that leaves the prefix */
export function requirePath(path: string): void {
  const fault = filePathFault(path);
  if (fault !== undefined) throw new SimbatchError('invalid-request', `the path ${JSON.stringify(path)} ${fault}`);
}

/** @throws SimbatchError `invalid-request` for more parts than are signed at once */
export function requireParts(files: readonly { bytes: number }[]): void {
  const parts = files.reduce((sum, { bytes }) => sum + Math.max(1, Math.ceil(bytes / PART_BYTES)), 0);
  if (parts <= LIMITS.uploadParts) return;
  const why = `the files have ${String(parts)} parts of ${String(PART_BYTES)} bytes; at most ${String(LIMITS.uploadParts)} are signed at once`;
  throw new SimbatchError('invalid-request', `${why}: send fewer files`);
}

/** Signs the addresses of a file's parts. @throws SimbatchError `uploads-unavailable` */
export async function signFile(
  { store, bucket, prefix }: RunPlace,
  path: string,
  bytes: number,
): Promise<SignedUpload> {
  const key = `${prefix}/${path}`;
  if (bytes <= PART_BYTES) return { path, part_bytes: PART_BYTES, urls: [await store.signedPut(bucket, key)] };
  const uploadId = await reached(() => store.begin(bucket, key));
  const urls: string[] = [];
  for (let number = 1; (number - 1) * PART_BYTES < bytes; number++) {
    urls.push(await store.signedPut(bucket, key, { uploadId, number }));
  }
  return { path, upload_id: uploadId, part_bytes: PART_BYTES, urls };
}

/** A file as its runner has sent it. */
export interface SentFile {
  path: string;
  upload_id?: string;
  etags: readonly string[];
}

/** Completes a file; the store has the bytes that the runner has sent then. @throws SimbatchError `uploads-unavailable` */
export async function requireSent({ store, bucket, prefix }: RunPlace, file: SentFile): Promise<void> {
  const { path, upload_id: uploadId, etags } = file;
  requirePath(path);
  const key = `${prefix}/${path}`;
  if (uploadId !== undefined) {
    await reached(async () => {
      try {
        await store.complete(bucket, key, uploadId, etags);
      } catch (error) {
        // Completed before, and the answer was lost: most stores know the upload no longer.
        if (!(error instanceof ObjectStoreError) || (await store.etagOf(bucket, key)) !== tagOfParts(etags))
          throw error;
      }
    });
  } else if ((await reached(() => store.etagOf(bucket, key))) !== etags[0]?.replaceAll('"', '')) {
    throw new SimbatchError(
      'uploads-unavailable',
      `the object store does not have ${JSON.stringify(key)} as it was sent`,
    );
  }
}

/** The entity tag of an object that was sent in parts: the MD5 of those of the parts, and their number; of a store that encrypts another one. */
function tagOfParts(etags: readonly string[]): string {
  const tags = etags.map((it) => Buffer.from(it.replaceAll('"', ''), 'hex'));
  return `${createHash('md5').update(Buffer.concat(tags)).digest('hex')}-${String(etags.length)}`;
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

/** A file in an object store. */
export interface StoredObject {
  store: ObjectStore;
  bucket: string;
  key: string;
}

/** Where an address of a result is, for a reader; undefined for addresses outside the object store of this coordinator. */
export function objectOf(parts: ObjectStorePart, address: string): StoredObject | undefined {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/s.exec(address) ?? [];
  const store = parts.objectStore;
  if (bucket === undefined || key === undefined || store === undefined || !store.serves(bucket)) return undefined;
  return { store, bucket, key };
}
