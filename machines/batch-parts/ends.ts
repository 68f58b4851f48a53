/** The end of a batch: its fact, with the canary study or the study that waits for it, and the reason of a cancellation. Pure. */
import type { BatchContext } from '../../src/contract/types.ts';
import type { BatchEnded, BatchEvent } from '../protocol.ts';
import type { Counters } from './tally.ts';

/** The number of runs that failed: crashed, timed out or lost, but not terminated early. */
export const failures = (c: Counters): number => c.failed + c.timedOut - (c.terminated ?? 0);

/** The fact that a batch has ended. */
export const ended = (status: BatchEnded['status'], context: BatchContext): BatchEnded => ({
  type: 'batch.ended',
  batchId: context.batchId,
  status,
  ...(context.canaryBatch === undefined ? {} : { canaryBatch: context.canaryBatch }),
  ...(context.parent?.relation === 'probe'
    ? { canaryOf: { batchId: context.parent.batchId, passed: context.completed === context.totalJobs } }
    : {}),
  now: context.endedAtMs ?? context.createdAtMs,
});

/** The reason of a cancellation: the client's, the rule by which the study stops, or the limit on failures. */
export function cancelReasonOf(c: BatchContext, event: BatchEvent): string | undefined {
  if (event.type === 'CANCEL') return event.reason;
  if (event.type === 'SETTLE')
    return c.stopWhen === 'precise'
      ? `every precision was reached at run ${event.runId}`
      : `every requirement was settled at run ${event.runId}`;
  return `${failures(c)} runs failed, which reaches max_failures (${c.maxFailures ?? 0})`;
}
