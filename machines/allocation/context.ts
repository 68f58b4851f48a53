/** The context of an allocation: its data, events and facts, and the deadlines that follow from it. Pure. */

import type { AllocationEndKind } from '../../src/contract/types.ts';

/** Where the engine sees an allocation; the launcher reads it in every round. */
export interface Observation {
  state: 'queued' | 'running' | 'stopping' | 'ended';
  handle: string;
  place: string | undefined;
  reason: string | undefined;
  startedAtMs: number | undefined;
  endsAtMs: number | undefined;
  end: AllocationEnd | undefined;
}

export interface AllocationEnd {
  /** The end as the engine reports it; `never-submitted`, `gone` (the engine does not name it any more) and `abandoned` are the launcher's. */
  kind: AllocationEndKind | 'never-submitted' | 'abandoned';
  exitCode?: number;
}

export type AllocationEvent =
  /** The id of the allocation is on disk; the engine is called now. */
  | { type: 'SUBMIT'; now: number }
  /** The allocation will not be submitted: the launcher was restarted, the token could not be made, or no part of the engine that answers has room. */
  | { type: 'ABANDON'; reason: string; now: number }
  /** The engine has taken it. */
  | { type: 'ACCEPTED'; handle: string; place: string | undefined; now: number }
  /** The engine has refused it. */
  | { type: 'REFUSE'; reason: string; now: number }
  /** The engine gave no answer to the submission: whether it exists is unknown. */
  | { type: 'UNANSWERED'; reason: string; now: number }
  /** The engine lists it. */
  | { type: 'OBSERVED'; seen: Observation; now: number }
  /** The engine has answered, and does not list it. */
  | { type: 'ABSENT'; now: number }
  /** The coordinator lists its runner. */
  | {
      type: 'RUNNER';
      status: 'idle' | 'busy' | 'draining' | 'offline';
      runs: number;
      /** The longest time limit of these runs, where it was asked for; 0: one of them has none. */
      timeLimitMs?: number | undefined;
      now: number;
    }
  /** The coordinator does not list its runner any more: it has signed off. */
  | { type: 'RUNNER_GONE'; now: number }
  /** The allocation must end, by an operator's wish or a deadline. `isFailure`: the configuration of its queue is at fault. */
  | { type: 'STOP'; reason: string; isFailure: boolean; immediately: boolean; now: number };

export type AllocationEventType = AllocationEvent['type'];

/** `isFailure`: it never was of use, and the queue's configuration may be the cause. */
export type AllocationFact =
  | { type: 'allocation.ready'; id: string; now: number }
  | { type: 'allocation.ended'; id: string; isFailure: boolean; reason: string; now: number };

export interface AllocationInput {
  id: string;
  queue: string;
  engine: string;
  cores: number;
  lifetimeMs: number;
  startTimeoutMs: number;
  queueTimeoutMs: number | undefined;
  /** How long a drained runner may hold runs: ms, or by their time limits; absent in older records: until the wall time. */
  drain?: number | 'time-limits' | undefined;
  /** A submission of unknown outcome has no effect after this time. */
  settleMs: number;
  /** True where the allocation is kept without demand. */
  isKept: boolean;
  now: number;
}

export interface AllocationContext extends Omit<AllocationInput, 'now'> {
  plannedAtMs: number;
  submittedAtMs: number | undefined;
  /** When the submission ended without an answer; absent while it has not, and after an answer. */
  unansweredAtMs?: number | undefined;
  /** The engine's own identification, and its part; undefined until the engine has taken it. */
  handle: string | undefined;
  place: string | undefined;
  /** Start of the processes and the time at which the engine ends them, as the engine reports both. */
  startedAtMs: number | undefined;
  endsAtMs: number | undefined;
  /** When the state Starting began; undefined in earlier states. */
  startingAtMs: number | undefined;
  /** Time at which the runner registered; undefined until then. */
  readyAtMs: number | undefined;
  endedAtMs: number | undefined;
  /** The engine's reason for the state, or the last error. */
  reason: string | undefined;
  /** Runs that its runner holds. */
  runs: number;
  isRunnerOffline: boolean;
  /** Time since which the runner gets no new runs. */
  drainingAtMs?: number | undefined;
  /** The longest time limit of the runs that a drained runner holds; 0: one of them has none. */
  drainLimitMs?: number | undefined;
  /** Time since which the drained runner is Offline or has signed off. */
  leftAtMs?: number | undefined;
  stop: { reason: string; isFailure: boolean; immediately: boolean; atMs: number } | undefined;
  end: AllocationEnd | undefined;
}

