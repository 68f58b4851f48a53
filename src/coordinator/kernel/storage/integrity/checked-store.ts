/** A store over an engine: seals each record with a checksum, verifies it on every read, and chains the group commits. */
import { BytePauses } from '../../../../base/async/byte-pauses.ts';
import { isDamage, SimbatchError } from '../../../../domain/errors.ts';
import type { Engine, EngineView, Entry, Operation } from '../engine.ts';
import { isBatchKey, isFamilyKey, type KeyRange } from '../keys.ts';
import type { Changes, Store, StoreView } from '../store.ts';
import { linesOf } from '../lines.ts';
import { packed } from '../sealed-bytes.ts';
import { checksumOf, seal, unseal } from './checksum.ts';
import { ChecksumSeries } from './checksum-series.ts';
import { deletionSum, encodeGroup, FORMAT_KEY, GROUP_KEY, nextGroup, type GroupRecord } from './group-chain.ts';
import type { Mark } from './high-water-mark.ts';

/** The number of records of batches and families that stay in memory. */
const KEPT_RECORDS = 2_000;

export interface CheckedStoreParts {
  engine: Engine;
  /** The data directory, for messages. */
  directory: string;
  /** The store's identity. */
  store: string;
  /** The last group on the disk; undefined for a new store. */
  last: GroupRecord | undefined;
  /** LevelDB's sequence number after it. */
  sequence: number;
  /** Called with each group that is on the disk. */
  onWritten?: (mark: Mark) => void;
  onClose?: () => Promise<void>;
}

export class CheckedStore implements Store {
  readonly #parts: CheckedStoreParts;
  readonly #engine: Engine;
  readonly #check: RecordCheck;
  /**
   * Batches and families as they are on disk; null: there is no record. Every question about a batch reads both, and beside a
   * steady load of writes one read of LevelDB in a hundred waited 50 to 110 ms for its lock, and all other requests with it.
   */
  readonly #kept = new Map<string, string | null>();
  #last: GroupRecord | undefined;
  #sequence: number;
  #writing: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(parts: CheckedStoreParts) {
    this.#parts = parts;
    this.#engine = parts.engine;
    this.#check = recordCheck(parts.directory);
    this.#last = parts.last;
    this.#sequence = parts.sequence;
  }

  get(key: string): string | undefined {
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept ?? undefined;
    const value = this.#check(key, readOf(this.#parts.directory, key, this.#engine));
    // The absence of a record is kept too: few batches have a family.
    if (isFamilyKey(key)) this.#keep(key, value ?? null);
    return value;
  }

  /** One write at a time: each group has the hash of the one before. After a failed write every later one fails. */
  write(changes: Changes): Promise<void> {
    const written = this.#writing.then(() => this.#writeGroup(changes));
    this.#writing = written.catch((error: unknown) => this.fail(error));
    return written;
  }

  /** From now on every write fails with this error. */
  fail(error: unknown): void {
    this.#failure ??= error;
  }

  async #writeGroup(changes: Changes): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const operations: Operation[] = [];
    const toKeep: (readonly [string, string | null])[] = [];
    const checksums = new ChecksumSeries();
    const pauses = new BytePauses();
    let sums = '';
    for (const change of changes) {
      const [key, value] = change;
      const later = pauses.before(value?.length ?? 0);
      if (later !== undefined) await later;
      const sum = value === null ? deletionSum(key) : key === FORMAT_KEY ? checksumOf(value) : checksums.of(key, value);
      operations.push([key, value === null || key === FORMAT_KEY ? value : sum + value]);
      sums += sum;
      if (isBatchKey(key) || isFamilyKey(key)) toKeep.push(change);
    }
    if (operations.length === 0) return;
    const group = nextGroup(this.#last, sums);
    operations.push([GROUP_KEY, seal(GROUP_KEY, encodeGroup(group))]);
    await this.#engine.write(operations, { sync: true });
    this.#last = group;
    this.#sequence += operations.length;
    for (const [key, value] of toKeep) this.#keep(key, value);
    const { number, hash } = group;
    this.#parts.onWritten?.({ store: this.#parts.store, number, hash, sequence: this.#sequence });
  }

  #keep(key: string, value: string | null): void {
    this.#kept.set(key, value);
    if (this.#kept.size <= KEPT_RECORDS) return;
    const [oldest] = this.#kept.keys();
    this.#kept.delete(oldest as string);
  }

  snapshot(): StoreView {
    return checkedView(this.#parts.directory, this.#engine.snapshot());
  }

  async compact(range: KeyRange): Promise<void> {
    await this.#engine.compact?.(range);
  }

  async close(): Promise<void> {
    await this.#writing;
    try {
      await this.#engine.close();
    } finally {
      await this.#parts.onClose?.();
    }
  }
}

/** Returns the value of a stored record. */
type RecordCheck = (key: string, sealed: string | undefined) => string | undefined;

/** A view that verifies each record it reads. */
function checkedView(directory: string, view: EngineView): StoreView {
  const check = recordCheck(directory);
  return {
    get: (key) => check(key, readOf(directory, key, view)),
    async *entries(range, { onDamage, ...options } = {}) {
      const checked = ([key, sealed]: Entry): Entry => [key, check(key, sealed) as string];
      for await (const chunk of view.entries(range, options)) {
        yield onDamage === undefined ? chunk.map(checked) : wholeOnes(chunk, checked, onDamage);
      }
    },
    async *lines(range, options) {
      for await (const chunk of view.entries(range, options)) {
        yield linesOf(chunk.map(([key, sealed]): Entry => [key, check(key, sealed) as string]));
      }
    },
    async *sealed(range, options) {
      for await (const chunk of view.sealed(range, options)) yield packed(chunk);
    },
    close: () => view.close(),
  };
}

function wholeOnes(
  chunk: readonly Entry[],
  checked: (entry: Entry) => Entry,
  onDamage: (key: string) => void,
): Entry[] {
  return chunk.flatMap((entry) => {
    try {
      return [checked(entry)];
    } catch (error) {
      if (!isDamage(error)) throw error;
      onDamage(entry[0]);
      return [];
    }
  });
}

/** Reads a record. @throws SimbatchError `store-damaged` where the engine cannot read its block */
function readOf(directory: string, key: string, source: Pick<Engine, 'get'>): string | undefined {
  try {
    return source.get(key);
  } catch (error) {
    if ((error as { code?: string }).code !== 'LEVEL_CORRUPTION') throw error;
    const name = JSON.stringify(key.slice(0, 200));
    throw new SimbatchError(
      'store-damaged',
      `the record ${name} in ${directory} cannot be read: ${(error as Error).message}; stop the coordinator and run simbatch repair`,
      { cause: error },
    );
  }
}

/** Returns a check of records; it throws `store-damaged` when a checksum does not match. */
function recordCheck(directory: string): RecordCheck {
  const checksums = new ChecksumSeries();
  return (key, sealed) => {
    if (sealed === undefined || key === FORMAT_KEY) return sealed;
    const value = unseal(key, sealed, checksums.of);
    if (value !== undefined) return value;
    throw new SimbatchError(
      'store-damaged',
      `the record ${JSON.stringify(key.slice(0, 200))} in ${directory} is damaged: its checksum does not match; ` +
        'stop the coordinator and run simbatch repair',
    );
  };
}
