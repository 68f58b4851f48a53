/** The direction in which the score rises: that of the least-squares plane through the latest runs. */
import { normalised } from './centres.ts';
import type { Point } from './component.ts';

/** Fewer finite scores than this beyond the number of coordinates have no plane. */
const SPARE_RUNS = 10;
/** Added to the diagonal, relative to its mean: coordinates that hardly vary have no steep slope by chance. */
const RIDGE = 1e-6;

/** The runs of a round. */
interface Runs {
  points: readonly Point[];
  scores: Float64Array;
}

/** The latest runs of a study, as many as the slope takes. */
export class RecentRuns {
  readonly #size: number;
  readonly #rounds: Runs[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  /** Keeps as many of the latest rounds as the slope needs. */
  keep(round: Runs): void {
    this.#rounds.push(round);
    let later = this.#rounds.reduce((sum, it) => sum + it.scores.length, 0) - this.#rounds[0]!.scores.length;
    while (later >= this.#size) {
      this.#rounds.shift();
      later -= this.#rounds[0]!.scores.length;
    }
  }

  slope(): Point | undefined {
    const points: Point[] = [];
    const scores: number[] = [];
    for (const round of this.#rounds.toReversed()) {
      const left = this.#size - points.length;
      if (left <= 0) break;
      points.unshift(...round.points.slice(-left));
      scores.unshift(...round.scores.slice(-left));
    }
    return slopeOf(points, scores);
  }
}

/** The direction of the slope as a unit vector; undefined where there is none. Runs without a finite score are left out. */
export function slopeOf(points: readonly Point[], scores: ArrayLike<number>): Point | undefined {
  const kept = points.flatMap((_, at) => (Number.isFinite(scores[at]!) ? [at] : []));
  const d = points[0]?.length ?? 0;
  if (kept.length < d + SPARE_RUNS) return undefined;
  const mean = new Float64Array(d);
  let meanScore = 0;
  for (const at of kept) {
    meanScore += scores[at]! / kept.length;
    for (let i = 0; i < d; i++) mean[i]! += points[at]![i]! / kept.length;
  }
  const matrix = Array.from({ length: d }, () => new Float64Array(d));
  const right = new Float64Array(d);
  const centred = new Float64Array(d);
  for (const at of kept) {
    for (let i = 0; i < d; i++) centred[i] = points[at]![i]! - mean[i]!;
    for (let i = 0; i < d; i++) {
      const row = matrix[i]!;
      const factor = centred[i]!;
      right[i]! += factor * (scores[at]! - meanScore);
      for (let j = 0; j <= i; j++) row[j]! += factor * centred[j]!;
    }
  }
  const trace = matrix.reduce((sum, row, i) => sum + row[i]!, 0);
  for (let i = 0; i < d; i++) matrix[i]![i]! += (RIDGE * trace) / d;
  return solve(matrix, right) ? normalised(right) : undefined;
}

/** Solves a positive definite system in place, from its lower triangle (Cholesky). False where it is not positive definite. */
function solve(matrix: readonly Float64Array[], right: Float64Array): boolean {
  const d = right.length;
  for (let i = 0; i < d; i++) {
    const row = matrix[i]!;
    for (let j = 0; j <= i; j++) {
      const other = matrix[j]!;
      let sum = row[j]!;
      for (let k = 0; k < j; k++) sum -= row[k]! * other[k]!;
      if (j < i) row[j] = sum / other[j]!;
      else if (sum > 0) row[i] = Math.sqrt(sum);
      else return false;
    }
  }
  for (let i = 0; i < d; i++) {
    for (let k = 0; k < i; k++) right[i]! -= matrix[i]![k]! * right[k]!;
    right[i]! /= matrix[i]![i]!;
  }
  for (let i = d - 1; i >= 0; i--) {
    for (let k = i + 1; k < d; k++) right[i]! -= matrix[k]![i]! * right[k]!;
    right[i]! /= matrix[i]![i]!;
  }
  return true;
}
