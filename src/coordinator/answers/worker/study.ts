/** A study in the analysis worker: its table of runs and its configuration. */
import { reasonOf } from '../../../domain/runs/run-end.ts';
import { INITIAL_HISTORY } from '../../../../machines/job-context.ts';
import { MoveTally } from '../../../../machines/job-parts/moves.ts';
import { type AnsweredStudy, declaredOutputs } from '../../../analysis/table/answered-study.ts';
import { countClasses, type RunTable } from '../../../analysis/table/run-table.ts';
import { BYTES_OF_ROW, RunTableBuilder, type RunRecord } from '../../../analysis/table/table-builder.ts';
import { amended, type JudgedSubmission } from '../../../domain/identity/judgement.ts';
import type { JobRecord, Seed, StoredResult, TerminationCondition } from '../../../contract/types.ts';
import { executionSecsOf, outputsOf } from '../../../domain/runs/outputs.ts';
import { endingConditions } from '../../../domain/study/condition.ts';
import { runsHeld } from '../../../domain/runs/run-selection.ts';
import { tableCells } from '../../../analysis/table/cell-tables.ts';
import { declaredDispersions } from '../../../domain/scenarios/overrides.ts';
import { designMethod } from '../../../domain/study/design-method.ts';
import { replicateRunsOf } from '../../../domain/sampling/replicates.ts';
import { studySampler } from '../../../domain/sampling/sampler.ts';
import type { Sampler } from '../../../domain/sampling/run-values.ts';
import { decodeSubmission } from '../../kernel/records/study-cache.ts';
import type { ReadingHead, StudyHead } from '../row-readings.ts';
import { IncompleteRuns } from './histories/incomplete-runs.ts';
import { rareSourceOf } from './rare-rounds.ts';
import { type NextRows, runBlocks, type StoredRun } from './runs.ts';

/** A study as of one version. */
export interface Study extends Pick<AnsweredStudy, 'rare'> {
  version: string;
  readonly submission: JudgedSubmission;
  readonly seed: Seed;
  readonly samplingScheme: string;
  table: RunTable;
  /** Size of the table's columns. */
  bytes: number;
  /** The runs of which telemetry came late or was lost. */
  readonly incomplete: IncompleteRuns;
}

/** A study in memory. `updateStudy` brings it to a later version, all its members in one step. */
export interface KeptStudy extends Study {
  /** The place of its reading among the ends of its runs; see `EndedRuns`. */
  mark: number | undefined;
  /** Its number of runs, which grows with the rounds of an adaptive study. */
  readonly totalJobs: number;
  /** The revision of its judgement; undefined for that of the submission. */
  readonly revision: number | undefined;
  /** The builder of the table, which takes further runs. */
  readonly builder: RunTableBuilder;
  /** The transitions of the runs that have ended. */
  readonly moves: MoveTally;
}

/** A study of more runs has rows as far as runs have ended. */
const WHOLE_RUNS = 1_000_000;
/** Most bytes of the columns of a study, and of the two studies of one question together. */
const MAX_STUDY_BYTES = 768 * 1024 * 1024;
const MAX_PAIR_BYTES = 512 * 1024 * 1024;

/** The bytes of the columns that a study has in any case: those of all tables, and its parameters. */
export function leastBytesOf({ submission, totalJobs, openRuns }: StudyHead): number {
  const { config } = decodeSubmission(submission).submission;
  return (totalJobs - openRuns) * (BYTES_OF_ROW + 8 * Object.keys(declaredDispersions(config)).length);
}

export interface ReadOptions {
  /** A study of more runs has rows as far as runs have ended. */
  whole?: number;
  /** The bytes of the other study of the question. */
  besideBytes?: number;
}

/**
 * Reads all runs of a study into a table.
 * @throws SimbatchError `answer-too-large` where it, or both studies of the question, would take too much memory
 */
export async function readStudy(
  head: StudyHead,
  next: NextRows,
  { whole = WHOLE_RUNS, besideBytes = 0 }: ReadOptions = {},
): Promise<KeptStudy> {
  const { batchId, version, totalJobs, mark, samplingScheme } = head;
  const { submission, seed, sampler, selection } = studyOf(head);
  const conditions = endingConditions(submission.config.early_termination);
  const isWhole = selection.indexOf(totalJobs - 1) === totalJobs - 1;
  // The columns of a large study grow with the runs that have ended.
  const grows = totalJobs > whole ? { grows: { from: totalJobs - head.openRuns } } : {};
  const builder = new RunTableBuilder({
    batchId,
    method: designMethod(submission),
    replicateRuns: replicateRunsOf(submission.config.monte_carlo),
    cells: tableCells(submission.config),
    runs: totalJobs,
    ...(isWhole ? {} : { runIdAt: (row: number) => selection.nth(row) }),
    ...grows,
    maxBytes: MAX_STUDY_BYTES,
    pairBytes: MAX_PAIR_BYTES - besideBytes,
    kept: declaredOutputs({ submission }),
  });
  const moves = new MoveTally();
  const incomplete = new IncompleteRuns(submission.config);
  let row = 0;
  const addUntouchedBefore = (end: number): void => {
    for (; head.isCancelled && row < end; row++) {
      moves.addUntouched();
      builder.add({ row, status: 'Cancelled', parameters: sampler.parameters(selection.nth(row)) });
    }
    row = end;
  };
  for await (const block of runBlocks(next)) {
    for (const run of block) {
      addUntouchedBefore(selection.indexFrom(run.runId));
      const job = run.job!;
      if (TERMINAL.has(job.value)) {
        builder.add({ row, ...recordOf(run, job, sampler, conditions) });
        addMoves(moves, job, head);
        if (run.result !== undefined) incomplete.add(run.result);
      }
      row++;
    }
  }
  if (head.isCancelled && totalJobs > whole) moves.addUntouched(builder.cancelAbsent());
  else addUntouchedBefore(totalJobs);
  const table = builder.build();
  const revision = head.amended?.judgement?.revision;
  const kept = { version, submission, seed, samplingScheme, totalJobs, revision, mark, incomplete };
  return { ...kept, ...rareOf(head), table, bytes: bytesOf(table), builder, moves };
}

