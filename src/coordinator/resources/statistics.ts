/**
 * Running statistics that no actor stores (rates, mean run times), in an @xstate/store with subscribers. Updated from the
 * facts of each committed group; empty after a start. No decision depends on them.
 */
import { createStore } from '@xstate/store';
import type { Fact, JobEnded } from '../../../machines/protocol.ts';
import { counted, EMPTY_WINDOW, isStale, type RateWindow } from '../../domain/progress.ts';
import type { Uuid } from '../../contract/types.ts';

/** Mean run time of a simulation, over its completed jobs since the start. */
export interface RunTime {
  jobs: number;
  meanMs: number;
}

export interface StatisticsContext {
  /** The number of committed groups with facts. */
  groupCommit: number;
  /** One window for each batch with jobs that ended recently. */
  rates: Readonly<Record<Uuid, RateWindow>>;
  /** By simulation name. */
  runTimes: Readonly<Record<string, RunTime>>;
}

export interface Committed {
  /** The number of jobs that ended other than by cancellation, per batch. */
  ended: ReadonlyMap<Uuid, number>;
  /** The sum of run times and the number of completed jobs, per simulation. */
  completed: ReadonlyMap<string, { jobs: number; totalMs: number }>;
  now: number;
}

/** The mean is weighted by at most this many older runs, so that it follows the latest ones. */
const RUN_TIME_MEMORY = 1_000;

function withRunTimes(
  runTimes: StatisticsContext['runTimes'],
  completed: Committed['completed'],
): StatisticsContext['runTimes'] {
  if (completed.size === 0) return runTimes;
  const next: Record<string, RunTime> = Object.assign(Object.create(null), runTimes);
  for (const [name, { jobs, totalMs }] of completed) {
    const known = next[name] ?? { jobs: 0, meanMs: 0 };
    const weight = Math.min(known.jobs, RUN_TIME_MEMORY);
    next[name] = { jobs: known.jobs + jobs, meanMs: (known.meanMs * weight + totalMs) / (weight + jobs) };
  }
  return next;
}

function withRates(rates: StatisticsContext['rates'], { ended, now }: Committed): StatisticsContext['rates'] {
  if (ended.size === 0) return rates;
  const next: Record<Uuid, RateWindow> = {};
  for (const [batchId, window] of Object.entries(rates)) if (!isStale(window, now)) next[batchId] = window;
  for (const [batchId, count] of ended) next[batchId] = counted(next[batchId] ?? EMPTY_WINDOW, count, now);
  return next;
}

export type Statistics = ReturnType<typeof createStatistics>;

export function createStatistics() {
  const context: StatisticsContext = { groupCommit: 0, rates: {}, runTimes: {} };
  return createStore({
    context,
    on: {
      committed: (figures, event: Committed) => ({
        groupCommit: figures.groupCommit + 1,
        rates: withRates(figures.rates, event),
        runTimes: withRunTimes(figures.runTimes, event.completed),
      }),
    },
  });
}

/** Summarizes the facts of a group. `simulationOf` returns the simulation of a batch. */
export function summarize(
  facts: readonly Fact[],
  now: number,
  simulationOf: (batchId: Uuid) => string | undefined,
): Committed {
  const ended = new Map<Uuid, number>();
  const completed = new Map<string, { jobs: number; totalMs: number }>();
  for (const fact of facts) {
    if (fact.type !== 'job.ended' || fact.to === 'Cancelled') continue;
    ended.set(fact.batchId, (ended.get(fact.batchId) ?? 0) + 1);
    if (fact.to === 'Completed') addRunTime(completed, fact, simulationOf(fact.batchId));
  }
  return { ended, completed, now };
}

function addRunTime(
  completed: Map<string, { jobs: number; totalMs: number }>,
  fact: JobEnded,
  name: string | undefined,
): void {
  if (name === undefined || fact.startedAtMs === undefined) return;
  const sum = completed.get(name) ?? { jobs: 0, totalMs: 0 };
  completed.set(name, { jobs: sum.jobs + 1, totalMs: sum.totalMs + Math.max(0, fact.now - fact.startedAtMs) });
}
