/** Quantiles of an output with their intervals and, where runs have no value, their bounds. */
import type { NumberSeries } from '../numeric/statistics.ts';
import { type UnknownGroup, kthSmallest } from './censoring.ts';
import { quantileRanks } from './order-statistics.ts';

/** An end is null where the data do not bound that side. */
export type OpenInterval = [low: number | null, high: number | null];

export interface QuantileEstimate {
  p: number;
  /** Type 7 of Hyndman and Fan, over the runs that have a value. */
  value: number;
  /** By order statistics, for independent runs. */
  interval: OpenInterval;
  /**
   * The smallest and largest value that the quantile of all terminal runs can have, whatever the unknown values are
   * (Manski, Partial Identification of Probability Distributions, 2003). Null where every terminal run has a value.
   */
  bounds: OpenInterval | null;
}

/** The quantile p in [0, 1] of a series with at least one value. */
export function estimateQuantile(
  series: NumberSeries,
  unknown: readonly UnknownGroup[],
  p: number,
  confidence: number,
): QuantileEstimate {
  const sorted = series.sorted();
  const ranks = quantileRanks(sorted.length, p, confidence);
  const bounds = unknown.length === 0 ? null : quantileBounds(sorted, unknown, p);
  return {
    p,
    value: series.quantile(p),
    interval: [valueAt(sorted, ranks.lower), valueAt(sorted, ranks.upper)],
    bounds,
  };
}

/** The value of a rank from 1. */
export const valueAt = (sorted: Float64Array, rank: number | null): number | null =>
  rank === null ? null : (sorted[rank - 1] ?? null);

/** See `QuantileEstimate.bounds`; `sorted` and `unknown` together hold at least one run. */
export function quantileBounds(sorted: Float64Array, unknown: readonly UnknownGroup[], p: number): OpenInterval {
  const total = unknown.reduce((sum, it) => sum + it.count, sorted.length);
  // The allowance is for the rounding of p * total.
  const k = Math.max(1, Math.ceil(p * total - 1e-9));
  const lowest = unknown.map(({ low, count }) => ({ value: low, count }));
  const highest = unknown.map(({ high, count }) => ({ value: high, count }));
  return [finite(kthSmallest(sorted, lowest, k)), finite(kthSmallest(sorted, highest, k))];
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
