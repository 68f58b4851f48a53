/**
 * The context of a job: its data, the changes that the transitions of `job.ts` make to it, the facts they emit, and its
 * deadline. Pure functions.
 */
import {
  CLAIM_MS,
  HISTORY_LIMIT,
  HISTORY_MESSAGE_LIMIT,
  LEASE_MS,
  MAX_INFRASTRUCTURE_FAULTS,
  MAX_LOSSES,
} from '../src/domain/rules.ts';
import { initialState, JOB_MEMBERS } from '../src/contract/members/members.ts';
import { shortCode } from '../src/domain/code-name.ts';
import type { ResourceRequest } from '../src/domain/counted/counts.ts';
import type { AttemptOutcome, AttemptRecord, FailReason, JobHistoryState, Uuid } from '../src/contract/types.ts';
import type { Deadline } from './deadline.ts';
import type { JobClaimed, JobEnded, JobEvent, JobExcused, JobRequeued, JobStarted, ReleaseCause } from './protocol.ts';
import type { RunTelemetry } from './telemetry-tally.ts';

/** The members that all jobs of a batch share; not stored with the job. */
export interface JobInput extends ResourceRequest {
  jobId: Uuid;
  batchId: Uuid;
  runId: number;
  maxRetries: number;
  /** 0: no limit. */
  timeLimitMs: number;
}

export type JobContext = JobInput & JobHistoryState;

/** The history of an untouched job. */
export const INITIAL_HISTORY: JobHistoryState = initialState(JOB_MEMBERS);

/**
 * Whether a failure counts as a retry. A failure that depends on the inputs alone would recur on any runner and is final; an
 * infrastructure fault is the runner's and has its own bound.
 */
const RETRIED: Readonly<Record<FailReason, boolean>> = {
  exit: true,
  signal: true,
  infrastructure: false,
  early_termination: false,
  invalid: false,
  timeout: false,
  'files-gone': false,
};

/** True when the failure of an attempt requeues the job and uses up a retry. */
export const usesRetry = (reason: string | undefined): boolean =>
  reason !== undefined && Object.hasOwn(RETRIED, reason) && RETRIED[reason as FailReason];

/** True when an earlier attempt has ended with the same error of the simulation: it depends on the parameters, so a further one would too. */
export const isRepeated = (c: JobContext, event: JobEvent): boolean =>
  event.type === 'FAIL' &&
  event.ownError !== undefined &&
  c.attempts.some((it) => it.outcome === 'failed' && it.ownError === event.ownError);

/** True when the event is an infrastructure fault below the bound, which requeues the job without a retry. */
export const isReassigned = (c: JobContext, event: JobEvent): boolean =>
  event.type === 'FAIL' &&
  event.reason === 'infrastructure' &&
  (c.infrastructureFaults ?? 0) + 1 < MAX_INFRASTRUCTURE_FAULTS;

/** The members that a failed attempt changes besides its end: an infrastructure fault is counted. */
export function countFault(c: JobContext, { reason }: Of<'FAIL'>): HistoryChange {
  return reason === 'infrastructure' ? { infrastructureFaults: (c.infrastructureFaults ?? 0) + 1 } : {};
}

// Each job emits three facts and makes two records of its attempt. They are written out member by member, since a spread
// followed by more members grows the object step by step, at four times the memory. A list that is spread and then added to has
// room for 17 items.

type HistoryChange = Partial<JobHistoryState>;
type Of<T extends JobEvent['type']> = Extract<JobEvent, { type: T }>;

export function claimAttempt(c: JobContext, event: Of<'CLAIM'>): HistoryChange {
  const record: AttemptRecord = { n: c.attempt + 1, runner: event.runnerId, claimed: event.now };
  const full = c.attempts.length >= HISTORY_LIMIT;
  return {
    attempt: c.attempt + 1,
    runnerId: event.runnerId,
    claimedAtMs: event.now,
    startedAtMs: undefined,
    dueAtMs: event.now + CLAIM_MS,
    attempts: c.attempts.length === 0 ? [record] : [...(full ? c.attempts.slice(1) : c.attempts), record],
    attemptsOmitted: c.attemptsOmitted + (full ? 1 : 0),
  };
}

