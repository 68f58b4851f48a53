/**
 * The components of a proposal: each is a density g on the space of standard normals, known by its ratio h = g / phi to the nominal density
 * phi, and drawn from the random numbers of a run.
 */
import { gammaLaw } from '../../base/distributions/gamma.ts';
import { betaQuantile } from '../../base/distributions/beta.ts';
import { normalTails, standardNormalQuantile } from '../../base/distributions/normal.ts';
import { logBeta } from '../special/beta.ts';

/** A point of the space. */
export type Point = Float64Array;

/** The normals beyond a plane: e.z >= b. */
export interface HalfSpace {
  kind: 'half_space';
  /** A unit vector. */
  direction: Point;
  b: number;
}
/** The nominal density moved by b e. */
export interface Shift {
  kind: 'shift';
  direction: Point;
  b: number;
}
/**
 * Directions around e, power-spherical with concentration kappa, and the nominal radius beyond r (De Cao and Aziz 2020, arXiv 2006.04437):
 * all inverse functions are at hand. kappa = 0: a shell.
 */
export interface Cone {
  kind: 'cone';
  direction: Point;
  kappa: number;
  r: number;
}
export type Shape = HalfSpace | Shift | Cone;
/** A shape with its share of the proposal without the nominal part. */
export type Component = Shape & { weight: number };

export function dot(a: Point, b: Point): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!;
  return sum;
}

export const lengthOf = (z: Point): number => Math.sqrt(dot(z, z));

/** The least number; Infinity where there is none. A call of `Math.min` takes about 100,000 numbers, and a confirmation may have a million. */
export const leastOf = (numbers: readonly number[]): number =>
  numbers.reduce((least, it) => Math.min(least, it), Infinity);

/** P(Z > b). */
export function upperNormal(b: number): number {
  const tails = { p: 0, q: 0 };
  normalTails(b, tails);
  return tails.q;
}

/** The radius of `dimensions` standard normals: its upper tail, and the inverse of that. */
export function radiusLaw(dimensions: number): { tail(r: number): number; inverse(q: number): number } {
  const law = gammaLaw(dimensions / 2, 2);
  const tails = { p: 0, q: 0 };
  return {
    tail(r) {
      if (r <= 0) return 1;
      law.tails(r * r, tails);
      return tails.q;
    },
    inverse: (q) => (q >= 1 ? 0 : Math.sqrt(law.quantile(1 - q, q))),
  };
}

/** The ratio h of a shape as a function of a point and its length. */
export function ratioOf(shape: Shape, dimensions: number): (z: Point, length: number) => number {
  const ratio = ratioAlong(shape, dimensions);
  return (z, length) => ratio(dot(z, shape.direction), length);
}

/** The ratio h of a shape as a function of a point's coordinate along its direction, e.z, and the point's length. */
export function ratioAlong(shape: Shape, dimensions: number): (along: number, length: number) => number {
  if (shape.kind === 'half_space') {
    const inside = 1 / upperNormal(shape.b);
    return (along) => (along >= shape.b ? inside : 0);
  }
  if (shape.kind === 'shift') return (along) => Math.exp(shape.b * along - (shape.b * shape.b) / 2);
  const { kappa, r } = shape;
  const half = (dimensions - 1) / 2;
  const scale = Math.exp(logBeta(half, half) - logBeta(half + kappa, half)) / radiusLaw(dimensions).tail(r);
  return (along, length) => (length >= r ? scale * Math.max((1 + along / length) / 2, 0) ** kappa : 0);
}

/** Draws a point of a shape in place of the own normals of a run; `v`, `w`: its two uniforms. */
export function samplerOf(shape: Shape, dimensions: number): (z: Point, v: number, w: number) => void {
  const { direction } = shape;
  if (shape.kind === 'half_space') {
    const tail = upperNormal(shape.b);
    return (z, v) => addTo(z, direction, -standardNormalQuantile(v * tail) - dot(z, direction));
  }
  if (shape.kind === 'shift') return (z) => addTo(z, direction, shape.b);
  const half = (dimensions - 1) / 2;
  const inverse = betaQuantile(half, half + shape.kappa);
  const radius = radiusLaw(dimensions);
  const tail = radius.tail(shape.r);
  return (z, v, w) => {
    const y = inverse(v);
    addTo(z, direction, -dot(z, direction));
    const length = lengthOf(z);
    const size = radius.inverse(w * tail);
    const across = (2 * Math.sqrt(y * (1 - y)) * size) / length;
    const along = (1 - 2 * y) * size;
    for (let at = 0; at < z.length; at++) z[at] = along * direction[at]! + across * z[at]!;
  };
}

function addTo(z: Point, direction: Point, share: number): void {
  for (let at = 0; at < z.length; at++) z[at]! += share * direction[at]!;
}
