/**
 * Derives the events of a job from its record: its attempts have the runner, the times and the outcome of each. The record
 * omits the oldest attempts and the reason of a cancellation between attempts, so the result omits them too. Pure.
 */
import { INITIAL_HISTORY, usesRetry, type JobContext } from '../job-context.ts';
import type { JobEvent } from '../protocol.ts';
import { CLAIM_MS } from '../../src/domain/rules.ts';
import type { AttemptRecord, FailReason, JobHistoryState, JobStatus } from '../../src/contract/types.ts';

/** An event, or a restart of the coordinator that the record implies. */
export type PastEvent = JobEvent | { type: 'restart'; now: number };

export interface JobPast {
  /** The job before the first known event: untouched, except for the attempts that are no longer recorded. */
  start: JobHistoryState;
  events: PastEvent[];
}

/** The members of a job that its past depends on. */
type PastContext = Pick<
  JobContext,
  | 'attempts'
  | 'attemptsOmitted'
  | 'retries'
  | 'losses'
  | 'infrastructureFaults'
  | 'completedAtMs'
  | 'timeLimitMs'
  | 'error'
> &
  Partial<Pick<JobContext, 'reusedFrom' | 'reusedEndedAtMs' | 'reusedCode'>>;

export interface PastJob {
  value: JobStatus;
  context: PastContext;
}

/** Derives the past of a job from its record. */
export function pastOf({ value, context: c }: PastJob): JobPast {
  const events: PastEvent[] = [];
  for (const attempt of c.attempts) events.push(...eventsOf(attempt, c));
  // Cancelled between attempts, or before the first one.
  if (value === 'Cancelled' && c.attempts.at(-1)?.outcome !== 'cancelled') {
    events.push({ type: 'CANCEL', reason: undefined, now: c.completedAtMs ?? 0 });
  }
  if (c.reusedFrom !== undefined) events.push(reuseOf(c, c.reusedFrom));
  const failed = c.attempts.filter((it) => it.outcome === 'failed');
  const retried = failed.filter((it) => usesRetry(it.reason) && isRetried(c, value, it)).length;
  const faults = (c.infrastructureFaults ?? 0) - failed.filter((it) => it.reason === 'infrastructure').length;
  const lost = c.attempts.filter((it) => it.outcome === 'lost').length;
  const omitted = c.attemptsOmitted;
  const start: JobHistoryState =
    omitted === 0
      ? INITIAL_HISTORY
      : {
          ...INITIAL_HISTORY,
          attempt: omitted,
          attemptsOmitted: omitted,
          retries: c.retries - retried,
          losses: c.losses - lost,
          infrastructureFaults: faults === 0 ? undefined : faults,
        };
  return { start, events };
}

const reuseOf = (c: PastContext, from: string): PastEvent => ({
  type: 'REUSE',
  from,
  endedAtMs: c.reusedEndedAtMs ?? 0,
  code: c.reusedCode ?? '',
  ...(c.error === undefined ? {} : { error: c.error }),
  now: c.completedAtMs ?? 0,
});

/** A failed attempt led to a retry, except for the last one of a Failed job. */
const isRetried = (c: PastContext, value: string, attempt: AttemptRecord): boolean =>
  !(value === 'Failed' && attempt === c.attempts.at(-1));

function eventsOf(it: AttemptRecord, c: PastContext): PastEvent[] {
  const by = { runnerId: it.runner, attempt: it.n };
  const events: PastEvent[] = [{ type: 'CLAIM', runnerId: it.runner, now: it.claimed }];
  if (it.started !== undefined) events.push({ type: 'START', ...by, ...codeOf(it), now: it.started });
  if (it.ended !== undefined) events.push(...endOf(it, c, it.ended));
  return events;
}

/** The record has the first digits of the digest alone; they are the name of both. */
const codeOf = ({ code }: AttemptRecord): Pick<Extract<JobEvent, { type: 'START' }>, 'code'> =>
  code === undefined ? {} : { code: { kind: 'entrypoint', digest: code } };

function endOf(it: AttemptRecord, c: PastContext, now: number): PastEvent[] {
  const report = { runnerId: it.runner, attempt: it.n, now };
  const message = wholeMessage(it, c);
  switch (it.outcome) {
    case 'completed':
      return [{ type: 'COMPLETE', ...report }];
    case 'failed':
      return [{ type: 'FAIL', ...report, reason: (it.reason ?? 'exit') as FailReason, message, ...ownErrorOf(it) }];
    case 'timeout': {
      const dueAtMs = c.timeLimitMs > 0 && it.started !== undefined ? it.started + c.timeLimitMs : Infinity;
      const byTheClock = now >= dueAtMs && message.startsWith('the run exceeded its time limit of ');
      return [byTheClock ? { type: 'TIME_LIMIT', now } : { type: 'FAIL', ...report, reason: 'timeout', message }];
    }
    case 'cancelled':
      return [{ type: 'CANCEL', reason: it.reason, now }];
    case 'lost':
      return [{ type: 'RUNNER_LOST', ...report, cause: lossCause(it, message) }];
    case 'released':
      return released(it, now, message);
    case undefined:
      return [];
  }
}

const ownErrorOf = ({ ownError }: AttemptRecord): { ownError?: string } => (ownError === undefined ? {} : { ownError });

function released(it: AttemptRecord, now: number, message: string): PastEvent[] {
  const report = { runnerId: it.runner, attempt: it.n, now };
  if (it.reason === 'signed-off') return [{ type: 'HAND_BACK', ...report }];
  if (it.reason === 'handed-back') return [{ type: 'UNCLAIM', ...report }];
  if (it.reason === 'runner-stopped' || it.reason === 'machine-gone' || it.reason === 'code-changed')
    return [{ type: 'INTERRUPT', ...report, why: it.reason, message }];
  if (it.reason === 'runner-lost') return [{ type: 'RUNNER_LOST', ...report, cause: message.replace(/^runner /, '') }];
  // A claim expires early only when a restart after a clock set back began its time again.
  const isEarly = now < it.claimed + CLAIM_MS;
  return [...(isEarly ? [{ type: 'restart' as const, now: now - CLAIM_MS }] : []), { type: 'CLAIM_EXPIRED', now }];
}

/** The history truncates a long message; the last one is stored whole beside it. */
function wholeMessage(it: AttemptRecord, c: PastContext): string {
  const kept = it.message ?? '';
  return c.error !== undefined && it === c.attempts.at(-1) && c.error.startsWith(kept) ? c.error : kept;
}

/** The cause within `runner r1 was restarted`; the last loss has more text after it. */
function lossCause(it: AttemptRecord, message: string): string {
  const cause = message.startsWith(`runner ${it.runner} `) ? message.slice(`runner ${it.runner} `.length) : message;
  const more = cause.indexOf(' while this run was running on it; the run has lost its runner ');
  return more < 0 ? cause : cause.slice(0, more);
}
