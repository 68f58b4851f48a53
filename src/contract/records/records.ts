/** The records in the store, as schemas. An optional member of a record is absent while it has no value. */
import { Type, type Static } from 'typebox';
import { enumOf, flag, nullable, ref, text } from '../build.ts';
import { CodeIdentity, RunnerEngine } from '../code/identity.ts';
import { StoredExtraction } from '../extraction/extraction.ts';
import { StoredResult } from '../resources/jobs.ts';
import {
  BATCH_STATUSES,
  JOB_STATUSES,
  RELATIONS,
  ROUND_SOURCES,
  ROW_SPACES,
  RUNNER_STATUSES,
  STOP_RULES,
} from '../enums.ts';
import { RareDecision } from '../adaptive/rounds.ts';
import { BATCH_ID_PATTERN } from '../patterns.ts';
import { AttemptRef, RunnerCapabilities } from '../resources/runners.ts';
import { resourceCounts, runnerId } from '../scalars.ts';
import { HeldRuns, type HeldAttempt } from './held.ts';
import { StoredBatchHistory, StoredJudgement } from './judgement.ts';
import { amount, count, fixedList, time } from './shapes.ts';
import { storedProperties } from '../members/member-schemas.ts';
import { JOB_MEMBERS } from '../members/members.ts';

const batchId = Type.String({ pattern: BATCH_ID_PATTERN });

/** The members of a batch that its submission determines. */
const batchInput = {
  batchId,
  name: text('As submitted.'),
  owner: Type.Optional(text('The name of the client that it belongs to; absent: none is known.')),
  configHash: text('Digest of the configuration.'),
  designHash: Type.Optional(
    text('Digest of the design without its seed and its number of runs; absent: submitted to an older version.'),
  ),
  createdAtMs: time('When it was submitted.'),
  simulationName: text('Which runners may take its runs.'),
  totalJobs: count('Its number of runs.'),
  maxParallelJobs: count('The most runs Claimed or Running at once; 0: no limit.'),
  maxRetries: count('How often a failed run is retried.'),
  timeLimitMs: count('The time limit of a run; 0: none.'),
  cpuMilli: amount('CPU of a run, in thousandths of a core.'),
  memoryBytes: amount('Memory of a run.'),
  resources: Type.Optional(resourceCounts('Counted resources of a run; absent: none.', 1)),
  samplingScheme: text('The sampling definition in force when it was submitted.'),
  canaryRuns: Type.Optional(count('The first runs, which are released alone; absent: all runs are.')),
  canaryBatch: Type.Optional({ ...batchId, description: 'The canary study that its runs wait for; absent: none.' }),
  maxFailures: Type.Optional(count('The number of failed runs at which it is cancelled; absent: none.')),
  priority: Type.Optional(Type.Integer({ description: 'Higher is served first; absent: 0.' })),
  requirements: Type.Optional(count('The number of its requirements; absent: none.')),
  stopWhen: Type.Optional(enumOf(STOP_RULES, 'When it stops by itself; absent: it does not.')),
  pinsCode: Type.Optional(
    Type.Object(
      { image: Type.Optional(text('The image of the study.')) },
      { description: 'One code alone executes its runs; absent: any does.' },
    ),
  ),
  needs: Type.Optional(fixedList(text('A feature that runners must have to take its runs; absent: none.'))),
  pinnedCode: Type.Optional(text('The digest of the code that alone executes its runs; absent: none is fixed.')),
  reuse: Type.Optional(enumOf(['family', 'all'], 'Whose results its runs may have; absent: none.')),
  labels: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'As submitted, or as amended; absent: none.' }),
  ),
  judgement: Type.Optional(StoredJudgement),
  budget: Type.Optional(
    count('The most runs that it may have, appended in rounds; absent: its number of runs is fixed.'),
  ),
  parent: Type.Optional(
    Type.Object(
      {
        batchId,
        relation: enumOf(RELATIONS, 'How it came of its parent.'),
        family: { ...batchId, description: 'The family of the parent: the batch from which it grew.' },
      },
      { description: 'The batch that it came of; absent: it was submitted.' },
    ),
  ),
  selectsRuns: Type.Optional(
    Type.Unsafe<true>({
      type: 'boolean',
      const: true,
      description:
        'True when it holds a selection of its design (`run_ids`), so that indices and run ids differ. Absent otherwise.',
    }),
  ),
};

/** The telemetry of a batch's ended runs, as far as their runners reported it. */
export const TelemetryTally = Type.Object({
  reported: count('Runs that were reported.'),
  silent: count('Of these, the runs without a single sample.'),
  lossy: count('Of these, the runs that lost samples.'),
  lost: count('Samples lost by all of them.'),
  wouldTerminate: count('Of these, the runs that met a condition in shadow.'),
  judged: fixedList(
    Type.Object({
      variable: text('The variable of a condition.'),
      runs: count('Runs in which a number of it was judged.'),
    }),
  ),
});
export interface TelemetryTally extends Static<typeof TelemetryTally> {}

