/**
 * Aborts uploads that no runner can continue: their parts take room in the bucket, and no list of objects shows them. The store itself lists
 * them, so a restart forgets none. An upload is aborted when two sweeps have found it and no address for it was signed between them: the
 * sweeps are further apart than an address is valid, so the time of day decides nothing.
 */
import type { Clock } from '../../../base/clock.ts';
import type { Uuid } from '../../../contract/types.ts';
import { isBatchId, jobId } from '../../../domain/ids.ts';
import { storePrefix } from '../../../domain/study/store-prefix.ts';
import { decodeBatch } from '../../kernel/actors/actor-kinds.ts';
import { keys } from '../../kernel/storage/keys.ts';
import type { Store } from '../../kernel/storage/store.ts';
import type { StudyCache } from '../../kernel/records/study-cache.ts';
import { PUT_SECS, type ObjectStore, type OpenUpload } from './object-store.ts';

interface Parts {
  clock: Clock;
  store: Store;
  studyCache: StudyCache;
  objectStore: ObjectStore | undefined;
}

/** `<s3_prefix>/<batch_id>/<run_id>/attempt-<n>/<path>`. Uploads of checkpoints are removed with their records. */
const KEY_OF_FILE = /^(?:(.*)\/)?([0-9a-f-]{36})\/(\d{1,10})\/attempt-\d+\/./s;
/** The least time between two sweeps, so that every address of the first one has expired at the second. */
const APART_MS = PUT_SECS * 1000 + 300_000;
/** The most uploads that are remembered from one sweep to the next. */
const MOST_FOUND = 100_000;

export class AbandonedUploads {
  readonly #parts: Parts;
  readonly #swept: (bucket: string, aborted: number, error?: unknown) => void;
  /** The bucket, key and id of the open uploads that the last sweep found. */
  #found: ReadonlySet<string> = new Set();
  #nextMs = -Infinity;

  /** @param swept called for a bucket in which uploads were aborted, or that could not be swept to its end. */
  constructor(parts: Parts, swept: (bucket: string, aborted: number, error?: unknown) => void) {
    this.#parts = parts;
    this.#swept = swept;
  }

  /** Looks at all buckets; not again before `APART_MS` are over. A bucket that fails is looked at by the next sweep. */
  async sweep(): Promise<void> {
    const { clock, objectStore } = this.#parts;
    if (objectStore === undefined || clock.monotonicMs() < this.#nextMs) return;
    this.#nextMs = clock.monotonicMs() + APART_MS;
    const signed = objectStore.takeSigned();
    const before = this.#found;
    const found = new Set<string>();
    this.#found = found;
    for (const bucket of objectStore.buckets) {
      let aborted = 0;
      try {
        for await (const page of objectStore.openUploads(bucket, '')) {
          for (const upload of page) {
            const job = this.#jobOf(bucket, upload.key);
            if (job === undefined) continue;
            const name = JSON.stringify([bucket, upload.key, upload.uploadId]);
            if (!before.has(name) || signed.has(`${bucket}/${upload.key}`)) {
              if (found.size < MOST_FOUND) found.add(name);
            } else if (await this.#abort(objectStore, job, bucket, upload)) aborted += 1;
          }
        }
        if (aborted > 0) this.#swept(bucket, aborted);
      } catch (error) {
        this.#swept(bucket, aborted, error);
      }
    }
  }

  /** In the lane of the run, in which its runner begins and completes uploads. */
  async #abort(store: ObjectStore, job: Uuid, bucket: string, { key, uploadId }: OpenUpload): Promise<boolean> {
    return await store.lanes.run(job, async () => {
      // Its runner came back during the sweep.
      if (store.isSigned(bucket, key)) return false;
      await store.abort(bucket, key, uploadId);
      return true;
    });
  }

  /** The run whose file has this key; undefined for a key that is not below the place of a study of this coordinator. */
  #jobOf(bucket: string, key: string): Uuid | undefined {
    const [, folders = '', batchId = '', run = ''] = KEY_OF_FILE.exec(key) ?? [];
    const record = isBatchId(batchId) ? this.#parts.store.get(keys.batch(batchId)) : undefined;
    if (record === undefined) return undefined;
    const { context } = decodeBatch(record);
    const { s3_bucket, s3_prefix } = this.#parts.studyCache.of(context).submission.config.telemetry.storage;
    if (s3_bucket !== bucket || storePrefix(s3_prefix) !== folders) return undefined;
    return jobId(batchId, Number(run));
  }
}
