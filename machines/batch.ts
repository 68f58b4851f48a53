/**
 * The batch machine: one study as a counter per status, a cursor into its untouched runs and the number of requeued ones.
 * Its size does not grow with its runs. JOBS_CHANGED brings it the changes of its jobs, many at a time. Pure.
 */
import { assign, emit, setup, type SnapshotFrom } from 'xstate';
import type { BatchContext, BatchHistoryType, BatchInput } from '../src/contract/types.ts';
import {
  INITIAL_COUNTERS,
  activeRuns,
  awaitsCanaryStudy,
  hasFailedCanary,
  pendingRuns,
  releasedRuns,
  untouchedRuns,
} from './batch-parts/counts.ts';
import { tally, type Counters } from './batch-parts/tally.ts';
import { begins, canaryDeadline, canaryFails, canaryPasses, withAmendment, withEntry } from './batch-parts/history.ts';
import { cancelReasonOf, ended, failures } from './batch-parts/ends.ts';
import { appended, mayBeExtended, mayGrow, withExtension, withRound } from './batch-parts/growth.ts';
import type { BatchEvent, BatchFact, BatchFlow } from './protocol.ts';

export * from './batch-parts/counts.ts';
export { tally };
export type { BatchContext, BatchInput };

/** True when the changes bring an open batch to its limit on failures. */
function reachesMaxFailures(c: BatchContext, event: BatchEvent): boolean {
  if (c.maxFailures === undefined || c.cancelRequested || event.type !== 'JOBS_CHANGED') return false;
  return failures(tally(c, event.changes)) >= c.maxFailures;
}

/** True when no run is Pending or active. */
const isIdle = (c: Counters): boolean => pendingRuns(c) === 0 && activeRuns(c) === 0;
/** A batch that grows waits for the next round instead. */
const isOver = (c: BatchContext): boolean => c.growing === undefined && isIdle(c);
/** A study that stops by its rule has reached its end. */
const wasCancelled = (c: BatchContext): boolean => c.cancelRequested && c.settledAtRunId === undefined;
const allCancelled = (c: BatchContext): boolean => c.totalJobs > 0 && c.cancelled === c.totalJobs;

/** The transitions to the end of the study, taken once all its jobs are terminal. */
const ends = [
  { guard: 'overAndCancelled', target: 'Cancelled', actions: 'emitCancelled' },
  { guard: 'overWithResults', target: 'Completed', actions: 'emitCompleted' },
  { guard: 'over', target: 'Failed', actions: 'emitFailed' },
] as const;

/** The entry of the history for an event of the flow, and for a cancellation. */
const FLOW_ENTRIES: Readonly<Partial<Record<BatchEvent['type'], BatchHistoryType>>> = {
  PAUSE: 'paused',
  RESUME: 'resumed',
  RELEASE: 'released',
  CANCEL: 'cancelled',
  CLOSE: 'closed',
  EXTEND: 'extended',
  SETTLE: 'settled',
  CANARY_LATE: 'canary-late',
  JOBS_CHANGED: 'max-failures',
};
/** The entry of the history for the end that an event brings to open runs. */
const endEntryOf = (c: BatchContext, { type }: BatchEvent): BatchHistoryType | undefined =>
  type === 'SETTLE' && c.stopWhen === 'precise' ? 'precise' : FLOW_ENTRIES[type];
const reasonOf = (event: BatchEvent): string | undefined => ('reason' in event ? event.reason : undefined);
/** The name of the client that asked for it. */
const byOf = (event: BatchEvent): string | undefined => ('by' in event ? event.by : undefined);

const flow = (type: BatchFlow['type'], { batchId }: BatchContext, { now }: BatchEvent): BatchFlow => ({
  type,
  batchId,
  now,
});

/** A repeated event changes nothing and is refused; the operations treat it as done. */
const flowTransitions = {
  PAUSE: { guard: 'notPaused', actions: ['pause', 'note', 'emitPaused'] },
  RESUME: { guard: 'paused', actions: ['resume', 'note', 'emitResumed'] },
  BLOCK: { guard: 'notBlocked', actions: ['block', 'emitBlocked'] },
  UNBLOCK: { guard: 'blocked', actions: ['unblock', 'emitUnblocked'] },
  RELEASE: { guard: 'withheld', actions: ['release', 'note', 'emitReleased'] },
  CANARY_LATE: { guard: 'canaryLate', actions: ['letThreeDecide', 'note', 'emitCanaryLate'] },
  CANARY_ENDED: [
    { guard: 'canaryStudyPasses', actions: ['releaseOthers', 'noteCanaryPassed', 'emitCanaryPassed'] },
    { guard: 'canaryStudyFails', actions: ['failCanary', 'noteCanaryFailed', 'emitCanaryFailed'] },
  ],
} as const;

/** The rounds of a batch that grows. */
const growth = {
  APPEND: { guard: 'mayGrow', actions: ['append', 'emitAppended'] },
  CLOSE: { guard: 'growing', actions: ['close', 'note', 'emitClosed'] },
} as const;

