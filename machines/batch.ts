/**
 * The batch: one study. It is a counter per status, a cursor into its untouched runs and the number of its requeued ones;
 * its size does not grow with its runs. It hears of its jobs by JOBS_CHANGED, many changes at a time. Pure.
 */
import { assign, emit, setup, type SnapshotFrom } from 'xstate';
import type { Uuid } from '../src/contract/types.ts';
import type { BatchEnded, BatchEvent, BatchFact, JobChange } from './protocol.ts';

/** What a submission fixes. Times in ms since the epoch, cpu in thousandths of a core, memory in bytes. */
export interface BatchInput {
  batchId: Uuid;
  name: string;
  configHash: string;
  createdAtMs: number;
  simulationName: string;
  totalJobs: number;
  /** At most this many Claimed or Running at once; 0: no cap. */
  maxParallelJobs: number;
  maxRetries: number;
  timeLimitMs: number;
  cpuMilli: number;
  memoryBytes: number;
  /** Which definition of the samples this batch was submitted under. */
  samplingScheme: string;
}

export interface BatchContext extends BatchInput {
  /** The first run that was never handed out. */
  next: number;
  /** How many runs at or after `next` were cancelled one by one, and so are not to be handed out. */
  cancelledAhead: number;
  /** How many touched runs are Pending again. */
  requeued: number;
  claimed: number;
  running: number;
  completed: number;
  failed: number;
  timedOut: number;
  cancelled: number;
  cancelRequested: boolean;
  cancelReason: string | undefined;
  startedAtMs: number | undefined;
  endedAtMs: number | undefined;
}

/** The counters of a batch that nothing has happened to. */
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

/** Runs that were never handed out nor cancelled: they exist only as a number. */
export function untouchedRuns(c: BatchContext): number {
  return c.totalJobs - c.next - c.cancelledAhead;
}

/** Runs that are Pending: untouched or requeued. */
export function pendingRuns(c: BatchContext): number {
  return untouchedRuns(c) + c.requeued;
}

/** Runs that some runner holds. */
export function activeRuns(c: BatchContext): number {
  return c.claimed + c.running;
}

/** The counters after the changes, which come in the order in which they happened. */
export function tally(context: BatchContext, changes: readonly JobChange[]): BatchContext {
  const c = { ...context };
  for (const change of changes) {
    switch (change.type) {
      case 'job.claimed':
        c.claimed += 1;
        c.startedAtMs ??= change.now;
        if (change.requeued) c.requeued -= 1;
        else {
          // Between the cursor and this run lie only runs that were cancelled one by one.
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

/** All jobs terminal: how the study as a whole ended. */
const ends = [
  { guard: 'overAndCancelled', target: 'Cancelled', actions: 'tellCancelled' },
  { guard: 'overWithResults', target: 'Completed', actions: 'tellCompleted' },
  { guard: 'over', target: 'Failed', actions: 'tellFailed' },
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
    /** Untouched runs become Cancelled at once, by number; the touched ones are told one by one. */
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
    tellCancelling: emit(({ context, event }): BatchFact => ({
      type: 'batch.cancelling',
      batchId: context.batchId,
      reason: event.type === 'CANCEL' ? event.reason : undefined,
      now: event.now,
    })),
    tellCompleted: emit(({ context }) => ended('Completed', context)),
    tellFailed: emit(({ context }) => ended('Failed', context)),
    tellCancelled: emit(({ context }) => ended('Cancelled', context)),
    tellOpened: emit(({ context }): BatchFact => ({
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
      entry: 'tellOpened',
      always: [...ends],
      on: {
        JOBS_CHANGED: [{ guard: 'someClaimed', target: 'Running', actions: 'count' }, { actions: 'count' }],
        CANCEL: { actions: ['cancelUntouched', 'tellCancelling'] },
      },
    },
    Running: {
      always: [...ends],
      on: {
        JOBS_CHANGED: { actions: 'count' },
        CANCEL: { actions: ['cancelUntouched', 'tellCancelling'] },
      },
    },
    Completed: { type: 'final' },
    Failed: { type: 'final' },
    Cancelled: { type: 'final' },
  },
});

export type BatchSnapshot = SnapshotFrom<typeof batchMachine>;
