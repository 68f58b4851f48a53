/**
 * Read operations. They read the store and never an actor, so that a crash cannot take back what a client has seen, and no
 * read waits for a write.
 */
import { activeRuns, pendingRuns } from '../../../machines/batch.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { batchIdOf, isJobId, runIdOf } from '../../domain/ids.ts';
import { EMPTY_WINDOW, jobsPerMinute, minutesLeft } from '../../domain/runs/progress.ts';
import { RunSelection } from '../../domain/runs/run-selection.ts';
import { designText, type DesignFormat } from '../../domain/sampling/design-table.ts';
import { usableSlots } from '../../domain/scheduling.ts';
import type {
  BatchHistory,
  BatchStatusResponse,
  BatchSubmission,
  Job,
  JobHistory,
  JobRecord,
  JobResult,
  Runner,
  RunnerListResponse,
  StoredResult,
  StudyCode,
  Uuid,
} from '../../contract/types.ts';
import type { RunnerFilter } from '../../contract/queries.ts';
import type { Core } from '../core.ts';
import { allOf, keys } from '../kernel/storage/keys.ts';
import { decodeSubmission } from '../kernel/records/study-cache.ts';
import { readBatch, type Records } from '../kernel/records/read-batch.ts';
import {
  jobsByStatus,
  toBatch,
  toBatchHistory,
  toBatchTelemetry,
  toJobHistory,
  toJob,
  toResult,
  toRunner,
} from '../kernel/records/to-resource.ts';
import { currentTimeLeft, latestTimeLeft } from './time-left.ts';
import {
  decodeBatch,
  decodeJob,
  decodeNotification,
  decodeRunner,
  derivedJob,
  isTerminal,
  missingRecord,
  type BatchState,
  type JobState,
  type Kind,
  type RunnerState,
  type NotificationState,
  type StateOf,
} from '../kernel/actors/actor-kinds.ts';

