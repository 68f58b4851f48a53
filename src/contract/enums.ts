/** The enumerations on the wire: statuses, reasons, methods. Imports no package, so that web pages may import it. */

/** The methods whose runs are a sample of the dispersions. */
export const SAMPLE_METHODS = ['latin_hypercube', 'monte_carlo', 'quasi_monte_carlo'] as const;
/** The methods that draw all runs from the seed. */
export const DRAWING_METHODS = [...SAMPLE_METHODS, 'saltelli'] as const;
export type DrawingMethod = (typeof DRAWING_METHODS)[number];
export const SAMPLING_METHODS = [...DRAWING_METHODS, 'adaptive'] as const;
export type SamplingMethod = (typeof SAMPLING_METHODS)[number];

/** The cells of scenarios that the probability of a requirement is of. */
export const CELL_RULES = ['each', 'pooled', 'worst'] as const;
export type CellRule = (typeof CELL_RULES)[number];

/** The columns of a table of runs that are not parameters or outputs; the last two are of adaptive studies. An axis of scenarios has another name. */
export const RUN_COLUMN_NAMES = [
  'run_id',
  'replicate',
  'batch_id',
  'job_id',
  'status',
  'class',
  'reason',
  'attempt',
  'runner_id',
  'started_at',
  'ended_at',
  'execution_secs',
  'error_message',
  'terminated_by',
  'would_terminate',
  'telemetry_lost',
  'code',
  'reused_from',
  'round',
  'draw',
] as const;
export type RunColumn = (typeof RUN_COLUMN_NAMES)[number];

/** The events of a round in the live feed. */
export const ROUND_EVENTS = ['round-appended', 'round-complete'] as const;

/** The algorithms of adaptive studies. `external`: clients append the rounds. `rare_event`: the coordinator does. */
export const ADAPTIVE_ALGORITHMS = ['external', 'rare_event'] as const;
export type AdaptiveAlgorithm = (typeof ADAPTIVE_ALGORITHMS)[number];

/** The version of the estimation of rare events that this program has. Rounds and random keys name it. */
export const RARE_EVENT_ALGORITHM = 'rare-event/1';
/** The sources of the rounds of an adaptive study. */
export const ROUND_SOURCES = ['external', RARE_EVENT_ALGORITHM] as const;
/** The spaces of the rows of a round. */
export const ROW_SPACES = ['parameters', 'normal'] as const;
export type RowSpace = (typeof ROW_SPACES)[number];

/** How a study of rare events counts runs without a score. */
export const UNKNOWN_RULES = ['unknown', 'violated', 'unrelated'] as const;
export type UnknownRule = (typeof UNKNOWN_RULES)[number];
/** The phases of a study of rare events. */
export const RARE_PHASES = ['search', 'tune', 'confirm', 'ended'] as const;
export type RarePhase = (typeof RARE_PHASES)[number];
/** Why a study of rare events has ended. */
export const RARE_ENDS = [
  'confirmed',
  'settled',
  'not-rare',
  'not-reached',
  'plateau',
  'constant-output',
  'no-output',
  'too-many-unknown',
  'too-few-violations',
  'cancelled',
] as const;
export type RareEnd = (typeof RARE_ENDS)[number];

/** How runs are kept apart: a process each, or processes that execute run after run. */
export const ISOLATIONS = ['process', 'shared'] as const;

/** How the value of a history between two samples is found. */
export const INTERPOLATIONS = ['linear', 'previous'] as const;
export type Interpolation = (typeof INTERPOLATIONS)[number];

/** The derived outputs over samples that may be limited by `while`. */
export const SAMPLE_TAKES = ['max', 'min', 'mean', 'first', 'last', 'integral', 'range'] as const;
/** The kinds of derived outputs that are not expressions. */
export const TAKES = [...SAMPLE_TAKES, 'value', 'time', 'duration', 'count', 'last_time_outside'] as const;
export type Take = (typeof TAKES)[number];

