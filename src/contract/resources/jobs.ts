/** Jobs, their results and their history, as resources of the API. */
import { Type, type Static } from 'typebox';
import { JOB_STATUSES, SAMPLING_METHODS } from '../enums.ts';
import { answered, enumOf, flag, listOf, mapOf, named, nullable, ref, submitted, text } from '../build.ts';
import { LIMITS } from '../limits.ts';
import { count, double, freeForm, freeText, int32, int64, name, timestamp, uuid } from '../scalars.ts';
import { JOB_ID_PATTERN } from '../patterns.ts';
import { shownProperties } from '../members/member-schemas.ts';
import { ATTEMPT_MEMBERS, JOB_MEMBERS } from '../members/members.ts';

export const jobStatus = enumOf(JOB_STATUSES, 'Status of the job. The last four are final.');

export const RunMetadata = named(
  'RunMetadata',
  'The study of a run.',
  answered({
    simulation_name: text('`simulation.name` of the study.'),
    simulation_version: text('`simulation.version` of the study.'),
    duration_minutes: int32('`simulation.duration_minutes` of the study.'),
    sampling_method: enumOf(SAMPLING_METHODS, 'How the parameters were sampled.'),
    generated_at: timestamp('When the study was submitted.'),
    seed: Type.Optional(int64('The seed in use.')),
    scenario: Type.Optional(
      mapOf(text('The level.'), { description: 'Of a study with scenarios: axis -> level of the cell of the run.' }),
    ),
    sample: Type.Optional(
      int32('Of a study with scenarios: which run of its cell it is; equal samples have the same random numbers.'),
    ),
    draw: Type.Optional(
      int32('The run whose random draw the run has, in an adaptive study; equal draws are common random numbers.'),
    ),
  }),
);
export type RunMetadata = Static<typeof RunMetadata>;

export const JobRunConfig = named(
  'JobRunConfig',
  'The sampled parameters of one run; also the content of the run configuration file.',
  answered({
    run_id: int32('Index of the run within its batch, from 0.'),
    parameters: mapOf(double('The sampled value.'), { description: 'Dispersion name -> sampled value.' }),
    metadata: ref(RunMetadata),
  }),
);
export type JobRunConfig = Static<typeof JobRunConfig>;

export const ReusedFrom = named(
  'ReusedFrom',
  'The finished run whose result a run has.',
  answered({
    job_id: uuid('The job that was executed.'),
    batch_id: uuid('Its batch, which may have been deleted since.'),
    ended_at: timestamp('When it ended.'),
  }),
);
export type ReusedFrom = Static<typeof ReusedFrom>;
export const Job = named(
  'Job',
  'One run of a study.',
  answered({
    id: uuid('The job.'),
    batch_id: uuid('Its batch.'),
    status: jobStatus,
    run_config: ref(JobRunConfig),
    ...shownProperties(JOB_MEMBERS, 'api', 'required'),
    max_retries: int32('Maximum number of retries.'),
    timeout_secs: int32('Time limit from `started_at`; 0 means none.'),
    created_at: timestamp('When it was submitted.'),
    ...shownProperties(JOB_MEMBERS, 'api', 'optional'),
    reused_from: Type.Optional(ref(ReusedFrom)),
  }),
);
export type Job = Static<typeof Job>;

export const JobList = named('JobList', 'Jobs in order of creation, then of run.', Type.Array(ref(Job)));
export type JobList = Static<typeof JobList>;

const safeCount = (description: string) => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description });

export const TelemetryCounts = named(
  'TelemetryCounts',
  'Which telemetry of a run reached its runner. What is missing in `seen` was not judged by any condition.',
  submitted({
    seen: listOf(
      Type.String({ minLength: 1, maxLength: LIMITS.variableNameLength }),
      'Variables of which a value came: first those of the conditions (a number, not NaN), then up to 32 others.',
      LIMITS.seenVariables,
    ),
    samples: safeCount('Samples taken, also those that `sampling_rate_hz` leaves out of the file.'),
    lost: safeCount('Samples that the simulation had to give up; conditions never saw them.'),
    refused: safeCount('Samples and values that the runner refused, and streams of strangers.'),
  }),
);
export type TelemetryCounts = Static<typeof TelemetryCounts>;

export const Termination = named(
  'Termination',
  'The first sample that met a condition of `early_termination`.',
  submitted({
    condition: freeText('The condition, as submitted.'),
    variable: name('The variable.'),
    value: nullable(double('Its value; null for an infinite one.')),
    time_s: double('Telemetry time of the sample, in seconds.'),
    description: freeText('As submitted.'),
  }),
);
export type Termination = Static<typeof Termination>;

