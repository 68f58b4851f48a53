/** A study as questions see it: its runs as columns, and as much of its submission as is known. */
import { closestMatch } from '../../base/text/closest-match.ts';
import type { BatchSubmission, JobResult, JobStatus } from '../../contract/types.ts';
import { describedOutputs } from '../../domain/runs/described-outputs.ts';
import { EXECUTION_SECS } from '../../domain/runs/outputs.ts';
import type { DrawnTelemetry, DrawOptions } from './drawn-telemetry.ts';
import type { RareSource } from '../../domain/study/rare-event/settings.ts';
import { CLASS_CODES } from './run-class.ts';
import { type RunTable, outputColumn, outputNames } from './run-table.ts';

export interface AnsweredStudy {
  table: RunTable;
  submission: Partial<Pick<BatchSubmission, 'config' | 'labels' | 'requirements' | 'outputs' | 'policy'>>;
  /** Absent where the records of the runs are not at hand. */
  moves?: Moves;
  /** The sampling definition in force when it was submitted; absent where it is not known. */
  samplingScheme?: string;
  /** Of a study of rare events: its rounds, and whether it takes no further one. */
  rare?: RareSource & { isOver: boolean };
  /** The studies that were submitted together, the first one first; absent where the question is about this one alone. */
  repeats?: readonly AnsweredStudy[];
  /** Reads the telemetry of a drawn sample of runs; absent where the runs have no files. */
  readTelemetry?: (options?: DrawOptions) => Promise<DrawnTelemetry>;
  /**
   * Reads a history at the points from `from` to before `to`: the values of these rows of the table, row after row; NaN where there is none.
   * Absent where the stored histories are not at hand.
   */
  readHistory?: (name: string, rows: readonly number[], points: { from: number; to: number }) => Promise<Float64Array>;
  /**
   * Reads the results of all runs, by run; undefined where their outputs have more characters than `most` as JSON.
   * Absent where the records of the runs are not at hand.
   */
  readResults?: (most: number) => Promise<ReadonlyMap<number, WholeResult> | undefined>;
}

/** The parts of a result that have no column: every output by its flat name, a JSON value, and the parameters that were looked up. */
export interface WholeResult extends Pick<JobResult, 'parameters_read'> {
  outputs: Record<string, unknown>;
}

/** The transitions that the runs have taken. */
export interface Moves {
  /** Numbers of moves by `from|event|to`. */
  readonly counts: ReadonlyMap<string, number>;
  /** Stays in a state of which the beginning and the end are recorded. */
  readonly stays: ReadonlyMap<JobStatus, { stays: number; totalMs: number; longestMs: number }>;
  /** Attempts that failed and were repeated, and the time for which they were running, in ms. */
  readonly repeated: { readonly attempts: number; readonly totalMs: number };
  /** Attempts that the records no longer have. */
  readonly omittedAttempts: number;
  /** The first and the last transition, in ms since the epoch. */
  readonly firstMs: number | undefined;
  readonly lastMs: number | undefined;
}

/** The telemetry of a drawn sample of the runs. @throws RangeError where the runs have no files */
export function drawnTelemetry({ readTelemetry }: AnsweredStudy, options?: DrawOptions): Promise<DrawnTelemetry> {
  if (readTelemetry === undefined)
    throw new RangeError('telemetry not read: a table of runs has no telemetry; ask the coordinator of the study');
  return readTelemetry(options);
}

/** The outputs that a study declares, requires or stops at, beside the execution time: known before a run has reported them. */
export function declaredOutputs({ submission }: { submission: Partial<BatchSubmission> }): Set<string> {
  const goals = [...(submission.requirements ?? []), ...(submission.policy?.precision ?? [])];
  const required = goals.flatMap((it) => it.output ?? []);
  return new Set([EXECUTION_SECS, ...Object.keys(describedOutputs(submission)), ...required]);
}

export const unitsOfOutputs = ({ submission }: AnsweredStudy): Map<string, string> =>
  new Map(Object.entries(describedOutputs(submission)).flatMap(([name, { units }]) => (units ? [[name, units]] : [])));

/**
 * Refuses an output that no run has reported, with the nearest name. While no run has completed, every name may still be
 * reported, and the answer says that there are no values.
 */
export function requireOutput(study: AnsweredStudy, name: string): void {
  const { table } = study;
  const names = new Set([...outputNames(table), ...declaredOutputs(study)]);
  if (names.has(name) || table.toCome?.some(({ isOf }) => isOf(name)) === true) return;
  if (table.texts.has(name)) {
    throw new RangeError(`output ${name} is text: it has no order; its values are in the summary`);
  }
  if (!table.classes.includes(CLASS_CODES.ok)) return;
  const nearest = closestMatch(name, [...names]);
  const remedy =
    nearest === undefined ? `give one of ${[...names].slice(0, 10).join(', ')}` : `did you mean "${nearest}"?`;
  throw new RangeError(`output not found: the study has no output "${name}"; ${remedy}`);
}

/** The outputs that the study declares first, as in its table of runs; the others in the order in which runs reported them. */
export function inDeclaredOrder({ table, submission }: AnsweredStudy): RunTable {
  const names = Object.keys(describedOutputs(submission));
  const ordered = <T>(columns: ReadonlyMap<string, T>): Map<string, T> =>
    new Map([...names.flatMap((name) => (columns.has(name) ? [[name, columns.get(name)!] as const] : [])), ...columns]);
  return { ...table, outputs: ordered(table.outputs), texts: ordered(table.texts) };
}

/** The table with a column for an output that no run has reported yet. */
export function withOutput(table: RunTable, name: string): RunTable {
  if (outputColumn(table, name) !== undefined) return table;
  return { ...table, outputs: new Map([...table.outputs, [name, new Float64Array(table.rows).fill(Number.NaN)]]) };
}
