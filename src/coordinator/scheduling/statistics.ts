/**
 * Running statistics that no actor stores (rates, mean run times), in an @xstate/store with subscribers. Updated from the
 * facts of each committed group; empty after a start. No decision depends on them.
 */
import { createStore } from '@xstate/store';
import type { Clock } from '../../base/clock.ts';
import type { Directory } from '../kernel/actors/directory.ts';
import type { Fact, JobEnded } from '../../../machines/protocol.ts';
import { counted, EMPTY_WINDOW, isStale, type RateWindow } from '../../domain/runs/progress.ts';
import type { Uuid } from '../../contract/types.ts';

/** Mean run time of a simulation, over its completed jobs since the start. */
export interface RunTime {
  jobs: number;
  meanMs: number;
}

/** Events since the start, counted from facts; by label, or by '' without one. */
export const TOTALS = {
  batchesSubmitted: '',
  batchesEnded: 'status',
  jobsEnded: 'status',
  jobsRequeued: 'reason',
  attemptsLost: '',
  runnersSilent: '',
  notifications: 'outcome',
} as const;
export type TotalName = keyof typeof TOTALS;
export type Totals = Readonly<Record<TotalName, Readonly<Record<string, number>>>>;

export interface StatisticsContext {
  /** The number of committed groups with facts. */
  commits: number;
  /** One window for each batch with jobs that ended recently. */
  rates: Readonly<Record<Uuid, RateWindow>>;
  /** Run times by the name of the simulation. */
  runTimes: Readonly<Record<string, RunTime>>;
  totals: Totals;
}

export interface Committed {
  /** The number of jobs that ended by being executed, per batch. */
  ended: ReadonlyMap<Uuid, number>;
  /** The sum of run times and the number of completed jobs, per simulation. */
  completed: ReadonlyMap<string, { jobs: number; totalMs: number }>;
  /** The increments of the totals. */
  totals: TotalsIncrement;
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

type TotalsIncrement = { -readonly [Name in TotalName]?: Record<string, number> };

const NO_TOTALS: Totals = {
  batchesSubmitted: {},
  batchesEnded: {},
  jobsEnded: {},
  jobsRequeued: {},
  attemptsLost: {},
  runnersSilent: {},
  notifications: {},
};

function withTotals(totals: Totals, increments: TotalsIncrement): Totals {
  let next: Record<TotalName, Readonly<Record<string, number>>> | undefined;
  let name: TotalName;
  // Most groups change none of them, so that the loop must cost nothing then.
  for (name in increments) {
    next ??= { ...totals };
    const sum = { ...next[name] };
    for (const [label, count] of Object.entries(increments[name] ?? {})) sum[label] = (sum[label] ?? 0) + count;
    next[name] = sum;
  }
  return next ?? totals;
}

export type Statistics = ReturnType<typeof createStatistics>;

export function createStatistics() {
  const initial: StatisticsContext = { commits: 0, rates: {}, runTimes: {}, totals: NO_TOTALS };
  return createStore({
    context: initial,
    on: {
      committed: (context, event: Committed) => ({
        commits: context.commits + 1,
        rates: withRates(context.rates, event),
        runTimes: withRunTimes(context.runTimes, event.completed),
        totals: withTotals(context.totals, event.totals),
      }),
    },
  });
}

/** The mean duration of the completed runs of a simulation since the start, in milliseconds; undefined without one. */
export function meanRunMs(statistics: Pick<Statistics, 'getSnapshot'>, simulation: string): number | undefined {
  const { runTimes } = statistics.getSnapshot().context;
  return Object.hasOwn(runTimes, simulation) ? runTimes[simulation]?.meanMs : undefined;
}

/** Returns the simulations of batches. */
const simulationsIn =
  (directory: Pick<Directory, 'state'>) =>
  (batchId: Uuid): string | undefined =>
    directory.state('batch', batchId)?.context.simulationName;

/** Counts the facts of a committed group. */
export function countFacts(
  { statistics, clock, directory }: { statistics: Statistics; clock: Clock; directory: Pick<Directory, 'state'> },
  facts: readonly Fact[],
): void {
  // A heartbeat emits no fact, and heartbeats are most of the requests of an idle pool.
  if (facts.length === 0) return;
  statistics.trigger.committed(summarize(facts, clock.now(), simulationsIn(directory)));
}

/** Summarizes the facts of a group. `simulationOf` returns the simulation of a batch. */
export function summarize(
  facts: readonly Fact[],
  now: number,
  simulationOf: (batchId: Uuid) => string | undefined,
): Committed {
  const ended = new Map<Uuid, number>();
  const completed = new Map<string, { jobs: number; totalMs: number }>();
  const totals: TotalsIncrement = {};
  for (const fact of facts) {
    countFact(totals, fact);
    // A taken result says nothing about how fast runs are executed.
    if (fact.type !== 'job.ended' || fact.to === 'Cancelled' || fact.reused === true) continue;
    ended.set(fact.batchId, (ended.get(fact.batchId) ?? 0) + 1);
    if (fact.to === 'Completed') addRunTime(completed, fact, simulationOf(fact.batchId));
  }
  return { ended, completed, totals, now };
}

function countFact(totals: TotalsIncrement, fact: Fact): void {
  switch (fact.type) {
    case 'batch.opened':
      return add(totals, 'batchesSubmitted', '', 1);
    case 'batch.ended':
      return add(totals, 'batchesEnded', fact.status, 1);
    case 'job.ended':
      return add(totals, 'jobsEnded', fact.to, 1);
    case 'job.requeued':
      return add(totals, 'jobsRequeued', fact.why, 1);
    case 'runner.lost':
      return fact.held.length > 0 ? add(totals, 'attemptsLost', '', fact.held.length) : undefined;
    case 'runner.silent':
      return add(totals, 'runnersSilent', '', 1);
    case 'notification.delivered':
    case 'notification.failed':
    case 'notification.given-up':
    case 'notification.dropped':
      return add(totals, 'notifications', fact.type.slice('notification.'.length), 1);
    default:
  }
}

function add(totals: TotalsIncrement, name: TotalName, label: string, count: number): void {
  const counts = (totals[name] ??= {});
  counts[label] = (counts[label] ?? 0) + count;
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
