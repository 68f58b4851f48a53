/** The submission of a study: body of `POST /jobs`, and its answer. */
import { Type, type Static } from 'typebox';
import { AdaptiveConfig } from './adaptive/config.ts';
import { precisions } from './answers/goals/precision.ts';
import { labels } from './answers/goals/judgement.ts';
import { outputs, requirements } from './answers/goals/requirements.ts';
import { CANARIES, CODE_RULES, COMPRESSIONS, REUSE_RULES, SAMPLING_METHODS, STOP_RULES } from './enums.ts';
import { answered, enumOf, flag, listOf, named, optionalNullable, ref, submitted, text } from './build.ts';
import { ComputeConfig, functionText, SimulationConfig } from './compute.ts';
import { correlations, dispersions } from './dispersions.ts';
import { historyMembers } from './histories/config.ts';
import { INT32_MAX, LIMITS } from './limits.ts';
import { double, freeText, grammar, int32, int64, name, uuid } from './scalars.ts';
import { Epistemic, Scenarios } from './scenarios/config.ts';

export const IndexDesign = named(
  'IndexDesign',
  'What the blocks of a `saltelli` design are for.',
  submitted({
    indices: enumOf(['total'], "`total`: first-order and total Sobol' indices."),
    second_order: Type.Optional(
      flag('True: also second-order indices, with blocks of 2 inputs + 2 runs. False or absent: of inputs + 2 runs.'),
    ),
  }),
);

export const MonteCarloConfig = named(
  'MonteCarloConfig',
  'Number of runs and method of sampling.',
  submitted({
    runs: int32(
      'Number of runs, of a study with scenarios in each cell; of an adaptive study the most runs that it may have. 0 in a study of rare events: enough for its members.',
    ),
    sampling_method: enumOf(
      SAMPLING_METHODS,
      "`latin_hypercube`: stratified, best coverage with few runs. `monte_carlo`: pure random. `quasi_monte_carlo`: low-discrepancy sequence. `saltelli`: blocks of runs for Sobol' indices. `adaptive`: runs are appended in rounds, up to `runs`.",
    ),
    seed: optionalNullable(
      int64('A fixed seed makes the study reproducible. Null or absent: one is drawn, stored and reported.'),
    ),
    run_ids: optionalNullable(
      text(
        'The runs of the design that the batch holds, of a study with scenarios in each cell: run ids and `first-last[:step]`, ascending, e.g. `0-99,150,200-299:2`. Null or absent: all.',
        { maxLength: LIMITS.selectionLength },
      ),
    ),
    cell_run_ids: Type.Optional(
      text(
        'Of a study with scenarios, in place of `run_ids`: the runs by the numbers that they have, sample x cells + cell. Reruns of single runs have it.',
        { maxLength: LIMITS.selectionLength },
      ),
    ),
    design: optionalNullable(ref(IndexDesign)),
    replicate: optionalNullable(
      int32('An independent randomisation of the same design: 0 is the first. Null or absent: 0.'),
    ),
    replicates: optionalNullable(
      int32(
        'Of `latin_hypercube` and `quasi_monte_carlo`: how many replicates the runs are, one after the other: independent randomisations of a design of runs / replicates points, as `replicate` numbers them. Null or absent: one design of all runs.',
        { minimum: 2, maximum: LIMITS.replicates },
      ),
    ),
  }),
);
export type MonteCarloConfig = Static<typeof MonteCarloConfig>;

export const TerminationCondition = named(
  'TerminationCondition',
  'A rule that ends a run early.',
  submitted({
    variable: name('Name of a telemetry variable.'),
    condition: grammar(
      'condition',
      'An operator (`<`, `<=`, `>`, `>=`, `==`, `!=`), then a finite decimal number, e.g. `< 0.5`.',
    ),
    description: freeText('Meaning of the condition; part of the error message.'),
  }),
);
export type TerminationCondition = Static<typeof TerminationCondition>;

export const EarlyTerminationConfig = named(
  'EarlyTerminationConfig',
  'Early termination of runs.',
  submitted({
    enabled: flag('Whether the conditions are evaluated.'),
    check_frequency_hz: double(
      'Checks per second; every sample is evaluated in any case. 0, or more than 1000: 1000.',
      { minimum: 0 },
    ),
    conditions: listOf(ref(TerminationCondition), 'The run ends when any condition is met.', LIMITS.conditions),
    shadow: Type.Optional(
      flag('True: conditions are evaluated and the first hit is recorded as `would_terminate`; no run is ended.'),
    ),
  }),
);
export type EarlyTerminationConfig = Static<typeof EarlyTerminationConfig>;

