/** What a scenario stands on: dice from its seed, and a disk that outlives the coordinators that crash on it. */
import type { Changes, Store, StoreView } from '../../src/coordinator/storage/store.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { seededRandom } from '../support/simulated-clock.ts';

export class Dice {
  readonly next: () => number;

  constructor(seed: number) {
    this.next = seededRandom(seed);
  }

  /** An integer in [0, n). */
  int(n: number): number {
    return Math.floor(this.next() * n);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[this.int(items.length)];
  }
}

/** A bug to be injected beneath the coordinator. */
export interface DiskBug {
  /** Writes are acknowledged when they begin. */
  ackEarly?: boolean;
  /** What is really written. */
  written?(key: string, value: string | null): string | null | undefined;
  /** What is read back after a restart. */
  read?(key: string, value: string): string;
}

/** One life of the store: writes may be held back, and a crash loses or keeps what is held, unanswered either way. */
export class SimStore implements Store {
  readonly disk: Map<string, string>;
  readonly #memory: MemoryStore;
  readonly #dice: Dice;
  readonly #bug: DiskBug;
  #held: { apply(): void; resolve(): void } | undefined;
  #isCrashed = false;
  holdProbability = 0.3;

  constructor(disk: Map<string, string>, dice: Dice, bug: DiskBug) {
    this.disk = disk;
    this.#memory = new MemoryStore(disk);
    this.#dice = dice;
    this.#bug = bug;
  }

  get(key: string): string | undefined {
    const value = this.disk.get(key);
    return value === undefined ? undefined : (this.#bug.read?.(key, value) ?? value);
  }

  write(changes: Changes): Promise<void> {
    if (this.#isCrashed) return new Promise(() => {});
    if (this.#held !== undefined) throw new Error('two groups are being written at once');
    const apply = (): void => this.#apply(changes);
    if (!this.#dice.chance(this.holdProbability)) {
      apply();
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#held = { apply, resolve };
      if (this.#bug.ackEarly === true) resolve();
    });
  }

  #apply(changes: Changes): void {
    for (const [key, value] of changes) {
      const written = this.#bug.written === undefined ? value : this.#bug.written(key, value);
      if (written === undefined) continue;
      if (written === null) this.disk.delete(key);
      else this.disk.set(key, written);
    }
  }

  /** Lets a write that was held back come to its end. */
  release(): void {
    const held = this.#held;
    this.#held = undefined;
    held?.apply();
    held?.resolve();
  }

  /** The process is gone. A write under way is on disk whole or not at all, and nobody hears of it. */
  crash(): void {
    this.#isCrashed = true;
    if (this.#dice.chance(0.5)) this.#held?.apply();
    this.#held = undefined;
  }

  snapshot(): StoreView {
    return this.#memory.snapshot();
  }

  async close(): Promise<void> {
    this.#isCrashed = true;
  }
}
