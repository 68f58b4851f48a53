/** Statistics of curves at each point: quantiles with their intervals, mean, and the runs with the least and the greatest value. */
import { sortedQuantile } from '../numeric/quantile.ts';
import { type Ranks, quantileRanks } from '../outputs/order-statistics.ts';
import { type CurveBlock, type CurveRuns, gather } from './curves.ts';

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

/** Takes the blocks of a matrix in any order; the members are complete when all have been taken. Memory: some numbers a point. */
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
  readonly #rows: Uint32Array;
  readonly #unknown: number;
  readonly #buffer: Float64Array;
  readonly #ranks: (n: number) => Ranks[];

  constructor(runs: CurveRuns, points: number, { quantiles, confidence }: PointsRequest) {
    const missing = (): Float64Array => new Float64Array(points).fill(Number.NaN);
    const extreme = (): ExtremeCurve => ({ value: missing(), runIds: new Int32Array(points).fill(-1) });
    this.#runs = runs;
    this.#rows = Uint32Array.from(runs.runIds.keys());
    this.#unknown = runs.unknown.even + runs.unknown.odd;
    this.#buffer = new Float64Array(this.#rows.length);
    this.#ranks = ranksByCount(quantiles, confidence);
    this.n = new Uint32Array(points);
    this.ended = new Uint32Array(points).fill(this.#rows.length);
    this.mean = missing();
    this.quantiles = quantiles.map((p) => ({ p, value: missing(), lower: missing(), upper: missing() }));
    this.least = extreme();
    this.greatest = extreme();
  }

  take(block: CurveBlock): void {
    for (let at = 0; at < block.width; at++) {
      const count = gather(block, at, this.#rows, this.#buffer);
      const point = block.from + at;
      this.n[point] = count;
      this.ended[point] = this.#rows.length - count;
      if (count === 0) continue;
      const values = this.#buffer.subarray(0, count);
      this.mean[point] = meanOf(values);
      values.sort();
      this.#takeQuantiles(point, values);
      this.#takeExtremes(block, at, values);
    }
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

  #takeExtremes({ from, width, values }: CurveBlock, at: number, sorted: Float64Array): void {
    for (const [curve, value] of [
      [this.least, sorted[0]!],
      [this.greatest, sorted.at(-1)!],
    ] as const) {
      const row = this.#rows.find((it) => values[it * width + at] === value)!;
      curve.value[from + at] = value;
      curve.runIds[from + at] = this.#runs.runIds[row]!;
    }
  }
}

/** By Welford's update, which neither cancels far from zero nor overflows where the mean does not. */
function meanOf(values: Float64Array): number {
  let mean = 0;
  for (let i = 0; i < values.length; i++) {
    const delta = values[i]! - mean;
    mean += Number.isFinite(delta) ? delta / (i + 1) : values[i]! / (i + 1) - mean / (i + 1);
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
