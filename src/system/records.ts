/**
 * How each kind of actor is kept: its machine, its key, what of it is stored, when it may rest in the store and when it has
 * to be looked at. One entry per kind; whatever treats actors alike asks this table.
 */
import { batchMachine, type BatchContext, type BatchSnapshot } from '../../machines/batch.ts';
import { UNTOUCHED, type JobContext, type JobHistoryState, type JobInput } from '../../machines/attempts.ts';
import { jobDeadline, jobMachine, type JobSnapshot } from '../../machines/job.ts';
import type { Deadline } from '../../machines/protocol.ts';
import { runnerDeadline, runnerMachine, type RunnerContext, type RunnerSnapshot } from '../../machines/runner.ts';
import { batchIdOf, runIdOf } from '../domain/ids.ts';
import type { BatchStatus, JobStatus, RunnerStatus, Uuid } from '../domain/types.ts';
import { keys } from './keys.ts';

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

/** What the batch fixes for its job `runId`. */
export function jobInput(jobId: Uuid, batch: BatchContext): JobInput {
  const { maxRetries, timeLimitMs, cpuMilli, memoryBytes } = batch;
  return { jobId, batchId: batchIdOf(jobId), runId: runIdOf(jobId), maxRetries, timeLimitMs, cpuMilli, memoryBytes };
}

/** The state of a job that has no record: nothing happened to it but what happened to its batch. */
export function derivedJob(jobId: Uuid, batch: BatchState): JobState {
  const input = jobInput(jobId, batch.context);
  if (!batch.context.cancelRequested) return { value: 'Pending', context: { ...input, ...UNTOUCHED } };
  return { value: 'Cancelled', context: { ...input, ...UNTOUCHED, completedAtMs: batch.context.endedAtMs } };
}

/** The record of a job without what its batch says of it. */
export function encodeJob({ value, context: c }: JobState): string {
  const {
    attempt,
    retries,
    losses,
    runnerId,
    claimedAtMs,
    startedAtMs,
    completedAtMs,
    dueAtMs,
    error,
    attempts,
    attemptsOmitted,
  } = c;
  const state = {
    attempt,
    retries,
    losses,
    runnerId,
    claimedAtMs,
    startedAtMs,
    completedAtMs,
    dueAtMs,
    error,
    attempts,
    attemptsOmitted,
  };
  return JSON.stringify({ value, ...state });
}

export function decodeJob(jobId: Uuid, record: string, batch: BatchContext): JobState {
  const { value, ...state } = JSON.parse(record) as { value: JobStatus } & JobHistoryState;
  return { value, context: { ...jobInput(jobId, batch), ...UNTOUCHED, ...state } };
}

const encode = ({ value, context }: { value: string; context: object }): string =>
  JSON.stringify({ value, ...context });

export function decodeBatch(record: string): BatchState {
  const { value, ...context } = JSON.parse(record) as { value: BatchStatus } & BatchContext;
  return { value, context };
}

export function decodeRunner(record: string): RunnerState {
  const { value, ...context } = JSON.parse(record) as { value: RunnerStatus } & RunnerContext;
  return { value, context };
}

interface RecordKind<K extends Kind> {
  machine: { job: typeof jobMachine; batch: typeof batchMachine; runner: typeof runnerMachine }[K];
  key(id: string): string;
  encode(state: StateOf[K]): string;
  /** May the activation end once the state is on disk? */
  rests(state: StateOf[K]): boolean;
  deadline(state: StateOf[K]): Deadline | undefined;
}

export const RECORDS: { readonly [K in Kind]: RecordKind<K> } = {
  job: {
    machine: jobMachine,
    key: keys.job,
    encode: encodeJob,
    rests: ({ value }) => value === 'Pending' || isTerminal(value),
    deadline: ({ value, context }) => jobDeadline(value, context),
  },
  batch: {
    machine: batchMachine,
    key: keys.batch,
    encode,
    rests: ({ value }) => isTerminal(value),
    deadline: () => undefined,
  },
  runner: {
    machine: runnerMachine,
    key: keys.runner,
    encode,
    rests: () => false,
    deadline: ({ value, context }) => runnerDeadline(value, context),
  },
};
