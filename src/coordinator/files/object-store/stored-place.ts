/** The object store, as a place of the files of an attempt that its runner has uploaded. */
import type { Abandoned } from '../../../base/abandonment.ts';
import type { Clock } from '../../../base/clock.ts';
import type { EventLoopShare } from '../../../base/event-loop-share.ts';
import type { RunFile } from '../../../contract/types.ts';
import { fileKindOf, pathInAttempt } from '../../../domain/files/file-path.ts';
import { unknownFile, type FileAttempt } from '../file-attempt.ts';
import type { FileReading, FileRedirect, FileWish, Place, PlaceFiles } from '../place.ts';
import {
  addressBelow,
  attemptPlace,
  objectOf,
  type RunPlace,
  type RunPlaceParts,
  type StoredObject,
} from '../run-place.ts';
import { GET_SECS, type ListedObject } from './object-store.ts';
import { ObjectStoreError } from './store-answers.ts';
import { readObject } from './read-object.ts';

export interface StoredPlaceParts extends RunPlaceParts {
  clock: Clock;
  share: EventLoopShare;
}

export class StoredPlace implements Place {
  readonly #parts: StoredPlaceParts;
  readonly #attempt: FileAttempt;
  /** The place of the attempt in the store; undefined: this coordinator reads none. */
  readonly #place: RunPlace | undefined;

  constructor(parts: StoredPlaceParts, attempt: FileAttempt) {
    this.#parts = parts;
    this.#attempt = attempt;
    this.#place = attemptPlace(parts, attempt.jobId, attempt.attempt);
  }

  /** Whether the result names a file of this path in the place of the attempt. */
  has(path: string): boolean {
    return this.#find(path) !== undefined;
  }

  /** Lists the files, with their sizes where the store can be asked. */
  async list(): Promise<PlaceFiles> {
    const addresses = this.#addresses();
    const place = this.#place;
    if (addresses.length === 0) return { files: [], notes: [], isServed: false };
    const foreign = addresses.filter((it) => place === undefined || objectOf(place, it) === undefined);
    const notes = foreign.slice(0, 1).map((it) => notRead(it, place));
    const sizes = new Map<string, ListedObject>();
    if (place !== undefined) {
      const { store, bucket, prefix } = place;
      const listed = await store.list(bucket, `${prefix}/`).catch((error: unknown) => {
        if (!(error instanceof ObjectStoreError)) throw error;
        notes.push(`the sizes of the uploaded files are not known: ${error.message}`);
        return [];
      });
      for (const it of listed) sizes.set(`s3://${bucket}/${it.key}`, it);
    }
    const files: RunFile[] = [];
    const fileOf = (address: string): RunFile => fileAt(address, sizes.get(address));
    for await (const part of this.#parts.share.mapped(new Set(addresses), fileOf)) files.push(...part);
    return { files, notes, isServed: foreign.length < addresses.length };
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
    const place = this.#place;
    if (place === undefined) return undefined;
    const address = `${addressBelow(place)}${path}`;
    return this.#addresses().includes(address) ? objectOf(place, address) : undefined;
  }

  #object(path: string): StoredObject {
    const object = this.#find(path);
    if (object === undefined) throw unknownFile(this.#attempt.jobId, path, 'is not in the object store');
    return object;
  }
}

/** Why the file of this address is not read, as a sentence. */
function notRead(address: string, place: RunPlace | undefined): string {
  const shown = address.slice(0, 200);
  return place === undefined
    ? `the files are in an object store that this coordinator does not read (${shown}); start it with the options --s3-*`
    : `${shown} is not read: it is not below ${addressBelow(place)}, the place of the run; read it from the store itself`;
}

function fileAt(address: string, object: ListedObject | undefined): RunFile {
  const path = pathInAttempt(address) ?? address;
  const known =
    object === undefined || !Number.isFinite(object.modifiedMs)
      ? {}
      : { bytes: object.bytes, modified_at: new Date(object.modifiedMs).toISOString() };
  return { path, kind: fileKindOf(path), ...known, place: 'object-store', address };
}
