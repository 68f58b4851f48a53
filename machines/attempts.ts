/**
 * What a job remembers: its attempts, and what each turn of events does to them. Data and pure functions; which event is
 * legal when is the matter of `job.ts`.
 */
import { CLAIM_MS, HISTORY_LIMIT, HISTORY_MESSAGE_LIMIT } from '../src/domain/rules.ts';
import type { AttemptOutcome, Uuid } from '../src/domain/types.ts';
import type { JobEvent } from './protocol.ts';

/** One attempt in the job's history; times in ms since the epoch. */
export interface AttemptRecord {
  n: number;
  runner: string;
  claimed: number;
  started?: number;
  ended?: number;
  outcome?: AttemptOutcome;
  reason?: string;
  message?: string;
}

/** What the batch fixes for all its jobs; not stored with the job. */
export interface JobInput {
  jobId: Uuid;
  batchId: Uuid;
  runId: number;
  maxRetries: number;
  /** 0: no limit. */
  timeLimitMs: number;
  cpuMilli: number;
  memoryBytes: number;
}

/** What has happened to the job; stored. */
export interface JobHistoryState {
  attempt: number;
  retries: number;
  losses: number;
  runnerId: string | undefined;
  claimedAtMs: number | undefined;
  startedAtMs: number | undefined;
  completedAtMs: number | undefined;
  /** The end of the claim time (Claimed) or of the time limit (Running). */
  dueAtMs: number | undefined;
  error: string | undefined;
  attempts: readonly AttemptRecord[];
  attemptsOmitted: number;
}

export type JobContext = JobInput & JobHistoryState;

/** The state of a job that nothing has happened to. */
export const UNTOUCHED: JobHistoryState = {
  attempt: 0,
  retries: 0,
  losses: 0,
  runnerId: undefined,
  claimedAtMs: undefined,
  startedAtMs: undefined,
  completedAtMs: undefined,
  dueAtMs: undefined,
  error: undefined,
  attempts: [],
  attemptsOmitted: 0,
};

type Change = Partial<JobHistoryState>;
/** The job with a new attempt by the runner that claimed it. */
export function opened(c: JobContext, event: Extract<JobEvent, { type: 'CLAIM' }>): Change {
  const record: AttemptRecord = { n: c.attempt + 1, runner: event.runnerId, claimed: event.now };
  const full = c.attempts.length >= HISTORY_LIMIT;
  return {
    attempt: c.attempt + 1,
    runnerId: event.runnerId,
    claimedAtMs: event.now,
    startedAtMs: undefined,
    dueAtMs: event.now + CLAIM_MS,
    attempts: [...(full ? c.attempts.slice(1) : c.attempts), record],
    attemptsOmitted: c.attemptsOmitted + (full ? 1 : 0),
  };
}

/** The history with its open (last) attempt ended. */
function ended(
  c: JobContext,
  now: number,
  outcome: AttemptOutcome,
  reason?: string,
  message?: string,
): readonly AttemptRecord[] {
  const last = c.attempts.at(-1);
  if (last === undefined || last.outcome !== undefined) return c.attempts;
  const record: AttemptRecord = { ...last, ended: now, outcome };
  if (reason !== undefined) record.reason = reason;
  if (message !== undefined) record.message = message.slice(0, HISTORY_MESSAGE_LIMIT);
  return [...c.attempts.slice(0, -1), record];
}

/** Back to Pending: the attempt is over, the job is nobody's. */
export function requeued(
  c: JobContext,
  now: number,
  outcome: AttemptOutcome,
  reason: string,
  message?: string,
): Change {
  return {
    runnerId: undefined,
    claimedAtMs: undefined,
    startedAtMs: undefined,
    dueAtMs: undefined,
    attempts: ended(c, now, outcome, reason, message),
  };
}

/** The end of the job; who ran it and when stays. */
export function closed(c: JobContext, now: number, outcome: AttemptOutcome, reason?: string, error?: string): Change {
  return { completedAtMs: now, dueAtMs: undefined, error, attempts: ended(c, now, outcome, reason, error) };
}