export const newAllocation = (input: AllocationInput): AllocationContext => {
  const { now, ...rest } = input;
  return {
    ...rest,
    plannedAtMs: now,
    submittedAtMs: undefined,
    handle: undefined,
    place: undefined,
    startedAtMs: undefined,
    endsAtMs: undefined,
    startingAtMs: undefined,
    readyAtMs: undefined,
    endedAtMs: undefined,
    reason: undefined,
    runs: 0,
    isRunnerOffline: false,
    stop: undefined,
    end: undefined,
  };
};

type Of<T extends AllocationEventType> = Extract<AllocationEvent, { type: T }>;

/** The members that an observation of the engine changes. */
export function afterObservation(c: AllocationContext, { seen, now }: Of<'OBSERVED'>): Partial<AllocationContext> {
  const { handle, place, reason, startedAtMs, endsAtMs, end, state } = seen;
  return {
    handle,
    place: place ?? c.place,
    reason,
    startedAtMs: state === 'queued' ? undefined : (startedAtMs ?? c.startedAtMs),
    endsAtMs: state === 'queued' ? undefined : (endsAtMs ?? c.endsAtMs),
    startingAtMs: state === 'queued' ? undefined : (c.startingAtMs ?? now),
    ...(state === 'ended' ? { end: end ?? { kind: 'unknown' }, endedAtMs: now, runs: 0 } : {}),
  };
}

/** The members that the registration, the work and the departure of its runner change. */
export function afterRunner(c: AllocationContext, event: Of<'RUNNER' | 'RUNNER_GONE'>): Partial<AllocationContext> {
  const { now } = event;
  const isGone = event.type === 'RUNNER_GONE';
  const isOffline = !isGone && event.status === 'offline';
  return {
    runs: isGone ? 0 : event.runs,
    isRunnerOffline: isOffline,
    ...(isGone ? {} : { readyAtMs: c.readyAtMs ?? now, startingAtMs: c.startingAtMs ?? now }),
    ...(c.drain === undefined ? {} : drainOf(c, event, isGone || isOffline)),
  };
}

function drainOf(
  c: AllocationContext,
  event: Of<'RUNNER' | 'RUNNER_GONE'>,
  hasLeft: boolean,
): Pick<AllocationContext, 'drainingAtMs' | 'drainLimitMs' | 'leftAtMs'> {
  const { now } = event;
  const isDrained = hasLeft
    ? event.type === 'RUNNER_GONE' || c.drainingAtMs !== undefined
    : event.type === 'RUNNER' && event.status === 'draining';
  if (!isDrained) return { drainingAtMs: undefined, drainLimitMs: undefined, leftAtMs: undefined };
  return {
    drainingAtMs: c.drainingAtMs ?? now,
    // A drained runner gets no new runs, so the first answer stays an upper bound.
    drainLimitMs: c.drainLimitMs ?? (event.type === 'RUNNER' ? event.timeLimitMs : undefined),
    leftAtMs: hasLeft ? (c.leftAtMs ?? now) : undefined,
  };
}

/** Ends of an allocation without a registered runner that are not the fault of its queue. */
const BLAMELESS: ReadonlySet<AllocationEnd['kind']> = new Set([
  'timeout',
  'preempted',
  'evicted',
  'node-failure',
  'cancelled',
  'abandoned',
]);

/** Returns whether the end counts as a failure of the queue: it never became ready, and nothing else explains that. */
export function isLaunchFailure({ readyAtMs, stop }: AllocationContext, { kind }: AllocationEnd): boolean {
  if (readyAtMs !== undefined) return false;
  return stop === undefined ? !BLAMELESS.has(kind) : stop.isFailure;
}

