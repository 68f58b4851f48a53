/** Sends what the pool and the engines say to the allocations: registrations, states, ends, adoption. No I/O. */
import type { AllocationContext, AllocationEvent, AllocationInput } from '../../../machines/allocation/context.ts';
import { allocationDeadline } from '../../../machines/allocation/context.ts';
import type { DemandGroup, Runner } from '../../contract/types.ts';
import type { LauncherConfig, QueueConfig } from '../settings.ts';
import type { EngineAllocation, Silence } from '../engine.ts';
import { allocationName } from '../request.ts';
import { isLive, type Allocation } from '../decision/usage.ts';
import type { Allocations } from '../state/allocations.ts';
import type { CoordinatorPort } from './ports.ts';

/** The answers of the engines in one round. */
export interface EngineAnswers {
  /** When they were asked: an allocation that is not listed was absent then, and may be there now. */
  askedAtMs: number;
  /** The allocations that the engines list, by the id. */
  listed: ReadonlyMap<string, EngineAllocation>;
  silent: readonly Silence[];
  /** The allocations that each engine listed when it was last asked, by the id. */
  known: ReadonlyMap<string, EngineAllocation>;
  /** False for an allocation whose engine was not asked in this round: it is neither listed nor absent. */
  isAsked: (record: Pick<Allocation, 'context'>) => boolean;
}

/** Why the engine of the allocation cannot be asked about it now; undefined when its answer counts. */
function isSilent({ queue, place }: AllocationContext, silent: readonly Silence[]): boolean {
  return silent.some(
    (it) => it.queue === queue && (it.place === undefined || place === undefined || it.place === place),
  );
}

/**
 * True for an allocation on a place that gives no answer, whose runner is not connected either: it holds no place of `max`, so that its runs find
 * room elsewhere. When the place answers again, it counts again. A runner may take its time to register.
 */
export function isCutOff(
  { context: c }: Pick<Allocation, 'context'>,
  runner: Runner | undefined,
  { silent, startTimeoutMs, now }: { silent: readonly Silence[]; startTimeoutMs: number; now: number },
): boolean {
  // A submission without an answer may have reached the silent place.
  const hasPlace =
    c.place !== undefined || (c.unansweredAtMs !== undefined && silent.some((it) => it.place !== undefined));
  if (!hasPlace || !isSilent(c, silent)) return false;
  if (runner !== undefined && runner.status !== 'Offline') return false;
  return c.readyAtMs !== undefined || now >= (c.startingAtMs ?? c.submittedAtMs ?? now) + startTimeoutMs;
}

export const runnerNameOf = ({ engine, queue, id }: AllocationContext): string =>
  allocationName({ engine, name: queue }, id);

/** The runners of the pool by the name of their allocation; a runner that has not signed off hides an older Offline one. */
function byAllocation(runners: readonly Runner[]): ReadonlyMap<string, Runner> {
  const found = new Map<string, Runner>();
  for (const it of runners) {
    if (it.allocation === undefined) continue;
    const known = found.get(it.allocation);
    if (known === undefined || known.status === 'Offline') found.set(it.allocation, it);
  }
  return found;
}

const STATUS = { Idle: 'idle', Busy: 'busy', Maintenance: 'draining', Offline: 'offline' } as const;

/** The coordinator's answers in one round. */
export interface Pool {
  demand: readonly DemandGroup[];
  all: readonly Runner[];
  /** Runners by the name of their allocation. */
  runners: ReadonlyMap<string, Runner>;
  /** The longest time limit of the runs of drained runners, in ms, by their ids; 0: a run has none. */
  timeLimits: ReadonlyMap<string, number>;
}

/** Most runners about which a round asks; the next round asks about the others. */
const MAX_LIMITED = 50;