/**
 * Brings a study to the version of the head, with the runs that have ended since its last reading. Returns false where these are
 * not all that the head counts; the study must then be read anew.
 */
export async function updateStudy(study: KeptStudy, head: StudyHead, next: NextRows): Promise<boolean> {
  // The columns have places for the runs of their reading.
  if (head.totalJobs !== study.totalJobs) return false;
  // Another judgement may name other outputs, whose columns are kept.
  if (head.amended?.judgement?.revision !== study.revision) return false;
  const { sampler, selection } = studyOf(head);
  const conditions = endingConditions(study.submission.config.early_termination);
  const records: RunRecord[] = [];
  const jobs: JobRecord[] = [];
  const results: (StoredResult | undefined)[] = [];
  for await (const block of runBlocks(next)) {
    for (const run of block) {
      const row = selection.indexOf(run.runId);
      const job = run.job!;
      if (row === undefined || !TERMINAL.has(job.value)) continue;
      records.push({ row, ...recordOf(run, job, sampler, conditions) });
      jobs.push(job);
      results.push(run.result);
    }
  }
  // The rows are added in one step: no answer may see a part of them.
  const { builder, moves, incomplete } = study;
  for (const [at, record] of records.entries()) {
    // A run that the last reading has seen is in the tally.
    if (builder.isOpen(record.row)) {
      addMoves(moves, jobs[at]!, head);
      if (results[at] !== undefined) incomplete.add(results[at]);
    }
    builder.add(record);
  }
  if (head.isCancelled) {
    for (const row of builder.openRows()) {
      moves.addUntouched();
      builder.add({ row, status: 'Cancelled', parameters: sampler.parameters(selection.nth(row)) });
    }
    moves.addUntouched(builder.cancelAbsent());
  }
  const table = builder.build();
  Object.assign(study, { table, bytes: bytesOf(table), version: head.version, mark: head.mark, ...rareOf(head) });
  return countClasses(table).open === head.openRuns;
}

/** Of a study of rare events: its rounds and its state. */
function rareOf(head: ReadingHead): Pick<Study, 'rare'> {
  const source = rareSourceOf(head);
  return source === undefined ? {} : { rare: { ...source, isOver: head.endedAtMs !== undefined } };
}

function addMoves(moves: MoveTally, job: JobRecord, { createdAtMs, timeLimitMs }: ReadingHead): void {
  const { value, ...context } = job;
  moves.add({ value, context: { ...INITIAL_HISTORY, ...context, timeLimitMs } }, createdAtMs);
}

const TERMINAL: ReadonlySet<string> = new Set(['Completed', 'Failed', 'Timeout', 'Cancelled']);

/** The submission with its seed, the runs that the batch holds, and the sampler of their parameters. */
export function studyOf({ submission: record, amended: judged, samplingScheme, totalJobs, rounds }: ReadingHead) {
  const { submission: submitted, seed } = decodeSubmission(record);
  const { config } = submitted;
  const submission = judged === undefined ? submitted : amended(submitted, judged);
  const selection = runsHeld(config, totalJobs);
  return { submission, seed, selection, sampler: studySampler(config, seed, samplingScheme, rounds?.rowOf) };
}

function recordOf(
  { runId, result }: StoredRun,
  job: JobRecord,
  sampler: Sampler,
  conditions: readonly TerminationCondition[],
): Omit<RunRecord, 'row'> {
  const reason = reasonOf(job);
  const message = job.error ?? result?.error_message ?? null;
  const isTerminated = reason === 'early_termination';
  const rule = isTerminated ? (result?.terminated_by ?? metCondition(message, conditions)) : undefined;
  const telemetryLost = conditions.length > 0 && (result?.telemetry?.lost ?? 0) > 0;
  return {
    status: job.value,
    reason,
    parameters: sampler.parameters(runId),
    errorMessage: message,
    ...(result === undefined ? {} : { outputs: outputsOf(result.metadata), executionSecs: executionSecsOf(result) }),
    ...(telemetryLost ? { telemetryLost } : {}),
    ...(result?.would_terminate === undefined ? {} : { wouldTerminate: true }),
    ...(job.reusedFrom === undefined ? {} : { isReused: true }),
    ...(rule === undefined ? {} : { terminatedBy: rule }),
  };
}

/** Returns the condition that ended a run whose runner reports none: named by the message, or the only condition of the study. */
export function metCondition(
  message: string | null,
  conditions: readonly TerminationCondition[],
): TerminationCondition | undefined {
  const named = conditions.find((it) => message?.includes(`${it.variable} ${it.condition} was met by `) === true);
  return named ?? (conditions.length === 1 ? conditions[0] : undefined);
}

/** The size of the columns; the dictionaries of texts are small beside them. */
function bytesOf(table: RunTable): number {
  const columns: ArrayBufferView[] = [
    table.classes,
    table.executionSecs,
    table.ruleCodes,
    table.patterns.codes,
    ...table.parameters.values(),
    ...table.outputs.values(),
    ...[...table.texts.values()].map((it) => it.codes),
  ];
  return columns.reduce((sum, it) => sum + it.byteLength, 0);
}