const END_TEXT: Readonly<Record<AllocationEnd['kind'], string>> = {
  completed: 'its runner ended with exit code 0',
  failed: 'its runner failed',
  timeout: 'the engine ended it at its lifetime',
  preempted: 'the engine preempted it',
  evicted: 'its node evicted it',
  'out-of-memory': 'it exceeded its own memory limit',
  'node-failure': 'its node failed',
  cancelled: 'it was cancelled',
  unknown: 'it ended, and the engine does not say why',
  'never-submitted': 'the engine has never had it',
  gone: 'the engine does not list it any more',
  abandoned: 'it was not submitted',
};

/** The end as a clause, with the engine's words. */
export function endText({ stop, reason }: AllocationContext, { kind, exitCode }: AllocationEnd): string {
  if (stop !== undefined) return stop.reason;
  const code = exitCode === undefined || kind === 'completed' ? '' : ` (exit code ${String(exitCode)})`;
  return `${END_TEXT[kind]}${code}${reason === undefined ? '' : `: ${reason}`}`;
}

/** How an allocation that had a runner has ended, for the coordinator: what the launcher stopped was not the fault of its runs. */
export function endOfMachine(c: AllocationContext): { kind: AllocationEndKind; reason: string } | undefined {
  const { end, stop } = c;
  if (end === undefined || end.kind === 'never-submitted' || end.kind === 'abandoned') return undefined;
  return { kind: stop === undefined ? end.kind : 'cancelled', reason: endText(c, end) };
}

/**
 * The time of a drained runner beyond the time limits of its runs, of an allocation after its runner has left, and of a drained
 * runner that was asked to end.
 */
const DRAIN_MARGIN_MS = 600_000;

export interface AllocationDeadline {
  atMs: number;
  reason: string;
  isFailure: boolean;
  /** False: its runner hands its runs back. */
  immediately: boolean;
}

/** The time at which an allocation in this state is stopped, and why; undefined when it may wait for ever. */
export function allocationDeadline(value: string, c: AllocationContext): AllocationDeadline | undefined {
  if (value === 'Starting' && c.startingAtMs !== undefined) {
    const reason = `its runner did not register within ${seconds(c.startTimeoutMs)} s of its start`;
    return { atMs: c.startingAtMs + c.startTimeoutMs, reason, isFailure: true, immediately: true };
  }
  if (value === 'Queued' && c.queueTimeoutMs !== undefined && c.submittedAtMs !== undefined) {
    const reason = `it waited longer than ${seconds(c.queueTimeoutMs)} s in the queue of the engine`;
    return { atMs: c.submittedAtMs + c.queueTimeoutMs, reason, isFailure: false, immediately: true };
  }
  if (value === 'Draining') return drainDeadline(c);
  // The drained runner was asked to end, and has not: its runs are reassigned when its lease ends.
  if (value === 'Stopping' && c.drainingAtMs !== undefined && c.stop !== undefined && !c.stop.immediately)
    return { atMs: c.stop.atMs + DRAIN_MARGIN_MS, reason: c.stop.reason, isFailure: false, immediately: true };
  return undefined;
}

/** A drained runner without runs waits: an operator may resume it. */
function drainDeadline(c: AllocationContext): AllocationDeadline | undefined {
  const { drain, drainLimitMs, drainingAtMs, leftAtMs, runs } = c;
  if (leftAtMs !== undefined) {
    const reason = `it had not ended ${seconds(DRAIN_MARGIN_MS)} s after its runner had left`;
    return { atMs: leftAtMs + DRAIN_MARGIN_MS, reason, isFailure: false, immediately: true };
  }
  if (drainingAtMs === undefined || runs === 0) return undefined;
  const byLimits = drainLimitMs === undefined || drainLimitMs === 0 ? undefined : drainLimitMs + DRAIN_MARGIN_MS;
  const afterMs = typeof drain === 'number' ? drain : byLimits;
  if (afterMs === undefined) return undefined;
  const reason = `its runner still held runs ${seconds(afterMs)} s after it was drained`;
  return { atMs: drainingAtMs + afterMs, reason, isFailure: false, immediately: false };
}

const seconds = (ms: number): string => String(Math.round(ms / 1_000));
