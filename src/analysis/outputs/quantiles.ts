/** Quantiles of an output with their intervals and, where runs have no value, their bounds. */
import { interpolate } from '../numeric/statistics.ts';
import { type OrderedValues, type UnknownValues, kthSmallest } from './censoring.ts';
import { quantileRanks } from './order-statistics.ts';

/** An end is null where the data do not bound that side. */
export type OpenInterval = [low: number | null, high: number | null];

export interface QuantileEstimate {
  p: number;
  /** Type 7 of Hyndman and Fan, over the runs that have a value. */
  value: number;
  /** The interval by order statistics of all terminal runs; its coverage holds whatever the unknown values are, for independent runs. */
  interval: OpenInterval;
  /**
   * The smallest and largest type 7 quantile of all terminal runs, whatever the unknown values are (Manski, Partial Identification of
   * Probability Distributions, 2003). Null where every terminal run has a value.
   */
  bounds: OpenInterval | null;
}

/** The quantile p in [0, 1] of at least one value. */
export function estimateQuantile(
  values: OrderedValues,
  unknown: UnknownValues,
  p: number,
  confidence: number,
): QuantileEstimate {
  return {
    p,
    value: typeSeven((k) => values.at(k), values.count, p),
    interval: quantileInterval(values, unknown, p, confidence),
    bounds: quantileBounds(values, unknown, p),
  };
}

/**
 * The distribution-free interval of the quantile by ranks of all runs: the unknown values are at the least they can be for the lower
 * end and at the greatest for the upper one.
 */
export function quantileInterval(
  values: OrderedValues,
  unknown: UnknownValues,
  p: number,
  confidence: number,
): OpenInterval {
  const { range } = unknown;
  const { total, lowest, highest } = extremes(values, unknown);
  const { lower, upper } = quantileRanks(total, p, confidence);
  return [finite(lower === null ? range[0] : lowest(lower)), finite(upper === null ? range[1] : highest(upper))];
}

/** See `QuantileEstimate.bounds`; at least one run. */
export function quantileBounds(values: OrderedValues, unknown: UnknownValues, p: number): OpenInterval | null {
  const { total, lowest, highest } = extremes(values, unknown);
  if (total === values.count) return null;
  return [finite(typeSeven(lowest, total, p)), finite(typeSeven(highest, total, p))];
}

/** The number of runs, and their k-th smallest value where the unknown ones are as low, and as high, as they can be. */
function extremes(values: OrderedValues, unknown: UnknownValues) {
  const groups = unknown.groups();
  const lows = groups.map(({ low, count }) => ({ value: low, count }));
  const highs = groups.map(({ high, count }) => ({ value: high, count }));
  return {
    total: groups.reduce((sum, it) => sum + it.count, values.count),
    lowest: (k: number) => kthSmallest(values, lows, k),
    highest: (k: number) => kthSmallest(values, highs, k),
  };
}

/** The quantile of type 7 over the k-th smallest values, which may be infinite. */
function typeSeven(at: (k: number) => number, total: number, p: number): number {
  const position = p * (total - 1);
  const below = Math.floor(position);
  const share = position - below;
  const low = at(below + 1);
  if (share === 0) return low;
  const high = at(below + 2);
  // The rounding of the product must give no weight to an infinite neighbour.
  if (share < ROUNDING && !Number.isFinite(high)) return low;
  if (share > 1 - ROUNDING && !Number.isFinite(low)) return high;
  return interpolate(low, high, share);
}

const ROUNDING = 1e-9;

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
