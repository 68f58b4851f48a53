/**
 * The context of a runner: its data, the changes that the transitions of `runner.ts` make to it, and its deadlines. Pure
 * functions.
 */
import { leaseMs, missedAfterMs, offlineAfterMs } from '../src/domain/rules.ts';
import type { AllocationEndKind, AttemptRef, HeldAttempt, RunnerContext } from '../src/contract/types.ts';
import type { Deadline } from './deadline.ts';
import type { JobChange, RunnerEvent } from './protocol.ts';

export type { HeldAttempt, RunnerContext } from '../src/contract/types.ts';

export interface RunnerInput {
  runnerId: string;
  now: number;
}

type Of<T extends RunnerEvent['type']> = Extract<RunnerEvent, { type: T }>;

type HeldAndCounts = Pick<RunnerContext, 'held' | 'completed' | 'failed'>;

/** The latest result: a guard and then the action of one transition ask for the same one. */
let latest: { of: RunnerContext; changes: readonly JobChange[]; result: HeldAndCounts } | undefined;

/** Returns the members that changes of jobs change: attempts held, and counters. */
export function afterChanges(c: RunnerContext, changes: readonly JobChange[]): HeldAndCounts {
  if (latest?.of !== c || latest.changes !== changes) latest = { of: c, changes, result: heldAfter(c, changes) };
  return latest.result;
}

function heldAfter(c: RunnerContext, changes: readonly JobChange[]): HeldAndCounts {
  // The runs of a report mostly end in the order in which they were claimed: no table is needed to find them.
  const areOldest = changes.every((it, at) => it.type === 'job.ended' && it.jobId === c.held[at]?.jobId);
  const held = areOldest ? c.held.slice(changes.length) : heldOneByOne(c.held, changes);
  let { completed, failed } = c;
  for (const change of changes) {
    if (change.type === 'job.requeued' && change.outcome === 'failed') failed += 1;
    if (change.type !== 'job.ended') continue;
    if (change.to === 'Completed') completed += 1;
    else if (change.to !== 'Cancelled') failed += 1;
  }
  return { held, completed, failed };
}

function heldOneByOne(before: readonly HeldAttempt[], changes: readonly JobChange[]): HeldAttempt[] {
  const held = new Map(before.map((it) => [it.jobId, it]));
  for (const change of changes) {
    switch (change.type) {
      case 'job.claimed': {
        const { jobId, attempt, cpuMilli, memoryBytes, resources } = change;
        const attemptHeld = { jobId, attempt, cpuMilli, memoryBytes };
        held.set(jobId, resources === undefined ? attemptHeld : { ...attemptHeld, resources });
        break;
      }
      case 'job.started':
        break;
      case 'job.requeued':
      case 'job.ended':
        held.delete(change.jobId);
        break;
    }
  }
  return [...held.values()];
}

/** Returns the member that states the lost slots: absent for none. */
export const slotsLostMember = (count: number | undefined): Pick<RunnerContext, 'slotsLost'> => ({
  slotsLost: count === 0 ? undefined : count,
});

/** Marks the attempts that the runner no longer names, and clears the mark of those it names again. */
export function markMissing(
  held: readonly HeldAttempt[],
  named: readonly AttemptRef[] | undefined,
  now: number,
): readonly HeldAttempt[] {
  if (named === undefined || held.length === 0) return held;
  const attempts = new Map(named.map((it) => [it.job_id, it.attempt]));
  let changed = false;
  const result = held.map((it) => {
    const isNamed = attempts.get(it.jobId) === it.attempt;
    if (isNamed === (it.missingSinceMs === undefined)) return it;
    changed = true;
    const { missingSinceMs: _, ...rest } = it;
    return isNamed ? rest : { ...rest, missingSinceMs: now };
  });
  return changed ? result : held;
}

export const refs = (held: readonly HeldAttempt[]): AttemptRef[] =>
  held.map((it) => ({ job_id: it.jobId, attempt: it.attempt }));

