/**
 * A store in memory for tests, with the interface of the real one. On demand a write fails, or a crash loses the writes
 * that were not acknowledged.
 */
import { seal } from '../../src/coordinator/kernel/storage/integrity/checksum.ts';
import type { KeyRange } from '../../src/coordinator/kernel/storage/keys.ts';
import { toBytes } from '../../src/coordinator/kernel/storage/leveldb/binary-values.ts';
import { linesOf } from '../../src/coordinator/kernel/storage/lines.ts';
import { packed } from '../../src/coordinator/kernel/storage/sealed-bytes.ts';
import type { Changes, Entry, Store, StoreView } from '../../src/coordinator/kernel/storage/store.ts';

export interface MemoryStoreOptions {
  /** Called before a write is applied; a rejection makes it fail. The default lets it through in a microtask. */
  beforeWrite?: (changes: Changes) => Promise<void>;
}

export class MemoryStore implements Store {
  /** The content of the "disk". */
  readonly disk: Map<string, string>;
  readonly #options: MemoryStoreOptions;
  #isCrashed = false;
  writes = 0;
  bytesWritten = 0;

  constructor(disk: Map<string, string> = new Map(), options: MemoryStoreOptions = {}) {
    this.disk = disk;
    this.#options = options;
  }

  get(key: string): string | undefined {
    return this.disk.get(key);
  }

  async write(changes: Changes): Promise<void> {
    await this.#options.beforeWrite?.(changes);
    if (this.#isCrashed) return new Promise(() => {});
    this.writes += 1;
    for (const [key, value] of changes) {
      if (value === null) this.disk.delete(key);
      else {
        this.disk.set(key, value);
        this.bytesWritten += value.length;
      }
    }
  }

  snapshot(): StoreView {
    const copy = new Map(this.disk);
    async function* chunks(range: KeyRange, { chunkSize = 1000, reverse = false } = {}): AsyncGenerator<Entry[]> {
      const entries = [...copy]
        .filter(([key]) => key >= range.gte && key < range.lt)
        .sort((a, b) => (a[0] < b[0] ? -1 : 1));
      if (reverse) entries.reverse();
      for (let at = 0; at < entries.length; at += chunkSize) yield entries.slice(at, at + chunkSize);
    }
    return {
      get: (key) => copy.get(key),
      entries: chunks,
      async *lines(range, options) {
        for await (const chunk of chunks(range, options)) yield linesOf(chunk);
      },
      async *sealed(range, options) {
        for await (const chunk of chunks(range, options))
          yield packed(chunk.map(([key, value]) => [key, toBytes(seal(key, value))]));
      },
      close: async () => {},
    };
  }

  /** From now on nothing is written and no write is answered: the process is gone. */
  crash(): void {
    this.#isCrashed = true;
  }

  async close(): Promise<void> {}
}
