/** The running median of one variable along another. Pure. */

import { takeRows } from '../../../../src/analysis/numeric/columns.ts';
import { ascendingOrder } from '../../../../src/analysis/numeric/order.ts';
import { sortedQuantile } from '../../../../src/analysis/numeric/quantile.ts';
import { isSelected } from '../../plots/variables.ts';

/** Least number of values in a window, and points of the course. */
const LEAST = 11;
const POINTS = 60;

/**
 * Returns points (across, median, width of the window) along the ascending values of `across`: medians of a tenth of the pairs, of 11 at least.
 * Empty for fewer than 22 pairs. `mask`: 1 for the rows that count; undefined: all.
 */
export function medianCourse(
  across: Float64Array,
  up: Float64Array,
  mask: Uint8Array | undefined,
): [across: number, median: number, width: number][] {
  const rows = ascendingOrder(across).filter(
    (row) => isSelected(mask, row) && Number.isFinite(across[row]) && Number.isFinite(up[row]),
  );
  if (rows.length < 2 * LEAST) return [];
  const width = Math.max(LEAST, Math.floor(rows.length / 10));
  const last = rows.length - width;
  const [xs, ys] = [takeRows(across, rows), takeRows(up, rows)];
  return Array.from({ length: Math.min(POINTS, last + 1) }, (_, at) => {
    const from = Math.round((last * at) / Math.max(1, Math.min(POINTS, last + 1) - 1));
    return [sortedQuantile(xs.subarray(from, from + width), 0.5), medianOf(ys.slice(from, from + width)), width];
  });
}

/** The median, by which the values are reordered: sixty windows of a tenth of all runs would take too long to sort. */
function medianOf(values: Float64Array): number {
  const middle = (values.length - 1) / 2;
  const lower = nth(values, Math.floor(middle));
  if (Number.isInteger(middle)) return lower;
  let upper = Infinity;
  for (let at = Math.ceil(middle); at < values.length; at += 1) if (values[at]! < upper) upper = values[at]!;
  return lower + (upper - lower) / 2;
}

/**
 * The value at the place `rank` of the ascending order; those before it are at most, those after it at least as great.
 * Source: Hoare, Algorithm 65: Find, Comm. ACM 4 (1961) 321.
 */
function nth(values: Float64Array, rank: number): number {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const pivot = values[(low + high) >>> 1]!;
    let [i, j] = [low, high];
    while (i <= j) {
      while (values[i]! < pivot) i += 1;
      while (values[j]! > pivot) j -= 1;
      if (i > j) break;
      const value = values[i]!;
      values[i] = values[j]!;
      values[j] = value;
      i += 1;
      j -= 1;
    }
    if (rank <= j) high = j;
    else if (rank >= i) low = i;
    else break;
  }
  return values[rank]!;
}
