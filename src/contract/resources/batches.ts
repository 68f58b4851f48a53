/** Batches, their progress and their results, as resources of the API. */
import { Type, type Static } from 'typebox';
import {
  BATCH_HISTORY_TYPES,
  BATCH_STATUSES,
  CANARY_KINDS,
  JOB_STATUSES,
  RELATIONS,
  type JobStatus,
} from '../enums.ts';
import { answered, enumOf, flag, listOf, literal, mapOf, named, nullable, ref, submitted, text } from '../build.ts';
import { PrecisionReached } from '../answers/goals/precision.ts';
import { JudgementMembers } from '../answers/goals/judgement.ts';
import { RequirementVerdict } from '../answers/goals/requirements.ts';
import { JobResult } from './jobs.ts';
import { LIMITS } from '../limits.ts';
import { count, double, int32, timestamp, uuid } from '../scalars.ts';

const relation = enumOf(
  RELATIONS,
  '`extension`, `rerun`, `comparison`, `audit`, `extraction`; `probe`: a canary study, which has to complete first; `repeat`: the same study of rare events with another seed, submitted together.',
);
const batchLink = answered({ batch_id: uuid('The other batch. A parent may have been deleted.'), relation });
export type BatchLink = Static<typeof batchLink>;

export const Batch = named(
  'Batch',
  'One study.',
  answered({
    id: uuid('The batch.'),
    name: text('As submitted.'),
    owner: Type.Optional(
      text('The name of the token that submitted it, or of the user that a proxy named; absent: none is known.'),
    ),
    status: enumOf(BATCH_STATUSES, 'Status of the study. The last three are final.'),
    total_jobs: int32('Number of jobs.'),
    completed_jobs: int32('Number of Completed jobs.'),
    failed_jobs: int32('Number of Failed and Timeout jobs.'),
    config_hash: text('Digest of the configuration: equal for equal studies.'),
    design_hash: Type.Optional(
      text(
        'Digest of the design without its seed and its number of runs: equal for studies whose runs are those of one design. Absent for a study of an older version.',
      ),
    ),
    created_at: timestamp('When it was submitted.'),
    started_at: Type.Optional(timestamp('When its first run was claimed; absent before.')),
    ended_at: Type.Optional(timestamp('When its last run ended; absent while it is open.')),
    cancel_reason: Type.Optional(
      text('Why it was cancelled: the reason given, or the limit that it reached; absent without one.'),
    ),
    terminated_jobs: Type.Optional(
      int32('Failed jobs that an early-termination condition ended: an answer, not a fault; absent for none.'),
    ),
    reused_jobs: Type.Optional(
      int32('Ended jobs that have the result of another run and were not executed (`policy.reuse`); absent for none.'),
    ),
    labels: Type.Optional(
      mapOf(text('The value.'), { description: 'As submitted, or as amended; absent without labels.' }),
    ),
    parent: Type.Optional({
      ...batchLink,
      description: 'The batch that this one came of; absent when it was submitted.',
    }),
    children: Type.Optional(listOf(batchLink, 'The batches that came of this one, oldest first; absent without any.')),
    paused: Type.Optional(flag('True while no new runs are assigned; absent otherwise.')),
    pause_reason: Type.Optional(text('Why it was paused.')),
    settled_at_run_id: Type.Optional(
      int32('The run at which all its requirements were settled and its open runs were cancelled; absent otherwise.'),
    ),
    stopped_at_run_id: Type.Optional(
      int32(
        'The run at which it stopped by itself (`policy.stop_when`) and its open runs were cancelled; absent otherwise.',
      ),
    ),
    rounds: Type.Optional(int32('Rounds appended so far; absent for a study whose number of runs is fixed.')),
    budget: Type.Optional(int32('The most runs that it may have; absent for a study whose number of runs is fixed.')),
    waiting_for_rows: Type.Optional(
      flag('True while rounds may be appended and no run is Pending or active; absent otherwise.'),
    ),
    waiting_since: Type.Optional(timestamp('Since when it waits for rows.')),
    closed: Type.Optional(flag('True when no further round can be appended; absent otherwise.')),
    release_reason: Type.Optional(text('Why the runs after the canary runs were released by hand.')),
    waiting_for_canary: Type.Optional(
      enumOf(CANARY_KINDS, 'What its other runs wait for: its canary `runs`, or its canary `study`; absent: neither.'),
    ),
    canary_failed: Type.Optional(
      flag(
        'True while too few canary runs, or not all runs of the canary study, have completed and the other runs wait for a release; absent otherwise.',
      ),
    ),
  }),
);
export type Batch = Static<typeof Batch>;

export const BatchList = named('BatchList', 'Batches in order of creation.', Type.Array(ref(Batch)));
export type BatchList = Static<typeof BatchList>;

const jobsByStatus = Type.Unsafe<Record<JobStatus, number>>({
  type: 'object',
  required: [...JOB_STATUSES],
  properties: Object.fromEntries(JOB_STATUSES.map((status) => [status, int32(`Jobs that are ${status}.`)])),
  description: 'Number of jobs per status. All seven are always there, and add up to `total_jobs`.',
});

export const BatchTelemetry = named(
  'BatchTelemetry',
  'Whether the limits of the ended runs were really checked, as their runners reported it.',
  answered({
    reported_runs: int32('Ended runs whose runner reported their telemetry.'),
    silent_runs: int32('Of these, the runs without a single sample.'),
    lossy_runs: int32('Of these, the runs that lost samples.'),
    samples_lost: count('Samples lost by all of them; no condition saw these.'),
    would_terminate_runs: int32('Of these, the runs that met a condition in shadow.'),
    judged: listOf(
      answered({
        variable: text('The variable of a condition.'),
        runs: int32('Runs in which at least one number of it was judged.'),
      }),
      'A variable of a condition that is not listed was judged in no run.',
    ),
  }),
);
export type BatchTelemetry = Static<typeof BatchTelemetry>;