export const parametersRead = Type.Unsafe<'all' | string[]>({
  anyOf: [
    { type: 'string', const: 'all' },
    { type: 'array', maxItems: LIMITS.dispersions, items: { type: 'string', maxLength: LIMITS.nameLength } },
  ],
  description:
    'The parameters that the simulation looked up through the client library: `all`, or their names. Absent: not known, as for a program that reads the run configuration itself.',
});

/** Members that the runner measures; the coordinator keeps and returns them unchanged. All may be absent. */
export const measuredMembers = {
  execution_secs: Type.Optional(double('How long the run took, in seconds.', { minimum: 0 })),
  telemetry: Type.Optional(ref(TelemetryCounts)),
  terminated_by: Type.Optional(ref(Termination)),
  would_terminate: Type.Optional(ref(Termination)),
  derived_missing: Type.Optional(
    mapOf(text('Why.', { minLength: 1, maxLength: LIMITS.missingReasonLength }), {
      description: 'Derived outputs without a value -> the reason.',
      maxProperties: LIMITS.derived,
    }),
  ),
};

/** The members of a result, stored as they are shown. */
const resultMembers = {
  success: flag('False for a job that failed or exceeded its time limit.'),
  execution_time_secs: count('Duration of the run.'),
  output_files: listOf(
    Type.String(),
    "Locations of the artifacts: paths on the runner's own file system, or `s3://` of uploaded ones.",
  ),
  metadata: freeForm('Content of the `metadata.json` that the simulation wrote.'),
  error_message: Type.Optional(nullable(text('The error; not null when `success` is false.'))),
  telemetry_data: Type.Optional(nullable(text('Location of the telemetry file.'))),
  ...measuredMembers,
  history_count: Type.Optional(
    count('How many histories the run left, which `GET /jobs/{job_id}/histories` has; absent: none.'),
  ),
  reused_from: Type.Optional(ref(ReusedFrom)),
  code: Type.Optional(
    text('The code that made it: the first 12 digits of a digest of `code-versions`; absent: not known.'),
  ),
  upload: Type.Optional(
    Type.Object(
      {
        files: count('Files of `output_files` in the object store.'),
        failed: listOf(
          Type.String(),
          'Files that will never be uploaded, each with the reason: they were gone, or had changed since the run ended.',
        ),
        waiting: Type.Optional(count('Files that the runner has still to send; absent: none.')),
        reason: Type.Optional(text('Why its latest try to send them failed.')),
      },
      { description: 'The upload of its files, where the study names a bucket.' },
    ),
  ),
};

/** A result as stored; `JobResult` adds what the records of its job say. */
export const StoredResult = Type.Object({
  job_id: Type.String({ pattern: JOB_ID_PATTERN }),
  ...resultMembers,
  read: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]*$',
      description: 'The parameters that it looked up, a bit for each of its study; empty: all. Absent: not known.',
    }),
  ),
});
export interface StoredResult extends Static<typeof StoredResult> {}

export const JobResult = named(
  'JobResult',
  'The result of a job.',
  answered({
    job_id: uuid('The job.'),
    batch_id: Type.Optional(uuid('Its batch, where results of several batches are merged.')),
    run_id: int32('Index of the run within its design, from 0.'),
    status: jobStatus,
    reason: nullable(text('Why its last attempt failed, such as `exit` or `early_termination`; null if it did not.')),
    ...resultMembers,
    parameters_read: Type.Optional(parametersRead),
  }),
);
export type JobResult = Static<typeof JobResult>;

export const Attempt = named(
  'Attempt',
  'One claim of a job, with its outcome.',
  answered({
    ...shownProperties(ATTEMPT_MEMBERS, 'api', 'required'),
    ...shownProperties(ATTEMPT_MEMBERS, 'api', 'optional'),
  }),
);
export type Attempt = Static<typeof Attempt>;

export const JobHistory = named(
  'JobHistory',
  'The attempts of a job.',
  answered({
    job_id: uuid('The job.'),
    status: jobStatus,
    retries: int32('Number of retries after a failure.'),
    losses: int32('Number of attempts that ended because the runner was lost.'),
    infrastructure_faults: int32('Number of attempts that failed with the reason `infrastructure`.'),
    attempts: listOf(ref(Attempt), 'The latest hundred attempts, oldest first.'),
    attempts_omitted: int32('Number of earlier attempts.'),
  }),
);
export type JobHistory = Static<typeof JobHistory>;
