/** The pool: registration, heartbeats, draining, resuming and sign-off of runners. */
import { offlineAfterMs, leaseMs, DEFAULT_HEARTBEAT_INTERVAL_SECS } from '../../domain/rules.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type {
  AttemptRef,
  CancelNotice,
  ClaimRequest,
  HeartbeatRequest,
  MachineState,
  PoolHistory,
  HeartbeatResponse,
  RegisterRequest,
  RegisterResponse,
  Runner,
  RunnerContext,
} from '../../contract/types.ts';
import { usableSlots } from '../../domain/scheduling.ts';
import type { Core } from '../core.ts';
import { stateOf } from '../kernel/actors/directory.ts';
import type { PoolUse } from './pool-history.ts';
import { toRunner } from '../kernel/records/to-resource.ts';
import type { RunnerState } from '../kernel/actors/actor-kinds.ts';
import type { Turn } from '../kernel/turn/turn.ts';
import { takeBack } from '../runs/waiting-runs.ts';

/** Returns the state of a runner. @throws SimbatchError `unknown-runner` */
export function runnerOrThrow(turn: Pick<Turn, 'state'>, runnerId: string): RunnerState {
  const state = turn.state('runner', runnerId);
  if (state === undefined) {
    throw new SimbatchError(
      'unknown-runner',
      `there is no runner "${runnerId}"; it has to register first (POST /runners)`,
    );
  }
  return state;
}

/** Rejects a process that is not the one registered under the id. */
export function sameInstanceOrThrow({ context }: RunnerState, instance: string): void {
  if (context.instance === instance) return;
  throw new SimbatchError(
    'wrong-instance',
    `runner "${context.runnerId}" is now another process; this one has to register anew`,
  );
}

/** Compares the attempts that a runner holds with the jobs: cancelled ones to kill and confirm, and lost ones. */
function judgeHolding(
  turn: Turn,
  runnerId: string,
  holding: readonly AttemptRef[],
): { cancel: CancelNotice[]; lost: AttemptRef[] } {
  const cancel: CancelNotice[] = [];
  const lost: AttemptRef[] = [];
  for (const { job_id, attempt } of holding) {
    const job = turn.state('job', job_id);
    const isCurrent = job !== undefined && job.context.attempt === attempt && job.context.runnerId === runnerId;
    if (!isCurrent) lost.push({ job_id, attempt });
    else if (job.value === 'Cancelled')
      cancel.push({ job_id, attempt, reason: job.context.attempts.at(-1)?.reason ?? 'cancelled' });
    else if (job.value === 'Timeout') cancel.push({ job_id, attempt, reason: 'timeout' });
    else if (job.value === 'Failed' && job.context.attempts.at(-1)?.outcome === 'lost') lost.push({ job_id, attempt });
  }
  return { cancel, lost };
}

/** @throws SimbatchError for a leap second, which the grammar of instants allows */
function instantOf(endsAt: string | undefined): number | undefined {
  if (endsAt === undefined) return undefined;
  const instant = Date.parse(endsAt);
  if (Number.isFinite(instant)) return instant;
  throw new SimbatchError(
    'invalid-request',
    `/ends_at is ${JSON.stringify(endsAt)}, no instant of UTC without leap seconds`,
  );
}

export function register(core: Core, request: RegisterRequest): Promise<RegisterResponse> {
  return core.turns.run('register', (turn) => {
    const { id, instance } = request;
    const heartbeatIntervalSecs = request.heartbeat_interval_secs ?? DEFAULT_HEARTBEAT_INTERVAL_SECS;
    if (turn.state('runner', id) === undefined) turn.create('runner', id, { runnerId: id, now: turn.now });
    const event = {
      type: 'REGISTER' as const,
      instance,
      replaces: request.replaces,
      name: request.name ?? id,
      capabilities: request.capabilities,
      tags: request.tags ?? [],
      heartbeatIntervalSecs,
      holding: request.holding ?? [],
      slotsLost: request.slots_lost,
      allocation: request.allocation,
      endsAtMs: instantOf(request.ends_at),
      ephemeral: request.ephemeral === true ? request.ephemeral : undefined,
      now: turn.now,
    };
    if (!turn.accepts('runner', id, event)) {
      throw new SimbatchError(
        'runner-id-in-use',
        `another live process is registered as runner "${id}"; choose another id, or wait until it counts as Offline`,
      );
    }
    turn.send('runner', id, event);
    turn.deliverFacts();
    // A new process has no pending poll: the poll of its predecessor must not receive its work.
    core.longPolls.dismiss(id, { assignments: [], batches: {} });
    core.longPolls.noteRequest(id);
    return {
      runner: toRunner(runnerOrThrow(turn, id)),
      heartbeat_interval_secs: heartbeatIntervalSecs,
      offline_after_secs: offlineAfterMs(heartbeatIntervalSecs) / 1000,
      lease_secs: leaseMs(heartbeatIntervalSecs) / 1000,
      lost: judgeHolding(turn, id, event.holding).lost,
    };
  });
}

