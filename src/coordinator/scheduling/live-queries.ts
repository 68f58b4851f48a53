/** Queries over all active actors. */
import type { BatchContext } from '../../../machines/batch.ts';
import { batchIdOf } from '../../domain/ids.ts';
import type { Uuid } from '../../contract/types.ts';
import { stateOf, type Directory } from '../actors/directory.ts';
import type { LongPolls } from './long-polls.ts';
import { PREFER_OTHER_RUNNER_MS } from '../../domain/rules.ts';
import type { StudyCache } from '../resources/study-cache.ts';
import { couldTake, type Scheduler, type SchedulerSources } from './scheduler.ts';
import { workRequestOf } from '../operations/claims.ts';
import { isTerminal } from '../actors/actor-kinds.ts';

/** The touched jobs of a batch that are not terminal: the active ones, and the requeued ones, which are deactivated. */
export function openJobsOf(directory: Directory, scheduler: Scheduler, batchId: Uuid): Set<Uuid> {
  const open = new Set<Uuid>();
  for (const activation of directory.jobs.values()) {
    const { value, context } = stateOf(activation);
    // An untouched job that a query has activated is counted by the batch itself.
    if (batchIdOf(activation.id) === batchId && !isTerminal(value) && context.attempt > 0) open.add(activation.id);
  }
  for (const id of scheduler.requeuedJobs(batchId)) open.add(id);
  return open;
}

/**
 * Returns true when another runner than `notThis` could take a run of this batch now: it has the capacity, and it asks for work.
 * A runner that has paused, or whose process has died, has free slots and asks for none.
 */
function isOtherFree(
  directory: Directory,
  longPolls: Pick<LongPolls<unknown>, 'requestsWork'>,
  batch: BatchContext,
  notThis: string,
): boolean {
  for (const activation of directory.runners.values()) {
    if (activation.id === notThis || !longPolls.requestsWork(activation.id, PREFER_OTHER_RUNNER_MS)) continue;
    const request = workRequestOf(stateOf(activation), 1);
    if (request !== undefined && couldTake(request, batch)) return true;
  }
  return false;
}

/** Returns the sources of a scheduler: the active actors, the pending polls and the studies. */
export const schedulerSources = (
  directory: Directory,
  longPolls: Pick<LongPolls<unknown>, 'requestsWork'>,
  { runAt }: Pick<StudyCache, 'runAt'>,
): SchedulerSources => ({
  isTouched: (id) => directory.isTouched(id),
  runAt,
  isOtherFree: (batch, notThis) => isOtherFree(directory, longPolls, batch, notThis),
});
