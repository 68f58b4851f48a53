/**
 * The store: an ordered map of text to text with atomic, durable batches, kept by LevelDB. Opens, migrates and refuses;
 * knows nothing of what the records mean.
 */
import { Level } from 'level';
import { SimbatchError } from '../../domain/errors.ts';
import { makeDirectory } from '../../base/directories.ts';
import { isBatchKey, keys, type KeyRange } from './keys.ts';

/** Changes of one atomic write, in order: text to put, null to delete. Of several of one key the last counts. */
export type Changes = Iterable<readonly [key: string, value: string | null]>;

export type Entry = [key: string, value: string];

/** A reading of the whole store as of one instant. Must be closed. */
export interface StoreView {
  get(key: string): string | undefined;
  /** The entries of the range in key order, in chunks of about `chunkSize`. */
  entries(range: KeyRange, options?: { chunkSize?: number; reverse?: boolean }): AsyncIterable<readonly Entry[]>;
  close(): Promise<void>;
}

export interface Store {
  get(key: string): string | undefined;
  /** Resolves when all changes, or none, are on disk. */
  write(changes: Changes): Promise<void>;
  snapshot(): StoreView;
  /** Frees the room of what was deleted within the range; a store that does so by itself has no need of it. */
  compact?(range: KeyRange): Promise<void>;
  close(): Promise<void>;
}

/** The version of what this program writes. */
export const STORE_FORMAT = 1;

/** From version n to n + 1, as one atomic write; run in order when an older store is opened. */
export type Migration = (store: Store) => Promise<Changes>;
const MIGRATIONS: ReadonlyMap<number, Migration> = new Map();

/**
 * Opens the store in a directory, which is made when missing.
 * @throws SimbatchError `store-locked`, `store-newer` or `store-unusable`
 */
export async function openStore(
  directory: string,
  options: { format?: number; migrations?: ReadonlyMap<number, Migration> } = {},
): Promise<Store> {
  const store = new LevelStore(await openLevel(directory));
  try {
    await migrate(store, directory, options.format ?? STORE_FORMAT, options.migrations ?? MIGRATIONS);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function openLevel(directory: string): Promise<Level<string, string>> {
  try {
    makeDirectory(directory);
    const level = new Level<string, string>(directory, {
      keyEncoding: 'utf8',
      valueEncoding: 'utf8',
      writeBufferSize: 32 * 1024 * 1024,
      cacheSize: 64 * 1024 * 1024,
    });
    await level.open();
    return level;
  } catch (error) {
    throw refusal(directory, error);
  }
}

function refusal(directory: string, error: unknown): SimbatchError {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  if (cause?.code === 'LEVEL_LOCKED') {
    return new SimbatchError(
      'store-locked',
      `another process uses the data directory ${directory}; stop it or choose another one`,
      { cause: error },
    );
  }
  const why = cause?.message ?? (error instanceof Error ? error.message : String(error));
  return new SimbatchError('store-unusable', `the data directory ${directory} cannot be used: ${why}`, {
    cause: error,
  });
}

async function migrate(
  store: Store,
  directory: string,
  format: number,
  migrations: ReadonlyMap<number, Migration>,
): Promise<void> {
  const stored = store.get(keys.meta('format'));
  let version = stored === undefined ? format : Number(stored);
  if (!Number.isInteger(version) || version < 1) {
    throw new SimbatchError(
      'store-unusable',
      `the data directory ${directory} holds something else: its format is "${stored}"`,
    );
  }
  if (version > format) {
    throw new SimbatchError(
      'store-newer',
      `the data directory ${directory} has format ${version}, this program knows up to ${format}; use a newer simbatch`,
    );
  }
  if (stored === undefined) await store.write(new Map([[keys.meta('format'), String(format)]]));
  for (; version < format; version += 1) {
    const migration = migrations.get(version);
    if (migration === undefined) {
      throw new SimbatchError(
        'store-unusable',
        `the data directory ${directory} has format ${version}, from which there is no way to ${format}`,
      );
    }
    // The version is part of the same write: a crash leaves the old version whole or the new one.
    await store.write(new Map([...(await migration(store)), [keys.meta('format'), String(version + 1)]]));
  }
}

/** So many of the batches written last are kept at hand. */
const AT_HAND = 1_000;

class LevelStore implements Store {
  readonly #level: Level<string, string>;
  /**
   * Batches as they are on disk. They are asked about all the time while they change, and beside a steady load of writes one
   * look into LevelDB in a hundred took 15 ms, which all other requests had to wait for too.
   */
  readonly #atHand = new Map<string, string>();

  constructor(level: Level<string, string>) {
    this.#level = level;
  }

  get(key: string): string | undefined {
    return this.#atHand.get(key) ?? this.#level.getSync(key);
  }

  async write(changes: Changes): Promise<void> {
    const batch = this.#level.batch();
    const batches: (readonly [string, string | null])[] = [];
    for (const change of changes) {
      const [key, value] = change;
      if (value === null) batch.del(key);
      else batch.put(key, value);
      if (isBatchKey(key)) batches.push(change);
    }
    await batch.write({ sync: true });
    for (const [key, value] of batches) this.#keepAtHand(key, value);
  }

  #keepAtHand(key: string, value: string | null): void {
    if (value === null) {
      this.#atHand.delete(key);
      return;
    }
    this.#atHand.set(key, value);
    if (this.#atHand.size <= AT_HAND) return;
    const [oldest] = this.#atHand.keys();
    this.#atHand.delete(oldest as string);
  }

  snapshot(): StoreView {
    const level = this.#level;
    const snapshot = level.snapshot();
    return {
      get: (key) => level.getSync(key, { snapshot }),
      async *entries(range, { chunkSize = 1000, reverse = false } = {}) {
        const iterator = level.iterator({ ...range, reverse, snapshot, highWaterMarkBytes: 1024 * 1024 });
        try {
          for (;;) {
            const chunk = await iterator.nextv(chunkSize);
            if (chunk.length === 0) return;
            yield chunk;
          }
        } finally {
          await iterator.close();
        }
      },
      close: () => snapshot.close(),
    };
  }

  async compact({ gte, lt }: KeyRange): Promise<void> {
    await (this.#level as unknown as { compactRange(start: string, end: string): Promise<void> }).compactRange(gte, lt);
  }

  async close(): Promise<void> {
    await this.#level.close();
  }
}