/** @throws SimbatchError `unknown-job` */
export function readJob(
  { studyCache }: Core,
  records: Records,
  jobId: Uuid,
): { state: JobState; batchState: BatchState } {
  const record = isJobId(jobId) ? records.get(keys.batch(batchIdOf(jobId))) : undefined;
  const batchState = record === undefined ? undefined : decodeBatch(record);
  const index = batchState === undefined ? undefined : studyCache.indexOf(batchState.context, runIdOf(jobId));
  if (batchState === undefined || index === undefined) {
    throw new SimbatchError('unknown-job', `there is no job ${jobId}`);
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
export function actorState(core: Core, kind: Kind, id: string): StateOf[Kind] {
  if (kind === 'batch') return readBatch(core.store, id);
  if (kind === 'notification') return readNotification(core.store, id);
  return kind === 'job' ? readJob(core, core.store, id).state : readRunner(core.store, id);
}

function readNotification(records: Records, id: string): NotificationState {
  const record = records.get(keys.notification(id));
  if (record === undefined) throw new SimbatchError('not-found', `there is no notification "${id.slice(0, 100)}"`);
  return decodeNotification(record);
}

function readRunner(records: Records, runnerId: string): RunnerState {
  const record = records.get(keys.runner(runnerId));
  if (record === undefined) throw new SimbatchError('unknown-runner', `there is no runner "${runnerId}"`);
  return decodeRunner(record);
}

export function job(core: Core, jobId: Uuid): Job {
  const { state, batchState } = readJob(core, core.store, jobId);
  return toJob(state, core.studyCache.of(batchState.context));
}

export function jobHistory(core: Core, jobId: Uuid): JobHistory {
  return toJobHistory(readJob(core, core.store, jobId).state);
}

/** The result of a job; undefined where none is stored. */
export function storedResult(records: Records, jobId: Uuid): JobResult | undefined {
  const text = records.get(keys.result(jobId));
  return text === undefined ? undefined : resultFrom(records, JSON.parse(text) as StoredResult);
}

/** Reads the job of a result only where the result does not say how the job ended. */
export function resultFrom(records: Records, result: StoredResult): JobResult {
  if (result.success) return toResult(result, { value: 'Completed', attempts: [] });
  const record = records.get(keys.job(result.job_id));
  if (record === undefined) throw missingRecord(`job ${result.job_id}`);
  return toResult(result, JSON.parse(record) as JobRecord);
}

export function jobResult(core: Core, jobId: Uuid): JobResult {
  // Results of a deleted batch remain for a while; they must not be served.
  const isKept = isJobId(jobId) && core.store.get(keys.batch(batchIdOf(jobId))) !== undefined;
  const result = isKept ? storedResult(core.store, jobId) : undefined;
  if (result !== undefined) return result;
  const { value } = readJob(core, core.store, jobId).state;
  if (isTerminal(value) && value !== 'Cancelled') throw missingRecord(`the result of job ${jobId}`);
  const why = isTerminal(value) ? 'and leaves none' : 'and has none yet';
  throw new SimbatchError(
    'result-not-ready',
    `job ${jobId} is ${value} ${why}; a result exists once a job is Completed, Failed or Timeout`,
  );
}

export function batch(core: Core, batchId: Uuid): BatchStatusResponse {
  const state = readBatch(core.store, batchId);
  const now = core.clock.now();
  const { context: c } = state;
  const remaining = pendingRuns(c) + activeRuns(c);
  const window = core.statistics.getSnapshot().context.rates[batchId] ?? EMPTY_WINDOW;
  const ended = c.completed + c.failed + c.timedOut;
  const rate = jobsPerMinute({ ended, remaining, startedAtMs: c.startedAtMs, window }, now);
  const response: BatchStatusResponse = {
    batch: toBatch(state, (key) => core.store.get(key)),
    jobs_by_status: jobsByStatus(state),
    throughput_jobs_per_minute: rate,
  };
  const minutes = minutesLeft(remaining, rate);
  if (minutes !== undefined) response.estimated_completion_time_mins = minutes;
  if (c.telemetry !== undefined) response.telemetry = toBatchTelemetry(c.telemetry);
  return response;
}

/** The same with the verdicts on its requirements. */
function judgedBatch(core: Core, state: BatchState): BatchStatusResponse {
  const requirements = core.judgements.verdictsOf(state);
  return { ...batch(core, state.context.batchId), ...(requirements === undefined ? {} : { requirements }) };
}

/**
 * The same with the latest estimate of the time left by the durations of its runs, as far as they are in memory. Another estimate is begun
 * where that one is old.
 */
export function wholeBatch(core: Core, batchId: Uuid): BatchStatusResponse {
  const state = readBatch(core.store, batchId);
  const health = core.health.known(batchId);
  const left = health === undefined ? {} : latestTimeLeft(state, health);
  if (health !== undefined) void currentTimeLeft(core, state, health);
  return { ...judgedBatch(core, state), ...left };
}

/** The same with an estimate of now, after the durations of an open batch were read where they are not in memory. */
export async function batchWithDurations(core: Core, batchId: Uuid): Promise<BatchStatusResponse> {
  // Of one instant: the state is read before the durations.
  const state = readBatch(core.store, batchId);
  const whole = judgedBatch(core, state);
  if (isTerminal(state.value)) return whole;
  return { ...whole, ...(await currentTimeLeft(core, state, await core.health.read(state))) };
}

export const batchHistory = (core: Core, batchId: Uuid): BatchHistory => toBatchHistory(readBatch(core.store, batchId));

/** The submission as stored, with the seed that is used. */
export function submission(core: Core, batchId: Uuid): BatchSubmission {
  readBatch(core.store, batchId);
  const record = core.store.get(keys.submission(batchId));
  if (record === undefined) throw missingRecord(`the submission of batch ${batchId}`);
  return decodeSubmission(record).submission;
}

/**
 * The function that a study carries.
 * @param reader the runner that reads it, where its token is bound to one: it must hold a run of the study.
 * @throws SimbatchError `forbidden` for a runner without such a run; `not-found` for a study that carries no function.
 */
export function studyCode(core: Core, batchId: Uuid, reader?: string): StudyCode {
  const { code } = submission(core, batchId);
  if (reader !== undefined && !holdsRunOf(core.store, reader, batchId)) {
    throw new SimbatchError(
      'forbidden',
      `the function of batch ${batchId} cannot be read: the token is for the runner ${JSON.stringify(reader)}, which has no run of it; read it between the claim and the end of a run`,
    );
  }
  if (code === undefined) {
    throw new SimbatchError(
      'not-found',
      `batch ${batchId} carries no function: its simulation is a program of the runners`,
    );
  }
  return { data: code };
}

function holdsRunOf(records: Records, runnerId: string, batchId: Uuid): boolean {
  const record = records.get(keys.runner(runnerId));
  return record !== undefined && decodeRunner(record).context.held.some((it) => batchIdOf(it.jobId) === batchId);
}

/** Returns the parameters of the batch's runs in [from, to) as text, computed while it is read; `to` is by default the end. */
export function samples(
  core: Core,
  batchId: Uuid,
  format: DesignFormat,
  { from = 0, to = Infinity }: { from?: number; to?: number } = {},
): AsyncIterable<string> {
  const { sampler, selection } = core.studyCache.of(readBatch(core.store, batchId).context);
  const end = Math.min(to, sampler.runs);
  const range = RunSelection.between(Math.min(from, end), end);
  return core.share.paced(designText(sampler, format, selection.intersection(range)));
}

export function runner(core: Core, runnerId: string): Runner {
  return toRunner(readRunner(core.store, runnerId));
}

export async function runners(core: Core, filter: RunnerFilter): Promise<RunnerListResponse> {
  const all: Runner[] = [];
  const snapshot = core.store.snapshot();
  try {
    for await (const chunk of snapshot.entries(allOf('runner'))) {
      for await (const part of core.share.mapped(chunk, ([, record]) => toRunner(decodeRunner(record))))
        all.push(...part);
    }
  } finally {
    await snapshot.close();
  }
  const wanted = all.filter(
    (it) =>
      (isEmpty(filter.status) || filter.status?.includes(it.status) === true) &&
      (isEmpty(filter.tag) || filter.tag?.some((tag) => it.tags.includes(tag)) === true),
  );
  const connected = wanted.filter((it) => it.status !== 'Offline');
  return {
    runners: wanted,
    active_runners: connected.length,
    offline_runners: wanted.length - connected.length,
    total_capacity: connected
      .filter((it) => it.status !== 'Maintenance')
      .reduce((sum, it) => sum + usableSlots(it.capabilities, it.slots_lost), 0),
  };
}

export const isEmpty = (list: readonly unknown[] | undefined): boolean => list === undefined || list.length === 0;
