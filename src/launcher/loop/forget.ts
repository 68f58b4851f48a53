/**
 * Forgets allocations that ended long ago, once an hour: first the logs and folders that they have left, where an operator wants that, then their
 * records. By the end that the launcher recorded, and not for an hour after a leap of the clock.
 */
import type { Clock } from '../../base/clock.ts';
import { formatBytes } from '../../base/text/number-text.ts';
import { plural } from '../../domain/plural.ts';
import { leapWarning, SweepTimes } from '../../domain/retention/sweep-times.ts';
import { isLive } from '../decision/usage.ts';
import type { Engine } from '../engine.ts';
import type { AllocationRecord } from '../state/allocations.ts';
import type { LauncherLog } from './ports.ts';

const DAY_MS = 86_400_000;
/** Time for which ended allocations are kept, for people and for the limit per day. */
const KEPT_MS = 7 * DAY_MS;
/** Ended allocations above which old ones are forgotten sooner, but never within the day that the limit counts. */
const MAX_ENDED = 20_000;
/** An allocation that was never submitted is of little interest. */
const ABANDONED_MS = 3_600_000;
/** The record of an allocation whose folder cannot be reached is kept so much longer. */
const PATIENCE_MS = 14 * DAY_MS;

export interface ForgettingParts {
  engines: ReadonlyMap<string, Engine>;
  clock: Pick<Clock, 'now'>;
  log: LauncherLog;
  /** Days for which logs, folders and records of ended allocations are kept; undefined: logs and folders for ever, records for a week. */
  keepDays: number | undefined;
}

export class Forgetting {
  readonly #parts: ForgettingParts;
  readonly #times: SweepTimes;

  /** @param knownMs the last instant that the state folder knows; Infinity: none. */
  constructor(parts: ForgettingParts, knownMs: number) {
    this.#parts = parts;
    this.#times = new SweepTimes(knownMs, parts.clock.now());
    if (this.#times.leap !== undefined)
      parts.log('warn', leapWarning(this.#times.leap, 'the state folder', 'launcher'));
  }

  /** Whether a sweep begins now. The instant must be on the disk before `sweep`. */
  begin(): boolean {
    return this.#times.begin(this.#parts.clock.now());
  }

  /** Deletes the logs and folders of old allocations, and returns the records that are to be deleted. */
  async sweep(all: Iterable<AllocationRecord>): Promise<AllocationRecord[]> {
    const { keepDays, clock } = this.#parts;
    const now = clock.now();
    const keptMs = keepDays === undefined ? KEPT_MS : keepDays * DAY_MS;
    const ended = [...all].filter((it) => !isLive(it) && !it.hasToken).toSorted((a, b) => endOf(b) - endOf(a));
    const old = ended.filter((it, index) => {
      const isMany = keepDays === undefined && index >= MAX_ENDED;
      const ownMs = it.context.submittedAtMs === undefined ? ABANDONED_MS : isMany ? DAY_MS : keptMs;
      return now - endOf(it) > ownMs;
    });
    if (keepDays === undefined) return old;
    const left = old.filter((it) => it.context.submittedAtMs !== undefined);
    const cleaned = await this.#clean(left, keepDays);
    return old.filter(
      (it) => !left.includes(it) || cleaned.has(it.context.id) || now - endOf(it) > keptMs + PATIENCE_MS,
    );
  }

  /** Returns the ids of allocations of which nothing is left. */
  async #clean(old: readonly AllocationRecord[], keepDays: number): Promise<ReadonlySet<string>> {
    const { engines, log } = this.#parts;
    const byEngine = new Map<Engine | undefined, AllocationRecord[]>();
    for (const it of old) {
      const engine = engines.get(it.context.queue);
      byEngine.set(engine, [...(byEngine.get(engine) ?? []), it]);
    }
    const gone = new Set<string>();
    const sum = { count: 0, bytes: 0 };
    for (const [engine, records] of byEngine) {
      const ids = records.map((it) => it.context.id);
      // Queues that are no longer in the configuration, and engines that keep nothing.
      if (engine?.clean === undefined) {
        for (const id of ids) gone.add(id);
        continue;
      }
      const cleaned = await engine.clean(records.map(({ context: { id, queue, place } }) => ({ id, queue, place })));
      const kept = new Set(cleaned.kept);
      for (const id of ids) if (!kept.has(id)) gone.add(id);
      sum.count += cleaned.count;
      sum.bytes += cleaned.bytes;
      if (cleaned.why !== undefined)
        log(
          'warn',
          `what ${plural(kept.size, 'old allocation')} left cannot be deleted now: ${cleaned.why}; tries again in an hour`,
        );
    }
    if (sum.count > 0) {
      log(
        'info',
        `deleted the logs and folders of ${plural(sum.count, 'allocation')} (${formatBytes(sum.bytes)}) that ended more than ${plural(keepDays, 'day')} ago`,
      );
    }
    return gone;
  }
}

const endOf = ({ context }: AllocationRecord): number => context.endedAtMs ?? 0;

/** The latest instant of the records, for a state folder that has noted none; Infinity: there are none. */
export function latestInstant(allocations: readonly AllocationRecord[]): number {
  const latest = allocations.reduce((ms, it) => Math.max(ms, it.history.at(-1)?.atMs ?? 0, endOf(it)), 0);
  return latest === 0 ? Infinity : latest;
}
