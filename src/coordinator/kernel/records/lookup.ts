/** Lookups of one actor: of its stored record for readings, or of its state in a running turn. A missing one is an error with its code. */
import type { Uuid } from '../../../contract/types.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { batchIdOf, isJobId, runIdOf } from '../../../domain/ids.ts';
import {
  decodeBatch,
  decodeJob,
  decodeNotification,
  decodeRunner,
  derivedJob,
  type BatchState,
  type JobState,
  type Kind,
  type NotificationState,
  type RunnerState,
  type StateOf,
} from '../actors/actor-kinds.ts';
import { keys } from '../storage/keys.ts';
import type { Store } from '../storage/store.ts';
import type { Turn } from '../turn/turn.ts';
import { readBatch, type Records } from './read-batch.ts';
import type { StudyCache } from './study-cache.ts';

/** The parts of most readings. */
export interface StoreReader {
  store: Store;
  studyCache: StudyCache;
}

/** @throws SimbatchError `unknown-job` */
export function readJob(
  { studyCache }: { studyCache: StudyCache },
  records: Records,
  jobId: Uuid,
): { state: JobState; batchState: BatchState } {
  const record = isJobId(jobId) ? records.get(keys.batch(batchIdOf(jobId))) : undefined;
  const batchState = record === undefined ? undefined : decodeBatch(record);
  const index = batchState === undefined ? undefined : studyCache.indexOf(batchState.context, runIdOf(jobId));
  if (batchState === undefined || index === undefined) {
    throw new SimbatchError('unknown-job', `there is no run ${jobId}`);
  }
  const stored = records.get(keys.job(jobId));
  return {
    state:
      stored === undefined
        ? derivedJob(jobId, runIdOf(jobId), index, batchState)
        : decodeJob(jobId, stored, batchState.context),
    batchState,
  };
}

/** Returns the stored state of an actor. @throws SimbatchError when there is no such actor */
export function actorState(parts: StoreReader, kind: Kind, id: string): StateOf[Kind] {
  if (kind === 'batch') return readBatch(parts.store, id);
  if (kind === 'notification') return readNotification(parts.store, id);
  return kind === 'job' ? readJob(parts, parts.store, id).state : readRunner(parts.store, id);
}

function readNotification(records: Records, id: string): NotificationState {
  const record = records.get(keys.notification(id));
  if (record === undefined) throw new SimbatchError('not-found', `there is no notification "${id.slice(0, 100)}"`);
  return decodeNotification(record);
}

/** @throws SimbatchError `unknown-runner` */
export function readRunner(records: Records, runnerId: string): RunnerState {
  const record = records.get(keys.runner(runnerId));
  if (record === undefined) throw new SimbatchError('unknown-runner', `there is no runner "${runnerId}"`);
  return decodeRunner(record);
}

/** Returns the state of a batch. @throws SimbatchError `unknown-batch` */
export function batchOrThrow(turn: Pick<Turn, 'state'>, batchId: Uuid): BatchState {
  const state = turn.state('batch', batchId);
  if (state === undefined) throw new SimbatchError('unknown-batch', `there is no study ${batchId}`);
  return state;
}

/** Returns the state of a job. @throws SimbatchError `unknown-job` */
export function jobOrThrow(turn: Pick<Turn, 'state'>, jobId: Uuid): JobState {
  const state = turn.state('job', jobId);
  if (state === undefined) throw new SimbatchError('unknown-job', `there is no run ${jobId}`);
  return state;
}

/** Returns the state of a runner. @throws SimbatchError `unknown-runner` */
export function runnerOrThrow(turn: Pick<Turn, 'state'>, runnerId: string): RunnerState {
  const state = turn.state('runner', runnerId);
  if (state === undefined) {
    throw new SimbatchError(
      'unknown-runner',
      `there is no runner "${runnerId}"; it has to register first (POST /runners)`,
    );
  }
  return state;
}

/** Rejects a process that is not the one registered under the id. */
export function sameInstanceOrThrow({ context }: RunnerState, instance: string): void {
  if (context.instance === instance) return;
  throw new SimbatchError(
    'wrong-instance',
    `runner "${context.runnerId}" is now another process; this one has to register anew`,
  );
}

/** Skips an actor that changed since it was read; the next sweep sees it. */
export async function unlessGone(deletion: Promise<unknown>): Promise<void> {
  await deletion.catch((error: unknown) => {
    const { code } = error as { code?: string };
    if (code !== 'illegal-transition' && code !== 'unknown-batch' && code !== 'unknown-runner') throw error;
  });
}
