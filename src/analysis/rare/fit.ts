/**
 * Fits the proposal to weighted violating points. Every other point gives directions, the others thresholds and weights, so that neither is
 * fitted to its own luck; the weights minimise a convex function.
 */
import { centresOf, nearestOf, normalised, weightedSum } from './centres.ts';
import {
  type Component,
  dot,
  leastOf,
  lengthOf,
  type Point,
  radiusLaw,
  ratioAlong,
  type Shape,
  upperNormal,
} from './component.ts';
import { Proposal } from './proposal.ts';
import { bestShares } from './shares.ts';

/** Numbers of centres that are tried. */
const CENTRES = [1, 2, 4, 8];
/** A threshold that is taken from a point includes the point, whatever the rounding. */
const WITHIN = 1 - 1e-9;
/** The wide cone has this many times the nominal probability of its tight one. */
const WIDE = 10;
/** The place of the shift beside a half-space, relative to its threshold. */
const SOFT = 0.75;
const LEAST_WEIGHT = 1e-3;
const SHELL_SHARE = 0.1;
const SOFT_SHARE = 0.1;
const MAX_CONCENTRATION = 1 - 1e-4;

/** Violating points in order, with their weights. */
export interface Violations {
  points: readonly Point[];
  weights: readonly number[];
}

interface Half {
  points: Point[];
  units: Point[];
  weights: number[];
  lengths: number[];
}

/** Returns the proposal; undefined where the points give no component. `slope`: a unit vector. */
export function fitProposal({ points, weights }: Violations, slope: Point | undefined): Proposal | undefined {
  const d = points[0]!.length;
  const halves = [0, 1].map((first): Half => {
    const own = points.flatMap((_, at) => (at % 2 === first ? [at] : []));
    const chosen = own.map((at) => points[at]!);
    const lengths = chosen.map(lengthOf);
    const units = chosen.map((z, at) => z.map((it) => it / lengths[at]!));
    return { points: chosen, units, weights: own.map((at) => weights[at]!), lengths };
  });
  const [forDirections, forWeights] = halves as [Half, Half];
  const found = shapesOf(forDirections, forWeights, slope, d);
  if (found.length === 0) return undefined;
  const { points: targets, lengths } = forWeights;
  const radii = lengths.toSorted((a, b) => a - b);
  const shells =
    d < 2 ? [] : [radii[0]!, radii[Math.floor((radii.length - 1) / 4)]!].map((r) => shellOf(d, r * WITHIN));
  const wide = found.map((it) => wideOf(it, d));
  const candidates: Shape[] = [...found, ...wide, ...shells];
  // Up to eight shapes share a direction.
  const directions = [...new Set(candidates.map((it) => it.direction))];
  const along = new Map(directions.map((it) => [it, Float64Array.from(targets, (z) => dot(z, it))]));
  const ratios = candidates.map((it) => {
    const ratio = ratioAlong(it, d);
    return along.get(it.direction)!.map((coordinate, at) => ratio(coordinate, lengths[at]!));
  });
  const shares = bestShares(ratios, forWeights.weights);
  const kept = candidates.flatMap((_, at) => (shares[at]! >= LEAST_WEIGHT ? [at] : []));
  const total = kept.reduce((sum, at) => sum + shares[at]!, 0);
  const components: Component[] = [];
  const least = Math.min(...halves.map((it) => leastOf(it.lengths)));
  if (d >= 2) components.push({ ...shellOf(d, least * WITHIN), weight: SHELL_SHARE });
  const rest = d >= 2 ? 1 - SHELL_SHARE : 1;
  for (const at of kept) {
    const share = rest * (shares[at]! / total);
    if (at >= found.length) components.push({ ...candidates[at]!, weight: share });
    else {
      components.push({ ...candidates[at]!, weight: (1 - SOFT_SHARE) * share });
      components.push({ ...wide[at]!, weight: SOFT_SHARE * share });
    }
  }
  return new Proposal(components, d);
}

/** The shapes that the points suggest: planes across the slope, and planes and cones around 1, 2, 4 and 8 centres. */
function shapesOf(a: Half, b: Half, slope: Point | undefined, d: number): Shape[] {
  const found: Shape[] = slope === undefined ? [] : planesOf(slope, b.points);
  for (const count of CENTRES) {
    if (count > a.units.length) break;
    const centres = centresOf(a.units, a.weights, count);
    const placesA = a.units.map((unit) => nearestOf(unit, centres));
    const placesB = b.units.map((unit) => nearestOf(unit, centres));
    for (let centre = 0; centre < count; centre++) {
      const ofA = placesOf(placesA, centre);
      const ofB = placesOf(placesB, centre);
      if (ofA.length < 2 || ofB.length === 0) continue;
      const weightsA = pick(a.weights, ofA);
      const across = normalised(weightedSum(pick(a.points, ofA), weightsA));
      if (across !== undefined) found.push(...planesOf(across, pick(b.points, ofB)));
      if (d < 2) continue;
      const direction = normalised(weightedSum(pick(a.units, ofA), weightsA)) ?? a.units[ofA[0]!]!;
      const weightsB = pick(b.weights, ofB);
      const sum = weightsB.reduce((all, it) => all + it, 0);
      const mean = pick(b.units, ofB).reduce((all, unit, at) => all + weightsB[at]! * dot(unit, direction), 0) / sum;
      const rho = Math.min(Math.max(mean, 0), MAX_CONCENTRATION);
      const r = leastOf(pick(b.lengths, ofB)) * WITHIN;
      found.push({ kind: 'cone', direction, kappa: ((d - 1) * rho) / (1 - rho), r });
    }
  }
  return found;
}

function placesOf(places: readonly number[], centre: number): number[] {
  return places.flatMap((place, at) => (place === centre ? [at] : []));
}

const pick = <T>(list: readonly T[], places: readonly number[]): T[] => places.map((at) => list[at]!);

/** Half-spaces at three levels of the points along a direction, and a shift. */
function planesOf(direction: Point, points: readonly Point[]): Shape[] {
  const along = points.map((z) => dot(z, direction)).sort((a, b) => a - b);
  const at = (level: number): number => along[Math.floor(level * (along.length - 1))]!;
  const shapes: Shape[] = [];
  for (const level of [0, 0.25, 0.5]) {
    const b = at(level) * WITHIN;
    if (b > 0 && upperNormal(b) > 0) shapes.push({ kind: 'half_space', direction, b });
  }
  if (at(0.25) > 0) shapes.push({ kind: 'shift', direction, b: at(0.25) });
  return shapes;
}

function shellOf(d: number, r: number): Shape {
  const direction = new Float64Array(d);
  direction[0] = 1;
  return { kind: 'cone', direction, kappa: 0, r };
}

/** The shape around another one: thinner, and reaching farther. */
function wideOf(shape: Shape, d: number): Shape {
  if (shape.kind !== 'cone') return { kind: 'shift', direction: shape.direction, b: SOFT * shape.b };
  const radius = radiusLaw(d);
  return { ...shape, kappa: shape.kappa / 2, r: radius.inverse(WIDE * radius.tail(shape.r)) };
}
