/**
 * The durable records of a coordinator: text to text, with atomic, durable and verified writes. `open-store.ts` opens one;
 * no part of the store knows the meaning of a record.
 */
import type { Entry } from './engine.ts';
import type { KeyRange } from './keys.ts';

/** Changes of one atomic write, in order: text to put, null to delete. Of several of one key the last counts. */
export type Changes = Iterable<readonly [key: string, value: string | null]>;

export type { Entry };

/** A view of the whole store as of one instant. Must be closed. Reads throw `store-damaged` for a damaged record. */
export interface StoreView {
  get(key: string): string | undefined;
  /** The entries of the range in key order, in chunks of about `chunkSize`. With `onDamage` a damaged record is reported and left out of its chunk. */
  entries(
    range: KeyRange,
    options?: { chunkSize?: number; reverse?: boolean; onDamage?: (key: string) => void },
  ): AsyncIterable<readonly Entry[]>;
  /**
   * The entries of the range as lines in UTF-8, one chunk in memory of its own: key, tab, value, with line feeds between them. Faster than
   * `entries`: a chunk is verified at once. Only for keys and values without line feeds.
   */
  lines(range: KeyRange, options?: { chunkSize?: number }): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** The entries of a range whose values are bytes on the disk, not verified, one chunk in memory of its own for `unpacked`. */
  sealed(range: KeyRange, options?: { chunkSize?: number }): AsyncIterable<Uint8Array<ArrayBuffer>>;
  close(): Promise<void>;
}

export interface Store {
  /** @throws SimbatchError `store-damaged` when the record's checksum does not match */
  get(key: string): string | undefined;
  /** Resolves when all changes are on disk. After a rejection the disk has all of them or none. */
  write(changes: Changes): Promise<void>;
  snapshot(): StoreView;
  /** Frees the room of deleted records within the range; absent where the store does so by itself. */
  compact?(range: KeyRange): Promise<void>;
  close(): Promise<void>;
}

/** The version of the format that this program writes. 2: records have checksums, groups are chained. */
export const STORE_FORMAT = 2;
