/**
 * Every member of a submission, and what changing it does: the single source of the design of a study (`design.ts`), of its judgement and
 * of the keys of its runs. A member of the schema that is not listed fails a test.
 */

/**
 * `design`: another value is another study. `judgement`: how the same runs are judged, named and found; another value needs no run.
 * `count`: how many runs of the design there are; more of them continue the study. `execution`: how runs are executed, which a finished run does not depend on.
 */
export type Part = 'design' | 'judgement' | 'count' | 'execution';

/**
 * Whether the key of a run depends on the member. `direct`: the value is in it. `parameters`: the values sampled for the run, or its random seed, follow
 * from it. `none`: it does not.
 */
export type KeyPart = 'direct' | 'parameters' | 'none';

export interface Member {
  /** JSON Pointer into a submission; `*` is any name of a map, or any place of a list. */
  pointer: string;
  part: Part;
  key: KeyPart;
  /** The value with which an absent or null member means the same. */
  absent?: unknown;
  /** The reason, as a sentence for people. */
  why: string;
}

const member = (pointer: string, part: Part, key: KeyPart, why: string, absent?: unknown): Member =>
  absent === undefined ? { pointer, part, key, why } : { pointer, part, key, why, absent };

const SIMULATION = '/config/simulation';
const DESIGN = '/config/monte_carlo';
const COMPUTE = '/config/compute';
const RULES = '/config/early_termination';
const TELEMETRY = '/config/telemetry';
const HISTORY = '/config/histories/*';
const DERIVED = '/config/derived/*';

