/** The unknown values of an output: how many runs have none, and the bounds that their termination rule gives. */
import type { MissingRule } from '../../contract/types.ts';
import { CLASS_CODES } from '../table/run-class.ts';
import {
  type RunTable,
  type TerminationRule,
  absentCancelled,
  outputColumn,
  statisticRows,
} from '../table/run-table.ts';

/** Runs without a value, of which it is known that the value lies in [low, high]. */
export interface UnknownGroup {
  low: number;
  high: number;
  count: number;
}

/** How the runs without a value are taken. */
export interface MissingOptions {
  /** The telemetry variable whose extreme the output reports; the output's own name when absent. */
  variable?: string;
  /** `any` when absent. */
  missing?: MissingRule;
}

/** Sorted values, counted from 1. */
export interface OrderedValues {
  readonly count: number;
  /** The k-th smallest, k from 1 to `count`. */
  at(k: number): number;
  /** How many are at most `value`. */
  countUpTo(value: number): number;
}

/** The classes of runs that ended for a reason beside the simulated system. */
const INCIDENTS: ReadonlySet<number> = new Set(
  (['crashed', 'timeout', 'lost'] as const).map((name) => CLASS_CODES[name]),
);

const UNBOUNDED = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const;
const FALSE_OR_TRUE = [0, 1] as const;

/**
 * Counts the terminal runs without a value of an output, row by row. A run that was ended by a rule on the variable whose extreme the
 * output reports is bounded by the rule's threshold; the others may have any value. `missing: at_random` leaves out the runs that crashed,
 * timed out or were lost.
 */
export class UnknownValues {
  /** The least and the greatest value that the output can have. */
  readonly range: readonly [number, number];
  readonly #table: RunTable;
  readonly #values: Float64Array | undefined;
  readonly #isAtRandom: boolean;
  readonly #groups: UnknownGroup[];

  constructor(table: RunTable, output: string, { variable = output, missing = 'any' }: MissingOptions = {}) {
    this.range = table.booleans.has(output) ? FALSE_OR_TRUE : UNBOUNDED;
    this.#table = table;
    this.#values = outputColumn(table, output);
    this.#isAtRandom = missing === 'at_random';
    this.#groups = table.rules.map((rule) => boundedBy(rule, variable, this.range));
  }

  /** Counts a row. Open runs, and those that have a value, change nothing. */
  take(row: number): void {
    const code = this.#table.classes[row]!;
    if (code === CLASS_CODES.open || (this.#isAtRandom && INCIDENTS.has(code))) return;
    if (code === CLASS_CODES.ok && !Number.isNaN(this.#values?.[row] ?? Number.NaN)) return;
    this.#groups[code === CLASS_CODES.terminated ? this.#table.ruleCodes[row]! : 0]!.count++;
  }

  /** Counts the cancelled runs after the rows, unless these came after the stop of a settled study. */
  takeAbsent(): void {
    if (this.#table.settledRows === undefined) this.#groups[0]!.count += absentCancelled(this.#table);
  }

  /** The groups so far that have a run. */
  groups(): UnknownGroup[] {
    return this.#groups.filter((it) => it.count > 0);
  }
}

/** The unknown values of the first `rows` runs. */
export function unknownValues(
  table: RunTable,
  output: string,
  options: MissingOptions = {},
  rows = statisticRows(table),
): UnknownValues {
  const unknown = new UnknownValues(table, output, options);
  for (let row = 0; row < rows; row++) unknown.take(row);
  if (rows === table.rows) unknown.takeAbsent();
  return unknown;
}

function boundedBy(
  rule: TerminationRule | undefined,
  variable: string,
  [low, high]: readonly [number, number],
): UnknownGroup {
  const group = { low, high, count: 0 };
  if (rule?.variable !== variable || rule.threshold === undefined) return group;
  if (rule.operator === '>' || rule.operator === '>=') group.low = Math.max(low, rule.threshold);
  if (rule.operator === '<' || rule.operator === '<=') group.high = Math.min(high, rule.threshold);
  return group;
}

/** The k-th smallest, k from 1, of values together with groups of equal ones. */
export function kthSmallest(
  values: OrderedValues,
  groups: readonly { value: number; count: number }[],
  k: number,
): number {
  let before = 0;
  for (const { value, count } of [...groups].sort((a, b) => a.value - b.value)) {
    // The value that is the k-th if it is not above the group.
    const rank = k - before;
    if (rank >= 1 && rank <= values.count) {
      const candidate = values.at(rank);
      if (candidate <= value) return candidate;
    }
    if (k <= values.countUpTo(value) + before + count) return value;
    before += count;
  }
  return values.at(k - before);
}

/** How many of these ascending values are at most `value`. */
export function countUpTo(sorted: Float64Array, value: number): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (sorted[middle]! <= value) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** An array in ascending order as `OrderedValues`. */
export const orderedArray = (sorted: Float64Array): OrderedValues => ({
  count: sorted.length,
  at: (k) => sorted[k - 1]!,
  countUpTo: (value) => countUpTo(sorted, value),
});
