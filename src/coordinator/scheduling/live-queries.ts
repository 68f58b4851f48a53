/** Queries over all active actors. */
import type { BatchContext } from '../../../machines/batch.ts';
import { isDamage } from '../../domain/errors.ts';
import { batchIdOf, jobId } from '../../domain/ids.ts';
import type { JobRecord, RunnerCapabilities, RunnerContext, Uuid } from '../../contract/types.ts';
import { stateOf, type Directory, type RecordSource } from '../kernel/actors/directory.ts';
import type { LongPolls } from './long-polls.ts';
import { PREFER_OTHER_RUNNER_MS } from '../../domain/rules.ts';
import type { StudyCache } from '../kernel/records/study-cache.ts';
import { refusalsOf } from '../../domain/runner-settings.ts';
import { isSiteName, type SitePools } from './site-pools.ts';
import { freeCapacityOf, provides } from '../../domain/scheduling.ts';
import type { Statistics } from './statistics.ts';
import { isInTime } from './run-length.ts';
import { FilePlaces } from './batches/file-places.ts';
import type { Scheduler } from './scheduler.ts';
import type { SchedulerSources } from './sources.ts';
import { couldTake, workRequestOf, type WorkRequest } from './work-request.ts';
import { isTerminal } from '../kernel/actors/actor-kinds.ts';
import { keys } from '../kernel/storage/keys.ts';

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

/** The attempts that each runner holds. */
export function* heldByRunners(directory: Directory): Iterable<RunnerContext['held']> {
  for (const activation of directory.runners.values()) yield stateOf(activation).context.held;
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
  takes: (runner: Pick<WorkRequest, 'capabilities' | 'endsAtMs'>) => boolean,
): boolean {
  for (const activation of directory.runners.values()) {
    if (activation.id === notThis || !longPolls.requestsWork(activation.id, PREFER_OTHER_RUNNER_MS)) continue;
    const request = workRequestOf(stateOf(activation), 1, 0);
    if (request !== undefined && couldTake(request, batch) && takes(request)) return true;
  }
  return false;
}

/**
 * Returns true when another runner than `notThis` will take a run of this batch: it is connected, takes work, and is large enough. A
 * full runner asks for no work until a run ends.
 */
function isOtherConnected(
  directory: Directory,
  longPolls: Pick<LongPolls<unknown>, 'requestsWork'>,
  batch: BatchContext,
  notThis: string,
  takes: (runner: Pick<WorkRequest, 'capabilities' | 'endsAtMs'>) => boolean,
): boolean {
  for (const activation of directory.runners.values()) {
    const state = stateOf(activation);
    const { capabilities, engines, slotsLost, endsAtMs } = state.context;
    const takesWork = activation.id !== notThis && (state.value === 'Idle' || state.value === 'Busy');
    const capacity = freeCapacityOf(capabilities, [], slotsLost);
    if (!takesWork || !takes({ capabilities, endsAtMs }) || !couldTake({ capabilities, engines, capacity }, batch))
      continue;
    const request = workRequestOf(state, 1, 0);
    const isFull = request === undefined || !couldTake(request, batch);
    if (isFull || longPolls.requestsWork(activation.id, PREFER_OTHER_RUNNER_MS)) return true;
  }
  return false;
}

/** Returns what `read` returns, or `otherwise` where a record is missing or damaged: it must not keep other studies from work. */
function unlessDamaged<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (isDamage(error)) return otherwise;
    throw error;
  }
}

/** Returns true when the settings of a runner refuse nothing of the study. Nothing of a study whose submission is damaged can be executed. */
function isAllowed(
  studies: Pick<StudyCache, 'of' | 'computeOf'>,
  batch: BatchContext,
  capabilities: RunnerCapabilities,
): boolean {
  return unlessDamaged(() => {
    // The runs of a selection are found by the study, which may have left the cache.
    const { container } =
      batch.selectsRuns === true ? studies.of(batch).submission.config.compute : studies.computeOf(batch.batchId);
    const { environment = null, image } = container;
    return refusalsOf(capabilities, { environment, image }) === undefined;
  }, false);
}

/** Returns the last runner of the run that a run of an audit repeats. */
function originalRunner(source: RecordSource, { parent }: BatchContext, runId: number): string | undefined {
  if (parent === undefined) return undefined;
  const jobAt = (id: Uuid): JobRecord | undefined => {
    const record = unlessDamaged(() => source.read(keys.job(id)), undefined);
    return record === undefined ? undefined : (JSON.parse(record) as JobRecord);
  };
  const run = jobAt(jobId(parent.batchId, runId));
  return (run?.reusedFrom === undefined ? run : jobAt(run.reusedFrom))?.attempts.at(-1)?.runner;
}

/** Returns the sources of a scheduler: the active actors, the pending polls, the studies and the run times. */
export const schedulerSources = (
  directory: Directory,
  longPolls: Pick<LongPolls<unknown>, 'requestsWork'>,
  studies: Pick<StudyCache, 'of' | 'runAt' | 'indexOf' | 'computeOf'>,
  statistics: Statistics,
  source: RecordSource,
  pools: SitePools | undefined,
): SchedulerSources => {
  const allows: SchedulerSources['isAllowed'] = (batch, capabilities) =>
    provides(capabilities, batch.resources, isSiteName(pools)) && isAllowed(studies, batch, capabilities);
  const inTime: SchedulerSources['isInTime'] = (...ends) => isInTime(statistics, ...ends);
  return {
    pools,
    isInTime: inTime,
    // A damaged record is there.
    isTouched: (id) => unlessDamaged(() => directory.isTouched(id), true),
    runAt: studies.runAt,
    indexOf: studies.indexOf,
    filePlaces: (batch) =>
      unlessDamaged(() => {
        const { extraction } = studies.of(batch);
        return extraction && new FilePlaces(extraction);
      }, undefined),
    isAllowed: allows,
    originalRunner: (audit, runId) => originalRunner(source, audit, runId),
    isOtherConnected: (batch, notThis, now) =>
      isOtherConnected(
        directory,
        longPolls,
        batch,
        notThis,
        ({ capabilities, endsAtMs }) => inTime(batch, now, endsAtMs) && allows(batch, capabilities),
      ),
    isOtherFree: (batch, notThis, now) =>
      isOtherFree(
        directory,
        longPolls,
        batch,
        notThis,
        ({ capabilities, endsAtMs }) => inTime(batch, now, endsAtMs) && allows(batch, capabilities),
      ),
  };
};
