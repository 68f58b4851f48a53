/**
 * The job: one run of a study, from Pending to one of four ends. Pure: assigns and emits, knows no clock and no other
 * actor. Which event comes when is decided by those who send them; whether it is legal is decided here alone.
 */
import { assign, emit, setup, type SnapshotFrom } from 'xstate';
import { CLAIM_MS, LEASE_MS, MAX_LOSSES } from '../src/domain/rules.ts';
import type { AttemptOutcome, FailReason } from '../src/domain/types.ts';
import {
  closed,
  opened,
  requeued,
  UNTOUCHED,
  type AttemptRecord,
  type JobContext,
  type JobHistoryState,
  type JobInput,
} from './attempts.ts';
import type {
  Deadline,
  JobClaimed,
  JobEnded,
  JobEvent,
  JobFact,
  JobRequeued,
  JobStarted,
  ReleaseCause,
} from './protocol.ts';

/** Failures that the same inputs would meet again on any runner are not retried. */
const RETRIED: Readonly<Record<FailReason, boolean>> = {
  exit: true,
  signal: true,
  infrastructure: true,
  early_termination: false,
  invalid: false,
  timeout: false,
};

type Of<T extends JobEvent['type']> = Extract<JobEvent, { type: T }>;

const about = (c: JobContext, now: number) => ({
  jobId: c.jobId,
  batchId: c.batchId,
  runId: c.runId,
  runnerId: c.runnerId,
  attempt: c.attempt,
  now,
});

const tellRequeued = (
  c: JobContext,
  now: number,
  from: JobRequeued['from'],
  outcome: AttemptOutcome,
  why: ReleaseCause | FailReason,
): JobRequeued => ({ type: 'job.requeued', ...about(c, now), runnerId: c.runnerId ?? '', from, outcome, why });

const tellEnded = (
  c: JobContext,
  now: number,
  from: JobEnded['from'],
  to: JobEnded['to'],
  error?: string,
): JobEnded => ({
  type: 'job.ended',
  ...about(c, now),
  from,
  to,
  touched: c.attempt > 0,
  error,
  startedAtMs: c.startedAtMs,
});

/** The message of a job that its runners did not survive. */
function lossMessage(c: JobContext, event: Of<'RUNNER_LOST'>): string {
  return `runner ${event.runnerId} ${event.cause} while this run was running on it; the run has lost its runner ${c.losses + 1} times, which is the limit`;
}

const timeoutMessage = (c: JobContext): string => `the run exceeded its time limit of ${c.timeLimitMs / 1000} s`;
const cancelMessage = (reason: string | undefined): string =>
  reason === undefined ? 'cancelled' : `cancelled: ${reason}`;

