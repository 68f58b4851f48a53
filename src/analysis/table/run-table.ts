/** The runs of a study as columns: the input of every statistic. Built by `RunTableBuilder`; read-only afterwards. */
import type { CommonParts } from '../../domain/runs/failure-groups.ts';
import type { ConditionOperator } from '../../base/expressions/comparison.ts';
import { EXECUTION_SECS } from '../../domain/runs/outputs.ts';
import type { StopRule } from '../../contract/types.ts';
import type { Cells } from '../../domain/scenarios/cells.ts';
import type { DesignMethod } from '../../domain/study/design-method.ts';
import { CLASS_CODES, RUN_CLASSES, type RunClass } from './run-class.ts';

/** Text values as codes: `codes[row]` is the place in `values`; place 0 means no value. */
export interface TextColumn {
  codes: Uint16Array;
  values: readonly string[];
}

/** The scenarios of a table. */
export interface TableCells {
  readonly cells: Cells;
  /** The axes whose levels are numbers of an interval, of inputs that are unknown and not random. */
  readonly epistemic?: readonly string[];
  /** How the runs of one cell were chosen. */
  readonly method: DesignMethod;
}

/** The early-termination rule that ended a run. `operator` and `threshold` are absent where the condition is not readable. */
export interface TerminationRule {
  variable: string;
  condition: string;
  operator?: ConditionOperator;
  /** The threshold, in the units of the variable. */
  threshold?: number;
}

/** Outputs of an extraction that has not ended. `isOpen`: 1 where the extraction has the run of the row, and has not computed it. */
export interface OutputsToCome {
  readonly isOf: (output: string) => boolean;
  readonly isOpen: Uint8Array;
}

/**
 * One row a run, in ascending order of (replicate, run id). About 12 bytes a row, and 8 for each numeric column and 2 for each
 * text column. NaN is a missing number. The outputs of a terminated run are partial: they depend on the moment of its end.
 */
export interface RunTable {
  readonly batchId: string;
  readonly method: DesignMethod;
  /** The runs in the table, open ones included. */
  readonly rows: number;
  /** The runs after those of the rows, none of which has a record. */
  readonly absent?: {
    readonly runs: number;
    readonly class: 'open' | 'cancelled';
    /** The run of a place after the rows, where the batch selects runs. */
    readonly runIdAt?: ((row: number) => number) | undefined;
  };
  /** The scenarios of the study; absent: none. */
  readonly cells?: TableCells;
  /** Number of first rows that statistics use, where the study stopped by itself at the last of them; absent: all rows. */
  readonly settledRows?: number;
  /** The rule by which it stopped there. */
  readonly stoppedBy?: StopRule;
  /** Absent: row i is run i. */
  readonly runIds?: Uint32Array;
  /** Absent: one design, no replicates of other batches. */
  readonly replicates?: Uint16Array;
  /** The runs of each replicate of a study that has several: run i is in replicate floor(i / these). */
  readonly replicateRuns?: number;
  /** The batch of each row, where rows are from more than one batch. */
  readonly batches?: TextColumn;
  /** Places in `RUN_CLASSES`. */
  readonly classes: Uint8Array;
  /** 1 where telemetry was lost while a termination rule was active, so that the rule may have missed its moment. */
  readonly telemetryLost?: Uint8Array;
  /** 1 where a rule in shadow would have ended the run. */
  readonly wouldTerminate?: Uint8Array;
  /** 1 where a run was not executed: it has the result of another one. */
  readonly reused?: Uint8Array;
  readonly parameters: ReadonlyMap<string, Float64Array>;
  /** Numbers, and booleans as 0 and 1; values that are not finite are NaN. */
  readonly outputs: ReadonlyMap<string, Float64Array>;
  /** The outputs whose every value is a boolean. */
  readonly booleans: ReadonlySet<string>;
  readonly texts: ReadonlyMap<string, TextColumn>;
  /** Execution time of each run, in seconds; NaN without one. */
  readonly executionSecs: Float64Array;
  /** The normalised message of each failure. */
  readonly patterns: TextColumn;
  /** The parts that messages have in common, by failure pattern. */
  readonly commonParts: ReadonlyMap<string, CommonParts>;
  /** `rules[ruleCodes[row]]` ended the run of the row; place 0 means none. */
  readonly ruleCodes: Uint16Array;
  readonly rules: readonly (TerminationRule | undefined)[];
  /** Absent: no extraction of the study runs. */
  readonly toCome?: readonly OutputsToCome[];
  /** Outputs that are not in the table because there are too many. */
  readonly omittedOutputs: readonly string[];
}

/** The values of an output in row order; `execution_secs` among them unless the simulation reports its own. */
export function outputColumn(table: RunTable, name: string): Float64Array | undefined {
  return table.outputs.get(name) ?? (name === EXECUTION_SECS ? table.executionSecs : undefined);
}

/** The names that `outputColumn` takes. */
export function outputNames(table: RunTable): string[] {
  return [...new Set([...table.outputs.keys(), EXECUTION_SECS])];
}

export const runIdOf = (table: RunTable, row: number): number => table.runIds?.[row] ?? row;

/** The replicate of each row; undefined for runs of one design. */
export function replicateReader(table: RunTable): ((row: number) => number) | undefined {
  const { replicates, replicateRuns } = table;
  if (replicateRuns !== undefined) return (row) => Math.floor(runIdOf(table, row) / replicateRuns);
  return replicates === undefined ? undefined : (row) => replicates[row]!;
}

/** The batch that holds the run of this row. */
export const batchOf = (table: RunTable, row: number): string => {
  const code = table.batches?.codes[row] ?? 0;
  return code === 0 ? table.batchId : table.batches!.values[code]!;
};

export const classOf = (table: RunTable, row: number): RunClass => RUN_CLASSES[table.classes[row]!]!;

/** All runs of the study. */
export const runsOf = ({ rows, absent }: RunTable): number => rows + (absent?.runs ?? 0);

/** The runs after the rows that are terminal, so that each counts as unknown; 0 where they are open. */
export const absentCancelled = ({ absent }: RunTable): number => (absent?.class === 'cancelled' ? absent.runs : 0);

/** How many of the first runs are terminal without a gap: the rows of `completePrefix`, and the runs after the rows where all are terminal. */
export function prefixRuns(table: RunTable): number {
  const rows = completePrefix(table);
  return rows === table.rows ? rows + absentCancelled(table) : rows;
}

/** How many of the first rows are terminal without a gap. Whatever is decided while runs are open is decided on these alone. */
export function completePrefix({ classes, rows }: RunTable): number {
  const first = classes.indexOf(CLASS_CODES.open);
  return first === -1 ? rows : first;
}

/** The rows whose statistics are given. */
export const statisticRows = ({ settledRows, rows }: RunTable): number => settledRows ?? rows;

/** How many runs have the result of another run and were not executed. */
export const countReused = ({ reused }: RunTable): number => reused?.reduce((sum, flag) => sum + flag, 0) ?? 0;

export type ClassCounts = Record<RunClass, number>;

/** How many of the first `runs` runs are in each class; of all runs when absent. */
export function countClasses(table: RunTable, runs = runsOf(table)): ClassCounts {
  const { classes, rows, absent } = table;
  const counts = new Uint32Array(RUN_CLASSES.length);
  const end = Math.min(runs, rows);
  for (let row = 0; row < end; row++) counts[classes[row]!]!++;
  if (absent !== undefined) counts[CLASS_CODES[absent.class]]! += runs - end;
  return Object.fromEntries(RUN_CLASSES.map((name, code) => [name, counts[code]!])) as ClassCounts;
}
