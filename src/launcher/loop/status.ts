/** The launcher's state for people: queues with their last decisions, and allocations with their history. Pure. */
import { isLive } from '../decision/usage.ts';
import type { QueueDecision, Unserved } from '../decision/wanted.ts';
import type { QueueConfig } from '../settings.ts';
import type { AllocationRecord } from '../state/allocations.ts';
import { blockOf, failingOf, type QueueState } from '../state/queue-state.ts';

export interface QueueStatus {
  name: string;
  engine: string;
  max: number;
  /** Live allocations by state. */
  counts: Record<string, number>;
  /** The reason why the queue submits no allocation now; absent when it may. */
  blocked?: string;
  /** Why its last allocations failed; absent once one was of use. */
  failing?: string;
  paused: boolean;
  /** Sentences of the last decision. */
  why: readonly string[];
  /** The runs that fit it, and the decision about them; absent before the first one. */
  demand?: QueueDecision['demand'];
}

export interface LauncherStatus {
  launcher: string;
  endpoint: string;
  /** The end of the last round, ISO 8601. */
  at: string;
  pollSeconds: number;
  /** The coordinator or an engine that gave no answer in the last round. */
  problems: readonly string[];
  isCoordinatorSilent: boolean;
  queues: readonly QueueStatus[];
  /** Runs that no queue can execute. */
  unserved: readonly Unserved[];
  usage: { core_hours: number; core_hours_last_day: number };
  allocations: readonly AllocationRecord[];
}

/** Ended allocations in the status; `launcher log` finds no older ones. */
const MAX_ENDED = 500;

export interface StatusInput {
  launcher: string;
  endpoint: string;
  pollMs: number;
  now: number;
  problems: readonly string[];
  isCoordinatorSilent: boolean;
  queues: readonly QueueConfig[];
  states: (queue: string) => QueueState;
  decisions: ReadonlyMap<string, QueueDecision>;
  silent: ReadonlyMap<string, string>;
  /** Why no queue gets tokens for its runners; undefined when all do. */
  tokenBlock: string | undefined;
  unserved: readonly Unserved[];
  usage: { totalCoreMs: number; dayCoreMs: number };
  allocations: Iterable<AllocationRecord>;
}

export function statusOf(input: StatusInput): LauncherStatus {
  const all = [...input.allocations];
  const live = all.filter(isLive);
  const ended = all
    .filter((it) => !isLive(it))
    .toSorted((a, b) => (b.context.endedAtMs ?? 0) - (a.context.endedAtMs ?? 0));
  const queues = input.queues.map(({ name, engine, max }): QueueStatus => {
    const counts: Record<string, number> = {};
    for (const { value, context } of live) if (context.queue === name) counts[value] = (counts[value] ?? 0) + 1;
    const state = input.states(name);
    const blocked = blockOf(state, input.now) ?? input.silent.get(name) ?? input.tokenBlock;
    const failing = failingOf(state);
    const decision = input.decisions.get(name);
    return {
      name,
      engine,
      max,
      counts,
      ...(blocked === undefined ? {} : { blocked }),
      ...(failing === undefined ? {} : { failing }),
      paused: state.paused !== undefined,
      why: decision?.why ?? ['no decision yet: the coordinator has not answered'],
      ...(decision === undefined ? {} : { demand: decision.demand }),
    };
  });
  const hours = (ms: number): number => Math.round(ms / 36_000) / 100;
  return {
    launcher: input.launcher,
    endpoint: input.endpoint,
    at: new Date(input.now).toISOString(),
    pollSeconds: input.pollMs / 1_000,
    problems: input.problems,
    isCoordinatorSilent: input.isCoordinatorSilent,
    queues,
    unserved: input.unserved,
    usage: { core_hours: hours(input.usage.totalCoreMs), core_hours_last_day: hours(input.usage.dayCoreMs) },
    allocations: [...live, ...ended.slice(0, MAX_ENDED)],
  };
}