/** The members in the order of the submission. */
export const MEMBERS: readonly Member[] = [
  member('/name', 'judgement', 'none', 'A text for people.'),

  member(`${SIMULATION}/name`, 'design', 'direct', 'Another simulation is another question.'),
  member(`${SIMULATION}/version`, 'design', 'direct', 'The version names the model.'),
  member(`${SIMULATION}/duration_minutes`, 'design', 'direct', 'The simulation gets it.'),
  member(
    `${SIMULATION}/code/sha256`,
    'design',
    'direct',
    'The function is the model. Where `source` is given, that counts for the design.',
  ),
  member(
    `${SIMULATION}/code/source`,
    'design',
    'none',
    'The same source is the same function, also when its bytes differ.',
  ),
  member(`${SIMULATION}/code/python`, 'design', 'none', 'The name of the simulation has it.'),
  member('/code', 'design', 'none', 'The function itself; `config.simulation.code` identifies it.'),

  member(`${DESIGN}/runs`, 'count', 'none', 'More runs continue the design, or are its next replicate.'),
  member(`${DESIGN}/run_ids`, 'count', 'none', 'Which runs of the design there are.'),
  member(`${DESIGN}/cell_run_ids`, 'count', 'none', 'Which runs of the design there are.'),
  member('/runs_override', 'count', 'none', 'Which runs of the design there are.'),
  member(`${DESIGN}/sampling_method`, 'design', 'parameters', 'It draws other parameters.'),
  member(
    `${DESIGN}/seed`,
    'design',
    'parameters',
    'It draws other parameters. Without one, a drawn seed is as good as any.',
  ),
  member(`${DESIGN}/replicate`, 'design', 'parameters', 'It draws other parameters.', 0),
  member(
    `${DESIGN}/replicates`,
    'design',
    'parameters',
    'How many runs a replicate has draws other parameters; more replicates continue the study.',
  ),
  member('/config/epistemic/*/interval', 'design', 'parameters', 'The cells follow from it, and what they get.'),
  member('/config/epistemic/*/levels', 'design', 'parameters', 'The cells follow from it, and what they get.'),
  member('/config/scenarios', 'design', 'parameters', 'The cells follow from it, and what they draw.'),
  member(`${DESIGN}/design/indices`, 'design', 'parameters', 'The blocks of the design follow from it.'),
  member(`${DESIGN}/design/second_order`, 'design', 'parameters', 'The blocks of the design follow from it.', false),
  member('/config/dispersions/*/distribution', 'design', 'parameters', 'It draws other parameters.'),
  member('/config/dispersions/*/units', 'design', 'none', 'A number in other units means something else to the model.'),
  member('/config/dispersions/*/source', 'judgement', 'none', 'Where the distribution comes from, for people.', ''),
  member('/config/correlations/*/parameters', 'design', 'parameters', 'It draws other parameters.'),
  member('/config/correlations/*/rank', 'design', 'parameters', 'It draws other parameters.'),
  member('/config/adaptive/algorithm', 'design', 'none', 'It chooses the runs.'),
  member('/config/adaptive/requirement', 'design', 'none', 'Rounds of a study of rare events follow from it.'),
  member('/config/adaptive/studies', 'design', 'none', 'How many studies are answered together.', 2),
  member('/config/adaptive/population', 'design', 'none', 'Rounds of a study of rare events follow from it.'),
  member('/config/adaptive/level_probability', 'design', 'none', 'Rounds of a study of rare events follow from it.'),
  member('/config/adaptive/width', 'design', 'none', 'Rounds of a study of rare events follow from it.'),
  member('/config/adaptive/tune_runs', 'design', 'none', 'Rounds of a study of rare events follow from it.'),
  member('/config/adaptive/confirm_runs', 'design', 'none', 'Rounds of a study of rare events follow from it.'),
  member('/config/adaptive/confirm_part', 'design', 'none', 'Rounds of a study of rare events follow from it.'),
  member('/config/adaptive/confidence', 'design', 'none', 'Rounds of a study of rare events follow from it.'),
  member('/config/adaptive/relative_half_width', 'design', 'none', 'Rounds of a study of rare events follow from it.'),
  member('/config/adaptive/stop_when_settled', 'design', 'none', 'Rounds of a study of rare events follow from it.'),
  member('/config/adaptive/unknown', 'design', 'none', 'Rounds of a study of rare events follow from it.'),

  member(
    `${COMPUTE}/container/image`,
    'design',
    'none',
    'The image has the model. Its digest is in the key, and not its name.',
  ),
  member(`${COMPUTE}/container/environment`, 'design', 'direct', 'The simulation reads it.', {}),
  member(`${COMPUTE}/container/cpu_request`, 'execution', 'none', 'It reserves a share of a machine.'),
  member(`${COMPUTE}/container/memory_request`, 'execution', 'none', 'It reserves a share of a machine.'),
  member(`${COMPUTE}/container/cpu_limit`, 'execution', 'none', 'A finished run has not become another one by it.'),
  member(`${COMPUTE}/container/memory_limit`, 'execution', 'none', 'A run that stayed below it has the same result.'),
  member(`${COMPUTE}/resources`, 'execution', 'none', 'It reserves devices and licences.', {}),
  member(`${COMPUTE}/max_parallel_jobs`, 'execution', 'none', 'Runs do not know of each other.'),
  member(`${COMPUTE}/job_timeout_seconds`, 'execution', 'none', 'A run that ended in time has the same result.'),
  member(`${COMPUTE}/isolation`, 'execution', 'none', 'The result of a run is the same either way.', 'process'),
  member(`${COMPUTE}/kubernetes`, 'execution', 'none', 'Where runs are executed.'),
  member(`${COMPUTE}/baremetal`, 'execution', 'none', 'Where runs are executed.'),
  member(`${COMPUTE}/max_retries`, 'execution', 'none', 'A run that succeeds has the result of one attempt.'),

  member(`${RULES}/enabled`, 'design', 'direct', 'The rules end runs.'),
  member(`${RULES}/check_frequency_hz`, 'execution', 'none', 'Every sample is evaluated in any case.'),
  member(`${RULES}/conditions/*/variable`, 'design', 'direct', 'The rule ends runs.'),
  member(`${RULES}/conditions/*/condition`, 'design', 'direct', 'The rule ends runs.'),
  member(`${RULES}/conditions/*/description`, 'design', 'direct', 'The result of a run that the rule ends has it.'),
  member(`${RULES}/shadow`, 'design', 'direct', 'In shadow the rules end no run.', false),

  member(`${TELEMETRY}/sampling_rate_hz`, 'design', 'direct', 'The stored telemetry has other samples.'),
  member(`${TELEMETRY}/variables`, 'design', 'direct', 'The stored telemetry has other variables.'),
  member(`${TELEMETRY}/storage/s3_bucket`, 'execution', 'none', 'Where files are kept.'),
  member(`${TELEMETRY}/storage/s3_prefix`, 'execution', 'none', 'Where files are kept.'),
  member(`${TELEMETRY}/storage/compression`, 'execution', 'none', 'The numbers in the files are the same.'),
  member(`${TELEMETRY}/buffer_flush_interval_seconds`, 'execution', 'none', 'The numbers in the files are the same.'),
  member(`${TELEMETRY}/live`, 'execution', 'none', 'Who may look while a run lasts.', false),

  member(`${HISTORY}/name`, 'design', 'direct', 'The history is stored under it. Absent: the variable.'),
  member(`${HISTORY}/variable`, 'design', 'direct', 'Another variable is another history.'),
  member(`${HISTORY}/at/from`, 'design', 'direct', 'The history is stored at these times.'),
  member(`${HISTORY}/at/to`, 'design', 'direct', 'The history is stored at these times.'),
  member(`${HISTORY}/at/step`, 'design', 'direct', 'The history is stored at these times.'),
  member(`${HISTORY}/at/points`, 'design', 'direct', 'The history is stored at these times.'),
  member(`${HISTORY}/interpolation`, 'design', 'direct', 'The values between samples follow from it.', 'linear'),
  member(`${HISTORY}/origin`, 'design', 'direct', 'The times of the history count from it.'),
  member(`${HISTORY}/units`, 'judgement', 'none', 'Units of a history, for people.', ''),
  member(`${DERIVED}/name`, 'design', 'direct', 'The result has the output under it.'),
  member(`${DERIVED}/take`, 'design', 'direct', 'It computes the output.'),
  member(`${DERIVED}/telemetry`, 'design', 'direct', 'It computes the output.'),
  member(`${DERIVED}/while`, 'design', 'direct', 'It computes the output.'),
  member(`${DERIVED}/at`, 'design', 'direct', 'It computes the output.'),
  member(`${DERIVED}/band`, 'design', 'direct', 'It computes the output.'),
  member(`${DERIVED}/expression`, 'design', 'direct', 'It computes the output.'),
  member(`${DERIVED}/units`, 'judgement', 'none', 'Units of an output, for people.', ''),

  member('/policy/canary_runs', 'execution', 'none', 'The order in which runs are released.'),
  member('/policy/canary', 'execution', 'none', 'A study of its own that has to complete first.'),
  member('/policy/max_failures', 'execution', 'none', 'When a study is given up.'),
  member('/policy/stop_when', 'design', 'none', 'A confidence holds for the rule that was fixed before the first run.'),
  member(
    '/policy/precision',
    'design',
    'none',
    'A confidence holds for the rule that was fixed before the first run.',
    [],
  ),
  member('/policy/code', 'execution', 'none', 'Which runners may execute runs; each run names its code.', 'any'),
  member(
    '/policy/reuse',
    'execution',
    'none',
    'Whether results of finished runs are taken; they are the same to the bit.',
    'none',
  ),
  member('/policy/priority', 'judgement', 'none', 'What the study is worth to people.', 0),

  member('/requirements', 'judgement', 'none', 'What the runs are to show.', []),
  member('/outputs', 'judgement', 'none', 'Units and meaning of outputs, for people.', {}),
  member('/labels', 'judgement', 'none', 'By which the study is found.', {}),
];

/** The members that an amendment replaces; the others of the judgement stay as submitted. */
export const AMENDED = ['requirements', 'outputs', 'labels'] as const;
export type Amended = (typeof AMENDED)[number];