/** The look-ups of a batch's completed runs, as far as they are known. */
export const LookUpTally = Type.Object({
  runs: count('Completed runs with known look-ups.'),
  read: text('The parameters that one of them has looked up, a bit for each of the study; empty: all.'),
  asked: fixedList(Type.String()),
});
export interface LookUpTally extends Static<typeof LookUpTally> {}

/** A version of the code of a batch. */
export const StoredCode = Type.Object({
  identity: ref(CodeIdentity),
  runs: count('Runs that have ended with it.'),
  firstRunId: Type.Optional(count('The lowest of these runs; absent: none.')),
  runners: fixedList(Type.String()),
});
export interface StoredCode extends Static<typeof StoredCode> {}

export const BatchRecord = Type.Object({
  value: enumOf(BATCH_STATUSES, 'The status.'),
  ...batchInput,
  next: count('The lowest index, among its runs, that was never claimed: a run id unless `selectsRuns`.'),
  cancelledAhead: count(
    'The number of runs at or after `next` that must not be claimed: cancelled one by one, or, of an extraction, claimed before others.',
  ),
  requeued: count('The number of touched runs that are Pending again.'),
  claimed: count('Runs in this state.'),
  running: count('Runs in this state.'),
  completed: count('Runs in this state.'),
  failed: count('Runs in this state.'),
  timedOut: count('Runs in this state.'),
  cancelled: count('Runs in this state.'),
  cancelRequested: flag('True after the batch was cancelled.'),
  cancelReason: Type.Optional(text('The reason given.')),
  startedAtMs: Type.Optional(time('When its first run was claimed.')),
  endedAtMs: Type.Optional(time('When its last run ended.')),
  telemetry: Type.Optional(TelemetryTally),
  lookUps: Type.Optional(LookUpTally),
  terminated: Type.Optional(count('Failed runs that an early-termination condition ended; absent: none.')),
  settledAtRunId: Type.Optional(
    count('The run at which its rule stopped it: the last requirement was settled, or the precisions were reached.'),
  ),
  pausedAtMs: Type.Optional(time('When it was paused; absent while it is not.')),
  pauseReason: Type.Optional(text('The reason given.')),
  canaryLateAtMs: Type.Optional(time('When fewer than three canary runs had taken long, so that three decide.')),
  canaryFailedAtMs: Type.Optional(time('When its canary study ended without passing.')),
  releasedAtMs: Type.Optional(time('When the runs after the canary runs were released, by these or by hand.')),
  releaseReason: Type.Optional(text('The reason given.')),
  blockedAtMs: Type.Optional(time('When it was announced as blocked; absent while it is not.')),
  history: Type.Optional(StoredBatchHistory),
  growing: Type.Optional(
    Type.Unsafe<true>({
      type: 'boolean',
      const: true,
      description: 'True while rounds of runs may be appended. Absent otherwise.',
    }),
  ),
  extensions: Type.Optional(
    fixedList(count('The runs by which a study of rare events was extended after an end, in order; absent: none.')),
  ),
  rounds: Type.Optional(count('Rounds that were appended; absent: none.')),
  rowsLost: Type.Optional(count('Runs of its rounds whose rows damage has lost, counted by a repair; absent: none.')),
  codes: Type.Optional(fixedList(StoredCode)),
  reused: Type.Optional(count('Runs that have the result of another run; absent: none.')),
  waitingSinceMs: Type.Optional(
    time('Since when it grows and none of its runs is Pending or active; absent otherwise.'),
  ),
});

export const SubmissionRecord = Type.Object({
  seed: Type.String({ pattern: '^[0-9]{1,19}$', description: 'The seed in decimal.' }),
  submission: Type.Unsafe<object>({ type: 'object', description: 'A BatchSubmission.' }),
  extraction: Type.Optional(StoredExtraction),
});

export const RoundRecord = Type.Object({
  round: count('Its number.'),
  first_run_id: count('Its first run.'),
  count: count('Its number of runs.'),
  space: enumOf(
    ROW_SPACES,
    'The meaning of its numbers. `parameters`: values of the chosen parameters. `normal`: standard normals of those that are drawn.',
  ),
  source: enumOf(ROUND_SOURCES, 'Who appended it.'),
  key: nullable(text("The client's name for it.")),
  digest: text('SHA-256 of its rows.'),
  previous: text('SHA-256 of the stored record of the round before, or of the submission.'),
  label: nullable(text('A text for people.')),
  appended_at: text('When it was appended.'),
  note: nullable(text('A longer text.')),
  decision: nullable(ref(RareDecision)),
  lost: Type.Optional(
    Type.Literal(true, { description: 'Its record was lost by damage; a repair has made this one.' }),
  ),
});
export interface RoundRecord extends Static<typeof RoundRecord> {}

