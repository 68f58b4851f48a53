/**
 * Read operations. They read the store and never an actor, so that a crash cannot take back what a client has seen, and no
 * read waits for a write.
 */
import { activeRuns, pendingRuns } from '../../../machines/batch.ts';
import type { Abandoned } from '../../base/abandonment.ts';
import type { Clock } from '../../base/clock.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { batchIdOf } from '../../domain/ids.ts';
import { EMPTY_WINDOW, jobsPerMinute, minutesLeft } from '../../domain/runs/progress.ts';
import { RunSelection } from '../../domain/runs/run-selection.ts';
import { designText, type DesignFormat } from '../../domain/sampling/design-table.ts';
import { usableSlots } from '../../domain/scheduling.ts';
import type {
  BatchHistory,
  BatchStatusResponse,
  BatchSubmission,
  CodeVersion,
  Job,
  JobHistory,
  Runner,
  RunnerListResponse,
  StudyCode,
  Uuid,
} from '../../contract/types.ts';
import type { RunnerContext } from '../../contract/types.ts';
import type { RunnerFilter } from '../../contract/queries.ts';
import { allOf, keys } from '../kernel/storage/keys.ts';
import { submittedStudy } from '../kernel/records/study-cache.ts';
import { amended, submittable } from '../../domain/identity/judgement.ts';
import { readBatch, type Records } from '../kernel/records/read-batch.ts';
import {
  jobsByStatus,
  toBatch,
  toBatchHistory,
  toBatchTelemetry,
  toJobHistory,
  toJob,
  toRunner,
} from '../kernel/records/to-resource.ts';
import { currentTimeLeft, latestTimeLeft } from './time-left.ts';
import { decodeRunner, isTerminal, type BatchState } from '../kernel/actors/actor-kinds.ts';
import type { SitePools } from '../scheduling/site-pools.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import type { Store } from '../kernel/storage/store.ts';
import type { Judgements } from '../judgement/judgements.ts';
import { readJob, readRunner, type StoreReader } from '../kernel/records/lookup.ts';
import type { StudyHealth } from '../runs/study-health.ts';
import type { StudyWaits } from '../judgement/study-waits.ts';
import type { Statistics } from '../scheduling/statistics.ts';

interface BatchParts {
  store: Store;
  clock: Clock;
  statistics: Statistics;
}

interface JudgedBatchParts extends BatchParts {
  judgements: Judgements;
}

/** The parts of the reading of a study with everything that is known of it. */
export interface WholeBatchParts extends JudgedBatchParts {
  share: EventLoopShare;
  health: StudyHealth;
}

export function job(parts: StoreReader, jobId: Uuid): Job {
  const { state, batchState } = readJob(parts, parts.store, jobId);
  return toJob(state, parts.studyCache.of(batchState.context));
}

export function jobHistory(parts: StoreReader, jobId: Uuid): JobHistory {
  return toJobHistory(readJob(parts, parts.store, jobId).state);
}

export function batch(parts: BatchParts, batchId: Uuid): BatchStatusResponse {
  const state = readBatch(parts.store, batchId);
  const now = parts.clock.now();
  const { context: c } = state;
  const remaining = pendingRuns(c) + activeRuns(c);
  const window = parts.statistics.getSnapshot().context.rates[batchId] ?? EMPTY_WINDOW;
  const ended = c.completed + c.failed + c.timedOut - (c.reused ?? 0);
  const rate = jobsPerMinute({ ended, remaining, startedAtMs: c.startedAtMs, window }, now);
  const response: BatchStatusResponse = {
    batch: toBatch(state, (key) => parts.store.get(key)),
    jobs_by_status: jobsByStatus(state),
    throughput_jobs_per_minute: rate,
  };
  const minutes = minutesLeft(remaining, rate);
  if (minutes !== undefined) response.estimated_completion_time_mins = minutes;
  if (c.telemetry !== undefined) response.telemetry = toBatchTelemetry(c.telemetry);
  return response;
}

/** The resource of a batch with the verdicts on its requirements, and how near it is to its precisions. */
function judgedBatch(parts: JudgedBatchParts, state: BatchState): BatchStatusResponse {
  const requirements = parts.judgements.verdictsOf(state);
  const precision = parts.judgements.precisionOf(state);
  return {
    ...batch(parts, state.context.batchId),
    ...(requirements === undefined ? {} : { requirements }),
    ...(precision === undefined ? {} : { precision }),
  };
}

/**
 * The resource of a batch with the latest estimate of the time left by the durations of its runs, as far as they are in memory. Another estimate is begun
 * where that one is old.
 */
export function wholeBatch(parts: WholeBatchParts, batchId: Uuid): BatchStatusResponse {
  const state = readBatch(parts.store, batchId);
  const health = parts.health.known(batchId);
  const left = health === undefined ? {} : latestTimeLeft(state, health);
  if (health !== undefined) void currentTimeLeft(parts, state, health);
  return { ...judgedBatch(parts, state), ...left };
}

