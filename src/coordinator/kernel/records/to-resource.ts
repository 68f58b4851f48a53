/** Converts the states of actors to API resources. Pure, except that it samples a run's parameters. */
import { keys } from '../storage/keys.ts';
import { awaitsCanaryStudy, hasFailedCanary, pendingRuns, withheldRuns } from '../../../../machines/batch.ts';
import { isTerminal } from '../../../../machines/kinds.ts';
import { presenterOf } from '../../../contract/codegen/member-functions.ts';
import { Attempt as AttemptSchema, Job as JobSchema } from '../../../contract/resources/jobs.ts';
import { ATTEMPT_MEMBERS, JOB_MEMBERS } from '../../../contract/members/members.ts';
import type {
  Attempt,
  Batch,
  BatchHistory,
  BatchTelemetry,
  Job,
  JobHistory,
  JobResult,
  JobStatus,
  JobRecord,
  ReportedResult,
  ReusedFrom,
  Runner,
  StoredResult,
  TelemetryTally,
  Timestamp,
  Uuid,
} from '../../../contract/types.ts';
import type { BatchState, JobState, RunnerState } from '../actors/actor-kinds.ts';
import { plus, type Counts } from '../../../domain/counted/counts.ts';
import { batchIdOf, runIdOf } from '../../../domain/ids.ts';
import { reasonOf } from '../../../domain/runs/run-end.ts';
import { decodeRead } from '../../../domain/runs/look-ups.ts';
import { childrenOf, type ReadRecord } from './family.ts';
import { ofRun } from '../../../domain/runs/run-metadata.ts';
import type { Study } from './study-cache.ts';

/** A direct-mapped cache of recent timestamps as text. */
const TEXTS = 256;
const texts = Array.from({ length: TEXTS }, () => ({ ms: NaN, text: '' }));

/** Formats a time. Resources of one response share most of their times, and formatting is slower than a cache lookup. */
export function timestamp(ms: number): Timestamp {
  const kept = texts[ms % TEXTS];
  if (kept === undefined) return new Date(ms).toISOString();
  if (kept.ms !== ms) {
    kept.text = new Date(ms).toISOString();
    kept.ms = ms;
  }
  return kept.text;
}

const present = presenterOf<Job, typeof JOB_MEMBERS, 'api'>(JobSchema, JOB_MEMBERS, 'api', timestamp);
const toAttempt = presenterOf<Attempt, typeof ATTEMPT_MEMBERS, 'api'>(AttemptSchema, ATTEMPT_MEMBERS, 'api', timestamp);

/** A direct-mapped cache of sampled parameters: the answers to a claim, a start and a completion have the same ones. */
const SAMPLES = 256;
const samples = Array.from({ length: SAMPLES }, () => ({
  study: undefined as Study | undefined,
  run: 0,
  parameters: {},
}));

function parametersOf(study: Study, run: number): Readonly<Record<string, number>> {
  const kept = samples[run % SAMPLES]!;
  if (kept.study !== study || kept.run !== run) {
    kept.parameters = study.sampler.parameters(run);
    kept.study = study;
    kept.run = run;
  }
  return kept.parameters;
}

export function toJob({ value, context: c }: JobState, study: Study): Job {
  const { sampler, metadata } = study;
  const run_config = {
    run_id: c.runId,
    parameters: parametersOf(study, c.runId),
    metadata: ofRun(sampler, metadata, c.runId),
  };
  const own = {
    id: c.jobId,
    batch_id: c.batchId,
    status: value,
    run_config,
    max_retries: c.maxRetries,
    timeout_secs: c.timeLimitMs / 1000,
    created_at: study.createdAt,
  };
  const job = present(own, c);
  if (c.reusedFrom !== undefined) job.reused_from = reusedFrom(c.reusedFrom, c.reusedEndedAtMs ?? 0);
  return job;
}

/** The run that a result was taken from. */
export const reusedFrom = (jobId: Uuid, endedAtMs: number): ReusedFrom => ({
  job_id: jobId,
  batch_id: batchIdOf(jobId),
  ended_at: timestamp(endedAtMs),
});

export function toJobHistory({ value, context: c }: JobState): JobHistory {
  return {
    job_id: c.jobId,
    status: value,
    retries: c.retries,
    losses: c.losses,
    infrastructure_faults: c.infrastructureFaults ?? 0,
    attempts: c.attempts.map((it) => toAttempt({}, it)),
    attempts_omitted: c.attemptsOmitted,
  };
}

/** True for the record of a study of rare events; its text is not parsed, since a submission may have megabytes. */
const isRareEvent = (submission: string | undefined): boolean =>
  submission?.includes('"algorithm":"rare_event"') === true;