export const BatchHistory = named(
  'BatchHistory',
  'The events of a batch as a whole; the attempts of its jobs are in their own histories.',
  answered({
    batch_id: uuid('The batch.'),
    events: listOf(
      answered({
        at: timestamp('When it happened.'),
        type: enumOf(
          ['submitted', 'started', ...BATCH_HISTORY_TYPES, 'ended'],
          '`started`: its first run was claimed. `released`: the runs after the canary runs. `max-failures`, `settled`, `precise`: a rule of `policy` cancelled the open runs. `amended`: its judgement. `ended`: its last run ended.',
        ),
        reason: Type.Optional(text('The reason given, or the rule that applied.')),
        by: Type.Optional(text('The name of the client that asked for it; absent: none is known, or a rule applied.')),
        status: Type.Optional(enumOf(BATCH_STATUSES, 'Of `ended`: the status of the batch.')),
        before: Type.Optional({
          ...JudgementMembers,
          description: 'Of `amended`: the members that it changed, before.',
        }),
        after: Type.Optional({ ...JudgementMembers, description: 'Of `amended`: these members after it.' }),
      }),
      'The oldest first; of those between `submitted` and `ended` the latest hundred, or the latest with 256 KiB of amendments.',
    ),
    events_omitted: int32('Number of earlier events that are not listed.'),
  }),
);
export type BatchHistory = Static<typeof BatchHistory>;

export const RemainingTime = named(
  'RemainingTime',
  'The time until the batch ends, in seconds, as an 80 % interval from the durations of its own runs and the slots in use. Absent in lists, while the batch is paused or its canary runs have failed, and until five runs, and as many as are active, have ended.',
  answered({
    low: double('In one case of ten it ends earlier.', { minimum: 0 }),
    median: double('In half of the cases it ends earlier.', { minimum: 0 }),
    high: double('In one case of ten it ends later.', { minimum: 0 }),
  }),
);
export type RemainingTime = Static<typeof RemainingTime>;

export const BatchStatusResponse = named(
  'BatchStatusResponse',
  'A batch and its progress.',
  answered({
    batch: ref(Batch),
    jobs_by_status: jobsByStatus,
    throughput_jobs_per_minute: double('Current rate of ended jobs.', { minimum: 0 }),
    estimated_completion_time_mins: Type.Optional(
      int32('Estimate of the remaining time; absent when it cannot be computed.'),
    ),
    eta: Type.Optional(ref(RemainingTime)),
    stragglers: Type.Optional(
      listOf(
        answered({
          job_id: uuid('The job.'),
          run_id: int32('Number of its run.'),
          running_secs: double('For how long it has executed, in seconds.', { minimum: 0 }),
        }),
        'Active runs that take longer than 3 times the median, at most 10, the oldest first; absent for none.',
      ),
    ),
    telemetry: Type.Optional(ref(BatchTelemetry)),
    requirements: Type.Optional(
      listOf(
        ref(RequirementVerdict),
        'The verdicts on the requirements of the study, on the runs of the complete prefix that have ended. Absent without requirements, for an ended study until it is judged, and in lists of batches.',
      ),
    ),
    precision: Type.Optional(
      listOf(
        ref(PrecisionReached),
        'How near the runs of the complete prefix are to each precision of the study. Absent without any, for an ended study until it is judged, and in lists of batches.',
      ),
    ),
  }),
);
export type BatchStatusResponse = Static<typeof BatchStatusResponse>;

export const BatchResultsResponse = named(
  'BatchResultsResponse',
  'A batch and the results of its ended jobs.',
  answered({ batch: ref(Batch), results: listOf(ref(JobResult), 'In order of run.') }),
);
export type BatchResultsResponse = Static<typeof BatchResultsResponse>;

export const CancelRequest = named(
  'CancelRequest',
  'The reason of a cancellation, a pause or a release.',
  submitted({
    reason: Type.Optional(
      Type.String({
        maxLength: LIMITS.reasonLength,
        description: 'Kept with the batch; that of a cancellation as the error message of its runs.',
      }),
    ),
  }),
);
export type CancelRequest = Static<typeof CancelRequest>;

/** The parameters of runs, in order of run. */
export const SampleList = named(
  'SampleList',
  'The sampled parameters of each run.',
  listOf(
    answered({
      run_id: int32('Number of the run.'),
      parameters: mapOf(double('Sampled value.'), { description: 'By name.' }),
    }),
    'In order of run.',
  ),
);

export const SnapshotExport = named(
  'SnapshotExport',
  'All stored records; docs/snapshots.md describes the format.',
  answered({
    format: int32('The version of the format.', { minimum: 1 }),
    kind: literal('export'),
    made_by: text('The program that wrote it, with its version.'),
    taken_at: timestamp('The instant of the export.'),
    batch_id: nullable(uuid('The exported batch; null: all batches and runners.')),
    records: listOf(
      answered({
        key: text('`batch/`, `submission/`, `job/`, `result/` or `runner/`, and the id.'),
        value: Type.Object({}),
      }),
      'Each batch, its submission, its jobs, its results; runners last.',
    ),
  }),
);
export type SnapshotExport = Static<typeof SnapshotExport>;
