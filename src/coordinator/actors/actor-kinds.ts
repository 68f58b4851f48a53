/**
 * The kinds of stored actors: for each its machine, its key, its encoding, its deadline and when it may be deactivated. Code
 * that treats all actors alike uses this table.
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

/** An actor's state as a plain value: the state's name, and the context. */
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

/** True for a final state of a job or batch. */
export const isTerminal = (value: string): boolean => OVER.has(value);

/**
 * The context of a job, member by member: object spread costs ten times as much, and a listing makes a million contexts.
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

/** The state of run `runId` without a record: Pending, or Cancelled with its batch. */
export function derivedJob(jobId: Uuid, runId: number, { context: batch }: BatchState): JobState {
  const context = jobContext(jobId, runId, batch, INITIAL_HISTORY);
  if (!batch.cancelRequested) return { value: 'Pending', context };
  context.completedAtMs = batch.endedAtMs;
  return { value: 'Cancelled', context };
}

/** The stored members of a job; the others come from its batch. */
export type JobRecord = { value: JobStatus } & JobHistoryState;

/** Returns a job's state from its record and its batch. */
export function jobFromRecord(jobId: Uuid, record: JobRecord, batch: BatchContext): JobState {
  return { value: record.value, context: jobContext(jobId, runIdOf(jobId), batch, record) };
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

export function decodeRunner(record: string): RunnerState {
  const { value, ...context } = JSON.parse(record) as { value: RunnerStatus } & RunnerContext;
  return { value, context };
}

interface ActorKind<K extends Kind> {
  machine: { job: typeof jobMachine; batch: typeof batchMachine; runner: typeof runnerMachine }[K];
  key(id: string): string;
  encode(state: StateOf[K]): string;
  /** True when the activation may end once the state is on disk. */
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
