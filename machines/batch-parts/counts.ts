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

/** Canary runs that decide after one of them has hung or takes long: a hang by chance does not keep the other runs from starting. */
export const LEAST_TO_DECIDE = 3;

/** Ended runs that did not complete; those that were cancelled have shown nothing. */
const failedRuns = (c: BatchContext): number => c.failed + c.timedOut;

/** Time for which the other runs wait for fewer than three canary runs; then three decide. */
export const CANARY_PATIENCE_MS = 60_000;

/** The number of canary runs: those of the policy, and three once one of fewer has exceeded its time limit or takes long. */
function canarySet(c: BatchContext): number {
  const { canaryRuns = 0 } = c;
  const mayHang = c.timedOut > 0 || c.canaryLateAtMs !== undefined;
  return Math.min(mayHang ? Math.max(canaryRuns, LEAST_TO_DECIDE) : canaryRuns, c.totalJobs);
}

/** How many of so many canary runs must complete: all of one or two, two thirds of more. */
const neededOf = (runs: number): number => (runs < LEAST_TO_DECIDE ? runs : Math.ceil((2 * runs) / 3));

/** True while the runs wait for the canary study, whether it runs or has failed. */
export const awaitsCanaryStudy = (c: BatchContext): boolean =>
  c.canaryBatch !== undefined && c.releasedAtMs === undefined;

/** True when enough canary runs are Completed, or the other runs were released by hand. */
export const hasPassedCanary = (c: BatchContext): boolean =>
  c.canaryRuns === undefined || c.releasedAtMs !== undefined || c.completed >= neededOf(canarySet(c));

/**
 * The number of runs, counted from the first, that may be claimed now. While it ends at the canary runs, no other run can
 * have completed, so the batch's own counter says when enough of them have.
 */
export const releasedRuns = (c: BatchContext): number => {
  if (awaitsCanaryStudy(c)) return 0;
  return hasPassedCanary(c) ? c.totalJobs : canarySet(c);
};

/** The Pending runs that may not be claimed yet: they wait for the canary runs or the canary study. */
export const withheldRuns = (c: BatchContext): number =>
  untouchedRuns(c) - Math.max(0, Math.min(untouchedRuns(c), releasedRuns(c) - c.next));

/** True when too many canary runs, or the canary study, ended without completing, so that the other runs wait for a release. */
export function hasFailedCanary(c: BatchContext): boolean {
  if (awaitsCanaryStudy(c)) return c.canaryFailedAtMs !== undefined;
  const released = releasedRuns(c);
  if (released >= c.totalJobs) return false;
  const isOut = activeRuns(c) === 0 && c.requeued === 0 && c.next + c.cancelledAhead >= released;
  return failedRuns(c) > released - neededOf(released) || isOut;
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
  lookUps: undefined,
  terminated: undefined,
  pausedAtMs: undefined,
  pauseReason: undefined,
  canaryLateAtMs: undefined,
  canaryFailedAtMs: undefined,
  releasedAtMs: undefined,
  settledAtRunId: undefined,
  releaseReason: undefined,
  blockedAtMs: undefined,
  history: undefined,
  growing: undefined,
  extensions: undefined,
  rounds: undefined,
  rowsLost: undefined,
  waitingSinceMs: undefined,
  codes: undefined,
  reused: undefined,
} as const satisfies Omit<BatchContext, keyof BatchInput>;