/** Returns the context after a registration of the same process, or of its successor. */
export function takenOver(c: RunnerContext, event: Of<'REGISTER'>): RunnerContext {
  return {
    ...c,
    name: event.name,
    instance: event.instance,
    capabilities: event.capabilities,
    tags: event.tags,
    heartbeatIntervalSecs: event.heartbeatIntervalSecs,
    lastHeartbeatMs: event.now,
    heardAtMs: event.now,
    held: markMissing(c.held, event.holding, event.now),
    signedOffAtMs: undefined,
    allocation: event.allocation,
    endsAtMs: event.endsAtMs,
    ephemeral: event.ephemeral,
    hostname: event.hostname,
    engines: event.engines,
    leaving: undefined,
    lost: undefined,
    ...slotsLostMember(event.slotsLost),
  };
}

/** The attempts of the previous process that the registering process does not name. */
export function droppedAttempts(c: RunnerContext, event: Of<'REGISTER'>): AttemptRef[] {
  if (event.instance === c.instance) return [];
  const named = new Map(event.holding.map((it) => [it.job_id, it.attempt]));
  return refs(c.held.filter((it) => named.get(it.jobId) !== it.attempt));
}

export const isOverdue = (c: RunnerContext, it: HeldAttempt, now: number): boolean =>
  it.missingSinceMs !== undefined && now >= it.missingSinceMs + leaseMs(c.heartbeatIntervalSecs);

/** True unless the event is a heartbeat of another process than the registered one, or of a process that has signed off. */
export function isFromRegistered(context: RunnerContext, event: RunnerEvent): boolean {
  return event.type !== 'HEARTBEAT' || (event.instance === context.instance && context.signedOffAtMs === undefined);
}

type Drain = Pick<RunnerContext, 'drained' | 'drainReason' | 'drainedUntilMs' | 'quarantined' | 'countedSinceMs'>;

/** The members that a drain or a quarantine sets. */
export function drainedBy(c: RunnerContext, event: RunnerEvent): Drain {
  const isQuarantine = event.type === 'QUARANTINE';
  const { reason, untilMs } = isQuarantine || event.type === 'DRAIN' ? event : {};
  // A drain by an operator ends a quarantine and takes its place.
  const countedSinceMs = c.quarantined === true ? event.now : c.countedSinceMs;
  const quarantined = isQuarantine ? true : undefined;
  return { drained: true, drainReason: reason, drainedUntilMs: untilMs, quarantined, countedSinceMs };
}

/** The members that the end of a drain or a quarantine sets. */
export function resumedBy(c: RunnerContext, event: RunnerEvent): Drain {
  const wasQuarantined = c.quarantined === true || (c.drained && c.countedSinceMs !== undefined);
  return {
    drained: false,
    drainReason: undefined,
    drainedUntilMs: undefined,
    quarantined: undefined,
    countedSinceMs: wasQuarantined ? event.now : c.countedSinceMs,
  };
}

/** Ends of an allocation that say nothing about the runs in it: they are executed again, and nothing is counted. */
const BLAMELESS: ReadonlySet<AllocationEndKind> = new Set<AllocationEndKind>([
  'completed',
  'timeout',
  'preempted',
  'evicted',
  'node-failure',
  'cancelled',
]);
/** Ends that the runs themselves may have caused; each counts as the loss of a runner. Of the others the engine knows too little. */
const COUNTED: ReadonlySet<AllocationEndKind> = new Set<AllocationEndKind>(['failed', 'out-of-memory']);

/** True when the machine of a silent runner was taken from it. */
export const isMachineGone = ({ held }: RunnerContext, event: RunnerEvent): boolean =>
  held.length > 0 && event.type === 'ALLOCATION_ENDED' && BLAMELESS.has(event.kind);