/** True for a study that waits for rows of a client: the coordinator appends the rounds of a study of rare events. */
const awaitsRows = (read: ReadRecord, { waitingSinceMs, batchId }: BatchState['context']): boolean =>
  waitingSinceMs !== undefined && !isRareEvent(read(keys.submission(batchId)));

/** True when an open study waits for rows or for the decision about a failed canary. */
export const awaitsClient = (read: ReadRecord, { context }: BatchState): boolean =>
  hasFailedCanary(context) || awaitsRows(read, context);

/** `read` returns the value of a key: the batches that came of this one are in a record of their own. */
export function toBatch({ value, context: c }: BatchState, read: ReadRecord): Batch {
  const batch: Batch = {
    id: c.batchId,
    name: c.name,
    status: value,
    total_jobs: c.totalJobs,
    completed_jobs: c.completed,
    failed_jobs: c.failed + c.timedOut,
    config_hash: c.configHash,
    created_at: timestamp(c.createdAtMs),
  };
  if (c.owner !== undefined) batch.owner = c.owner;
  if (c.designHash !== undefined) batch.design_hash = c.designHash;
  if (c.startedAtMs !== undefined) batch.started_at = timestamp(c.startedAtMs);
  // A cancellation sets the time before the last active run has ended.
  if (isTerminal(value) && c.endedAtMs !== undefined) batch.ended_at = timestamp(c.endedAtMs);
  if (c.cancelReason !== undefined) batch.cancel_reason = c.cancelReason;
  if (c.settledAtRunId !== undefined) {
    batch.stopped_at_run_id = c.settledAtRunId;
    if (c.stopWhen === 'settled') batch.settled_at_run_id = c.settledAtRunId;
  }
  if (c.terminated !== undefined) batch.terminated_jobs = c.terminated;
  if (c.reused !== undefined) batch.reused_jobs = c.reused;
  if (c.labels !== undefined) batch.labels = c.labels;
  if (c.parent !== undefined) batch.parent = { batch_id: c.parent.batchId, relation: c.parent.relation };
  const children = childrenOf(read, c);
  if (children.length > 0) batch.children = children;
  if (c.budget !== undefined) {
    batch.budget = c.budget;
    batch.rounds = c.rounds ?? 0;
    if (c.growing === undefined) batch.closed = true;
  }
  if (awaitsRows(read, c)) {
    batch.waiting_for_rows = true;
    batch.waiting_since = timestamp(c.waitingSinceMs!);
  }
  if (c.pausedAtMs !== undefined) batch.paused = true;
  if (c.pauseReason !== undefined) batch.pause_reason = c.pauseReason;
  if (c.releaseReason !== undefined) batch.release_reason = c.releaseReason;
  if (!isTerminal(value)) {
    if (hasFailedCanary(c)) batch.canary_failed = true;
    else if (!c.cancelRequested && withheldRuns(c) > 0)
      batch.waiting_for_canary = awaitsCanaryStudy(c) ? 'study' : 'runs';
  }
  return batch;
}

/** True for the instant at which a canary study, or a release from it, lets the first runs start. */
const isRelease = ({ canaryBatch, releasedAtMs }: BatchState['context'], atMs: number): boolean =>
  canaryBatch !== undefined && releasedAtMs === atMs;

export function toBatchHistory({ value, context: c }: BatchState): BatchHistory {
  const { entries, omitted } = c.history ?? { entries: [], omitted: 0 };
  const events: BatchHistory['events'] = [
    { at: timestamp(c.createdAtMs), type: 'submitted', ...(c.owner !== undefined && { by: c.owner }) },
  ];
  const add = (atMs: number, event: Omit<BatchHistory['events'][number], 'at'>): void =>
    void events.push({ at: timestamp(atMs), ...event });
  // A study may be paused before its first run is claimed.
  const first = entries.findIndex(
    ({ atMs }) =>
      c.startedAtMs !== undefined && (atMs > c.startedAtMs || (atMs === c.startedAtMs && !isRelease(c, atMs))),
  );
  const before = first < 0 ? entries.length : first;
  for (const { atMs, ...entry } of entries.slice(0, before)) add(atMs, entry);
  if (c.startedAtMs !== undefined) add(c.startedAtMs, { type: 'started' });
  // An ended study can be amended.
  const endMs = isTerminal(value) ? c.endedAtMs : undefined;
  const isLater = ({ atMs, type }: (typeof entries)[number]): boolean =>
    type === 'amended' && endMs !== undefined && atMs >= endMs;
  const rest = entries.slice(before);
  for (const { atMs, ...entry } of rest.filter((it) => !isLater(it))) add(atMs, entry);
  if (endMs !== undefined) add(endMs, { type: 'ended', status: value });
  for (const { atMs, ...entry } of rest.filter(isLater)) add(atMs, entry);
  return { batch_id: c.batchId, events, events_omitted: omitted };
}

