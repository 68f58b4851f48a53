/**
 * The job: one run of a study, from Pending to one of four ends. Pure: assigns and emits, knows no clock and no other
 * actor. Which event comes when is decided by those who send them; whether it is legal is decided here alone.
 */
import { assign, emit, setup, type SnapshotFrom } from 'xstate';
import { MAX_LOSSES } from '../src/domain/rules.ts';
import {
  cancelMessage,
  closeAttempt,
  isCurrent,
  lossMessage,
  claimAttempt,
  requeueJob,
  RETRIED,
  startAttempt,
  jobClaimed,
  jobEnded,
  jobRequeued,
  jobStarted,
  timeoutMessage,
  INITIAL_HISTORY,
  type JobContext,
  type JobInput,
} from './job-context.ts';
import type { JobEvent, JobFact } from './protocol.ts';

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
    current: ({ context, event }) => isCurrent(context, event),
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
  context: ({ input }) => ({ ...input, ...INITIAL_HISTORY }),
  states: {
    Pending: {
      on: {
        CLAIM: {
          target: 'Claimed',
          actions: [
            emit(({ context, event }) => jobClaimed(context, event)),
            assign(({ context, event }) => claimAttempt(context, event)),
          ],
        },
        CANCEL: {
          target: 'Cancelled',
          actions: [
            emit(({ context: c, event }) =>
              jobEnded(c, event.now, 'Pending', 'Cancelled', cancelMessage(event.reason)),
            ),
            assign(({ context: c, event }) => closeAttempt(c, event.now, 'cancelled', event.reason)),
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
            emit(({ context, event }) => jobStarted(context, event)),
            assign(({ context, event }) => startAttempt(context, event)),
          ],
        },
        HAND_BACK: {
          target: 'Pending',
          guard: 'current',
          actions: [
            emit(({ context: c, event }) => jobRequeued(c, event.now, 'Claimed', 'released', 'signed-off')),
            assign(({ context: c, event }) => requeueJob(c, event.now, 'released', 'signed-off')),
          ],
        },
        RUNNER_LOST: {
          target: 'Pending',
          guard: 'current',
          actions: [
            emit(({ context: c, event }) => jobRequeued(c, event.now, 'Claimed', 'released', 'runner-lost')),
            assign(({ context: c, event }) =>
              requeueJob(c, event.now, 'released', 'runner-lost', `runner ${event.cause}`),
            ),
          ],
        },
        CLAIM_EXPIRED: {
          target: 'Pending',
          guard: 'due',
          actions: [
            emit(({ context: c, event }) => jobRequeued(c, event.now, 'Claimed', 'released', 'claim-expired')),
            assign(({ context: c, event }) => requeueJob(c, event.now, 'released', 'claim-expired')),
          ],
        },
        CANCEL: {
          target: 'Cancelled',
          actions: [
            emit(({ context: c, event }) =>
              jobEnded(c, event.now, 'Claimed', 'Cancelled', cancelMessage(event.reason)),
            ),
            assign(({ context: c, event }) => closeAttempt(c, event.now, 'cancelled', event.reason)),
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
            emit(({ context: c, event }) => jobEnded(c, event.now, 'Running', 'Completed')),
            assign(({ context: c, event }) => closeAttempt(c, event.now, 'completed')),
          ],
        },
        FAIL: [
          {
            target: 'Timeout',
            guard: 'isTimeout',
            actions: [
              emit(({ context: c, event }) => jobEnded(c, event.now, 'Running', 'Timeout', event.message)),
              assign(({ context: c, event }) => closeAttempt(c, event.now, 'timeout', event.reason, event.message)),
            ],
          },
          {
            target: 'Pending',
            guard: 'canRetry',
            actions: [
              emit(({ context: c, event }) => jobRequeued(c, event.now, 'Running', 'failed', event.reason)),
              assign(({ context: c, event }) => ({
                retries: c.retries + 1,
                ...requeueJob(c, event.now, 'failed', event.reason, event.message),
              })),
            ],
          },
          {
            target: 'Failed',
            guard: 'current',
            actions: [
              emit(({ context: c, event }) => jobEnded(c, event.now, 'Running', 'Failed', event.message)),
              assign(({ context: c, event }) => closeAttempt(c, event.now, 'failed', event.reason, event.message)),
            ],
          },
        ],
        HAND_BACK: {
          target: 'Pending',
          guard: 'current',
          actions: [
            emit(({ context: c, event }) => jobRequeued(c, event.now, 'Running', 'released', 'signed-off')),
            assign(({ context: c, event }) => requeueJob(c, event.now, 'released', 'signed-off')),
          ],
        },
        RUNNER_LOST: [
          {
            target: 'Pending',
            guard: 'canLose',
            actions: [
              emit(({ context: c, event }) => jobRequeued(c, event.now, 'Running', 'lost', 'runner-lost')),
              assign(({ context: c, event }) => ({
                losses: c.losses + 1,
                ...requeueJob(c, event.now, 'lost', 'runner-lost', `runner ${event.runnerId} ${event.cause}`),
              })),
            ],
          },
          {
            target: 'Failed',
            guard: 'current',
            actions: [
              emit(({ context: c, event }) => jobEnded(c, event.now, 'Running', 'Failed', lossMessage(c, event))),
              assign(({ context: c, event }) => ({
                losses: c.losses + 1,
                ...closeAttempt(c, event.now, 'lost', 'runner-lost', lossMessage(c, event)),
              })),
            ],
          },
        ],
        TIME_LIMIT: {
          target: 'Timeout',
          guard: 'due',
          actions: [
            emit(({ context: c, event }) => jobEnded(c, event.now, 'Running', 'Timeout', timeoutMessage(c))),
            assign(({ context: c, event }) => closeAttempt(c, event.now, 'timeout', 'timeout', timeoutMessage(c))),
          ],
        },
        CANCEL: {
          target: 'Cancelled',
          actions: [
            emit(({ context: c, event }) =>
              jobEnded(c, event.now, 'Running', 'Cancelled', cancelMessage(event.reason)),
            ),
            assign(({ context: c, event }) => closeAttempt(c, event.now, 'cancelled', event.reason)),
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