/** True when a silent runner has ended with its allocation, and its runs may be the cause. */
export const hasFailedWithMachine = ({ held }: RunnerContext, event: RunnerEvent): boolean =>
  held.length > 0 && event.type === 'ALLOCATION_ENDED' && COUNTED.has(event.kind);

/** True when the next heartbeat of a runner is late by half its interval: with the word of the engine, enough to count as gone. */
export const hasMissedHeartbeat = (
  { heardAtMs, heartbeatIntervalSecs }: RunnerContext,
  { now }: RunnerEvent,
): boolean => now >= heardAtMs + missedAfterMs(heartbeatIntervalSecs);

/** True when attempts of a silent runner counted as losses, and its machine was taken from it. */
export const isMachineGoneLate = ({ lost }: RunnerContext, event: RunnerEvent): boolean =>
  lost !== undefined && event.type === 'ALLOCATION_ENDED' && BLAMELESS.has(event.kind);

/** True when attempts of a silent runner counted as losses, and stay so. */
export const isLossConfirmed = ({ lost }: RunnerContext, event: RunnerEvent): boolean =>
  lost !== undefined && event.type === 'ALLOCATION_ENDED' && COUNTED.has(event.kind);

/** The attempts that a lease has ended, which a late report of a launcher may excuse; absent for a runner without an allocation. */
export const lostMember = ({ allocation, held, lost }: RunnerContext): Pick<RunnerContext, 'lost'> =>
  allocation === undefined || held.length === 0 ? { lost } : { lost: refs(held) };

/** True when the runner fell silent at the declared end of its machine: its lease ends after it. */
export const isBeyondItsEnd = ({ endsAtMs }: RunnerContext, { now }: RunnerEvent): boolean =>
  endsAtMs !== undefined && now >= endsAtMs;

/** How the machine of a runner ended, as a clause. */
export function machineEnd({ allocation, endsAtMs }: RunnerContext, event: RunnerEvent): string {
  if (event.type === 'ALLOCATION_ENDED') return `its allocation ${allocation ?? ''} has ended: ${event.reason}`;
  return `its machine was available until ${new Date(endsAtMs ?? event.now).toISOString()}`;
}

export const isDrainOver = (c: RunnerContext, { now }: RunnerEvent): boolean =>
  c.drained && c.drainedUntilMs !== undefined && now >= c.drainedUntilMs;

/** The runner's next deadline, if it has one. */
export function runnerDeadline(value: string, c: RunnerContext): Deadline | undefined {
  const next = contactDeadline(value, c);
  if (!c.drained || c.drainedUntilMs === undefined) return next;
  const drain: Deadline = { kind: 'drain', atMs: c.drainedUntilMs };
  return next === undefined || drain.atMs < next.atMs ? drain : next;
}

/** The next deadline of its contacts. */
function contactDeadline(value: string, c: RunnerContext): Deadline | undefined {
  if (value === 'Offline') {
    return c.held.length === 0 ? undefined : { kind: 'lease', atMs: c.heardAtMs + leaseMs(c.heartbeatIntervalSecs) };
  }
  const silence: Deadline = { kind: 'silence', atMs: c.heardAtMs + offlineAfterMs(c.heartbeatIntervalSecs) };
  let missingAtMs = Infinity;
  for (const it of c.held) if (it.missingSinceMs !== undefined) missingAtMs = Math.min(missingAtMs, it.missingSinceMs);
  if (missingAtMs === Infinity) return silence;
  const missing: Deadline = { kind: 'missing', atMs: missingAtMs + leaseMs(c.heartbeatIntervalSecs) };
  return missing.atMs < silence.atMs ? missing : silence;
}

/** Returns the context after a restart of the coordinator: silence and missing attempts are counted from now. */
export function reviveRunner(c: RunnerContext, now: number): RunnerContext {
  const held = c.held.map((it) => (it.missingSinceMs === undefined ? it : { ...it, missingSinceMs: now }));
  return { ...c, heardAtMs: now, held };
}
