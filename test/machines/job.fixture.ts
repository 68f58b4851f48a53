/** Jobs in every state, and every event of a job, for the tests of its machine. */
import type { SnapshotFrom } from 'xstate';
import { INITIAL_HISTORY, type JobContext } from '../../machines/job-context.ts';
import { jobMachine } from '../../machines/job.ts';
import type { JobEvent } from '../../machines/protocol.ts';
import type { JobStatus } from '../../src/contract/types.ts';

export const NOW = 1_000_000;
export const CLAIMED_AT = NOW - 10_000;
const ID = '01900000-0000-8000-8000-000000000001';
const OTHER = '01900000-0000-8000-8001-000000000001';

const input = {
  jobId: ID,
  batchId: '01900000-0000-8000-8000-000000000000',
  runId: 0,
  maxRetries: 3,
  timeLimitMs: 30_000,
  cpuMilli: 500,
  memoryBytes: 1024,
};

const attempt = { n: 1, runner: 'r1', claimed: CLAIMED_AT };
const held = { attempt: 1, runnerId: 'r1', claimedAtMs: CLAIMED_AT };
const CONTEXTS: Readonly<Record<JobStatus, Partial<JobContext>>> = {
  Pending: { attempt: 1, attempts: [{ ...attempt, ended: NOW - 1, outcome: 'released' }] },
  Claimed: { ...held, dueAtMs: CLAIMED_AT + 60_000, attempts: [attempt] },
  Running: {
    ...held,
    startedAtMs: NOW - 5_000,
    dueAtMs: NOW + 25_000,
    attempts: [{ ...attempt, started: NOW - 5_000 }],
  },
  Completed: { ...held, startedAtMs: NOW - 5_000, completedAtMs: NOW - 1 },
  Failed: { ...held, startedAtMs: NOW - 5_000, completedAtMs: NOW - 1, error: 'no' },
  Timeout: { ...held, startedAtMs: NOW - 5_000, completedAtMs: NOW - 1, error: 'late' },
  Cancelled: { ...held, completedAtMs: NOW - 1 },
};

/** A job in a state with a plausible context, with changes. */
export function jobIn(value: JobStatus, changes: Partial<JobContext> = {}): SnapshotFrom<typeof jobMachine> {
  return jobMachine.resolveState({ value, context: { ...input, ...INITIAL_HISTORY, ...CONTEXTS[value], ...changes } });
}

/** An untouched job. */
export const untouchedJob = (): SnapshotFrom<typeof jobMachine> =>
  jobMachine.resolveState({ value: 'Pending', context: { ...input, ...INITIAL_HISTORY } });

const report = { runnerId: 'r1', attempt: 1, now: NOW };
const failure = { ...report, type: 'FAIL', message: 'broke' } as const;

export const JOB_EVENTS = {
  CLAIM: { type: 'CLAIM', runnerId: 'r2', now: NOW },
  START: { ...report, type: 'START' },
  'START [stale attempt]': { ...report, type: 'START', attempt: 0 },
  'START [future attempt]': { ...report, type: 'START', attempt: 2 },
  'START [other runner]': { ...report, type: 'START', runnerId: 'r2' },
  COMPLETE: { ...report, type: 'COMPLETE' },
  'COMPLETE [stale attempt]': { ...report, type: 'COMPLETE', attempt: 0 },
  'COMPLETE [other runner]': { ...report, type: 'COMPLETE', runnerId: 'r2' },
  'FAIL [exit]': { ...failure, reason: 'exit' },
  'FAIL [signal]': { ...failure, reason: 'signal' },
  'FAIL [infrastructure]': { ...failure, reason: 'infrastructure' },
  'FAIL [early_termination]': { ...failure, reason: 'early_termination' },
  'FAIL [invalid]': { ...failure, reason: 'invalid' },
  'FAIL [timeout]': { ...failure, reason: 'timeout' },
  'FAIL [exit, stale attempt]': { ...failure, reason: 'exit', attempt: 0 },
  'FAIL [timeout, stale attempt]': { ...failure, reason: 'timeout', attempt: 0 },
  'FAIL [exit, other runner]': { ...failure, reason: 'exit', runnerId: 'r2' },
  DOUBT_CODE: { ...report, type: 'DOUBT_CODE' },
  'DOUBT_CODE [stale attempt]': { ...report, type: 'DOUBT_CODE', attempt: 0 },
  REUSE: { type: 'REUSE', from: OTHER, endedAtMs: 1, code: 'abc', now: NOW },
  'REUSE [terminated]': { type: 'REUSE', from: OTHER, endedAtMs: 1, code: 'abc', error: 'below 0', now: NOW },
  CANCEL: { type: 'CANCEL', reason: 'enough', now: NOW },
  HAND_BACK: { ...report, type: 'HAND_BACK' },
  UNCLAIM: { ...report, type: 'UNCLAIM' },
  'UNCLAIM [stale attempt]': { ...report, type: 'UNCLAIM', attempt: 0 },
  'UNCLAIM [other runner]': { ...report, type: 'UNCLAIM', runnerId: 'r2' },
  'HAND_BACK [stale attempt]': { ...report, type: 'HAND_BACK', attempt: 0 },
  'INTERRUPT [stopped]': { ...report, type: 'INTERRUPT', why: 'runner-stopped', message: 'was stopped' },
  'INTERRUPT [machine]': { ...report, type: 'INTERRUPT', why: 'machine-gone', message: 'preempted' },
  'INTERRUPT [stale attempt]': { ...report, type: 'INTERRUPT', why: 'runner-stopped', message: 'x', attempt: 0 },
  'INTERRUPT [other runner]': { ...report, type: 'INTERRUPT', why: 'runner-stopped', message: 'x', runnerId: 'r2' },
  RUNNER_LOST: { ...report, type: 'RUNNER_LOST', cause: 'was restarted' },
  'RUNNER_LOST [stale attempt]': { ...report, type: 'RUNNER_LOST', cause: 'was restarted', attempt: 0 },
  'RUNNER_LOST [other runner]': { ...report, type: 'RUNNER_LOST', cause: 'was restarted', runnerId: 'r2' },
  'CLAIM_EXPIRED [1 ms early]': { type: 'CLAIM_EXPIRED', now: CLAIMED_AT + 59_999 },
  'CLAIM_EXPIRED [in time]': { type: 'CLAIM_EXPIRED', now: CLAIMED_AT + 60_000 },
  'TIME_LIMIT [1 ms early]': { type: 'TIME_LIMIT', now: NOW + 24_999 },
  'TIME_LIMIT [in time]': { type: 'TIME_LIMIT', now: NOW + 25_000 },
} as const satisfies Record<string, JobEvent>;
