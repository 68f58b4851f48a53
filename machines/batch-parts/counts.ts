/** Numbers of runs that follow from the counters of a batch: waiting, active, released. Pure. */
import type { BatchContext, BatchInput } from '../../src/contract/types.ts';

/** The number of runs that were neither claimed nor cancelled. They have no record. */
export function untouchedRuns(c: Pick<BatchContext, 'totalJobs' | 'next' | 'cancelledAhead'>): number {
  return c.totalJobs - c.next - c.cancelledAhead;
}

/** The number of Pending runs: untouched or requeued. */
export function pendingRuns(c: Pick<BatchContext, 'totalJobs' | 'next' | 'cancelledAhead' | 'requeued'>): number {
  return untouchedRuns(c) + c.requeued;
}

/** The number of runs that a runner holds. */
export function activeRuns(c: Pick<BatchContext, 'claimed' | 'running'>): number {
  return c.claimed + c.running;
}

/**
 * The number of runs, counted from the first, that may be claimed now. While it ends at the canary runs, no other run can
 * have completed, so the batch's own counter says when all of them have.
 */
export function releasedRuns(c: BatchContext): number {
  const { canaryRuns = c.totalJobs } = c;
  return c.releasedAtMs === undefined && c.completed < canaryRuns ? Math.min(canaryRuns, c.totalJobs) : c.totalJobs;
}

/** True when a canary run ended without completing, so that the other runs wait for a release. */
export function hasFailedCanary(c: BatchContext): boolean {
  const released = releasedRuns(c);
  if (released >= c.totalJobs) return false;
  const isOut = activeRuns(c) === 0 && c.requeued === 0 && c.next + c.cancelledAhead >= released;
  return c.failed + c.timedOut > 0 || isOut;
}

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
  terminated: undefined,
  pausedAtMs: undefined,
  pauseReason: undefined,
  releasedAtMs: undefined,
  settledAtRunId: undefined,
  releaseReason: undefined,
  blockedAtMs: undefined,
  history: undefined,
} as const satisfies Omit<BatchContext, keyof BatchInput>;
