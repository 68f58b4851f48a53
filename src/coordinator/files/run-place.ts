/** The place of a run in the object store, and the steps that all uploads share: addresses of parts, and the check of what was sent. */
import { SimbatchError } from '../../domain/errors.ts';
import { filePathFault } from '../../domain/files/file-path.ts';
import { storePrefix, storePrefixFault } from '../../domain/study/store-prefix.ts';
import { partBytesOf, partCountOf, partSizeOf } from '../../domain/files/upload-parts.ts';
import { batchIdOf, runIdOf } from '../../domain/ids.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { BatchConfig, SignedUpload, Uuid } from '../../contract/types.ts';
import type { ObjectStore } from './object-store/object-store.ts';
import { ObjectStoreError } from './object-store/store-answers.ts';
import { type BegunUpload, digestOfParts } from './object-store/upload-tickets.ts';
import { type StoreReader, readJob } from '../kernel/records/lookup.ts';

export interface ObjectStorePart {
  /** Where files of runs are uploaded to; undefined: nowhere. */
  objectStore: ObjectStore | undefined;
}

export interface RunPlaceParts extends StoreReader, ObjectStorePart {}

/** A bucket, and the prefix of keys in it. */
export interface RunPlace {
  store: ObjectStore;
  bucket: string;
  prefix: string;
}

/** Whether files of this study are uploaded: it names a bucket that this coordinator may use, and folders in it. */
export function uploads(parts: ObjectStorePart, { telemetry }: Pick<BatchConfig, 'telemetry'>): boolean {
  const { s3_bucket: bucket, s3_prefix: prefix } = telemetry.storage;
  return parts.objectStore?.serves(bucket) === true && storePrefixFault(prefix) === undefined;
}

/** `<s3_prefix>/<batch_id>/<run_id>`, or the reason why the run has no place in the store. */
function placeOrReason(parts: RunPlaceParts, jobId: Uuid): RunPlace | string {
  const { batchState } = readJob(parts, parts.store, jobId);
  const { config } = parts.studyCache.of(batchState.context).submission;
  const { s3_bucket: bucket, s3_prefix: given } = config.telemetry.storage;
  const store = parts.objectStore;
  if (store?.serves(bucket) !== true) return 'the study names no bucket that this coordinator may use; see --s3-bucket';
  // A former version took any text.
  const fault = storePrefixFault(given);
  if (fault !== undefined) return `its telemetry.storage.s3_prefix ${fault}, and submit the study again`;
  const folders = [storePrefix(given), batchIdOf(jobId), runIdOf(jobId)];
  return { store, bucket, prefix: folders.filter((it) => it !== '').join('/') };
}

/** The place of a run. @throws SimbatchError `uploads-unavailable` where files are not uploaded */
export function requireRunPlace(parts: RunPlaceParts, jobId: Uuid): RunPlace {
  const place = placeOrReason(parts, jobId);
  if (typeof place !== 'string') return place;
  throw new SimbatchError('uploads-unavailable', `files of run ${jobId} are not uploaded: ${place}`);
}

/** The place of an attempt in that of its run: `<s3_prefix>/<batch_id>/<run_id>/attempt-<n>`. */
export const ofAttempt = (place: RunPlace, attempt: number): RunPlace => ({
  ...place,
  prefix: `${place.prefix}/attempt-${String(attempt)}`,
});

/** The place of an attempt, for its readers; undefined where it has none. */
export function attemptPlace(parts: RunPlaceParts, jobId: Uuid, attempt: number): RunPlace | undefined {
  const place = placeOrReason(parts, jobId);
  return typeof place === 'string' ? undefined : ofAttempt(place, attempt);
}

/** The beginning of the addresses of files in a place. */
export const addressBelow = ({ bucket, prefix }: RunPlace): string => `s3://${bucket}/${prefix}/`;

/** @throws SimbatchError `invalid-request` for a path that leaves the prefix */
function requirePath(path: string): void {
  const fault = filePathFault(path);
  if (fault !== undefined) throw new SimbatchError('invalid-request', `the path ${JSON.stringify(path)} ${fault}`);
}

/** @throws SimbatchError `invalid-request` for two files of one path, or a path that leaves the prefix */
export function requireDistinct(files: readonly { path: string }[]): void {
  const paths = new Set<string>();
  for (const { path } of files) {
    requirePath(path);
    if (paths.has(path)) {
      throw new SimbatchError(
        'invalid-request',
        `the path ${JSON.stringify(path)} is there twice; name each file once`,
      );
    }
    paths.add(path);
  }
}

/** A file as its runner declares it. */
export interface DeclaredPath {
  path: string;
  size: number;
  sha256: string;
  /** The digests of its parts, where it has several. */
  parts?: readonly string[];
  /** Of an upload that has begun, whose addresses are signed again. */
  upload_id?: string;
}

