/**
 * How each kind of actor is kept: its machine, its key, what of it is stored, when it may rest in the store and when it has
 * to be looked at. One entry per kind; whatever treats actors alike asks this table.
 */
import { batchMachine, type BatchContext, type BatchSnapshot } from '../../../machines/batch.ts';
import { jobDeadline, INITIAL_HISTORY, type JobContext, type JobHistoryState } from '../../../machines/job-context.ts';
import { jobMachine, type JobSnapshot } from '../../../machines/job.ts';
import type { Deadline } from '../../../machines/protocol.ts';
import { runnerDeadline, runnerMachine, type RunnerContext, type RunnerSnapshot } from '../../../machines/runner.ts';
import { runIdOf } from '../../domain/ids.ts';
import type { BatchStatus, JobStatus, RunnerStatus, Uuid } from '../../contract/types.ts';
import { encodeJob } from './job-codec.ts';
import { keys } from '../storage/keys.ts';

/** An actor's state as a value: which state, and the data beside it. */
export interface JobState {
  value: JobStatus;
  context: JobContext;
}
export interface BatchState {
  value: BatchStatus;
  context: BatchContext;
}
export interface RunnerState {
  value: RunnerStatus;
  context: RunnerContext;
}

export interface StateOf {
  job: JobState;
  batch: BatchState;
  runner: RunnerState;
}
export interface SnapshotOf {
  job: JobSnapshot;
  batch: BatchSnapshot;
  runner: RunnerSnapshot;
}
export type Kind = keyof StateOf;

const OVER: ReadonlySet<string> = new Set(['Completed', 'Failed', 'Timeout', 'Cancelled']);

/** True for a job or batch that will not change any more. */
export const isTerminal = (value: string): boolean => OVER.has(value);

/**
 * The context of a job, member by member: put together by spreading it costs ten times as much, and a listing makes a
 * million of them.
 */
function jobContext(jobId: Uuid, runId: number, batch: BatchContext, state: JobHistoryState): JobContext {
  return {
    jobId,
    batchId: batch.batchId,
    runId,
    maxRetries: batch.maxRetries,
    timeLimitMs: batch.timeLimitMs,
    cpuMilli: batch.cpuMilli,
    memoryBytes: batch.memoryBytes,
    attempt: state.attempt,
    retries: state.retries,
    losses: state.losses,
    runnerId: state.runnerId,
    claimedAtMs: state.claimedAtMs,
    startedAtMs: state.startedAtMs,
    completedAtMs: state.completedAtMs,
    dueAtMs: state.dueAtMs,
    error: state.error,
    attempts: state.attempts,
    attemptsOmitted: state.attemptsOmitted,
  };
}

/** The state of run `runId`, which has no record: nothing happened to it but what happened to its batch. */
export function derivedJob(jobId: Uuid, runId: number, { context: batch }: BatchState): JobState {
  const context = jobContext(jobId, runId, batch, INITIAL_HISTORY);
  if (!batch.cancelRequested) return { value: 'Pending', context };
  context.completedAtMs = batch.endedAtMs;
  return { value: 'Cancelled', context };
}

/** What is stored of a job: all but what its batch says of it. */
export type JobRecord = { value: JobStatus } & JobHistoryState;

/** A job's state, of its record and its batch. */
export function jobFromRecord(jobId: Uuid, record: JobRecord, batch: BatchContext): JobState {
  return { value: record.value, context: jobContext(jobId, runIdOf(jobId), batch, record) };
}

export function decodeJob(jobId: Uuid, record: string, batch: BatchContext): JobState {
  return jobFromRecord(jobId, JSON.parse(record) as JobRecord, batch);
}

/** The state first, then what is beside it: as one object would be written, without making it. */
const encode = ({ value, context }: { value: string; context: object }): string =>
  `{"value":"${value}",${JSON.stringify(context).slice(1)}`;

export function decodeBatch(record: string): BatchState {
  const { value, ...context } = JSON.parse(record) as { value: BatchStatus } & BatchContext;
  return { value, context };
}

export function decodeRunner(record: string): RunnerState {
  const { value, ...context } = JSON.parse(record) as { value: RunnerStatus } & RunnerContext;
  return { value, context };
}

interface ActorKind<K extends Kind> {
  machine: { job: typeof jobMachine; batch: typeof batchMachine; runner: typeof runnerMachine }[K];
  key(id: string): string;
  encode(state: StateOf[K]): string;
  /** May the activation end once the state is on disk? */
  mayDeactivate(state: StateOf[K]): boolean;
  deadline(state: StateOf[K]): Deadline | undefined;
}

export const ACTOR_KINDS: { readonly [K in Kind]: ActorKind<K> } = {
  job: {
    machine: jobMachine,
    key: keys.job,
    encode: encodeJob,
    mayDeactivate: ({ value }) => value === 'Pending' || isTerminal(value),
    deadline: ({ value, context }) => jobDeadline(value, context),
  },
  batch: {
    machine: batchMachine,
    key: keys.batch,
    encode,
    mayDeactivate: ({ value }) => isTerminal(value),
    deadline: () => undefined,
  },
  runner: {
    machine: runnerMachine,
    key: keys.runner,
    encode,
    mayDeactivate: () => false,
    deadline: ({ value, context }) => runnerDeadline(value, context),
  },
};
