/** The running median of one variable along another. Pure. */

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
  const rows = Uint32Array.from(across.keys()).filter(
    (row) => isSelected(mask, row) && Number.isFinite(across[row]) && Number.isFinite(up[row]),
  );
  if (rows.length < 2 * LEAST) return [];
  rows.sort((a, b) => across[a]! - across[b]!);
  const width = Math.max(LEAST, Math.floor(rows.length / 10));
  const last = rows.length - width;
  return Array.from({ length: Math.min(POINTS, last + 1) }, (_, at) => {
    const from = Math.round((last * at) / Math.max(1, Math.min(POINTS, last + 1) - 1));
    const inside = rows.subarray(from, from + width);
    return [medianOf(across, inside), medianOf(up, inside), width];
  });
}

function medianOf(values: Float64Array, rows: Uint32Array): number {
  return sortedQuantile(Float64Array.from(rows, (row) => values[row]!).sort(), 0.5);
}
