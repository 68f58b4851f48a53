/** The key-value engine below a store: text to text, atomic writes, no checksums of its own that can be relied on. */
import type { KeyRange } from './keys.ts';
import type { SealedEntry } from './sealed-bytes.ts';

/** Text to put, null to delete. */
export type Operation = readonly [key: string, value: string | null];

export type Entry = [key: string, value: string];

/** A view of the whole engine as of one instant. Must be closed. */
export interface EngineView {
  get(key: string): string | undefined;
  /** The entries of the range in key order, in chunks of about `chunkSize`. */
  entries(range: KeyRange, options?: { chunkSize?: number; reverse?: boolean }): AsyncIterable<readonly Entry[]>;
  /** The entries of a range whose values are bytes on the disk, in the order and chunks of `entries`; see `binary-values.ts`. */
  sealed(range: KeyRange, options?: { chunkSize?: number }): AsyncIterable<readonly SealedEntry[]>;
  close(): Promise<void>;
}

export interface Engine {
  get(key: string): string | undefined;
  /** Applies all operations in order, or none. With `sync` they are on the disk when it resolves, else with the system. */
  write(operations: readonly Operation[], options: { sync: boolean }): Promise<void>;
  snapshot(): EngineView;
  /** Frees the room of deleted records within the range. */
  compact?(range: KeyRange): Promise<void>;
  close(): Promise<void>;
}
