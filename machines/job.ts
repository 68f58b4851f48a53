/**
 * The job machine: one run of a study, from Pending to one of four terminal states. Pure: it assigns and emits, and reads
 * no clock and no other actor. Only this machine decides whether an event is legal.
 */
import { assign, emit, setup, type SnapshotFrom } from 'xstate';
import {
  cancelMessage,
  closeAttempt,
  isCurrent,
  lossMessage,
  claimAttempt,
  requeueJob,
  startAttempt,
  jobClaimed,
  jobCompleted,
  jobEnded,
  jobExcused,
  jobFailed,
  jobRequeued,
  jobStarted,
  timeoutMessage,
  countFault,
  excuseLoss,
  isLoss,
  doubtCode,
  isReassigned,
  isRepeated,
  mayLose,
  usesRetry,
  INITIAL_HISTORY,
  type JobContext,
  type JobInput,
} from './job-context.ts';
import { jobReused, takeResult } from './job-parts/reuse.ts';
import type { JobEvent, JobFact } from './protocol.ts';

// Each transition emits its fact before it changes the context, so that the fact holds the members from before: actions run
// in order, and `emit` reads the context at its position.
export const jobMachine = setup({
  types: {
    context: {} as JobContext,
    events: {} as JobEvent,
    emitted: {} as JobFact,
    input: {} as JobInput,
  },
  guards: {
    /** The event is about the current attempt and names its runner. */
    current: ({ context, event }) => isCurrent(context, event),
    isTimeout: ({ context, event }) => isCurrent(context, event) && event.type === 'FAIL' && event.reason === 'timeout',
    canRetry: ({ context, event }) =>
      isCurrent(context, event) &&
      event.type === 'FAIL' &&
      usesRetry(event.reason) &&
      context.retries < context.maxRetries &&
      !isRepeated(context, event),
    canReassign: ({ context, event }) => isCurrent(context, event) && isReassigned(context, event),
    canLose: ({ context, event }) => isCurrent(context, event) && mayLose(context, event),
    isLoss: ({ context, event }) => isLoss(context, event),
    reusesTermination: ({ event }) => event.type === 'REUSE' && event.error !== undefined,
    due: ({ context, event }) => context.dueAtMs !== undefined && event.now >= context.dueAtMs,
  },
  actions: {
    emitReused: emit(({ context, event }) => jobReused(context, event)),
    takeResult: assign(({ event }) => takeResult(event)),
  },
}).createMachine({
  id: 'job',
  initial: 'Pending',
  context: ({ input }) => ({ ...input, ...INITIAL_HISTORY }),
  states: {
    Pending: {
      description: 'The run waits for a runner.',
      on: {
        EXCUSE: {
          guard: 'isLoss',
          actions: [
            emit(({ context: c, event }) => jobExcused(c, event)),
            assign(({ context: c, event }) => excuseLoss(c, event)),
          ],
        },
        CLAIM: {
          target: 'Claimed',
          actions: [
            emit(({ context, event }) => jobClaimed(context, event)),
            assign(({ context, event }) => claimAttempt(context, event)),
          ],
        },
        REUSE: [
          { target: 'Failed', guard: 'reusesTermination', actions: ['emitReused', 'takeResult'] },
          { target: 'Completed', actions: ['emitReused', 'takeResult'] },
        ],
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
      description: 'A runner has taken the run, and has not started it.',
      on: {
        EXCUSE: {
          guard: 'isLoss',
          actions: [
            emit(({ context: c, event }) => jobExcused(c, event)),
            assign(({ context: c, event }) => excuseLoss(c, event)),
          ],
        },
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
        INTERRUPT: {
          target: 'Pending',
          guard: 'current',
          actions: [
            emit(({ context: c, event }) => jobRequeued(c, event.now, 'Claimed', 'released', event.why)),
            assign(({ context: c, event }) => requeueJob(c, event.now, 'released', event.why, event.message)),
          ],
        },
        // Only the state Claimed has this transition: a run that has started is never handed back to be executed elsewhere.
        UNCLAIM: {
          target: 'Pending',
          guard: 'current',
          actions: [
            emit(({ context: c, event }) => jobRequeued(c, event.now, 'Claimed', 'released', 'handed-back')),
            assign(({ context: c, event }) => requeueJob(c, event.now, 'released', 'handed-back')),
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
      description: 'The simulation runs on its runner.',
      on: {
        EXCUSE: {
          guard: 'isLoss',
          actions: [
            emit(({ context: c, event }) => jobExcused(c, event)),
            assign(({ context: c, event }) => excuseLoss(c, event)),
          ],
        },
        COMPLETE: {
          target: 'Completed',
          guard: 'current',
          actions: [
            emit(({ context: c, event }) => jobCompleted(c, event)),
            assign(({ context: c, event }) => closeAttempt(c, event.now, 'completed')),
          ],
        },
        FAIL: [
          {
            target: 'Timeout',
            guard: 'isTimeout',
            actions: [
              emit(({ context: c, event }) =>
                jobEnded(c, event.now, 'Running', 'Timeout', event.message, event.telemetry),
              ),
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
                ...requeueJob(c, event.now, 'failed', event.reason, event.message, event.ownError),
              })),
            ],
          },
          {
            target: 'Pending',
            guard: 'canReassign',
            actions: [
              emit(({ context: c, event }) => jobRequeued(c, event.now, 'Running', 'failed', event.reason)),
              assign(({ context: c, event }) => ({
                ...countFault(c, event),
                ...requeueJob(c, event.now, 'failed', event.reason, event.message),
              })),
            ],
          },
          {
            target: 'Failed',
            guard: 'current',
            actions: [
              emit(({ context: c, event }) => jobFailed(c, event)),
              assign(({ context: c, event }) => ({
                ...countFault(c, event),
                ...closeAttempt(c, event.now, 'failed', event.reason, event.message, event.ownError),
              })),
            ],
          },
        ],
        DOUBT_CODE: { guard: 'current', actions: assign(({ context }) => doubtCode(context)) },
        HAND_BACK: {
          target: 'Pending',
          guard: 'current',
          actions: [
            emit(({ context: c, event }) => jobRequeued(c, event.now, 'Running', 'released', 'signed-off')),
            assign(({ context: c, event }) => requeueJob(c, event.now, 'released', 'signed-off')),
          ],
        },
        // Without a bound: a machine may be taken from a run any number of times.
        INTERRUPT: {
          target: 'Pending',
          guard: 'current',
          actions: [
            emit(({ context: c, event }) => jobRequeued(c, event.now, 'Running', 'released', event.why)),
            assign(({ context: c, event }) => requeueJob(c, event.now, 'released', event.why, event.message)),
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
    Completed: {
      type: 'final',
      description: 'Its runner has reported its result, or it has the result of a finished run with the same key.',
    },
    Failed: {
      type: 'final',
      description:
        'The last attempt failed, or the run has lost its runner too often, or a condition of its study has ended it early.',
    },
    Timeout: { type: 'final', description: 'The run has reached its time limit.' },
    Cancelled: { type: 'final', description: 'An operator has cancelled the run, or its study has ended before it.' },
  },
});

export type JobSnapshot = SnapshotFrom<typeof jobMachine>;