export function startAttempt(c: JobContext, { now, code }: Of<'START'>): HistoryChange {
  const { n, runner, claimed } = c.attempts.at(-1) as AttemptRecord;
  const record: AttemptRecord = { n, runner, claimed, started: now };
  if (code !== undefined) record.code = shortCode(code.digest);
  return {
    startedAtMs: now,
    dueAtMs: c.timeLimitMs > 0 ? now + c.timeLimitMs : undefined,
    attempts: c.attempts.with(c.attempts.length - 1, record),
  };
}

/** Returns the history without the code of its open (last) attempt. */
export function doubtCode(c: JobContext): HistoryChange {
  const { code: _, ...record } = c.attempts.at(-1) as AttemptRecord;
  return { attempts: c.attempts.with(c.attempts.length - 1, record) };
}

/** Returns the history with its open (last) attempt ended. */
export function endAttempt(
  c: JobContext,
  now: number,
  outcome: AttemptOutcome,
  reason?: string,
  message?: string,
  ownError?: string,
): readonly AttemptRecord[] {
  const last = c.attempts.at(-1);
  if (last === undefined || last.outcome !== undefined) return c.attempts;
  const { n, runner, claimed, started, code } = last;
  const record: AttemptRecord =
    started === undefined
      ? { n, runner, claimed, ended: now, outcome }
      : { n, runner, claimed, started, ended: now, outcome };
  if (code !== undefined) record.code = code;
  if (reason !== undefined) record.reason = reason;
  if (message !== undefined) record.message = message.slice(0, HISTORY_MESSAGE_LIMIT);
  if (ownError !== undefined) record.ownError = ownError;
  return c.attempts.with(c.attempts.length - 1, record);
}

/** Ends the attempt and detaches the job from its runner: the job is Pending again. */
export function requeueJob(
  c: JobContext,
  now: number,
  outcome: AttemptOutcome,
  reason: string,
  message?: string,
  ownError?: string,
): HistoryChange {
  return {
    runnerId: undefined,
    claimedAtMs: undefined,
    startedAtMs: undefined,
    dueAtMs: undefined,
    attempts: endAttempt(c, now, outcome, reason, message, ownError),
  };
}

/** The attempt that counts as the loss of this runner; undefined where there is none, or it is no longer recorded. */
const lossOf = (c: JobContext, { attempt, runnerId }: Of<'EXCUSE'>): number | undefined => {
  const at = c.attempts.findIndex((it) => it.n === attempt && it.runner === runnerId && it.outcome === 'lost');
  return at < 0 ? undefined : at;
};

/** True when an earlier attempt counts as the loss of this runner. */
export const isLoss = (c: JobContext, event: JobEvent): boolean =>
  event.type === 'EXCUSE' && lossOf(c, event) !== undefined;

/** The loss becomes what it was, the end of a machine, and is not counted. */
export function excuseLoss(c: JobContext, event: Of<'EXCUSE'>): HistoryChange {
  const at = lossOf(c, event);
  const record = at === undefined ? undefined : c.attempts[at];
  if (at === undefined || record === undefined) return {};
  const message = event.message.slice(0, HISTORY_MESSAGE_LIMIT);
  const corrected: AttemptRecord = { ...record, outcome: 'released', reason: 'machine-gone', message };
  return { losses: c.losses - 1, attempts: c.attempts.with(at, corrected) };
}

export const jobExcused = (c: JobContext, { runnerId, attempt, now }: Of<'EXCUSE'>): JobExcused => ({
  type: 'job.excused',
  jobId: c.jobId,
  batchId: c.batchId,
  runId: c.runId,
  runnerId,
  attempt,
  now,
});

/** True when the loss of a runner requeues the job: below the bound, and below twice the bound while a report may excuse it. */
export const mayLose = (c: JobContext, event: JobEvent): boolean =>
  event.type === 'RUNNER_LOST' && c.losses + 1 < (event.mayBeExcused === true ? 2 * MAX_LOSSES : MAX_LOSSES);

/** Ends the job; its runner and its times stay. */
export function closeAttempt(
  c: JobContext,
  now: number,
  outcome: AttemptOutcome,
  reason?: string,
  error?: string,
  ownError?: string,
): HistoryChange {
  return {
    completedAtMs: now,
    dueAtMs: undefined,
    error,
    attempts: endAttempt(c, now, outcome, reason, error, ownError),
  };
}