// Facts are emitted before the context changes, so that they can tell what was: actions run in order, and an emitted fact
// is made of the context at its place.
export const jobMachine = setup({
  types: {
    context: {} as JobContext,
    events: {} as JobEvent,
    emitted: {} as JobFact,
    input: {} as JobInput,
  },
  guards: {
    /** The report is of the current attempt, by the runner that has it. */
    current: ({ context, event }) =>
      'attempt' in event && event.attempt === context.attempt && event.runnerId === context.runnerId,
    isTimeout: ({ context, event }) => isCurrent(context, event) && event.type === 'FAIL' && event.reason === 'timeout',
    canRetry: ({ context, event }) =>
      isCurrent(context, event) &&
      event.type === 'FAIL' &&
      RETRIED[event.reason] &&
      context.retries < context.maxRetries,
    canLose: ({ context, event }) => isCurrent(context, event) && context.losses + 1 < MAX_LOSSES,
    due: ({ context, event }) => context.dueAtMs !== undefined && event.now >= context.dueAtMs,
  },
}).createMachine({
  id: 'job',
  initial: 'Pending',
  context: ({ input }) => ({ ...input, ...UNTOUCHED }),
  states: {
    Pending: {
      on: {
        CLAIM: {
          target: 'Claimed',
          actions: [
            emit(({ context: c, event }): JobClaimed => ({
              type: 'job.claimed',
              ...about(c, event.now),
              runnerId: event.runnerId,
              attempt: c.attempt + 1,
              requeued: c.attempt > 0,
              cpuMilli: c.cpuMilli,
              memoryBytes: c.memoryBytes,
            })),
            assign(({ context, event }) => opened(context, event)),
          ],
        },
        CANCEL: {
          target: 'Cancelled',
          actions: [
            emit(({ context: c, event }) =>
              tellEnded(c, event.now, 'Pending', 'Cancelled', cancelMessage(event.reason)),
            ),
            assign(({ context: c, event }) => closed(c, event.now, 'cancelled', event.reason)),
          ],
        },
      },
    },
    Claimed: {
      on: {
        START: {
          target: 'Running',
          guard: 'current',
          actions: [
            emit(({ context: c, event }): JobStarted => ({ type: 'job.started', ...about(c, event.now) })),
            assign(({ context: c, event }) => ({
              startedAtMs: event.now,
              dueAtMs: c.timeLimitMs > 0 ? event.now + c.timeLimitMs : undefined,
              attempts: [...c.attempts.slice(0, -1), { ...(c.attempts.at(-1) as AttemptRecord), started: event.now }],
            })),
          ],
        },
        HAND_BACK: {
          target: 'Pending',
          guard: 'current',
          actions: [
            emit(({ context: c, event }) => tellRequeued(c, event.now, 'Claimed', 'released', 'signed-off')),
            assign(({ context: c, event }) => requeued(c, event.now, 'released', 'signed-off')),
          ],
        },
        RUNNER_LOST: {
          target: 'Pending',
          guard: 'current',
          actions: [
            emit(({ context: c, event }) => tellRequeued(c, event.now, 'Claimed', 'released', 'runner-lost')),
            assign(({ context: c, event }) =>
              requeued(c, event.now, 'released', 'runner-lost', `runner ${event.cause}`),
            ),
          ],
        },
        CLAIM_EXPIRED: {
          target: 'Pending',
          guard: 'due',
          actions: [
            emit(({ context: c, event }) => tellRequeued(c, event.now, 'Claimed', 'released', 'claim-expired')),
            assign(({ context: c, event }) => requeued(c, event.now, 'released', 'claim-expired')),
          ],
        },
        CANCEL: {
          target: 'Cancelled',
          actions: [
            emit(({ context: c, event }) =>
              tellEnded(c, event.now, 'Claimed', 'Cancelled', cancelMessage(event.reason)),
            ),
            assign(({ context: c, event }) => closed(c, event.now, 'cancelled', event.reason)),
          ],
        },
      },
    },
    Running: {
      on: {
        COMPLETE: {
          target: 'Completed',
          guard: 'current',
          actions: [
            emit(({ context: c, event }) => tellEnded(c, event.now, 'Running', 'Completed')),
            assign(({ context: c, event }) => closed(c, event.now, 'completed')),
          ],
        },
        FAIL: [
          {
            target: 'Timeout',
            guard: 'isTimeout',
            actions: [
              emit(({ context: c, event }) => tellEnded(c, event.now, 'Running', 'Timeout', event.message)),
              assign(({ context: c, event }) => closed(c, event.now, 'timeout', event.reason, event.message)),
            ],
          },
          {
            target: 'Pending',
            guard: 'canRetry',
            actions: [
              emit(({ context: c, event }) => tellRequeued(c, event.now, 'Running', 'failed', event.reason)),
              assign(({ context: c, event }) => ({
                retries: c.retries + 1,
                ...requeued(c, event.now, 'failed', event.reason, event.message),
              })),
            ],
          },
          {
            target: 'Failed',
            guard: 'current',
            actions: [
              emit(({ context: c, event }) => tellEnded(c, event.now, 'Running', 'Failed', event.message)),
              assign(({ context: c, event }) => closed(c, event.now, 'failed', event.reason, event.message)),
            ],
          },
        ],
        HAND_BACK: {
          target: 'Pending',
          guard: 'current',
          actions: [
            emit(({ context: c, event }) => tellRequeued(c, event.now, 'Running', 'released', 'signed-off')),
            assign(({ context: c, event }) => requeued(c, event.now, 'released', 'signed-off')),
          ],
        },
        RUNNER_LOST: [
          {
            target: 'Pending',
            guard: 'canLose',
            actions: [
              emit(({ context: c, event }) => tellRequeued(c, event.now, 'Running', 'lost', 'runner-lost')),
              assign(({ context: c, event }) => ({
                losses: c.losses + 1,
                ...requeued(c, event.now, 'lost', 'runner-lost', `runner ${event.runnerId} ${event.cause}`),
              })),
            ],
          },
          {
            target: 'Failed',
            guard: 'current',
            actions: [
              emit(({ context: c, event }) => tellEnded(c, event.now, 'Running', 'Failed', lossMessage(c, event))),
              assign(({ context: c, event }) => ({
                losses: c.losses + 1,
                ...closed(c, event.now, 'lost', 'runner-lost', lossMessage(c, event)),
              })),
            ],
          },
        ],
        TIME_LIMIT: {
          target: 'Timeout',
          guard: 'due',
          actions: [
            emit(({ context: c, event }) => tellEnded(c, event.now, 'Running', 'Timeout', timeoutMessage(c))),
            assign(({ context: c, event }) => closed(c, event.now, 'timeout', 'timeout', timeoutMessage(c))),
          ],
        },
        CANCEL: {
          target: 'Cancelled',
          actions: [
            emit(({ context: c, event }) =>
              tellEnded(c, event.now, 'Running', 'Cancelled', cancelMessage(event.reason)),
            ),
            assign(({ context: c, event }) => closed(c, event.now, 'cancelled', event.reason)),
          ],
        },
      },
    },
    Completed: { type: 'final' },
    Failed: { type: 'final' },
    Timeout: { type: 'final' },
    Cancelled: { type: 'final' },
  },
});

export type JobSnapshot = SnapshotFrom<typeof jobMachine>;

function isCurrent(context: JobContext, event: JobEvent): boolean {
  return 'attempt' in event && event.attempt === context.attempt && event.runnerId === context.runnerId;
}

/** The moment this job has to be looked at again, if any. */
export function jobDeadline(value: string, context: JobContext): Deadline | undefined {
  if (context.dueAtMs === undefined) return undefined;
  if (value === 'Claimed') return { kind: 'claim', atMs: context.dueAtMs };
  if (value === 'Running') return { kind: 'time-limit', atMs: context.dueAtMs };
  return undefined;
}

/**
 * What a restart of the coordinator does to the job's clock. A claim's time starts afresh. A time limit is not judged
 * before a lease has gone by, so that an outcome reached in time while the coordinator was away can still be delivered.
 */
export function reviveJob(value: string, state: JobHistoryState, now: number): JobHistoryState {
  if (state.dueAtMs === undefined) return state;
  // Set and not only raised: a clock that was set back meanwhile must not stretch the claim.
  if (value === 'Claimed') return { ...state, dueAtMs: now + CLAIM_MS };
  return { ...state, dueAtMs: Math.max(state.dueAtMs, now + LEASE_MS) };
}