/** @throws SimbatchError `invalid-request` for parts that are not those of the size, or more than are signed at once */
export function requireParts(files: readonly DeclaredPath[]): void {
  let sum = 0;
  for (const { path, size, parts } of files) {
    if (size > LIMITS.uploadBytes) {
      const most = `at most ${String(LIMITS.uploadBytes)} can be uploaded`;
      throw invalid(path, `has ${String(size)} bytes; ${most}: write smaller files, or leave it on the runner`);
    }
    const count = partCountOf(size);
    sum += count;
    if ((parts?.length ?? 1) === count) continue;
    const why = `has ${String(count)} parts of ${String(partBytesOf(size))} bytes`;
    throw invalid(
      path,
      `${why}, and the digests of ${String(parts?.length ?? 0)}; declare that of each part in \`parts\``,
    );
  }
  if (sum <= LIMITS.uploadParts) return;
  const why = `the files have ${String(sum)} parts; at most ${String(LIMITS.uploadParts)} are signed at once`;
  throw new SimbatchError('invalid-request', `${why}: send fewer files`);
}

/**
 * Begins the upload of a file, or continues the named one, and signs the addresses of its parts. Every file is sent in
 * parts, also a small one: they become an object when the coordinator completes the upload, and an address ends with it.
 * @throws SimbatchError `uploads-unavailable`, `invalid-request`
 */
export async function signFile(place: RunPlace, file: DeclaredPath): Promise<SignedUpload> {
  const { store, bucket, prefix } = place;
  const { path, size, sha256 } = file;
  const parts = partCountOf(size) === 1 ? [sha256] : (file.parts ?? []);
  const key = `${prefix}/${path}`;
  const declared = { size, sha256, parts };
  return await reached(async () => {
    const upload_id =
      file.upload_id ?? store.tickets.issue(`${bucket}/${key}`, await store.begin(bucket, key, sha256), declared);
    const upload = requireUpload(place, path, upload_id);
    if (upload.size !== size || upload.sha256 !== sha256 || upload.partsDigest !== digestOfParts(parts))
      throw invalid(path, 'was declared with another content when its upload began; begin another one');
    const signed = parts.map((digest, index) => {
      const part = { uploadId: upload.id, number: index + 1, bytes: partSizeOf(size, index), sha256: digest };
      return store.signedPart(bucket, key, part);
    });
    return { path, upload_id, part_bytes: partBytesOf(size), parts: await Promise.all(signed) };
  });
}

/** The answer for a file that the store has. */
export const notSigned = (path: string, size: number): SignedUpload => ({
  path,
  part_bytes: partBytesOf(size),
  parts: [],
});

/** A file as its runner has sent it. */
export interface SentFile {
  path: string;
  upload_id: string;
  etags: readonly string[];
}

/**
 * Completes the upload of a file: the store has the bytes that its runner declared then.
 * @throws SimbatchError `uploads-unavailable`; `invalid-request` for fewer or more tags than parts
 */
export async function requireSent(place: RunPlace, { path, upload_id, etags }: SentFile): Promise<void> {
  const { store, bucket, prefix } = place;
  requirePath(path);
  const upload = requireUpload(place, path, upload_id);
  const count = partCountOf(upload.size);
  if (etags.length !== count) {
    const why = `has ${String(count)} parts, and entity tags of ${String(etags.length)}`;
    throw invalid(path, `${why}; send every part, and name the tag of each in \`etags\``);
  }
  const key = `${prefix}/${path}`;
  await reached(async () => {
    try {
      await store.complete(bucket, key, upload.id, etags);
    } catch (error) {
      if (!(error instanceof ObjectStoreError)) throw error;
      // Completed before, and the answer was lost: most stores know the upload no longer.
      const found = await store.contentOf(bucket, key);
      if (found?.size !== upload.size || found.sha256 !== upload.sha256) throw error;
    }
  });
}

function requireUpload({ store, bucket, prefix }: RunPlace, path: string, ticket: string): BegunUpload {
  const upload = store.tickets.read(`${bucket}/${prefix}/${path}`, ticket);
  if (upload !== undefined) return upload;
  throw new SimbatchError(
    'uploads-unavailable',
    `the file ${JSON.stringify(path)} has no upload of this \`upload_id\`: the coordinator gave it for another file, or has another key of the store since; begin another one`,
  );
}

const invalid = (path: string, why: string): SimbatchError =>
  new SimbatchError('invalid-request', `the file ${JSON.stringify(path.slice(0, 200))} ${why}`);

/** Returns the result of a call to the store. @throws SimbatchError `uploads-unavailable` for a store that refuses or does not answer */
export async function reached<T>(call: () => Promise<T>): Promise<T> {
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

/** The object of an address of a result, for a reader; undefined for any address that is not below this place. */
export function objectOf(place: RunPlace, address: string): StoredObject | undefined {
  const base = addressBelow(place);
  const path = address.startsWith(base) ? address.slice(base.length) : '';
  const { store, bucket, prefix } = place;
  return filePathFault(path) === undefined ? { store, bucket, key: `${prefix}/${path}` } : undefined;
}
