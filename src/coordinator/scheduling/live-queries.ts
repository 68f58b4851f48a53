/** Queries over all active actors. */
import type { BatchContext } from '../../../machines/batch.ts';
import { batchIdOf } from '../../domain/ids.ts';
import type { Uuid } from '../../contract/types.ts';
import { stateOf, type Directory } from '../actors/directory.ts';
import type { LongPolls } from './long-polls.ts';
import { PREFER_OTHER_RUNNER_MS } from '../../domain/rules.ts';
import type { StudyCache } from '../resources/study-cache.ts';
import { endsInTime } from '../../domain/scheduling.ts';
import { meanRunMs, type Statistics } from '../resources/statistics.ts';
import { couldTake, runLength, type Scheduler, type SchedulerSources } from './scheduler.ts';
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
  isInTime: (endsAtMs: number | undefined) => boolean,
): boolean {
  for (const activation of directory.runners.values()) {
    if (activation.id === notThis || !longPolls.requestsWork(activation.id, PREFER_OTHER_RUNNER_MS)) continue;
    const request = workRequestOf(stateOf(activation), 1, 0);
    if (request !== undefined && couldTake(request, batch) && isInTime(request.endsAtMs)) return true;
  }
  return false;
}

/** Returns the sources of a scheduler: the active actors, the pending polls, the studies and the run times. */
export const schedulerSources = (
  directory: Directory,
  longPolls: Pick<LongPolls<unknown>, 'requestsWork'>,
  { runAt }: Pick<StudyCache, 'runAt'>,
  statistics: Statistics,
): SchedulerSources => {
  const times = { meanRunMs: (simulation: string) => meanRunMs(statistics, simulation) ?? 0 };
  return {
    ...times,
    isTouched: (id) => directory.isTouched(id),
    runAt,
    isOtherFree: (batch, notThis, now) =>
      isOtherFree(directory, longPolls, batch, notThis, (endsAtMs) =>
        endsInTime(runLength(batch, times), now, endsAtMs),
      ),
  };
};
