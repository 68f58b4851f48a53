/** The attempt of a job whose files are read, and why a runner does not send them. */
import { SimbatchError } from '../../domain/errors.ts';
import type { StoredResult, Uuid } from '../../contract/types.ts';
import { batchIdOf } from '../../domain/ids.ts';
import { keys } from '../kernel/storage/keys.ts';
import { isTerminal } from '../kernel/actors/actor-kinds.ts';
import type { RunnerState } from '../kernel/actors/actor-kinds.ts';
import type { FileRequests } from './runner/file-requests.ts';
import { type StoreReader, readJob, actorState } from '../kernel/records/lookup.ts';

export interface FileAttemptParts extends StoreReader {
  fileRequests: FileRequests;
}

export interface FileAttempt {
  jobId: Uuid;
  attempt: number;
  runnerId: string;
  /** True while the simulation of the attempt may still write. */
  isOpen: boolean;
  /** The result of the last attempt, of a job that has one. */
  result: StoredResult | undefined;
}

/**
 * Returns the attempt of this number, by default the last one; undefined for a job without attempts.
 * @throws SimbatchError `unknown-job`, or `unknown-file` when the job has no such attempt
 */
export function fileAttempt(parts: FileAttemptParts, jobId: Uuid, wanted: number | undefined): FileAttempt | undefined {
  const { value, context } = readJob(parts, parts.store, jobId).state;
  const { attempts, attemptsOmitted } = context;
  const record = wanted === undefined ? attempts.at(-1) : attempts.find((it) => it.n === wanted);
  if (record === undefined) {
    if (wanted === undefined) return undefined;
    const last = attemptsOmitted + attempts.length;
    const known =
      last === 0 ? 'it has none yet' : `those from ${String(attemptsOmitted + 1)} to ${String(last)} are known`;
    throw new SimbatchError('unknown-file', `run ${jobId} has no attempt ${String(wanted)}; ${known}`);
  }
  const text = record.n === context.attempt && isTerminal(value) ? parts.store.get(keys.result(jobId)) : undefined;
  return {
    jobId,
    attempt: record.n,
    runnerId: record.runner,
    isOpen: record.outcome === undefined,
    result: text === undefined ? undefined : (JSON.parse(text) as StoredResult),
  };
}

/** The job whose attempts have the files of a job: itself, or the one whose result it has. */
export interface FilesOwner {
  jobId: Uuid;
  /** That the files are those of another job, as a sentence. */
  note?: string;
  /** Why there are no files, as the end of a sentence. */
  gone?: string;
}

/** @throws SimbatchError `unknown-job` */
export function filesOwner(parts: FileAttemptParts, jobId: Uuid): FilesOwner {
  const { reusedFrom: origin } = readJob(parts, parts.store, jobId).state.context;
  if (origin === undefined) return { jobId };
  const batchId = batchIdOf(origin);
  const note = `its result and its files are those of run ${origin} of study ${batchId}`;
  if (parts.store.get(keys.batch(batchId)) !== undefined) return { jobId: origin, note };
  return { jobId: origin, note, gone: 'is gone: its study was deleted' };
}

/** Why the runner does not send files, as the end of a sentence, with the remedy. */
export function silenceOf(parts: FileAttemptParts, runnerId: string): string {
  if (parts.fileRequests.isServing(runnerId)) return `runner "${runnerId}" does not answer; try again`;
  let state: RunnerState | undefined;
  try {
    state = actorState(parts, 'runner', runnerId) as RunnerState;
  } catch (error) {
    if (!(error instanceof SimbatchError)) throw error;
  }
  if (state === undefined || state.value === 'Offline') {
    return `runner "${runnerId}" is gone; start a runner with this id, its output root and --serve-files`;
  }
  return `runner "${runnerId}" does not serve files; start it with --serve-files`;
}

export const unknownFile = (jobId: Uuid, path: string, why: string): SimbatchError =>
  new SimbatchError('unknown-file', `the file ${JSON.stringify(path.slice(0, 200))} of run ${jobId} ${why}`);