export const StorageConfig = named(
  'StorageConfig',
  'Storage of telemetry.',
  submitted({
    s3_bucket: freeText(
      'Bucket to which the files of ended runs are uploaded, where the coordinator serves it; otherwise they stay on the runners.',
    ),
    s3_prefix: grammar(
      's3-prefix',
      'Folders in that bucket below which the files are, as `<s3_prefix>/<batch_id>/<run_id>/attempt-<n>/<path>`; empty: none. No folder is empty, `.` or `..`, nor has a backslash or a control character; a `/` at either end is cut.',
    ),
    compression: enumOf(COMPRESSIONS, 'Codec of the telemetry files.'),
  }),
);
export type StorageConfig = Static<typeof StorageConfig>;

export const TelemetryConfig = named(
  'TelemetryConfig',
  'Selection and storage of telemetry.',
  submitted({
    sampling_rate_hz: double('Samples per second that are stored; 0: all.', { minimum: 0 }),
    variables: listOf(name('A variable.'), 'Variables to store; empty: all.', LIMITS.variables),
    storage: ref(StorageConfig),
    buffer_flush_interval_seconds: int32(
      'Interval of writing samples to disk, in seconds; 0: every 100 ms. They are in the journal of the run until they fill a row group or the run ends; `simbatch telemetry` reads the journal.',
    ),
    live: Type.Optional(
      flag('Whether the telemetry of running runs can be read, down-sampled, from runners with `--serve-files`.'),
    ),
  }),
);
export type TelemetryConfig = Static<typeof TelemetryConfig>;

export const BatchConfig = named(
  'BatchConfig',
  'The study itself. All members but `correlations`, `scenarios`, `epistemic`, `adaptive`, `histories` and `derived` are required.',
  submitted({
    simulation: ref(SimulationConfig),
    monte_carlo: ref(MonteCarloConfig),
    dispersions,
    compute: ref(ComputeConfig),
    early_termination: ref(EarlyTerminationConfig),
    telemetry: ref(TelemetryConfig),
    correlations: optionalNullable(correlations),
    scenarios: Type.Optional(ref(Scenarios)),
    epistemic: Type.Optional(Epistemic),
    adaptive: Type.Optional(ref(AdaptiveConfig)),
    histories: optionalNullable(historyMembers.histories),
    derived: optionalNullable(historyMembers.derived),
  }),
);
export type BatchConfig = Static<typeof BatchConfig>;

export const StudyPolicy = named(
  'StudyPolicy',
  'How the runs of a study are released, and when it stops by itself.',
  submitted({
    canary_runs: Type.Optional(
      int32(
        'The first runs, released alone; the others follow when enough of these are Completed (all of one or two, two thirds of more; two of the first three once fewer have taken a minute or exceeded their time limit), or after a release.',
        {
          minimum: 1,
        },
      ),
    ),
    canary: Type.Optional(
      enumOf(
        CANARIES,
        'A small study of its own (relation `probe`) that has to complete first; the runs wait until it has, or for a release. `nominal`: one run with every input at its median. `corners`: also a run with all inputs at their 1 % quantile, and one with all at their 99 % quantile. Not with `canary_runs`, nor for an adaptive study.',
      ),
    ),
    max_failures: Type.Optional(
      Type.Unsafe<number | string>({
        type: ['integer', 'string'],
        minimum: 1,
        maximum: INT32_MAX,
        pattern: '^(?!0+(?:[.]0+)?%)(?:100|[0-9]{1,2}(?:[.][0-9]{1,6})?)%$',
        description:
          'The study is cancelled when so many runs have failed: a number, or a share of all runs such as `"5%"`. ' +
          'Early terminations and cancelled runs do not count.',
      }),
    ),
    stop_when: Type.Optional(
      enumOf(
        STOP_RULES,
        "`settled`: the open runs are cancelled once every requirement is settled on the complete prefix of runs. `precise`: once every precision is reached on it (of a Latin hypercube or Sobol' study: on its whole `replicates`). Requirements are then looked at continuously.",
      ),
    ),
    precision: Type.Optional(precisions),
    code: Type.Optional(
      enumOf(
        CODE_RULES,
        '`pin`: the code of the first attempt that started executes all runs; a runner with another code, or that does not know its code, is given none. `any`, the default: runs may differ in their code, which is reported.',
      ),
    ),
    reuse: Type.Optional(
      enumOf(
        REUSE_RULES,
        '`all`: a run with the same key as a finished run (same code, parameters, random seed, environment, rules) gets its result and is not executed. `family`: only results of the study that this one grew from, its extensions and its reruns. `none`, the default: every run is executed. Reruns, comparisons and audits always execute.',
      ),
    ),
    priority: Type.Optional(
      int32('Studies with a higher priority are served first; 0 by default.', { minimum: -1_000, maximum: 1_000 }),
    ),
  }),
);
export type StudyPolicy = Static<typeof StudyPolicy>;

