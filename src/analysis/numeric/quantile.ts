/** Quantiles of values whose ascending order is known. */
import { interpolate } from './statistics.ts';

/**
 * The quantile for p in [0, 1] of the values in `order`, linear between order statistics and never beyond the two it lies between.
 * NaN without values. Source: type 7 of Hyndman and Fan, Am. Stat. 50 (1996) 361, as NumPy.
 */
export function orderedQuantile(values: Float64Array, order: Uint32Array, p: number): number {
  const n = order.length;
  if (n === 0) return Number.NaN;
  const position = p * (n - 1);
  const below = Math.floor(position);
  const low = values[order[below]!]!;
  const high = values[order[Math.min(below + 1, n - 1)]!]!;
  return interpolate(low, high, position - below);
}

/** The same quantile of values in ascending order, which may be infinite: NaN between minus and plus infinity, and without values. */
export function sortedQuantile(sorted: Float64Array, p: number): number {
  const n = sorted.length;
  if (n === 0) return Number.NaN;
  const position = p * (n - 1);
  const below = Math.floor(position);
  const share = position - below;
  const low = sorted[below]!;
  return share === 0 ? low : interpolate(low, sorted[below + 1]!, share);
}
