/** The submission of a study: body of `POST /jobs`, and its answer. */
import { Type, type Static } from 'typebox';
import { COMPRESSIONS, SAMPLING_METHODS } from './enums.ts';
import { answered, enumOf, flag, listOf, named, optionalNullable, ref, submitted, text } from './build.ts';
import { ComputeConfig, SimulationConfig } from './compute.ts';
import { dispersions } from './dispersions.ts';
import { LIMITS } from './limits.ts';
import { double, freeText, int32, int64, name, uuid } from './scalars.ts';

export const MonteCarloConfig = named(
  'MonteCarloConfig',
  'How many runs, and how their parameters are sampled.',
  submitted({
    runs: int32('Number of runs.'),
    sampling_method: enumOf(
      SAMPLING_METHODS,
      '`latin_hypercube`: stratified, best coverage with few runs. `monte_carlo`: pure random. `quasi_monte_carlo`: low-discrepancy sequence.',
    ),
    seed: optionalNullable(
      int64('A fixed seed makes the study reproducible. Null or absent: one is drawn, stored and reported.'),
    ),
  }),
);
export type MonteCarloConfig = Static<typeof MonteCarloConfig>;

export const TerminationCondition = named(
  'TerminationCondition',
  'A rule that ends a run early.',
  submitted({
    variable: name('Name of a telemetry variable.'),
    condition: freeText('An operator (`<`, `<=`, `>`, `>=`, `==`, `!=`), then a finite decimal number, e.g. `< 0.5`.'),
    description: freeText('What it means when the condition is met; becomes part of the error message.'),
  }),
);
export type TerminationCondition = Static<typeof TerminationCondition>;

export const EarlyTerminationConfig = named(
  'EarlyTerminationConfig',
  'The watchdog of each run.',
  submitted({
    enabled: flag('Whether the conditions are evaluated.'),
    check_frequency_hz: double('How often, in checks a second.', { minimum: 0 }),
    conditions: listOf(ref(TerminationCondition), 'Any one met ends the run.', LIMITS.conditions),
  }),
);
export type EarlyTerminationConfig = Static<typeof EarlyTerminationConfig>;

export const StorageConfig = named(
  'StorageConfig',
  'How telemetry is stored.',
  submitted({
    s3_bucket: freeText('Bucket for a later upload; not used yet.'),
    s3_prefix: freeText('Prefix in that bucket; not used yet.'),
    compression: enumOf(COMPRESSIONS, 'Codec of the telemetry files.'),
  }),
);
export type StorageConfig = Static<typeof StorageConfig>;

export const TelemetryConfig = named(
  'TelemetryConfig',
  'Which telemetry is kept, and how.',
  submitted({
    sampling_rate_hz: double('Samples a second that are kept; 0 keeps every one.', { minimum: 0 }),
    variables: listOf(name('A variable.'), 'Variables to keep; empty keeps all.', LIMITS.variables),
    storage: ref(StorageConfig),
    buffer_flush_interval_seconds: int32('How often samples are written to the file.'),
  }),
);
export type TelemetryConfig = Static<typeof TelemetryConfig>;

export const BatchConfig = named(
  'BatchConfig',
  'The study itself. All six members are required.',
  submitted({
    simulation: ref(SimulationConfig),
    monte_carlo: ref(MonteCarloConfig),
    dispersions,
    compute: ref(ComputeConfig),
    early_termination: ref(EarlyTerminationConfig),
    telemetry: ref(TelemetryConfig),
  }),
);
export type BatchConfig = Static<typeof BatchConfig>;

export const BatchSubmission = named(
  'BatchSubmission',
  'A study to run.',
  submitted({
    name: name('Study name.'),
    config: ref(BatchConfig),
    runs_override: optionalNullable(int32('Caps the number of runs: the first runs of the full study are made.')),
  }),
);
export type BatchSubmission = Static<typeof BatchSubmission>;

export const SubmissionWarning = named(
  'SubmissionWarning',
  'Something about the study that is allowed and will probably mislead.',
  answered({
    code: text('kebab-case, stable.'),
    pointer: text('JSON Pointer into the submission.'),
    detail: text('What it is, and what to do about it.'),
  }),
);
export type SubmissionWarning = Static<typeof SubmissionWarning>;

export const SubmissionResponse = named(
  'SubmissionResponse',
  'What was created.',
  answered({
    batch_id: uuid('The batch.'),
    total_jobs: int32('Number of jobs created.'),
    estimated_completion_time_mins: Type.Unsafe<number | null>({
      ...int32('Estimate of the time it takes; null when none is computable.'),
      type: ['integer', 'null'],
    }),
    warnings: Type.Optional(listOf(ref(SubmissionWarning), 'Absent when there is nothing to warn of.')),
  }),
);
export type SubmissionResponse = Static<typeof SubmissionResponse>;
