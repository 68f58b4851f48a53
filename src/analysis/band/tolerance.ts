/**
 * The tolerance band of whole curves: at the confidence, at least the share `coverage` of future runs stays inside at every point.
 * Runs with an even id give its shape, those with an odd id its size, by one score a run: so it is exact for independent runs of any
 * distribution, whatever the curves are. Sources: Wilks, Ann. Math. Stat. 12 (1941) 91, for the rank; Diquigiovanni, Fontana and
 * Vantini, J. Multivar. Anal. 189 (2022) 104879, for scores of curves by a modulated supremum of their distance from a centre.
 */
import { sortedQuantile } from '../numeric/quantile.ts';
import { toleranceRank } from '../outputs/order-statistics.ts';
import type { CurveColumn } from './columns.ts';
import { type CurveBlock, type CurveRuns, type ValuedRows, isEven } from './curves.ts';
import { type NoBand, emptyHalf, infiniteScores, noCentre, tooFewRuns } from './no-band.ts';

/** The band is given at a point where at least this share of the completed even runs has a value. */
const LEAST_PRESENT = 0.9;
/** A half-width is at least this share of the greatest one. */
const LEAST_WIDTH = 0.05;

export interface ToleranceRequest {
  /** The share of future runs that stay inside, in (0, 1). */
  coverage: number;
  /** In (0, 1). */
  confidence: number;
}

/** A tolerance band; NaN where it is not given. */
export interface ToleranceBand {
  lower: Float64Array;
  upper: Float64Array;
  /** The odd runs, unknown ones among them. */
  n: number;
  /** The rank of `score` among their scores, from 1. */
  rank: number;
  /** The multiple of the half-widths that the band has. */
  score: number;
}

/** A curve far from the centre. */
export interface OutlyingRun {
  /** Its row. */
  row: number;
  /** Its greatest distance from the centre, in half-widths; infinite where these are 0. */
  score: number;
}

/** The centre of curves and their spread to both sides, from the even runs. Takes the columns of a matrix in any order. */
export class CurveCentre {
  /** Medians; NaN where too few even runs have a value, or where the spread is infinite. */
  readonly median: Float64Array;
  readonly #below: Float64Array;
  readonly #above: Float64Array;
  /** How many completed even runs there are. */
  readonly runs: number;

  constructor({ runIds }: CurveRuns, points: number) {
    this.median = new Float64Array(points).fill(Number.NaN);
    this.#below = new Float64Array(points);
    this.#above = new Float64Array(points);
    this.runs = runIds.reduce((sum, it) => sum + Number(isEven(it)), 0);
  }

  take({ point, even }: CurveColumn): void {
    if (even.length === 0 || even.length < LEAST_PRESENT * this.runs) return;
    const median = sortedQuantile(even, 0.5);
    const below = median - sortedQuantile(even, 0.05);
    const above = sortedQuantile(even, 0.95) - median;
    if (!Number.isFinite(below) || !Number.isFinite(above)) return;
    this.median[point] = median;
    this.#below[point] = below;
    this.#above[point] = above;
  }

  /** Whether the even runs have a point at which the band can be given. */
  get isGiven(): boolean {
    return this.median.some((it) => !Number.isNaN(it));
  }

  /** The half-widths at each point, each at least 5 % of the greatest; 0 where all of them are 0. */
  halfWidths(): { below: Float64Array; above: Float64Array } {
    const greatest = [this.#below, this.#above].reduce((most, it) => it.reduce((a, b) => Math.max(a, b), most), 0);
    const least = LEAST_WIDTH * greatest;
    const widened = (widths: Float64Array): Float64Array => widths.map((it) => Math.max(it, least));
    return { below: widened(this.#below), above: widened(this.#above) };
  }
}

/** The score of each completed run: its greatest distance from the centre in half-widths. Takes the blocks of a matrix in any order. */
export class CurveScores {
  readonly #scores: Float64Array;
  readonly #runs: CurveRuns;
  readonly #valued: Uint8Array;
  readonly #median: Float64Array;
  readonly #widths: { below: Float64Array; above: Float64Array };

  constructor(runs: CurveRuns, valued: ValuedRows, centre: CurveCentre) {
    this.#runs = runs;
    this.#valued = valued.flags;
    this.#median = centre.median;
    this.#widths = centre.halfWidths();
    // A run whose values are all outside of the band's points stays inside the band; one without any value does not.
    this.#scores = Float64Array.from(valued.flags, (flag) => (flag === 1 ? 0 : Infinity));
  }

  take({ from, width, values }: CurveBlock): void {
    const { below, above } = this.#widths;
    const median = this.#median;
    for (let row = 0; row < this.#scores.length; row++) {
      let score = this.#scores[row]!;
      for (let at = 0; at < width; at++) {
        const point = from + at;
        // NaN, and neither above nor below, where the run has no value or the band is not given.
        const excess = values[row * width + at]! - median[point]!;
        const distance = excess > 0 ? excess / above[point]! : excess < 0 ? -excess / below[point]! : 0;
        if (distance > score) score = distance;
      }
      this.#scores[row] = score;
    }
  }

  /** Of all runs with an odd id, ascending. Infinite for unknown runs and for runs without any value. */
  odd(): Float64Array {
    const { runIds, unknown } = this.#runs;
    const known = this.#scores.filter((_, row) => !isEven(runIds[row]!));
    const scores = new Float64Array(known.length + unknown.odd).fill(Infinity);
    scores.set(known);
    return scores.sort();
  }

  /** The runs with the greatest scores among those that have a value, at most `most`; of equal scores the earlier run first. */
  outlying(most: number): OutlyingRun[] {
    const found: OutlyingRun[] = [];
    for (let row = 0; row < this.#scores.length; row++) {
      const score = this.#scores[row]!;
      if (this.#valued[row] === 0 || (found.length === most && score <= found.at(-1)!.score)) continue;
      const place = found.findIndex((it) => it.score < score);
      found.splice(place === -1 ? found.length : place, 0, { row, score });
      found.length = Math.min(found.length, most);
    }
    return found;
  }
}

/** The band by the scores of the odd runs, or why there is none. */
export function toleranceBand(
  runs: CurveRuns,
  centre: CurveCentre,
  scores: CurveScores,
  request: ToleranceRequest,
): ToleranceBand | NoBand {
  const odd = scores.odd();
  const n = odd.length;
  if (n === 0) return emptyHalf('odd', request);
  if (centre.runs + runs.unknown.even === 0) return emptyHalf('even', request);
  if (!centre.isGiven) return noCentre(centre.runs, request);
  const rank = toleranceRank(n, request.coverage, request.confidence);
  if (rank === null) return tooFewRuns(n, request);
  const score = odd[rank - 1]!;
  if (score === Infinity) return infiniteScores({ n, rank, infinite: n - odd.indexOf(Infinity) }, request);
  const { below, above } = centre.halfWidths();
  const side = (widths: Float64Array, sign: 1 | -1): Float64Array =>
    centre.median.map((median, point) => median + sign * score * widths[point]!);
  return { lower: side(below, -1), upper: side(above, 1), n, rank, score };
}
