/**
 * The stored actor kinds: the table of `machines/kinds.ts` with the key and the encoding of each kind, and the decoding of
 * records.
 */
import type { BatchContext, BatchSnapshot } from '../../../../machines/batch.ts';
import { INITIAL_HISTORY, type JobContext } from '../../../../machines/job-context.ts';
import type { JobSnapshot } from '../../../../machines/job.ts';
import {
  KINDS,
  type ActorKind,
  type BatchState,
  type JobState,
  type NotificationState,
  type RunnerState,
} from '../../../../machines/kinds.ts';
import type { NotificationSnapshot } from '../../../../machines/notification/notification.ts';
import type { RunnerSnapshot } from '../../../../machines/runner.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { runIdOf } from '../../../domain/ids.ts';
import type { BatchStatus, JobHistoryState, JobRecord, NotificationRecord, Uuid } from '../../../contract/types.ts';
import { mergeOf, namesOf } from '../../../contract/codegen/member-functions.ts';
import { encodeJob } from './job-codec.ts';
import { encodeRunner } from './runner-codec.ts';
import { keys } from '../storage/keys.ts';

export {
  isTerminal,
  type BatchState,
  type JobState,
  type NotificationState,
  type RunnerState,
} from '../../../../machines/kinds.ts';
export { decodeRunner } from './runner-codec.ts';

export interface StateOf {
  job: JobState;
  batch: BatchState;
  runner: RunnerState;
  notification: NotificationState;
}
export interface SnapshotOf {
  job: JobSnapshot;
  batch: BatchSnapshot;
  runner: RunnerSnapshot;
  notification: NotificationSnapshot;
}
export type Kind = keyof StateOf;

const jobContext = mergeOf<[Pick<JobContext, 'jobId' | 'runId'>, BatchContext, Partial<JobHistoryState>], JobContext>(
  ['jobId', 'runId'],
  ['batchId', 'maxRetries', 'timeLimitMs', 'cpuMilli', 'memoryBytes', 'resources'],
  namesOf(INITIAL_HISTORY),
);

/**
 * The state of run `runId`, at `index` among the runs of its batch, without a record: Pending, or Cancelled with its batch.
 * @throws SimbatchError `store-damaged` when the run was claimed, so that it must have a record
 */
export function derivedJob(jobId: Uuid, runId: number, index: number, { context: batch }: BatchState): JobState {
  const context = jobContext({ jobId, runId }, batch, INITIAL_HISTORY);
  if (!batch.cancelRequested) {
    if (index < batch.next) throw missingRecord(`run ${jobId}`);
    return { value: 'Pending', context };
  }
  context.completedAtMs = batch.endedAtMs;
  return { value: 'Cancelled', context };
}

/** The error for a record that other records refer to. */
export const missingRecord = (owner: string): SimbatchError =>
  new SimbatchError(
    'store-damaged',
    `the record of ${owner} is missing: the data directory is damaged; stop the coordinator and run simbatch verify`,
  );

/** Returns a job's state from its record and its batch. */
export function jobFromRecord(jobId: Uuid, record: JobRecord, batch: BatchContext): JobState {
  return { value: record.value, context: jobContext({ jobId, runId: runIdOf(jobId) }, batch, record) };
}

export function decodeJob(jobId: Uuid, record: string, batch: BatchContext): JobState {
  return jobFromRecord(jobId, JSON.parse(record) as JobRecord, batch);
}

/** Encodes the state's name and the context as one JSON object. */
const encode = ({ value, context }: { value: string; context: object }): string =>
  `{"value":"${value}",${JSON.stringify(context).slice(1)}`;

export function decodeBatch(record: string): BatchState {
  const { value, ...context } = JSON.parse(record) as { value: BatchStatus } & BatchContext;
  return { value, context };
}

export function decodeNotification(record: string): NotificationState {
  const { value, ...context } = JSON.parse(record) as NotificationRecord;
  return { value, context: context as NotificationState['context'] };
}

/** True for a notification that was delivered or given up. */
export const isTerminalNotification = (value: string): boolean => KINDS.notification.terminal.has(value);

/** An actor kind with its place in the store. */
export interface StoredKind<K extends Kind> extends ActorKind<(typeof KINDS)[K]['machine'], StateOf[K]> {
  key(id: string): string;
  encode(state: StateOf[K]): string;
}

export const ACTOR_KINDS: { readonly [K in Kind]: StoredKind<K> } = {
  job: { ...KINDS.job, key: keys.job, encode: encodeJob },
  batch: { ...KINDS.batch, key: keys.batch, encode },
  runner: { ...KINDS.runner, key: keys.runner, encode: encodeRunner },
  notification: { ...KINDS.notification, key: keys.notification, encode },
};
