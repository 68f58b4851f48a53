/** How many more allocations the limits allow, and which limit is the narrowest. Pure apart from its own counters. */
import { plural } from '../../domain/plural.ts';
import type { LauncherLimits, QueueConfig } from '../settings.ts';
import type { Usage } from './usage.ts';

const HOUR_MS = 3_600_000;
/** The most allocations that one round submits, so that a round stays short; the next one follows. */
export const MAX_PER_ROUND = 100;

interface Counts {
  live: number;
  waiting: number;
}

/** The rest of all limits; `take` uses a part of it. */
export class Room {
  readonly #limits: LauncherLimits;
  readonly #usage: Usage;
  readonly #counts: ReadonlyMap<string, Counts>;
  #live: number;
  #taken = 0;

  constructor(limits: LauncherLimits, usage: Usage, counts: ReadonlyMap<string, Counts>, live: number) {
    this.#limits = limits;
    this.#usage = { ...usage };
    this.#counts = new Map([...counts].map(([name, it]) => [name, { ...it }]));
    this.#live = live;
  }

  /** The most allocations of the queue that may be submitted now, and the narrowest limit as a clause. */
  of(queue: QueueConfig): { count: number; limit: string } {
    const { live, waiting } = this.#countsOf(queue);
    const { maxAllocations, maxCoreHours, maxCoreHoursPerDay } = this.#limits;
    const coreMs = queue.size.cores * queue.lifetimeMs;
    const hours = (limit: number, usedMs: number): number => Math.floor((limit * HOUR_MS - usedMs) / coreMs);
    const candidates: [count: number, limit: string][] = [
      [queue.max - live, `max is ${String(queue.max)}, and ${plural(live, 'allocation')} of the queue live`],
      [
        queue.maxQueued - waiting,
        `max_queued is ${String(queue.maxQueued)}, and ${String(waiting)} wait in the engine`,
      ],
      [MAX_PER_ROUND - this.#taken, `a round submits ${String(MAX_PER_ROUND)} at most`],
    ];
    if (maxAllocations !== undefined) {
      const text = `limits.max_allocations is ${String(maxAllocations)}, and ${String(this.#live)} live`;
      candidates.push([maxAllocations - this.#live, text]);
    }
    if (maxCoreHours !== undefined) {
      const text = `limits.max_core_hours is ${String(maxCoreHours)}, and one more allocation would exceed it`;
      candidates.push([hours(maxCoreHours, this.#usage.totalCoreMs), text]);
    }
    if (maxCoreHoursPerDay !== undefined) {
      const text = `limits.max_core_hours_per_day is ${String(maxCoreHoursPerDay)}, and one more allocation would exceed it`;
      candidates.push([hours(maxCoreHoursPerDay, this.#usage.dayCoreMs), text]);
    }
    const [count, limit] = candidates.reduce((a, b) => (b[0] < a[0] ? b : a));
    return { count: Math.max(0, count), limit };
  }

  take(queue: QueueConfig, count: number): void {
    const counts = this.#countsOf(queue);
    counts.live += count;
    counts.waiting += count;
    this.#live += count;
    this.#taken += count;
    const coreMs = queue.size.cores * queue.lifetimeMs * count;
    this.#usage.totalCoreMs += coreMs;
    this.#usage.dayCoreMs += coreMs;
  }

  #countsOf({ name }: QueueConfig): Counts {
    const counts = this.#counts.get(name);
    if (counts === undefined) throw new Error(`no counts of the queue ${name}`);
    return counts;
  }
}
