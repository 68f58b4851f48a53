/**
 * A disk with the model of power loss: a write that is not synced stays with the operating system, survives the death of the
 * process, and may vanish in part when the power fails. The coordinator's own store runs on it.
 */
import type { Engine, EngineView, Entry, Operation } from '../../src/coordinator/kernel/storage/engine.ts';
import { CheckedStore } from '../../src/coordinator/kernel/storage/integrity/checked-store.ts';
import { seal, unseal } from '../../src/coordinator/kernel/storage/integrity/checksum.ts';
import {
  decodeGroup,
  GROUP_KEY,
  type GroupRecord,
} from '../../src/coordinator/kernel/storage/integrity/group-chain.ts';
import { isBatchKey, type KeyRange } from '../../src/coordinator/kernel/storage/keys.ts';
import { toBytes } from '../../src/coordinator/kernel/storage/leveldb/binary-values.ts';
import type { Changes, Store } from '../../src/coordinator/kernel/storage/store.ts';
import { insist } from './acknowledged.ts';
import type { Dice } from './world.ts';

/** A bug to be injected between the store and the disk. */
export interface DiskBug {
  /** Writes are acknowledged when they begin. */
  ackEarly?: boolean;
  /** Writes are not synced. */
  unsynced?: boolean;
  /** The store's cache has a batch before the disk has it. */
  cacheAhead?: boolean;
  /** The value that is really written. */
  written?(key: string, value: string | null): string | null | undefined;
  /** The value that is read after a restart. */
  read?(key: string, value: string): string;
}

const isOwn = (key: string): boolean => key.startsWith('!meta!');

/** The disk, which outlives the coordinators that crash on it. */
export class SimDisk {
  /** The records as a process reads them now: decoded, without the store's own. */
  readonly records = new Map<string, string>();
  /** The same as they are stored. */
  readonly stored = new Map<string, string>();
  /** The content that survives a power loss. */
  readonly #durable = new Map<string, string>();
  #unsynced: (readonly Operation[])[] = [];
  /** The high-water mark: the last group it names, and the group that survives a power loss. */
  #mark = { written: 0, durable: 0 };

  apply(operations: readonly Operation[], sync: boolean): void {
    for (const [key, value] of operations) this.#show(key, value);
    this.#unsynced.push(operations);
    if (sync) this.#sync();
  }