export function jobsByStatus({ context: c }: BatchState): Record<JobStatus, number> {
  return {
    Pending: pendingRuns(c),
    Claimed: c.claimed,
    Running: c.running,
    Completed: c.completed,
    Failed: c.failed,
    Timeout: c.timedOut,
    Cancelled: c.cancelled,
  };
}

/** The counts of a batch's telemetry. */
export function toBatchTelemetry(tally: TelemetryTally): BatchTelemetry {
  return {
    reported_runs: tally.reported,
    silent_runs: tally.silent,
    lossy_runs: tally.lossy,
    samples_lost: tally.lost,
    would_terminate_runs: tally.wouldTerminate,
    judged: tally.judged.map(({ variable, runs }) => ({ variable, runs })),
  };
}

export function toRunner({ value, context: c }: RunnerState): Runner {
  const runner: Runner = {
    id: c.runnerId,
    name: c.name,
    status: value,
    capabilities: c.capabilities,
    current_jobs: c.held.map((it) => it.jobId),
    tags: [...c.tags],
    registered_at: timestamp(c.registeredAtMs),
    last_heartbeat: timestamp(c.lastHeartbeatMs),
    total_jobs_completed: c.completed,
    total_jobs_failed: c.failed,
    accepting_jobs: !c.drained && c.leaving === undefined && value !== 'Offline',
  };
  const used = c.held.reduce<Counts | undefined>((sum, it) => plus(sum, it.resources), undefined);
  if (used !== undefined) runner.resources_used = { ...used };
  if (c.drainReason !== undefined) runner.drain_reason = c.drainReason;
  if (c.drainedUntilMs !== undefined) runner.drained_until = timestamp(c.drainedUntilMs);
  if (c.quarantined !== undefined) runner.quarantined = c.quarantined;
  if (c.slotsLost !== undefined) runner.slots_lost = c.slotsLost;
  const { clockOffsetMs, diskFreeBytes } = c.machine ?? {};
  if (diskFreeBytes !== undefined) runner.disk_free_bytes = diskFreeBytes;
  if (clockOffsetMs !== undefined) runner.clock_offset_secs = clockOffsetMs / 1000;
  if (c.allocation !== undefined) runner.allocation = c.allocation;
  if (c.endsAtMs !== undefined) runner.ends_at = timestamp(c.endsAtMs);
  if (c.ephemeral !== undefined) runner.ephemeral = c.ephemeral;
  if (c.hostname !== undefined) runner.hostname = c.hostname;
  if (c.engines !== undefined) runner.engines = [...c.engines];
  if (c.leaving !== undefined && value !== 'Offline') runner.leaving = c.leaving;
  return runner;
}

/**
 * The result of a job as the API shows it: the stored one, with the run, status and reason of its job. `namesOf`: the parameters of its
 * study, sorted; undefined where damage has lost them.
 */
export function toResult(
  { job_id, read, ...result }: StoredResult,
  job: Pick<JobRecord, 'value' | 'attempts' | 'reusedFrom'>,
  namesOf: (jobId: Uuid) => readonly string[] | undefined,
): JobResult {
  const shown: JobResult = { job_id, run_id: runIdOf(job_id), status: job.value, reason: reasonOf(job), ...result };
  if (read === '') shown.parameters_read = 'all';
  else if (read !== undefined) {
    const names = namesOf(job_id);
    if (names !== undefined) shown.parameters_read = decodeRead(names, read);
  }
  return shown;
}

/** Returns the result of a job from its runner's report, or from the coordinator's own verdict. */
export function reportedResult(
  jobId: string,
  reported: ReportedResult | undefined,
  error: string | null,
  executionMs: number,
): StoredResult {
  const result: StoredResult = {
    job_id: jobId,
    success: error === null,
    execution_time_secs: reported?.execution_time_secs ?? Math.max(0, Math.round(executionMs / 1000)),
    output_files: reported?.output_files ?? [],
    metadata: reported?.metadata ?? {},
    error_message: error,
    telemetry_data: reported?.telemetry_data ?? null,
  };
  if (reported?.execution_secs !== undefined) result.execution_secs = reported.execution_secs;
  if (reported?.telemetry !== undefined) result.telemetry = reported.telemetry;
  if (reported?.terminated_by !== undefined) result.terminated_by = reported.terminated_by;
  if (reported?.would_terminate !== undefined) result.would_terminate = reported.would_terminate;
  if (reported?.derived_missing !== undefined) result.derived_missing = reported.derived_missing;
  return result;
}
