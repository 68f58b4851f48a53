/** Centres of directions: spherical k-means, farthest first and then Lloyd's steps. No randomness; ties go to the first. */
import { dot, lengthOf, type Point } from './component.ts';

const LLOYD_STEPS = 10;
/** A sum shorter than this share of its weights has no direction. */
const LEAST_LENGTH = 1e-12;

/** The place of the centre with the greatest scalar product. */
export function nearestOf(unit: Point, centres: readonly Point[]): number {
  let best = 0;
  let greatest = -Infinity;
  for (const [place, centre] of centres.entries()) {
    const product = dot(unit, centre);
    if (product > greatest) [best, greatest] = [place, product];
  }
  return best;
}

/** The weighted sum of points. */
export function weightedSum(points: readonly Point[], weights: readonly number[]): Point {
  const sum = new Float64Array(points[0]!.length);
  for (const [index, point] of points.entries())
    for (let at = 0; at < sum.length; at++) sum[at]! += weights[index]! * point[at]!;
  return sum;
}

/** A vector with length 1 in its direction; undefined where it is not longer than `least`. */
export function normalised(z: Point, least = 0): Point | undefined {
  const length = lengthOf(z);
  return length > least ? z.map((it) => it / length) : undefined;
}

/** So many centres of unit vectors. */
export function centresOf(units: readonly Point[], weights: readonly number[], count: number): Point[] {
  const total = weights.reduce((sum, it) => sum + it, 0);
  const centres = [normalised(weightedSum(units, weights), LEAST_LENGTH * total) ?? units[0]!];
  const nearest = units.map((unit) => dot(unit, centres[0]!));
  while (centres.length < count) {
    let far = 0;
    for (const [index, product] of nearest.entries()) if (product < nearest[far]!) far = index;
    const centre = units[far]!;
    centres.push(centre);
    for (const [index, unit] of units.entries()) nearest[index] = Math.max(nearest[index]!, dot(unit, centre));
  }
  for (let step = 0; step < LLOYD_STEPS; step++) {
    const members: number[][] = centres.map(() => []);
    for (const [index, unit] of units.entries()) members[nearestOf(unit, centres)]!.push(index);
    for (const [place, own] of members.entries()) {
      if (own.length === 0) continue;
      const ownWeights = own.map((index) => weights[index]!);
      const sum = weightedSum(
        own.map((index) => units[index]!),
        ownWeights,
      );
      const least = LEAST_LENGTH * ownWeights.reduce((all, it) => all + it, 0);
      centres[place] = normalised(sum, least) ?? centres[place]!;
    }
  }
  return centres;
}
