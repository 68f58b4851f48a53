/** The object store, as a place of the files of an attempt that its runner has uploaded. */
import type { Abandoned } from '../../../base/abandonment.ts';
import type { Clock } from '../../../base/clock.ts';
import type { EventLoopShare } from '../../../base/event-loop-share.ts';
import type { RunFile } from '../../../contract/types.ts';
import { fileKindOf, pathInAttempt } from '../../../domain/runs/file-path.ts';
import { unknownFile, type FileAttempt } from '../file-attempt.ts';
import type { FileReading, FileRedirect, FileWish, Place, PlaceFiles } from '../place.ts';
import { objectOf, type ObjectStorePart, type StoredObject } from '../run-place.ts';
import { GET_SECS, type ListedObject } from './object-store.ts';
import { ObjectStoreError } from './store-answers.ts';
import { readObject } from './read-object.ts';

export interface StoredPlaceParts extends ObjectStorePart {
  clock: Clock;
  share: EventLoopShare;
}

export class StoredPlace implements Place {
  readonly #parts: StoredPlaceParts;
  readonly #attempt: FileAttempt;

  constructor(parts: StoredPlaceParts, attempt: FileAttempt) {
    this.#parts = parts;
    this.#attempt = attempt;
  }

  /** Whether the result names a file of this path in a bucket that this coordinator uses. */
  has(path: string): boolean {
    return this.#find(path) !== undefined;
  }

  /** Lists the files, with their sizes where the store can be asked. */
  async list(): Promise<PlaceFiles> {
    const addresses = this.#addresses();
    const [one] = addresses;
    if (one === undefined) return { files: [], notes: [], isServed: false };
    const first = objectOf(this.#parts, one);
    const notes: string[] = [];
    const sizes = new Map<string, ListedObject>();
    if (first === undefined) {
      notes.push(
        `the files are in an object store that this coordinator does not read (${one.slice(0, 200)}); start it with the options --s3-*`,
      );
    } else {
      const prefix = /^(.*\/attempt-\d+\/)/.exec(first.key)?.[1] ?? first.key;
      const listed = await first.store.list(first.bucket, prefix).catch((error: unknown) => {
        if (!(error instanceof ObjectStoreError)) throw error;
        notes.push(`the sizes of the uploaded files are not known: ${error.message}`);
        return [];
      });
      for (const it of listed) sizes.set(`s3://${first.bucket}/${it.key}`, it);
    }
    const files: RunFile[] = [];
    const fileOf = (address: string): RunFile => fileAt(address, sizes.get(address));
    for await (const part of this.#parts.share.mapped(new Set(addresses), fileOf)) files.push(...part);
    return { files, notes, isServed: first !== undefined };
  }

  async read(wish: FileWish, stop: Abandoned): Promise<FileReading> {
    return await readObject(this.#parts.clock, this.#object(wish.path), wish, stop);
  }

  async addressOf(path: string): Promise<FileRedirect> {
    const { store, bucket, key } = this.#object(path);
    const url = await store.signedGet(bucket, key, path.slice(path.lastIndexOf('/') + 1));
    return { url, expiresAtMs: this.#parts.clock.now() + GET_SECS * 1000 };
  }

  #addresses(): string[] {
    const { result } = this.#attempt;
    return [...(result?.output_files ?? []), result?.telemetry_data ?? ''].filter((it) => it.startsWith('s3://'));
  }

  #find(path: string): StoredObject | undefined {
    const address = this.#addresses().find((it) => pathInAttempt(it) === path);
    return address === undefined ? undefined : objectOf(this.#parts, address);
  }

  #object(path: string): StoredObject {
    const object = this.#find(path);
    if (object === undefined) throw unknownFile(this.#attempt.jobId, path, 'is not in the object store');
    return object;
  }
}

function fileAt(address: string, object: ListedObject | undefined): RunFile {
  const path = pathInAttempt(address) ?? address;
  const known =
    object === undefined || !Number.isFinite(object.modifiedMs)
      ? {}
      : { bytes: object.bytes, modified_at: new Date(object.modifiedMs).toISOString() };
  return { path, kind: fileKindOf(path), ...known, place: 'object-store', address };
}