/**
 * The resource of a batch with an estimate of this moment, after the durations of an open batch were read where they are not in memory: once it has
 * ended and is judged, waits for rows or for the decision about a failed canary, or as it is after `waitMs`.
 */
export async function batchWithDurations(
  parts: WholeBatchParts & { studyWaits: StudyWaits },
  batchId: Uuid,
  { waitMs = 0, abandoned }: { waitMs?: number; abandoned?: Abandoned } = {},
): Promise<BatchStatusResponse> {
  if (waitMs > 0) await parts.studyWaits.wait(batchId, waitMs, abandoned);
  // The state is read before the durations, so that both are of one instant.
  const state = readBatch(parts.store, batchId);
  const whole = judgedBatch(parts, state);
  if (isTerminal(state.value)) return whole;
  return { ...whole, ...(await currentTimeLeft(parts, state, await parts.health.read(state))) };
}

/**
 * The owner of a batch; absent where none is known.
 * @throws SimbatchError `unknown-batch`
 */
export function batchOwner({ store }: { store: Store }, batchId: Uuid): { owner?: string } {
  const { owner } = readBatch(store, batchId).context;
  return owner === undefined ? {} : { owner };
}

export const batchHistory = (parts: { store: Store }, batchId: Uuid): BatchHistory =>
  toBatchHistory(readBatch(parts.store, batchId));

/** The submission as stored, with the seed that is used and the judgement in force. */
export function submission({ store }: { store: Store }, batchId: Uuid): BatchSubmission {
  const { context } = readBatch(store, batchId);
  return submittable(amended(submittedStudy({ read: (key) => store.get(key) }, batchId), context));
}

/** The versions of the code that have executed runs of a batch, and the number of ended runs whose code is not known. */
export function codeVersions(parts: { store: Store }, batchId: Uuid): CodeVersion[] {
  const { completed, failed, timedOut, codes = [] } = readBatch(parts.store, batchId).context;
  const versions = codes.map(({ identity, runs, firstRunId, runners: names }): CodeVersion => ({
    ...identity,
    runs,
    first_run_id: firstRunId ?? null,
    runners: [...names],
  }));
  const unknown = completed + failed + timedOut - codes.reduce((sum, { runs }) => sum + runs, 0);
  if (unknown <= 0) return versions;
  return [...versions, { digest: null, kind: 'unknown', runs: unknown, first_run_id: null, runners: [] }];
}

/**
 * The function that a study carries.
 * @param reader the runner that reads it, where its token is bound to one: it must hold a run of the study.
 * @throws SimbatchError `forbidden` for a runner without such a run; `not-found` for a study that carries no function.
 */
export function studyCode(parts: { store: Store }, batchId: Uuid, reader?: string): StudyCode {
  const { code } = submission(parts, batchId);
  if (reader !== undefined && !holdsRunOf(parts.store, reader, batchId)) {
    throw new SimbatchError(
      'forbidden',
      `the function of study ${batchId} cannot be read: the token is for the runner ${JSON.stringify(reader)}, which has no run of it; read it between the claim and the end of a run`,
    );
  }
  if (code === undefined) {
    throw new SimbatchError(
      'not-found',
      `study ${batchId} carries no function: its simulation is a program of the runners`,
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
  parts: StoreReader & { share: EventLoopShare },
  batchId: Uuid,
  format: DesignFormat,
  { from = 0, to = Infinity }: { from?: number; to?: number } = {},
): AsyncIterable<string> {
  const { sampler, selection } = parts.studyCache.of(readBatch(parts.store, batchId).context);
  const end = Math.min(to, (selection.ranges.at(-1)?.last ?? -1) + 1);
  const range = RunSelection.between(Math.min(from, end), end);
  return parts.share.paced(designText(sampler, format, selection.intersection(range)));
}

export function runner(parts: { store: Store }, runnerId: string): Runner {
  return toRunner(readRunner(parts.store, runnerId));
}

/** `scheduler`: has the runs that wait for the pools of resources. */
export interface PoolParts {
  store: Store;
  share: EventLoopShare;
  sitePools: SitePools | undefined;
  scheduler: Pick<Scheduler, 'waiting'>;
}

export async function runners(parts: PoolParts, filter: RunnerFilter): Promise<RunnerListResponse> {
  const all: Runner[] = [];
  const held: RunnerContext['held'][] = [];
  const { sitePools } = parts;
  const snapshot = parts.store.snapshot();
  try {
    for await (const chunk of snapshot.entries(allOf('runner'))) {
      const read = ([, record]: readonly [string, string]): Runner => {
        const state = decodeRunner(record);
        if (sitePools !== undefined) held.push(state.context.held);
        return toRunner(state);
      };
      for await (const part of parts.share.mapped(chunk, read)) all.push(...part);
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
    ...(sitePools === undefined ? {} : { site_resources: sitePools.shown(parts.scheduler.waiting(), held) }),
  };
}

export const isEmpty = (list: readonly unknown[] | undefined): boolean => list === undefined || list.length === 0;