const base64 = (description: string) => Type.String({ pattern: '^[A-Za-z0-9+/]*={0,2}$', description });
export const RowsRecord = Type.Object({
  rows: count('Rows of the block.'),
  values: base64('Their numbers, row after row, as little-endian doubles in base64.'),
  draws: Type.Optional(
    base64('The draw of each row, as little-endian int32; absent where no row of the round gives one.'),
  ),
  lost: Type.Optional(Type.Literal(true, { description: 'The rows were lost by damage; there are no numbers.' })),
});

export interface RowsRecord extends Static<typeof RowsRecord> {}

export const HistoryRecord = Type.Object({
  values: base64('The values as little-endian doubles in base64, NaN where missing.'),
});

export interface HistoryRecord extends Static<typeof HistoryRecord> {}

export const JobRecord = Type.Object({
  value: enumOf(JOB_STATUSES, 'The status.'),
  ...storedProperties(JOB_MEMBERS),
});
export interface JobRecord extends Static<typeof JobRecord> {}

export const RunnerRecord = Type.Object({
  value: enumOf(RUNNER_STATUSES, 'The status.'),
  runnerId: runnerId('The runner.'),
  name: text('Display name.'),
  instance: text('The process that registered last.'),
  capabilities: ref(RunnerCapabilities),
  tags: fixedList(Type.String()),
  heartbeatIntervalSecs: amount('How often it sends a heartbeat.'),
  registeredAtMs: time('When it first registered.'),
  lastHeartbeatMs: time('Time of the last heartbeat, for display.'),
  heardAtMs: time('Start of the silence: the last heartbeat, or a later restart of the coordinator.'),
  held: fixedList(HeldRuns),
  signedOffAtMs: Type.Optional(time('When its process signed off; absent while it has not. A registration clears it.')),
  drained: flag('True while it takes no new jobs.'),
  drainReason: Type.Optional(text('The reason of the drain.')),
  drainedUntilMs: Type.Optional(time('When the drain ends by itself; absent: when it is resumed.')),
  quarantined: Type.Optional(
    Type.Unsafe<true>({
      type: 'boolean',
      const: true,
      description: 'True when its failures drained it. Absent otherwise.',
    }),
  ),
  countedSinceMs: Type.Optional(
    time('When its latest quarantine was lifted: its earlier attempts count against it no more. Absent: none was.'),
  ),
  completed: count('Jobs it completed.'),
  failed: count('Jobs that failed on it.'),
  slotsLost: Type.Optional(count('Slots that it reported lost; absent: none.')),
  machine: Type.Optional(
    Type.Object({
      clockOffsetMs: Type.Optional(Type.Number({ description: 'How far its clock is surely ahead; negative: late.' })),
      diskFreeBytes: Type.Optional(amount('Free space for artifacts.')),
    }),
  ),
  allocation: Type.Optional(text('The allocation of a cluster that it runs in.')),
  endsAtMs: Type.Optional(time('When its machine is taken from it; absent: never.')),
  hostname: Type.Optional(text('The name of its machine.')),
  engines: Type.Optional(fixedList(ref(RunnerEngine))),
  leaving: Type.Optional(text('Why it takes no more runs: it leaves. Absent: it does not.')),
  ephemeral: Type.Optional(Type.Literal(true, { description: 'It is forgotten when it is gone.' })),
  lost: Type.Optional(fixedList(ref(AttemptRef))),
});

/** The records, by the name in their keys. */
export const RECORDS = {
  batch: BatchRecord,
  submission: SubmissionRecord,
  round: RoundRecord,
  rows: RowsRecord,
  job: JobRecord,
  result: StoredResult,
  history: HistoryRecord,
  runner: RunnerRecord,
} as const;
export type RecordName = keyof typeof RECORDS;

/** The head of an export: the file without its records. */
export const ExportHead = Type.Object({
  made_by: text('The program that wrote it, with its version.'),
  taken_at: text('The instant of the export.'),
  batch_id: nullable(batchId),
});

const steps = Type.Array(Type.Object({}));
export const ScenarioHead = Type.Object({
  name: text('Its name.'),
  about: text('One sentence.'),
  machine: enumOf(['job', 'batch', 'runner', 'notification', 'supervisor'], 'The machine.'),
  input: Type.Object({}),
  start: Type.Object({}),
  startFacts: Type.Optional(Type.Array(Type.Unknown())),
  steps,
  end: Type.Object({}),
});

export const StudyHead = Type.Object({ name: text('Its name.'), about: text('One sentence.'), turns: steps });

/** A context as a machine has it: the record without its status, each optional member present and possibly undefined. */
export type ContextOf<R> = { [K in Exclude<keyof Required<R>, 'value'>]: R[K] };
export interface BatchInput extends Static<ReturnType<typeof Type.Object<typeof batchInput>>> {}
export interface BatchContext extends BatchInput, Omit<ContextOf<Static<typeof BatchRecord>>, keyof BatchInput> {}
export interface RunnerRecord extends Static<typeof RunnerRecord> {}
export interface RunnerContext extends Omit<ContextOf<RunnerRecord>, 'held'> {
  held: readonly HeldAttempt[];
}