/** A heartbeat may have travelled this long at least, in ms. */
const LEAST_TRAVEL_MS = 1_000;

/** The offset of a clock is that which the travel of the heartbeat cannot explain, to 0.1 s. */
function measuredMachine(machine: MachineState, now: number): RunnerContext['machine'] {
  const { clock_ms: clockMs, round_trip_ms: roundTripMs = 0, disk_free_bytes: diskFreeBytes } = machine;
  const disk = diskFreeBytes === undefined ? {} : { diskFreeBytes };
  if (clockMs === undefined) return disk;
  // A heartbeat that took t to arrive shows a clock that is later by t.
  const shown = clockMs - now;
  const offsetMs = shown > 0 ? shown : Math.min(0, shown + Math.max(LEAST_TRAVEL_MS, roundTripMs));
  return { ...disk, clockOffsetMs: Math.round(offsetMs / 100) * 100 + 0 };
}

/** Records a contact of the registered process. */
export function recordContact(
  turn: Turn,
  runnerId: string,
  {
    instance,
    holding,
    slots_lost: slotsLost,
    machine,
  }: Pick<ClaimRequest, 'instance' | 'holding' | 'slots_lost'> & Pick<HeartbeatRequest, 'machine'>,
): void {
  sameInstanceOrThrow(runnerOrThrow(turn, runnerId), instance);
  const measured = machine === undefined ? {} : { machine: measuredMachine(machine, turn.now) };
  const event = { type: 'HEARTBEAT' as const, instance, holding, slotsLost, ...measured, now: turn.now };
  const after = turn.trySend('runner', runnerId, event);
  // The machine refuses a heartbeat of the registered process only after its sign-off.
  if (after === undefined) {
    throw new SimbatchError('signed-off', `runner "${runnerId}" has signed off; register it again (POST /runners)`);
  }
}

export function heartbeat(core: Core, runnerId: string, request: HeartbeatRequest): Promise<HeartbeatResponse> {
  return core.turns.run('heartbeat', (turn) => {
    recordContact(turn, runnerId, request);
    return { runner: toRunner(runnerOrThrow(turn, runnerId)), ...judgeHolding(turn, runnerId, request.holding) };
  });
}

/** `until`: when the drain ends by itself, RFC 3339. @throws SimbatchError `malformed-query` for another text or a past time */
export function drain(core: Core, runnerId: string, reason?: string, until?: string): Promise<Runner> {
  return core.turns.run('drain', (turn) => {
    runnerOrThrow(turn, runnerId);
    const ends = until === undefined ? {} : { untilMs: futureTime(until, turn.now) };
    takeBack(core, turn, { runnerId });
    turn.send('runner', runnerId, { type: 'DRAIN', reason, ...ends, now: turn.now });
    turn.deliverFacts();
    return toRunner(runnerOrThrow(turn, runnerId));
  });
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

function futureTime(text: string, now: number): number {
  const ms = RFC_3339.test(text) ? Date.parse(text) : Number.NaN;
  if (ms > now) return ms;
  const why = Number.isNaN(ms)
    ? 'it must be a time of RFC 3339 with a time zone, such as 2026-11-22T06:00:00Z'
    : `it must be later than now, ${new Date(now).toISOString()}`;
  throw new SimbatchError('malformed-query', `the query parameter \`until\` is ${JSON.stringify(text)}; ${why}`);
}

export function resume(core: Core, runnerId: string): Promise<Runner> {
  return core.turns.run('resume', (turn) => {
    runnerOrThrow(turn, runnerId);
    return toRunner(turn.send('runner', runnerId, { type: 'RESUME', now: turn.now }));
  });
}

/** The slots of connected runners that are not drained, and how many of them hold a run, as of now. */
export function poolUse({ directory }: Core): PoolUse {
  const use = { slots: 0, busy: 0 };
  for (const activation of directory.runners.values()) {
    const runner = toRunner(stateOf(activation));
    if (runner.status !== 'Idle' && runner.status !== 'Busy') continue;
    const slots = usableSlots(runner.capabilities, runner.slots_lost);
    use.slots += slots;
    use.busy += Math.min(slots, runner.current_jobs.length);
  }
  return use;
}

/** Most runners whose attempts are read at once. */
const MOST_HISTORIES = 50;

/** The use of the pool over the last hours, and the latest attempts of these runners. @throws SimbatchError for too many */
export function poolHistory(core: Core, runners: readonly string[] = []): PoolHistory {
  if (runners.length > MOST_HISTORIES)
    throw new SimbatchError(
      'malformed-query',
      `the query parameter \`runner_id\` names ${runners.length} runners; name at most ${MOST_HISTORIES}`,
    );
  return core.poolHistory.read(runners);
}