export const COMPRESSIONS = ['none', 'gzip', 'snappy', 'lz4'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

export const JOB_STATUSES = ['Pending', 'Claimed', 'Running', 'Completed', 'Failed', 'Timeout', 'Cancelled'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const BATCH_STATUSES = ['Pending', 'Running', 'Completed', 'Failed', 'Cancelled'] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

export const RUNNER_STATUSES = ['Idle', 'Busy', 'Offline', 'Maintenance'] as const;
export type RunnerStatus = (typeof RUNNER_STATUSES)[number];

/** The state of a runner as people read it: `Maintenance` is the API's name of Drained. */
export const shownStatus = (status: string): string => (status === 'Maintenance' ? 'Drained' : status);

export const NOTIFICATION_STATUSES = ['Waiting', 'Delivering', 'Delivered', 'GivenUp'] as const;
export type NotificationStatus = (typeof NOTIFICATION_STATUSES)[number];

/** The reasons why a bucket of the object store cannot be used. */
export const STORE_FAULTS = [
  'wrong-key',
  'wrong-bucket',
  'wrong-region',
  'clock-skew',
  'no-right',
  'full',
  'unavailable',
  'unreachable',
  'not-a-store',
] as const;

/** The events of a study that are announced to webhooks. */
export const NOTIFICATION_TYPES = ['study.settled', 'study.ended', 'study.blocked'] as const;
export type NotificationType = (typeof NOTIFICATION_TYPES)[number];

/** The reason that a runner reports for a failure. `exit`, `signal` and `infrastructure` are retried; the others would recur. */
export const FAIL_REASONS = [
  'exit',
  'signal',
  'early_termination',
  'timeout',
  'invalid',
  'infrastructure',
  'files-gone',
] as const;
export type FailReason = (typeof FAIL_REASONS)[number];

/** The entries of a batch's history that are stored with it. */
export const BATCH_HISTORY_TYPES = [
  'canary-passed',
  'canary-failed',
  'canary-late',
  'released',
  'paused',
  'resumed',
  'max-failures',
  'settled',
  'precise',
  'cancelled',
  'closed',
  'extended',
  'amended',
] as const;
export type BatchHistoryType = (typeof BATCH_HISTORY_TYPES)[number];

/** The severity of a finding, the gravest first. */
export const FINDING_SEVERITIES = ['doubtful', 'blocked', 'warning', 'waiting', 'fine'] as const;
export type FindingSeverity = (typeof FINDING_SEVERITIES)[number];

/** The canaries that release the runs of a study: its first runs, or a study of its own. */
export const CANARY_KINDS = ['runs', 'study'] as const;

/** The levels of the answer about a study. */
export const ANSWER_LEVELS = ['ok', 'not_ok', 'not_enough', 'blocked', 'running', 'cancelled'] as const;
export type AnswerLevel = (typeof ANSWER_LEVELS)[number];

/** The word with which the sentence of each level begins. */
export const LEVEL_WORDS: Readonly<Record<AnswerLevel, string>> = {
  ok: 'OK',
  not_ok: 'Not OK',
  not_enough: 'Not enough runs',
  blocked: 'Blocked',
  running: 'Running',
  cancelled: 'Cancelled',
};

/** The outcome of an attempt: `released` before its start, by its runner or with its machine, `lost` with its runner, the others as the job's status. */
export const ATTEMPT_OUTCOMES = ['completed', 'failed', 'timeout', 'cancelled', 'released', 'lost'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** The operations that an access token may allow. No scope includes another. */
export const TOKEN_SCOPES = ['read', 'submit', 'operate', 'runner', 'launch'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** How an allocation of a launcher ended, as its engine says. `gone`: the engine does not name it any more. */
export const ALLOCATION_ENDS = [
  'completed',
  'failed',
  'timeout',
  'preempted',
  'evicted',
  'node-failure',
  'out-of-memory',
  'cancelled',
  'unknown',
  'gone',
] as const;
export type AllocationEndKind = (typeof ALLOCATION_ENDS)[number];

/** Why no queue of a launcher can execute a run. */
export const LAUNCHER_FINDINGS = ['no-capacity-fits', 'lifetime-too-short', 'settings-refuse'] as const;
export type LauncherFinding = (typeof LAUNCHER_FINDINGS)[number];

/** How a run counts in a requirement that an early-termination rule ended. */
export const TERMINATED_RULES = ['fail', 'unknown', 'exclude'] as const;
export type TerminatedRule = (typeof TERMINATED_RULES)[number];
/** How quantiles take the runs without a value: they may have any, or crashes, time limits and losses have nothing to do with it. */
export const MISSING_RULES = ['any', 'at_random'] as const;
export type MissingRule = (typeof MISSING_RULES)[number];

/** `once`: judged when every run is terminal. `continuous`: judged after every run of the complete prefix. */
export const LOOKS = ['once', 'continuous'] as const;
export type Look = (typeof LOOKS)[number];

/**
 * When a study stops by itself, decided on the complete prefix of runs. `settled`: once every requirement is settled. `precise`: once every
 * precision is reached.
 */
export const STOP_RULES = ['settled', 'precise'] as const;
export type StopRule = (typeof STOP_RULES)[number];

/** The state of a precision. `open`: runs may still reach it. `out-of-reach`: no further run of the study can. */
export const PRECISION_STATES = ['reached', 'open', 'out-of-reach', 'not-reached'] as const;
export type PrecisionState = (typeof PRECISION_STATES)[number];

/** The confidence sequences: see docs/precision.md. */
export const SEQUENCES = ['beta-binomial', 'empirical-bernstein', 'asymptotic', 'order-statistics', 'betting'] as const;
export type SequenceMethod = (typeof SEQUENCES)[number];
/** Which code executes the runs of a study. `pin`: that of the first attempt that started. */
export const CODE_RULES = ['any', 'pin'] as const;
export type CodeRule = (typeof CODE_RULES)[number];

/** Whose results a study takes in place of executing its runs. `family`: those of the study that it grew from, its extensions and its reruns. */
export const REUSE_RULES = ['none', 'family', 'all'] as const;
export type ReuseRule = (typeof REUSE_RULES)[number];

export const VERDICTS = ['met', 'violated', 'not-shown', 'open'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Which extreme values of an output are listed. */
export const DIRECTIONS = ['largest', 'smallest'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** The runs of a canary study. */
export const CANARIES = ['nominal', 'corners'] as const;

/**
 * How a study came of another one: more runs of its design, the same runs again, another version, a check of its results, a check before its
 * runs, outputs of the files of its runs, the same question with another seed.
 */
export const RELATIONS = ['extension', 'rerun', 'comparison', 'audit', 'probe', 'extraction', 'repeat'] as const;
export type Relation = (typeof RELATIONS)[number];

/** The words for a study that came of another one. */
export const RELATION_WORDS: Readonly<Record<Relation, string>> = {
  extension: 'extension',
  rerun: 'rerun',
  comparison: 'comparison',
  audit: 'audit',
  probe: 'canary study',
  extraction: 'extraction',
  repeat: 'repeat',
};

/** The states in which a run does not change any more. */
export const TERMINAL_STATUSES = ['Completed', 'Failed', 'Timeout', 'Cancelled'] as const;

/** How a run failed, by the classes of `analysis/table/run-class.ts`. */
export const FAILURE_KINDS = ['terminated', 'crashed', 'timeout', 'lost'] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

/** Whether the simulation looked up an input. */
export const INPUT_READS = ['read', 'never', 'unknown'] as const;
export type InputRead = (typeof INPUT_READS)[number];

/** Whether an output changed with an input. */
export const INPUT_EFFECTS = ['changes', 'none', 'unknown'] as const;
export type InputEffect = (typeof INPUT_EFFECTS)[number];

/** The eight factors of credibility of NASA-STD-7009A (2016, appendix E, table 3), and the people of NASA-STD-7009 (2008). */
export const EVIDENCE_FACTORS = [
  'data-pedigree',
  'verification',
  'validation',
  'input-pedigree',
  'uncertainty-characterization',
  'results-robustness',
  'ms-history',
  'management',
  'people-qualifications',
] as const;
export type EvidenceFactorId = (typeof EVIDENCE_FACTORS)[number];

/** `time`: an instant; `mixed`: JSON values of several types, or lists. */
export const COLUMN_TYPES = ['integer', 'number', 'boolean', 'time', 'text', 'mixed'] as const;
export type ColumnType = (typeof COLUMN_TYPES)[number];

/** The formats of histories of all runs. */
export const HISTORY_FORMATS = ['ndjson', 'csv', 'parquet', 'arrow'] as const;
export type HistoryFormat = (typeof HISTORY_FORMATS)[number];

export const TABLE_FORMATS = ['json', 'ndjson', 'csv', 'parquet', 'arrow'] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

/** Where a file of a run comes from. */
export const FILE_KINDS = ['stdout', 'stderr', 'telemetry', 'metadata', 'artifact'] as const;
export type FileKind = (typeof FILE_KINDS)[number];

/** Where a file of a run is. */
export const FILE_PLACES = ['runner', 'object-store'] as const;
export type FilePlace = (typeof FILE_PLACES)[number];

/** Why a runner does not send a part of a file. */
export const FILE_FAULTS = ['unknown-file', 'unreadable', 'too-large'] as const;
export type FileFault = (typeof FILE_FAULTS)[number];
