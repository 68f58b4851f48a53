/** The places of backups: files and folders, and keys of an object store as `s3://bucket/key`. */
import { createReadStream } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { pipeline } from 'node:stream/promises';
import { systemClock } from '../../../../base/clock.ts';
import type { ObjectStore } from '../../../../coordinator/files/object-store/object-store.ts';
import { readObjectStream, removeObject } from '../../../../coordinator/files/object-store/stored-stream.ts';
import { ObjectStoreError } from '../../../../coordinator/files/object-store/store-answers.ts';
import { unusableBackup } from '../../../../coordinator/kernel/storage/backup.ts';
import { SimbatchError } from '../../../../domain/errors.ts';
import { EXIT } from '../../../exit-codes.ts';
import { Failure } from '../../../failure.ts';
import { objectStoreOf, type ObjectStoreFlags } from '../object-store.ts';

/** The names that backups get in a folder. Sorted by name they are sorted by time. */
const NAMED = /^simbatch-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.ndjson\.gz$/;

export const backupName = (nowMs: number): string =>
  `simbatch-${new Date(nowMs).toISOString().replace(/[:.]/g, '-')}.ndjson.gz`;

/** A key, or the beginning of keys, of an object store. */
export interface StorePlace {
  store: ObjectStore;
  bucket: string;
  key: string;
}

/** `s3://bucket/key` as a place; undefined for the path of a file. @throws Failure, SimbatchError without a credential */
export function storePlaceOf(text: string, flags: ObjectStoreFlags): StorePlace | undefined {
  if (!text.startsWith('s3://')) return undefined;
  const [, bucket, key = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,62})(?:\/(.*))?$/.exec(text) ?? [];
  if (bucket === undefined)
    throw new Failure(
      EXIT.usage,
      `${text} is not a place in an object store; give s3://BUCKET/KEY or s3://BUCKET/PREFIX/`,
    );
  const store = objectStoreOf({ ...flags, s3Bucket: [bucket] }, process.env);
  return { store: store as ObjectStore, bucket, key };
}

/** Whether the place is one for several backups. */
export const isPrefix = ({ key }: StorePlace): boolean => key === '' || key.endsWith('/');

/** An error of the store, with the place and a remedy; others unchanged. */
export const storeFailure = (text: string, error: unknown): unknown =>
  error instanceof ObjectStoreError
    ? new SimbatchError(
        'object-store-failed',
        `${text}: ${error.message}; check the store, the bucket, the options --s3-* and the rights of the key`,
        { cause: error },
      )
    : error;

/** The names of the backups at a place for several, oldest first. */
export async function backupsAt(place: StorePlace | string): Promise<string[]> {
  if (typeof place === 'string') return (await readdir(place)).filter((it) => NAMED.test(it)).toSorted();
  const listed = await place.store.list(place.bucket, place.key, Infinity);
  return listed
    .map(({ key }) => key.slice(place.key.length))
    .filter((it) => NAMED.test(it))
    .toSorted();
}

/** Removes all but the newest backups at a place for several; other files and keys stay. Returns the names of those removed. */
export async function keepNewest(place: StorePlace | string, count: number): Promise<string[]> {
  const doomed = (await backupsAt(place)).slice(0, -count);
  for (const name of doomed) {
    if (typeof place === 'string') await rm(join(place, name));
    else await removeObject({ ...place, key: place.key + name });
  }
  return doomed;
}

/** A backup that is there: its name for people, and its bytes, decompressed, from their beginning at each call. */
export interface StoredBackup {
  name: string;
  bytes: (onRead: OnRead) => AsyncIterable<Uint8Array>;
}

/** The backup at a place; the newest one at a place for several. @throws Failure `missing` when there is none */
export async function storedBackup(text: string, flags: ObjectStoreFlags): Promise<StoredBackup> {
  const place = storePlaceOf(text, flags);
  try {
    if (place === undefined) {
      const isFolder = await stat(text).then(
        (it) => it.isDirectory(),
        () => false,
      );
      const file = isFolder ? join(text, await newestOf(text, text)) : text;
      return { name: file, bytes: (onRead) => fileBytes(file, onRead) };
    }
    const key = isPrefix(place) ? place.key + (await newestOf(place, text)) : place.key;
    return {
      name: `s3://${place.bucket}/${key}`,
      bytes: (onRead) => objectBytes({ ...place, key }, text, onRead),
    };
  } catch (error) {
    throw storeFailure(text, error);
  }
}

async function newestOf(place: StorePlace | string, text: string): Promise<string> {
  const newest = (await backupsAt(place)).at(-1);
  if (newest !== undefined) return newest;
  throw new Failure(EXIT.missing, `${text} has no backup; a backup is named like ${basename(backupName(0))}`);
}

type OnRead = (read: number, size: number) => void;

/** Yields the bytes of a backup, decompressed if necessary. `onRead` receives the bytes read of the file and its size. */
export async function* fileBytes(path: string, onRead: OnRead): AsyncGenerator<Uint8Array> {
  const { size } = await stat(path);
  yield* unpacked(createReadStream(path) as AsyncIterable<Uint8Array>, (read) => onRead(read, size));
}

async function* objectBytes(place: StorePlace, text: string, onRead: OnRead): AsyncGenerator<Uint8Array> {
  try {
    const size = (await place.store.contentOf(place.bucket, place.key))?.size;
    if (size === undefined)
      throw new Failure(EXIT.missing, `${text}: there is no such object; the prefix of several backups ends in /`);
    yield* unpacked(readObjectStream(place, systemClock), (read) => onRead(read, size));
  } catch (error) {
    throw storeFailure(text, error);
  }
}

async function* unpacked(
  source: AsyncIterable<Uint8Array>,
  onRead: (read: number) => void,
): AsyncGenerator<Uint8Array> {
  let read = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of source) {
      read += piece.length;
      onRead(read);
      yield piece;
    }
  }
  const pieces = counted();
  const first = await pieces.next();
  if (first.done === true) return;
  async function* all(): AsyncGenerator<Uint8Array> {
    yield first.value as Uint8Array;
    yield* pieces;
  }
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) return yield* all();
  const gunzip = createGunzip();
  // An error of the source destroys the decompression with it, and is thrown below.
  pipeline(all(), gunzip).catch(() => {});
  try {
    for await (const piece of gunzip) yield piece as Uint8Array;
  } catch (error) {
    const isPacking = String((error as NodeJS.ErrnoException).code).startsWith('Z_');
    throw isPacking ? unusableBackup(`it cannot be decompressed (${(error as Error).message})`) : error;
  }
}
