/** The pool: registration, heartbeats, draining, resuming and sign-off of runners. */
import { offlineAfterMs, leaseMs, DEFAULT_HEARTBEAT_INTERVAL_SECS } from '../../domain/rules.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type {
  AttemptRef,
  CancelNotice,
  HeartbeatRequest,
  PoolHistory as PoolHistoryResource,
  HeartbeatResponse,
  RegisterRequest,
  RegisterResponse,
  Runner,
  ClaimResponse,
} from '../../contract/types.ts';
import { usableSlots } from '../../domain/scheduling.ts';
import { stateOf, type Directory } from '../kernel/actors/directory.ts';
import type { PoolHistory, PoolUse } from './pool-history.ts';
import { toRunner } from '../kernel/records/to-resource.ts';
import type { Turn, Turns } from '../kernel/turn/turn.ts';
import { takeBack, type WaitingParts } from '../runs/waiting-runs.ts';
import type { LongPolls } from '../scheduling/long-polls.ts';
import { runnerOrThrow } from '../kernel/records/lookup.ts';
import { recordContact } from '../runs/contact.ts';

interface RunnerParts extends WaitingParts {
  turns: Turns;
  longPolls: LongPolls<ClaimResponse>;
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

export function register(parts: RunnerParts, request: RegisterRequest): Promise<RegisterResponse> {
  return parts.turns.run('register', (turn) => {
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
      hostname: request.hostname,
      engines: request.engines,
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
    parts.longPolls.dismiss(id, { assignments: [], batches: {} });
    parts.longPolls.noteRequest(id);
    return {
      runner: toRunner(runnerOrThrow(turn, id)),
      heartbeat_interval_secs: heartbeatIntervalSecs,
      offline_after_secs: offlineAfterMs(heartbeatIntervalSecs) / 1000,
      lease_secs: leaseMs(heartbeatIntervalSecs) / 1000,
      lost: judgeHolding(turn, id, event.holding).lost,
    };
  });
}

export function heartbeat(parts: RunnerParts, runnerId: string, request: HeartbeatRequest): Promise<HeartbeatResponse> {
  return parts.turns.run('heartbeat', (turn) => {
    recordContact(turn, runnerId, request);
    return { runner: toRunner(runnerOrThrow(turn, runnerId)), ...judgeHolding(turn, runnerId, request.holding) };
  });
}

/** `until`: when the drain ends by itself, RFC 3339. @throws SimbatchError `malformed-query` for another text or a past time */
export function drain(parts: RunnerParts, runnerId: string, reason?: string, until?: string): Promise<Runner> {
  return parts.turns.run('drain', (turn) => {
    runnerOrThrow(turn, runnerId);
    const ends = until === undefined ? {} : { untilMs: futureTime(until, turn.now) };
    takeBack(parts, turn, { runnerId });
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

export function resume(parts: RunnerParts, runnerId: string): Promise<Runner> {
  return parts.turns.run('resume', (turn) => {
    runnerOrThrow(turn, runnerId);
    return toRunner(turn.send('runner', runnerId, { type: 'RESUME', now: turn.now }));
  });
}

/** The slots of connected runners that are not drained, and how many of them hold a run, as of now. */
export function poolUse(directory: Directory): PoolUse {
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
export function poolHistory(parts: { poolHistory: PoolHistory }, runners: readonly string[] = []): PoolHistoryResource {
  if (runners.length > MOST_HISTORIES)
    throw new SimbatchError(
      'malformed-query',
      `the query parameter \`runner_id\` names ${runners.length} runners; name at most ${MOST_HISTORIES}`,
    );
  return parts.poolHistory.read(runners);
}