export function jobClaimed(c: JobContext, { runnerId, index, now }: Of<'CLAIM'>): JobClaimed {
  const { jobId, batchId, runId, cpuMilli, memoryBytes, resources } = c;
  const type = 'job.claimed';
  const attempt = c.attempt + 1;
  const requeued = c.attempt > 0;
  const fact: JobClaimed =
    index === undefined
      ? { type, jobId, batchId, runId, runnerId, attempt, now, requeued, cpuMilli, memoryBytes }
      : { type, jobId, batchId, runId, runnerId, attempt, now, index, requeued, cpuMilli, memoryBytes };
  if (resources !== undefined) fact.resources = resources;
  return fact;
}

export function jobStarted(c: JobContext, { now, code }: Of<'START'>): JobStarted {
  const { jobId, batchId, runId, runnerId, attempt } = c;
  const fact: JobStarted = { type: 'job.started', jobId, batchId, runId, runnerId, attempt, now };
  if (code !== undefined) fact.code = code;
  return fact;
}

export const jobRequeued = (
  c: JobContext,
  now: number,
  from: JobRequeued['from'],
  outcome: AttemptOutcome,
  why: ReleaseCause | FailReason,
): JobRequeued => ({
  type: 'job.requeued',
  jobId: c.jobId,
  batchId: c.batchId,
  runId: c.runId,
  runnerId: c.runnerId ?? '',
  attempt: c.attempt,
  now,
  from,
  outcome,
  why,
});

export function jobEnded(
  c: JobContext,
  now: number,
  from: JobEnded['from'],
  to: JobEnded['to'],
  error?: string,
  telemetry?: RunTelemetry,
): JobEnded {
  const fact: JobEnded = {
    type: 'job.ended',
    jobId: c.jobId,
    batchId: c.batchId,
    runId: c.runId,
    runnerId: c.runnerId,
    attempt: c.attempt,
    now,
    from,
    to,
    touched: c.attempt > 0,
    error,
    startedAtMs: c.startedAtMs,
  };
  if (telemetry !== undefined) fact.telemetry = telemetry;
  const code = c.attempts.at(-1)?.code;
  if (code !== undefined) fact.code = code;
  return fact;
}

/** The end of a job by its runner's report of its completion. */
export function jobCompleted(c: JobContext, { now, telemetry, outcomes, lookUps }: Of<'COMPLETE'>): JobEnded {
  const fact = jobEnded(c, now, 'Running', 'Completed', undefined, telemetry);
  if (outcomes !== undefined) fact.outcomes = outcomes;
  if (lookUps !== undefined) fact.lookUps = lookUps;
  return fact;
}

/** The end of a job by its runner's report of a failure that is final. */
export function jobFailed(c: JobContext, { reason, message, telemetry, now }: Of<'FAIL'>): JobEnded {
  const fact = jobEnded(c, now, 'Running', 'Failed', message, telemetry);
  return reason === 'early_termination' ? { ...fact, terminated: true } : fact;
}

/** The error message of a job that has reached the bound on lost runners. */
export function lossMessage(c: JobContext, event: Of<'RUNNER_LOST'>): string {
  return `runner ${event.runnerId} ${event.cause} while this run was running on it; the run has lost its runner ${c.losses + 1} times, which is the limit`;
}

export const timeoutMessage = (c: JobContext): string => `the run exceeded its time limit of ${c.timeLimitMs / 1000} s`;
export const cancelMessage = (reason: string | undefined): string =>
  reason === undefined ? 'cancelled' : `cancelled: ${reason}`;

/** True when the event is about the current attempt and names its runner. */
export function isCurrent(context: JobContext, event: JobEvent): boolean {
  return 'attempt' in event && event.attempt === context.attempt && event.runnerId === context.runnerId;
}

/** The job's deadline, if it has one. */
export function jobDeadline(value: string, context: JobContext): Deadline | undefined {
  if (context.dueAtMs === undefined) return undefined;
  if (value === 'Claimed') return { kind: 'claim', atMs: context.dueAtMs };
  if (value === 'Running') return { kind: 'time-limit', atMs: context.dueAtMs };
  return undefined;
}

/**
 * Returns the stored members of a job after a restart of the coordinator. The claim time starts afresh. A time limit expires
 * no sooner than one lease after the restart, so that a runner can still deliver an outcome it reached in time.
 */
export function reviveJob<State extends JobHistoryState>(value: string, state: State, now: number): State {
  if (state.dueAtMs === undefined) return state;
  // Assigned, not only raised: a clock that was set back in between must not extend the claim.
  if (value === 'Claimed') return { ...state, dueAtMs: now + CLAIM_MS };
  return { ...state, dueAtMs: Math.max(state.dueAtMs, now + LEASE_MS) };
}
