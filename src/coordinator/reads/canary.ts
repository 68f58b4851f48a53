/** The canary runs or the canary study that the runs of a study wait for, for its findings. */
import { awaitsCanaryStudy, hasFailedCanary, releasedRuns, withheldRuns } from '../../../machines/batch.ts';
import type { BatchContext, Uuid } from '../../contract/types.ts';
import type { Situation } from '../../domain/findings/finding.ts';
import { jobId } from '../../domain/ids.ts';
import { isDamage } from '../../domain/errors.ts';
import type { CanaryFailure } from '../../domain/probe/canary-finding.ts';
import { isTerminal } from '../kernel/actors/actor-kinds.ts';
import { readJob, type StoreReader } from '../kernel/records/lookup.ts';
import { keys } from '../kernel/storage/keys.ts';

/** Empty while no run waits. */
export function canaryOf(parts: StoreReader, c: BatchContext): Pick<Situation, 'canary'> {
  const runs = releasedRuns(c);
  const withheld = withheldRuns(c);
  if (withheld === 0) return {};
  const isFailed = hasFailedCanary(c);
  if (c.canaryBatch === undefined || !awaitsCanaryStudy(c)) return { canary: { runs, withheld, isFailed } };
  const batchId = c.canaryBatch;
  try {
    const isGone = parts.store.get(keys.batch(batchId)) === undefined;
    const failure = isFailed && !isGone ? failureOf(parts, batchId) : undefined;
    return { canary: { runs, withheld, isFailed, study: { batchId, isGone, failure } } };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { canary: { runs, withheld, isFailed, study: { batchId, isGone: false } } };
  }
}

/** The first run of an ended canary study that is not Completed. */
function failureOf(parts: StoreReader, batchId: Uuid): CanaryFailure | undefined {
  for (let runId = 0; ; runId++) {
    const { state, batchState } = readJob(parts, parts.store, jobId(batchId, runId));
    const { value, context } = state;
    if (value === 'Failed' || value === 'Timeout') return { runId, status: value, message: context.error };
    if (value === 'Cancelled') return { runId, status: value, message: batchState.context.cancelReason };
    if (!isTerminal(value) || runId + 1 >= batchState.context.totalJobs) return undefined;
  }
}
