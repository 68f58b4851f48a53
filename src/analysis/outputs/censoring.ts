/** The unknown values of an output: how many runs have none, and the bounds that their termination rule gives. */
import { CLASS_CODES } from '../table/run-class.ts';
import type { RunTable, TerminationRule } from '../table/run-table.ts';

/** Runs without a value, of which it is known that the value lies in [low, high]. */
export interface UnknownGroup {
  low: number;
  high: number;
  count: number;
}

/**
 * The terminal runs without a value, together with `missing` completed ones. A run that was ended by a rule on `variable`, the
 * telemetry whose extreme the output reports, is bounded by the rule's threshold; the others may have any value. Of the first `rows` runs.
 */
export function unknownValues(table: RunTable, variable: string, missing: number, rows = table.rows): UnknownGroup[] {
  const groups = table.rules.map((rule) => ({ ...boundsOf(rule, variable), count: 0 }));
  const unbounded = groups[0]!;
  unbounded.count = missing;
  for (let row = 0; row < rows; row++) {
    const code = table.classes[row];
    if (code === CLASS_CODES.ok || code === CLASS_CODES.open) continue;
    const group = code === CLASS_CODES.terminated ? groups[table.ruleCodes[row]!]! : unbounded;
    group.count++;
  }
  return groups.filter((it) => it.count > 0);
}

function boundsOf(rule: TerminationRule | undefined, variable: string): { low: number; high: number } {
  const bounds = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
  if (rule?.variable !== variable || rule.threshold === undefined) return bounds;
  if (rule.operator === '>' || rule.operator === '>=') bounds.low = rule.threshold;
  if (rule.operator === '<' || rule.operator === '<=') bounds.high = rule.threshold;
  return bounds;
}

/** The k-th smallest, k from 1, of sorted values together with groups of equal ones. */
export function kthSmallest(
  sorted: Float64Array,
  groups: readonly { value: number; count: number }[],
  k: number,
): number {
  let before = 0;
  for (const { value, count } of [...groups].sort((a, b) => a.value - b.value)) {
    // The sorted value that is the k-th if it is not above the group.
    const candidate = sorted[k - before - 1];
    if (candidate !== undefined && candidate <= value) return candidate;
    if (k <= countUpTo(sorted, value) + before + count) return value;
    before += count;
  }
  return sorted[k - before - 1]!;
}

/** How many sorted values are at most `value`. */
function countUpTo(sorted: Float64Array, value: number): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (sorted[middle]! <= value) from = middle + 1;
    else to = middle;
  }
  return from;
}