export const BatchSubmission = named(
  'BatchSubmission',
  'A study to submit.',
  submitted({
    name: name('Study name.'),
    config: ref(BatchConfig),
    runs_override: optionalNullable(
      int32(
        'Limits the number of runs: only the first runs of the full study, or of `run_ids`, are created; in each cell of a study with scenarios.',
      ),
    ),
    policy: Type.Optional(ref(StudyPolicy)),
    requirements: Type.Optional(requirements),
    outputs: Type.Optional(outputs),
    labels: Type.Optional(labels),
    code: Type.Optional(
      functionText(
        'The serialised function of a `python-functions-...` simulation, in base64, up to 1 MiB. `config.simulation.code` has its digest.',
      ),
    ),
  }),
);
export type BatchSubmission = Static<typeof BatchSubmission>;

export const StudyCode = named(
  'StudyCode',
  'The function that a study carries.',
  answered({ data: text('As submitted: base64.') }),
);
export type StudyCode = Static<typeof StudyCode>;

export const SubmissionWarning = named(
  'SubmissionWarning',
  'A property of the study that is allowed and probably misleading.',
  answered({
    code: text('kebab-case, stable.'),
    pointer: text('JSON Pointer into the submission.'),
    detail: text('The property and the remedy.'),
  }),
);
export type SubmissionWarning = Static<typeof SubmissionWarning>;

const pointers = (description: string) => listOf(text('JSON Pointer into the submission.'), description);

export const Continuation = named(
  'Continuation',
  'How a submission continues a study.',
  answered({
    created: flag('True: no study has the design, and a new one was created.'),
    runs: int32('Runs of the study and its extensions now.'),
    amended: listOf(
      enumOf(['requirements', 'outputs', 'labels'], 'A member.'),
      'Members of the judgement that were amended.',
    ),
    extension: Type.Optional(
      answered(
        {
          batch_id: uuid('The batch with the further runs.'),
          total_jobs: int32('How many these are.'),
          mode: enumOf(['continued', 'replicate'], 'As `POST /batches/{batch_id}/extend` has it.'),
          run_ids: Type.Optional(text('The runs of the design that it holds; with `continued`.')),
          replicate: Type.Optional(int32('The replicate; with `replicate`.')),
        },
        'The last extension that was made; absent where the study has the runs.',
      ),
    ),
    kept: pointers('Members in which the submission differs and that stay as the study has them.'),
    changed: pointers('Of a new study: the members in which the design differs from that of `previous`.'),
    previous: Type.Optional(
      uuid(
        'The newest study of the same name, whose design differs; where `changed` is empty, a study of the same design whose canary study has failed.',
      ),
    ),
    waiting: Type.Optional(
      listOf(
        uuid('A batch.'),
        'The study and those of its extensions whose canary has failed, so that their runs wait for a release; absent where none does.',
      ),
    ),
    sentence: text('The same for people.'),
  }),
);
export type Continuation = Static<typeof Continuation>;

export const SubmissionResponse = named(
  'SubmissionResponse',
  'The created batch.',
  answered({
    batch_id: uuid('The batch.'),
    total_jobs: int32('Number of jobs created.'),
    estimated_completion_time_mins: Type.Unsafe<number | null>({
      ...int32('Estimate of its duration; null when it cannot be computed.'),
      type: ['integer', 'null'],
    }),
    studies: Type.Optional(
      listOf(
        uuid('A batch.'),
        'Of a study of rare events with several seeds: all its batches, `batch_id` first; absent otherwise.',
      ),
    ),
    warnings: Type.Optional(listOf(ref(SubmissionWarning), 'Absent without warnings.')),
    continuation: Type.Optional({ ...ref(Continuation), description: 'With `continue=true`.' }),
  }),
);
export type SubmissionResponse = Static<typeof SubmissionResponse>;
