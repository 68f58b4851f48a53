/** The counters of a batch after changes of its jobs. Pure. */
import type { BatchContext } from '../../src/contract/types.ts';
import { addLookUps } from '../../src/domain/runs/look-ups.ts';
import type { JobChange } from '../protocol.ts';
import { addRun } from '../telemetry-tally.ts';
import { noteEnds, noteStart } from './codes.ts';

type Counter = 'claimed' | 'running' | 'completed' | 'failed' | 'timedOut' | 'cancelled';
const COUNTER = {
  Claimed: 'claimed',
  Running: 'running',
  Completed: 'completed',
  Failed: 'failed',
  Timeout: 'timedOut',
  Cancelled: 'cancelled',
} as const satisfies Record<string, Counter>;

/** The members that changes of jobs can change, and the total. */
export type Counters = Pick<
  BatchContext,
  | 'totalJobs'
  | 'next'
  | 'cancelledAhead'
  | 'requeued'
  | 'claimed'
  | 'running'
  | 'completed'
  | 'failed'
  | 'timedOut'
  | 'cancelled'
  | 'startedAtMs'
  | 'endedAtMs'
  | 'telemetry'
  | 'lookUps'
  | 'terminated'
  | 'codes'
  | 'pinnedCode'
  | 'reused'
>;

/**
 * Returns the counters after the changes, which are in the order in which they happened. Only the counters are copied: this
 * runs for each change of a job, and the whole context is copied once more by the transition.
 */
export function tally(context: BatchContext, changes: readonly JobChange[]): Counters {
  const c: Counters = {
    totalJobs: context.totalJobs,
    next: context.next,
    cancelledAhead: context.cancelledAhead,
    requeued: context.requeued,
    claimed: context.claimed,
    running: context.running,
    completed: context.completed,
    failed: context.failed,
    timedOut: context.timedOut,
    cancelled: context.cancelled,
    startedAtMs: context.startedAtMs,
    endedAtMs: context.endedAtMs,
    telemetry: context.telemetry,
    lookUps: context.lookUps,
    terminated: context.terminated,
    codes: context.codes,
    pinnedCode: context.pinnedCode,
    reused: context.reused,
  };
  for (const change of changes) {
    switch (change.type) {
      case 'job.claimed':
        c.claimed += 1;
        c.startedAtMs ??= change.now;
        if (change.requeued) c.requeued -= 1;
        else if (isAhead(context, c, change)) c.cancelledAhead += 1;
        else passCursor(c, change);
        break;
      case 'job.started':
        c.claimed -= 1;
        c.running += 1;
        noteStart(c, change, context.pinsCode !== undefined);
        break;
      case 'job.requeued':
        c[COUNTER[change.from]] -= 1;
        c.requeued += 1;
        break;
      case 'job.ended':
        if (change.from !== 'Pending') c[COUNTER[change.from]] -= 1;
        else if (change.touched) c.requeued -= 1;
        else if (change.reused === true) passCursor(c, change);
        // A cancelled batch has counted its untouched runs already.
        else c.cancelledAhead += 1;
        c[COUNTER[change.to]] += 1;
        if (change.telemetry !== undefined) c.telemetry = addRun(c.telemetry, change.telemetry);
        if (change.lookUps !== undefined) c.lookUps = addLookUps(c.lookUps, change.lookUps);
        if (change.reused === true) {
          c.startedAtMs ??= change.now;
          c.reused = (c.reused ?? 0) + 1;
          noteStart(c, { code: change.identity, runnerId: undefined }, context.pinsCode !== undefined);
        }
        if (change.terminated === true) c.terminated = (c.terminated ?? 0) + 1;
        break;
    }
  }
  // The start of a run comes before its end, so that the codes of all changes are known by now.
  noteEnds(c, changes);
  return c;
}

/** True for a run of an extraction that is claimed before others: its files are on the runner, and theirs are not. */
const isAhead = ({ parent }: BatchContext, c: Counters, { index, runId }: { index?: number; runId: number }): boolean =>
  parent?.relation === 'extraction' && (index ?? runId) > c.next;

/** Moves the cursor after an untouched run. All runs between the cursor and this run were cancelled one by one. */
function passCursor(c: Counters, { index, runId }: { index?: number; runId: number }): void {
  const at = index ?? runId;
  c.cancelledAhead -= at - c.next;
  c.next = at + 1;
}
