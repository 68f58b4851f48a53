/** The counters of a batch after changes of its jobs. Pure. */
import type { BatchContext } from '../../src/contract/types.ts';
import { addLookUps } from '../../src/domain/runs/look-ups.ts';
import type { JobChange } from '../protocol.ts';
import { addRun } from '../telemetry-tally.ts';
import { noteEnd, noteStart } from './codes.ts';

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
  };
  for (const change of changes) {
    switch (change.type) {
      case 'job.claimed':
        c.claimed += 1;
        c.startedAtMs ??= change.now;
        if (change.requeued) c.requeued -= 1;
        else {
          // All runs between the cursor and this run were cancelled one by one.
          const index = change.index ?? change.runId;
          c.cancelledAhead -= index - c.next;
          c.next = index + 1;
        }
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
        // A cancelled batch has counted its untouched runs already.
        else c.cancelledAhead += 1;
        c[COUNTER[change.to]] += 1;
        if (change.telemetry !== undefined) c.telemetry = addRun(c.telemetry, change.telemetry);
        if (change.lookUps !== undefined) c.lookUps = addLookUps(c.lookUps, change.lookUps);
        noteEnd(c, change);
        if (change.terminated === true) c.terminated = (c.terminated ?? 0) + 1;
        break;
    }
  }
  return c;
}