  #show(key: string, value: string | null): void {
    if (value === null) {
      this.stored.delete(key);
      this.records.delete(key);
      return;
    }
    this.stored.set(key, value);
    if (!isOwn(key)) this.records.set(key, unseal(key, value) ?? value);
  }

  #sync(): void {
    for (const [key, value] of this.#unsynced.flat()) {
      if (value === null) this.#durable.delete(key);
      else this.#durable.set(key, value);
    }
    this.#unsynced = [];
  }

  mark(number: number, dice: Dice): void {
    this.#mark.written = number;
    if (dice.chance(0.2)) this.#mark.durable = number;
  }

  /** Of the writes that were not synced, any part may be on the disk, in any order. */
  losePower(dice: Dice): void {
    this.#unsynced = this.#unsynced.filter(() => dice.chance(0.5));
    this.#sync();
    this.#mark.written = this.#mark.durable;
    this.stored.clear();
    this.records.clear();
    for (const [key, value] of this.#durable) this.#show(key, value);
  }

  /** The last group, which must not be older than that of the mark. */
  lastGroup(): GroupRecord | undefined {
    const sealed = this.stored.get(GROUP_KEY);
    const last = sealed === undefined ? undefined : decodeGroup(unseal(GROUP_KEY, sealed) ?? '');
    insist((last?.number ?? 0) >= this.#mark.written, () => `group ${this.#mark.written} was written and is lost`);
    return last;
  }
}

/** One life of a process on the disk: writes may be held back, and a crash loses or keeps the held one, unanswered. */
export class SimEngine implements Engine {
  readonly #disk: SimDisk;
  readonly #dice: Dice;
  readonly #bug: DiskBug;
  #held: { apply(): void; resolve(): void } | undefined;
  #isCrashed = false;
  holdProbability = 0.3;

  constructor(disk: SimDisk, dice: Dice, bug: DiskBug) {
    this.#disk = disk;
    this.#dice = dice;
    this.#bug = bug;
  }

  get(key: string): string | undefined {
    const value = this.#disk.records.get(key);
    if (value === undefined || this.#bug.read === undefined) return this.#disk.stored.get(key);
    return seal(key, this.#bug.read(key, value));
  }

  write(operations: readonly Operation[], { sync }: { sync: boolean }): Promise<void> {
    if (this.#isCrashed) return new Promise(() => {});
    if (this.#held !== undefined) throw new Error('two groups are being written at once');
    const apply = (): void => this.#disk.apply(this.#altered(operations), sync && this.#bug.unsynced !== true);
    if (!this.#dice.chance(this.holdProbability)) {
      apply();
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#held = { apply, resolve };
      if (this.#bug.ackEarly === true) resolve();
    });
  }

  #altered(operations: readonly Operation[]): Operation[] {
    if (this.#bug.written === undefined) return [...operations];
    return operations.flatMap(([key, sealed]): Operation[] => {
      if (isOwn(key)) return [[key, sealed]];
      const value = this.#bug.written?.(key, sealed === null ? null : (unseal(key, sealed) as string));
      return value === undefined ? [] : [[key, value === null ? null : seal(key, value)]];
    });
  }

  /** Completes a write that was held back. */
  release(): void {
    const held = this.#held;
    this.#held = undefined;
    held?.apply();
    held?.resolve();
  }

  /** Ends the process. A write in flight is on disk whole or not at all, and is never answered. */
  crash(kind: 'process' | 'power'): void {
    this.#isCrashed = true;
    if (this.#dice.chance(0.5)) this.#held?.apply();
    this.#held = undefined;
    if (kind === 'power') this.#disk.losePower(this.#dice);
  }

  snapshot(): EngineView {
    const copy = new Map(this.#disk.stored);
    async function* chunks(range: KeyRange, { chunkSize = 1000, reverse = false } = {}): AsyncGenerator<Entry[]> {
      const entries = [...copy].filter(([key]) => key >= range.gte && key < range.lt);
      entries.sort((a, b) => (a[0] < b[0] ? -1 : 1));
      if (reverse) entries.reverse();
      for (let at = 0; at < entries.length; at += chunkSize) yield entries.slice(at, at + chunkSize);
    }
    return {
      get: (key) => copy.get(key),
      entries: chunks,
      async *sealed(range, options) {
        for await (const chunk of chunks(range, options)) yield chunk.map(([key, value]) => [key, toBytes(value)]);
      },
      close: async () => {},
    };
  }

  async close(): Promise<void> {
    this.#isCrashed = true;
  }
}

/** The coordinator's store on a simulated disk. */
export function openSimStore(disk: SimDisk, engine: SimEngine, dice: Dice, bug: DiskBug): Store {
  const store = new CheckedStore({
    engine,
    directory: 'the simulated disk',
    store: 'simulated',
    last: disk.lastGroup(),
    sequence: 0,
    onWritten: ({ number }) => disk.mark(number, dice),
  });
  return bug.cacheAhead === true ? cachedAhead(store) : store;
}

function cachedAhead(store: Store): Store {
  const ahead = new Map<string, string | undefined>();
  return {
    get: (key) => (ahead.has(key) ? ahead.get(key) : store.get(key)),
    write: (changes: Changes) => {
      for (const [key, value] of changes) if (isBatchKey(key)) ahead.set(key, value ?? undefined);
      return store.write(changes);
    },
    snapshot: () => store.snapshot(),
    close: () => store.close(),
  };
}