/** Asks the coordinator. `why`: an answer that did not arrive, or a refusal. */
export async function askPool(coordinator: CoordinatorPort, allocations: Allocations): Promise<Pool | { why: string }> {
  try {
    const [{ demand }, all] = await Promise.all([coordinator.demand(), coordinator.runners()]);
    const runners = byAllocation(all);
    const unlimited = runnersToLimit(allocations, runners).slice(0, MAX_LIMITED);
    const timeLimits = unlimited.length === 0 ? new Map<string, number>() : await coordinator.timeLimits(unlimited);
    return { demand, all, runners, timeLimits };
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}

/** Drained runners with runs whose time limits decide how long they may take, and are not known. */
function runnersToLimit(allocations: Allocations, runners: ReadonlyMap<string, Runner>): string[] {
  return allocations.live().flatMap(({ context: c }) => {
    const runner = runners.get(runnerNameOf(c));
    if (runner === undefined || c.drain !== 'time-limits' || c.drainLimitMs !== undefined) return [];
    return isDrained(runner) && runner.current_jobs.length > 0 ? [runner.id] : [];
  });
}

const isDrained = ({ status, accepting_jobs: accepting }: Runner): boolean =>
  status === 'Maintenance' || (accepting === false && status !== 'Offline');

/** Registrations, work and departures of runners. */
export function observePool(allocations: Allocations, { runners, timeLimits }: Pool, now: number): void {
  for (const { context } of allocations.live()) {
    const runner = runners.get(runnerNameOf(context));
    if (runner !== undefined) {
      const status = isDrained(runner) ? 'draining' : STATUS[runner.status];
      const timeLimitMs = status === 'draining' ? timeLimits.get(runner.id) : undefined;
      const limit = timeLimitMs === undefined ? {} : { timeLimitMs };
      allocations.send(context.id, { type: 'RUNNER', status, runs: runner.current_jobs.length, ...limit, now });
    } else if (context.readyAtMs !== undefined) {
      allocations.send(context.id, { type: 'RUNNER_GONE', now });
    }
  }
}

const observed = (seen: EngineAllocation, now: number): AllocationEvent => ({
  type: 'OBSERVED',
  seen: {
    state: seen.state,
    handle: seen.handle,
    place: seen.place,
    reason: seen.reason,
    startedAtMs: seen.startedAtMs,
    endsAtMs: seen.endsAtMs,
    end: seen.end,
  },
  now,
});

/** States and ends; what an engine lists and the launcher does not know as live is adopted. Returns the adopted ids. */
export function observeEngines(
  allocations: Allocations,
  { askedAtMs, listed, silent, isAsked }: EngineAnswers,
  config: Pick<LauncherConfig, 'queues'>,
  settleMsOf: (queue: string) => number,
  now: number,
): string[] {
  for (const { context, value } of allocations.live()) {
    const seen = listed.get(context.id);
    if (seen !== undefined) allocations.send(context.id, observed(seen, now));
    else if (value !== 'Planned' && isAsked({ context }) && !isSilent(context, silent))
      allocations.send(context.id, { type: 'ABSENT', now: askedAtMs });
  }
  const adopted: string[] = [];
  for (const seen of listed.values()) {
    const known = allocations.get(seen.id);
    // Engines remember ended allocations for minutes: an old failure does not count again.
    if (seen.state === 'ended' || (known !== undefined && isLive(known))) continue;
    const queue = config.queues.find((it) => it.name === seen.queue);
    allocations.plan(adoptionInput(seen, queue, known?.context, settleMsOf(seen.queue), now));
    allocations.noteToken(seen.id, true);
    allocations.send(seen.id, observed(seen, now));
    adopted.push(seen.id);
  }
  return adopted;
}

function adoptionInput(
  { id, queue, startedAtMs, endsAtMs }: EngineAllocation,
  config: QueueConfig | undefined,
  former: AllocationContext | undefined,
  settleMs: number,
  now: number,
): AllocationInput {
  const lifetimeMs = startedAtMs === undefined || endsAtMs === undefined ? undefined : endsAtMs - startedAtMs;
  return {
    id,
    queue,
    engine: config?.engine ?? former?.engine ?? 'unknown',
    cores: config?.size.cores ?? former?.cores ?? 1,
    lifetimeMs: lifetimeMs ?? config?.lifetimeMs ?? former?.lifetimeMs ?? 0,
    startTimeoutMs: config?.startTimeoutMs ?? 600_000,
    queueTimeoutMs: config?.queueTimeoutMs,
    drain: config?.drainTimeoutMs ?? 'time-limits',
    settleMs,
    isKept: former?.isKept ?? false,
    now,
  };
}

/** Stops allocations whose deadline has passed. `isPoolKnown`: otherwise a registration may have been missed. */
export function expire(allocations: Allocations, isPoolKnown: boolean, silent: readonly Silence[], now: number): void {
  for (const { value, context } of allocations.live()) {
    const deadline = allocationDeadline(value, context);
    if (deadline === undefined || now < deadline.atMs || isSilent(context, silent)) continue;
    if ((value === 'Starting' || value === 'Draining') && !isPoolKnown) continue;
    const { reason, isFailure, immediately } = deadline;
    allocations.send(context.id, { type: 'STOP', reason, isFailure, immediately, now });
  }
}
