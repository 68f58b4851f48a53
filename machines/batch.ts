/**
 * The batch machine: one study as a counter per status, a cursor into its untouched runs and the number of requeued ones.
 * Its size does not grow with its runs. JOBS_CHANGED brings it the changes of its jobs, many at a time. Pure.
 */
import { assign, emit, setup, type SnapshotFrom } from 'xstate';
import type { BatchContext, BatchInput } from '../src/contract/types.ts';
import { addRun } from './telemetry-tally.ts';
import type { BatchEnded, BatchEvent, BatchFact, JobChange } from './protocol.ts';

export type { BatchContext, BatchInput };

/** The counters of a new batch. */
export const INITIAL_COUNTERS = {
  next: 0,
  cancelledAhead: 0,
  requeued: 0,
  claimed: 0,
  running: 0,
  completed: 0,
  failed: 0,
  timedOut: 0,
  cancelled: 0,
  cancelRequested: false,
  cancelReason: undefined,
  startedAtMs: undefined,
  endedAtMs: undefined,
  telemetry: undefined,
} as const satisfies Omit<BatchContext, keyof BatchInput>;

type Counter = 'claimed' | 'running' | 'completed' | 'failed' | 'timedOut' | 'cancelled';
const COUNTER = {
  Claimed: 'claimed',
  Running: 'running',
  Completed: 'completed',
  Failed: 'failed',
  Timeout: 'timedOut',
  Cancelled: 'cancelled',
} as const satisfies Record<string, Counter>;

/** The number of runs that were neither claimed nor cancelled. They have no record. */
export function untouchedRuns(c: BatchContext): number {
  return c.totalJobs - c.next - c.cancelledAhead;
}

/** The number of Pending runs: untouched or requeued. */
export function pendingRuns(c: BatchContext): number {
  return untouchedRuns(c) + c.requeued;
}

/** The number of runs that a runner holds. */
export function activeRuns(c: BatchContext): number {
  return c.claimed + c.running;
}

/** Returns the counters after the changes, which are in the order in which they happened. */
export function tally(context: BatchContext, changes: readonly JobChange[]): BatchContext {
  const c = { ...context };
  for (const change of changes) {
    switch (change.type) {
      case 'job.claimed':
        c.claimed += 1;
        c.startedAtMs ??= change.now;
        if (change.requeued) c.requeued -= 1;
        else {
          // All runs between the cursor and this run were cancelled one by one.
          c.cancelledAhead -= change.runId - c.next;
          c.next = change.runId + 1;
        }
        break;
      case 'job.started':
        c.claimed -= 1;
        c.running += 1;
        break;
      case 'job.requeued':
        c[COUNTER[change.from]] -= 1;
        c.requeued += 1;
        break;
      case 'job.ended':
        if (change.from !== 'Pending') c[COUNTER[change.from]] -= 1;
        else if (change.touched) c.requeued -= 1;
        // A cancelled batch has counted its untouched runs already.
        else c.cancelledAhead += 1;
        c[COUNTER[change.to]] += 1;
        if (change.telemetry !== undefined) c.telemetry = addRun(c.telemetry, change.telemetry);
        break;
    }
  }
  return c;
}

const isOver = (c: BatchContext): boolean => pendingRuns(c) === 0 && activeRuns(c) === 0;
const allCancelled = (c: BatchContext): boolean => c.totalJobs > 0 && c.cancelled === c.totalJobs;

const ended = (status: BatchEnded['status'], context: BatchContext): BatchEnded => ({
  type: 'batch.ended',
  batchId: context.batchId,
  status,
  now: context.endedAtMs ?? context.createdAtMs,
});

/** The transitions to the end of the study, taken once all its jobs are terminal. */
const ends = [
  { guard: 'overAndCancelled', target: 'Cancelled', actions: 'emitCancelled' },
  { guard: 'overWithResults', target: 'Completed', actions: 'emitCompleted' },
  { guard: 'over', target: 'Failed', actions: 'emitFailed' },
] as const;

export const batchMachine = setup({
  types: {
    context: {} as BatchContext,
    events: {} as BatchEvent,
    emitted: {} as BatchFact,
    input: {} as BatchInput,
  },
  guards: {
    over: ({ context }) => isOver(context),
    overAndCancelled: ({ context }) => isOver(context) && (context.cancelRequested || allCancelled(context)),
    overWithResults: ({ context }) => isOver(context) && (context.completed > 0 || context.totalJobs === 0),
    someClaimed: ({ event }) => event.type === 'JOBS_CHANGED' && event.changes.some((it) => it.type === 'job.claimed'),
  },
  actions: {
    count: assign(({ context, event }) => {
      if (event.type !== 'JOBS_CHANGED') return context;
      const counted = tally(context, event.changes);
      if (isOver(counted)) counted.endedAtMs = event.now;
      return counted;
    }),
    /** Cancels the untouched runs by number; each touched run receives its own CANCEL. */
    cancelUntouched: assign(({ context: c, event }) => {
      const cancelled: BatchContext = {
        ...c,
        cancelRequested: true,
        cancelReason: event.type === 'CANCEL' ? event.reason : undefined,
        cancelled: c.cancelled + untouchedRuns(c),
        next: c.totalJobs,
        cancelledAhead: 0,
      };
      cancelled.endedAtMs = event.now;
      return cancelled;
    }),
    emitCancelling: emit(({ context, event }): BatchFact => ({
      type: 'batch.cancelling',
      batchId: context.batchId,
      reason: event.type === 'CANCEL' ? event.reason : undefined,
      now: event.now,
    })),
    emitCompleted: emit(({ context }) => ended('Completed', context)),
    emitFailed: emit(({ context }) => ended('Failed', context)),
    emitCancelled: emit(({ context }) => ended('Cancelled', context)),
    emitOpened: emit(({ context }): BatchFact => ({
      type: 'batch.opened',
      batchId: context.batchId,
      totalJobs: context.totalJobs,
      now: context.createdAtMs,
    })),
  },
}).createMachine({
  id: 'batch',
  initial: 'Pending',
  context: ({ input }) => ({
    ...input,
    ...INITIAL_COUNTERS,
    endedAtMs: input.totalJobs === 0 ? input.createdAtMs : undefined,
  }),
  states: {
    Pending: {
      entry: 'emitOpened',
      always: [...ends],
      on: {
        JOBS_CHANGED: [{ guard: 'someClaimed', target: 'Running', actions: 'count' }, { actions: 'count' }],
        CANCEL: { actions: ['cancelUntouched', 'emitCancelling'] },
      },
    },
    Running: {
      always: [...ends],
      on: {
        JOBS_CHANGED: { actions: 'count' },
        CANCEL: { actions: ['cancelUntouched', 'emitCancelling'] },
      },
    },
    Completed: { type: 'final' },
    Failed: { type: 'final' },
    Cancelled: { type: 'final' },
  },
});

export type BatchSnapshot = SnapshotFrom<typeof batchMachine>;
