/** Statistics of curves at each point: quantiles with their intervals, mean, and the runs with the least and the greatest value. */
import { sortedQuantile } from '../numeric/quantile.ts';
import { type Ranks, quantileRanks } from '../outputs/order-statistics.ts';
import type { CurveColumn } from './columns.ts';
import type { CurveRuns } from './curves.ts';

export interface PointsRequest {
  /** Shares in [0, 1]. */
  quantiles: readonly number[];
  /** Confidence of the intervals, in (0, 1). */
  confidence: number;
}

/** One quantile along the points; NaN where no run has a value, or where the data do not bound that side of the interval. */
export interface QuantileCurve {
  p: number;
  /** Type 7 of Hyndman and Fan, over the runs that have a value. */
  value: Float64Array;
  /** Ends of the interval by order statistics, in which each unknown run may have any value. */
  lower: Float64Array;
  upper: Float64Array;
}

/** The extreme value at each point and its run, the earlier one of several; NaN and -1 without a value. */
export interface ExtremeCurve {
  value: Float64Array;
  runIds: Int32Array;
}

/** Takes the columns of a matrix in any order; the members are complete when all have been taken. Memory: some numbers a point. */
export class PointStatistics {
  /** Completed runs that have a value. */
  readonly n: Uint32Array;
  /** Completed runs that have none there: they had ended, or not begun. */
  readonly ended: Uint32Array;
  readonly mean: Float64Array;
  readonly quantiles: readonly QuantileCurve[];
  readonly least: ExtremeCurve;
  readonly greatest: ExtremeCurve;
  readonly #runs: CurveRuns;
  readonly #unknown: number;
  readonly #ranks: (n: number) => Ranks[];

  constructor(runs: CurveRuns, points: number, { quantiles, confidence }: PointsRequest) {
    const missing = (): Float64Array => new Float64Array(points).fill(Number.NaN);
    const extreme = (): ExtremeCurve => ({ value: missing(), runIds: new Int32Array(points).fill(-1) });
    this.#runs = runs;
    this.#unknown = runs.unknown.even + runs.unknown.odd;
    this.#ranks = ranksByCount(quantiles, confidence);
    this.n = new Uint32Array(points);
    this.ended = new Uint32Array(points).fill(runs.runIds.length);
    this.mean = missing();
    this.quantiles = quantiles.map((p) => ({ p, value: missing(), lower: missing(), upper: missing() }));
    this.least = extreme();
    this.greatest = extreme();
  }

  take({ point, values, sorted }: CurveColumn): void {
    this.n[point] = sorted.length;
    this.ended[point] = values.length - sorted.length;
    if (sorted.length === 0) return;
    this.mean[point] = meanOf(values);
    this.#takeQuantiles(point, sorted);
    this.#takeExtremes(point, values, sorted);
  }

  #takeQuantiles(point: number, sorted: Float64Array): void {
    const ranks = this.#ranks(sorted.length + this.#unknown);
    for (const [index, it] of this.quantiles.entries()) {
      const { lower, upper } = ranks[index]!;
      it.value[point] = sortedQuantile(sorted, it.p);
      // Each unknown run is below every value for the lower end, and above for the upper one.
      it.lower[point] = lower === null ? Number.NaN : (sorted[lower - this.#unknown - 1] ?? Number.NaN);
      it.upper[point] = upper === null ? Number.NaN : (sorted[upper - 1] ?? Number.NaN);
    }
  }

  #takeExtremes(point: number, values: Float64Array, sorted: Float64Array): void {
    for (const [curve, value] of [
      [this.least, sorted[0]!],
      [this.greatest, sorted.at(-1)!],
    ] as const) {
      curve.value[point] = value;
      curve.runIds[point] = this.#runs.runIds[values.indexOf(value)]!;
    }
  }
}

/** Of those that are not NaN, by Welford's update, which neither cancels far from zero nor overflows where the mean does not. */
function meanOf(values: Float64Array): number {
  let [mean, n] = [0, 0];
  for (let row = 0; row < values.length; row++) {
    const value = values[row]!;
    if (Number.isNaN(value)) continue;
    n++;
    const delta = value - mean;
    mean += Number.isFinite(delta) ? delta / n : value / n - mean / n;
  }
  return mean;
}

/** The ranks of the intervals among n runs, computed once for each n: points of equal n are the usual case. */
function ranksByCount(quantiles: readonly number[], confidence: number): (n: number) => Ranks[] {
  const known = new Map<number, Ranks[]>();
  return (n) => {
    let ranks = known.get(n);
    if (ranks === undefined) {
      ranks = quantiles.map((p) => quantileRanks(n, p, confidence));
      known.set(n, ranks);
    }
    return ranks;
  };
}