/** An end. It is not final for XState, because an ended study can be amended, and some extended. */
const END = { meta: { isEnd: true } } as const;

/** The event with which enough canary runs are Completed, and the first with which they cannot be any more. */
const canaryTransitions = {
  passes: { guard: 'canaryPasses', actions: ['count', 'releaseOthers', 'noteCanaryPassed', 'emitCanaryPassed'] },
  fails: { guard: 'canaryFails', actions: ['count', 'noteCanaryFailed', 'emitCanaryFailed'] },
} as const;

export const batchMachine = setup({
  types: {
    context: {} as BatchContext,
    events: {} as BatchEvent,
    emitted: {} as BatchFact,
    input: {} as BatchInput,
  },
  guards: {
    over: ({ context }) => isOver(context),
    overAndCancelled: ({ context }) => isOver(context) && (wasCancelled(context) || allCancelled(context)),
    overWithResults: ({ context }) => isOver(context) && (context.completed > 0 || context.totalJobs === 0),
    tooManyFailures: ({ context, event }) => reachesMaxFailures(context, event),
    stopsByItself: ({ context }) => context.stopWhen !== undefined && !context.cancelRequested,
    growing: ({ context }) => context.growing === true,
    extendable: ({ context, event }) => mayBeExtended(context, event),
    mayGrow: ({ context, event }) => mayGrow(context, event),
    notPaused: ({ context }) => context.pausedAtMs === undefined,
    paused: ({ context }) => context.pausedAtMs !== undefined,
    notBlocked: ({ context }) => context.blockedAtMs === undefined,
    blocked: ({ context }) => context.blockedAtMs !== undefined,
    canaryPasses: ({ context, event }) => event.type === 'JOBS_CHANGED' && canaryPasses(context, event.changes, tally),
    canaryFails: ({ context, event }) => event.type === 'JOBS_CHANGED' && canaryFails(context, event.changes, tally),
    canaryLate: ({ context, event }) => event.now >= (canaryDeadline(context)?.atMs ?? Infinity),
    withheld: ({ context }) => releasedRuns(context) < context.totalJobs,
    canaryStudyPasses: ({ context: c, event }) => awaitsCanaryStudy(c) && event.type === 'CANARY_ENDED' && event.passed,
    canaryStudyFails: ({ context: c, event }) =>
      awaitsCanaryStudy(c) && !hasFailedCanary(c) && event.type === 'CANARY_ENDED' && !event.passed,
    canaryFailsAtOnce: ({ context, event }) => begins(event) && canaryFails(context, event.changes, tally),
    someBegun: ({ event }) => begins(event),
  },
  actions: {
    count: assign(({ context, event }) => {
      if (event.type !== 'JOBS_CHANGED') return context;
      const counted = tally(context, event.changes);
      if (!isIdle(counted)) return counted;
      if (context.growing === true) return { ...counted, waitingSinceMs: event.now };
      counted.endedAtMs = event.now;
      return counted;
    }),
    /** Cancels the untouched runs by number; each touched run receives its own CANCEL. */
    cancelUntouched: assign(({ context: c, event }) => {
      const cancelled: BatchContext = {
        ...c,
        cancelRequested: true,
        cancelReason: cancelReasonOf(c, event),
        cancelled: c.cancelled + untouchedRuns(c),
        next: c.totalJobs,
        cancelledAhead: 0,
        growing: undefined,
        waitingSinceMs: undefined,
        history: c.cancelRequested
          ? c.history
          : withEntry(c, endEntryOf(c, event), event.now, cancelReasonOf(c, event), byOf(event)),
      };
      cancelled.endedAtMs = event.now;
      return cancelled;
    }),
    append: assign(({ context, event }) => withRound(context, event)),
    emitAppended: emit(({ context, event }) => appended(context, event)),
    close: assign(({ context, event }) => ({
      growing: undefined,
      waitingSinceMs: undefined,
      endedAtMs: isIdle(context) ? event.now : context.endedAtMs,
    })),
    extend: assign(({ context, event }) => withExtension(context, event)),
    amend: assign(({ context, event }) =>
      event.type !== 'AMEND'
        ? context
        : {
            judgement: event.judgement,
            labels: event.labels,
            requirements: event.judged,
            history: withAmendment(context, event),
          },
    ),
    emitAmended: emit(({ context, event }): BatchFact => ({
      type: 'batch.amended',
      batchId: context.batchId,
      revision: context.judgement?.revision ?? 0,
      now: event.now,
    })),
    emitClosed: emit(({ context, event }) => flow('batch.closed', context, event)),
    emitExtended: emit(({ context, event }) => flow('batch.extended', context, event)),
    settle: assign(({ event }) => ({ settledAtRunId: event.type === 'SETTLE' ? event.runId : undefined })),
    emitCancelling: emit(({ context, event }): BatchFact => ({
      type: 'batch.cancelling',
      batchId: context.batchId,
      reason: cancelReasonOf(context, event),
      now: event.now,
    })),
    pause: assign(({ event }) => ({
      pausedAtMs: event.now,
      pauseReason: event.type === 'PAUSE' ? event.reason : undefined,
    })),
    resume: assign({ pausedAtMs: undefined, pauseReason: undefined }),
    block: assign(({ event }) => ({ blockedAtMs: event.now })),
    unblock: assign({ blockedAtMs: undefined }),
    emitBlocked: emit(({ context: { batchId }, event }): BatchFact => ({
      type: 'batch.blocked',
      batchId,
      finding: event.type === 'BLOCK' ? event.finding : { code: '', message: '', remedy: '' },
      now: event.now,
    })),
    emitUnblocked: emit(({ context: { batchId }, event }): BatchFact => ({
      type: 'batch.unblocked',
      batchId,
      now: event.now,
    })),
    release: assign(({ event }) => ({
      releasedAtMs: event.now,
      releaseReason: event.type === 'RELEASE' ? event.reason : undefined,
    })),
    /** The time of the release stays: a later failure does not withhold the other runs again. */
    releaseOthers: assign(({ event }) => ({ releasedAtMs: event.now })),
    failCanary: assign(({ event }) => ({ canaryFailedAtMs: event.now })),
    letThreeDecide: assign(({ event }) => ({ canaryLateAtMs: event.now })),
    note: assign(({ context, event }) => ({
      history: withEntry(context, FLOW_ENTRIES[event.type], event.now, reasonOf(event), byOf(event)),
    })),
    noteCanaryPassed: assign(({ context, event }) => ({ history: withEntry(context, 'canary-passed', event.now) })),
    noteCanaryFailed: assign(({ context, event }) => ({ history: withEntry(context, 'canary-failed', event.now) })),
    emitCanaryPassed: emit(({ context, event }) => flow('batch.canary-passed', context, event)),
    emitCanaryFailed: emit(({ context, event }) => flow('batch.canary-failed', context, event)),
    emitCanaryLate: emit(({ context, event }) => flow('batch.canary-late', context, event)),
    emitPaused: emit(({ context, event }) => flow('batch.paused', context, event)),
    emitResumed: emit(({ context, event }) => flow('batch.resumed', context, event)),
    emitReleased: emit(({ context, event }) => flow('batch.released', context, event)),
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
    designHash: input.designHash,
    canaryRuns: input.canaryRuns,
    canaryBatch: input.canaryBatch,
    maxFailures: input.maxFailures,
    requirements: input.requirements,
    stopWhen: input.stopWhen,
    priority: input.priority,
    pinsCode: input.pinsCode,
    pinnedCode: input.pinnedCode,
    needs: input.needs,
    labels: input.labels,
    judgement: input.judgement,
    reuse: input.reuse,
    ...INITIAL_COUNTERS,
    endedAtMs: input.totalJobs === 0 && input.budget === undefined ? input.createdAtMs : undefined,
    budget: input.budget,
    growing: input.budget === undefined ? undefined : true,
    waitingSinceMs: input.budget === undefined ? undefined : input.createdAtMs,
  }),
  // In every state: an ended study takes no other event.
  on: { AMEND: { actions: ['amend', 'emitAmended'] } },
  states: {
    Pending: {
      description: 'No run of the study has been claimed, nor has one the result of another run.',
      entry: 'emitOpened',
      always: [...ends],
      on: {
        JOBS_CHANGED: [
          { ...canaryTransitions.passes, target: 'Running' },
          { ...canaryTransitions.fails, guard: 'canaryFailsAtOnce', target: 'Running' },
          { guard: 'someBegun', target: 'Running', actions: 'count' },
          // Canary runs may be cancelled one by one before any run is claimed.
          canaryTransitions.fails,
          { actions: 'count' },
        ],
        CANCEL: { actions: ['cancelUntouched', 'emitCancelling'] },
        ...flowTransitions,
        ...growth,
      },
    },
    Running: {
      description:
        'At least one run has been claimed or has the result of another run, and at least one has not ended.',
      always: [...ends],
      on: {
        JOBS_CHANGED: [
          { guard: 'tooManyFailures', actions: ['count', 'cancelUntouched', 'emitCancelling'] },
          canaryTransitions.passes,
          canaryTransitions.fails,
          { actions: 'count' },
        ],
        CANCEL: { actions: ['cancelUntouched', 'emitCancelling'] },
        SETTLE: { guard: 'stopsByItself', actions: ['settle', 'cancelUntouched', 'emitCancelling'] },
        ...flowTransitions,
        ...growth,
      },
    },
    Completed: {
      ...END,
      description:
        'All runs have ended, and at least one has a result; or the study has no runs. A study of rare events may be extended.',
      on: { EXTEND: { guard: 'extendable', target: 'Running', actions: ['extend', 'note', 'emitExtended'] } },
    },
    Failed: { ...END, description: 'All runs have ended, and none has a result.' },
    Cancelled: { ...END, description: 'The study was cancelled, and all its runs have ended.' },
  },
});

export type BatchSnapshot = SnapshotFrom<typeof batchMachine>;
