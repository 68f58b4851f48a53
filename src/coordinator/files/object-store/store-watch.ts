/** Tries the buckets of the object store at the start and from time to time, and keeps what it found for operators and findings. */
import type { Clock } from '../../../base/clock.ts';
import type { BucketState, ObjectStoreState, StoreFault } from '../../../contract/types.ts';
import type { ObjectStore } from './object-store.ts';
import { type BucketLook, probeBucket } from './probe.ts';

/** A bucket is tried again after this time: while it works, and while it has a fault. */
const WORKS_MS = 600_000;
const FAULT_MS = 30_000;
/** An answer to an operator is at most as old. */
const FRESH_MS = 5_000;

interface Look extends BucketLook {
  atMs: number;
}

interface Parts {
  clock: Clock;
  objectStore: ObjectStore | undefined;
  /** Whether it tries by itself, at the start and later. */
  isWatching: boolean;
  /** `bucketChanged`: the first look at a bucket, and each that finds another fault than before, or none any more. */
  hooks: { bucketChanged?(bucket: string, look: BucketLook): void };
}

/** The part that operations take. */
export interface StoreWatchPart {
  storeWatch: StoreWatch;
}

/** The state of the buckets; they are tried when the last look is more than five seconds old. */
export const objectStoreState = ({ storeWatch }: StoreWatchPart): Promise<ObjectStoreState> => storeWatch.state();

export class StoreWatch {
  readonly #parts: Parts;
  readonly #looks = new Map<string, Look>();
  /** The object that it writes; one for each process, so that a store that forbids deletion keeps one. */
  #key: string | undefined;
  #looking: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Begins the first look; the start does not wait for it. */
  restore(): void {
    this.tick();
  }

  tick(): void {
    const { isWatching, objectStore, clock } = this.#parts;
    if (!isWatching || objectStore === undefined) return;
    const now = clock.now();
    const isDue = objectStore.buckets.some((bucket) => {
      const look = this.#looks.get(bucket);
      return look === undefined || now >= look.atMs + (look.fault === undefined ? WORKS_MS : FAULT_MS);
    });
    if (isDue) void this.#look();
  }

  /** The fault of a bucket as it was last seen; undefined: none, or it was not tried yet. */
  faultOf(bucket: string): StoreFault | undefined {
    return this.#looks.get(bucket)?.fault;
  }

  /** The state of all buckets; tries them when the last look is more than five seconds old. */
  async state(): Promise<ObjectStoreState> {
    const { clock, objectStore } = this.#parts;
    const buckets = objectStore?.buckets ?? [];
    const isFresh = buckets.every((it) => clock.now() < (this.#looks.get(it)?.atMs ?? -Infinity) + FRESH_MS);
    if (!isFresh) await this.#look();
    return { buckets: buckets.map((bucket) => this.#stateOf(bucket)) };
  }

  /** Resolves when no look is in flight. */
  async idle(): Promise<void> {
    await this.#looking;
  }

  #stateOf(bucket: string): BucketState {
    const { atMs = this.#parts.clock.now(), fault, clockAheadSecs } = this.#looks.get(bucket) ?? {};
    return {
      bucket,
      tried_at: new Date(atMs).toISOString(),
      ...(clockAheadSecs === undefined ? {} : { clock_ahead_secs: clockAheadSecs }),
      ...(fault === undefined ? {} : { fault }),
    };
  }

  /** One look at a time. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookAtAll().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #lookAtAll(): Promise<void> {
    const { objectStore, clock, hooks } = this.#parts;
    for (const bucket of objectStore?.buckets ?? []) {
      if (objectStore === undefined) return;
      // Random numbers are drawn where there is a store alone, so that recordings without one stay the same.
      this.#key ??= `.simbatch-probe/${Buffer.from(clock.random(8)).toString('hex')}`;
      const look = await probeBucket(objectStore, { bucket, key: this.#key, now: () => clock.now() });
      const before = this.#looks.get(bucket);
      this.#looks.set(bucket, { atMs: clock.now(), ...look });
      if (before === undefined || before.fault?.code !== look.fault?.code) hooks.bucketChanged?.(bucket, look);
    }
  }
}
