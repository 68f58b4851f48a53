/** Problems with known probabilities for the coverage of bounds of rare events, and the numbers that they are made of. */
import { normalTails } from '../../../src/base/distributions/normal.ts';

export interface Problem {
  name: string;
  /** The number of parameters: independent standard normals. */
  d: number;
  /** From 0 on it violates. `noise`: a standard normal of the run alone. */
  score: (z: Float64Array, noise: number) => number;
  /** The probability of a violation. */
  p: number;
}

/** P(Z > z). */
export function upper(z: number): number {
  const tails = { p: 0, q: 0 };
  normalTails(z, tails);
  return tails.q;
}

/** The probability of one of two independent events, or both. */
export const either = (a: number, b: number): number => 1 - (1 - a) * (1 - b);

export function sum(z: Float64Array, from = 0): number {
  let total = 0;
  for (let at = from; at < z.length; at++) total += z[at]!;
  return total;
}

/** The standard normal along (1, 1, ...). */
export const along = (z: Float64Array): number => sum(z) / Math.sqrt(z.length);

/** The standard normal along (1, -1, 1, -1, ...), of an even number of parameters independent of `along`. */
export const across = (z: Float64Array): number =>
  z.reduce((total, it, at) => total + (at % 2 === 0 ? it : -it), 0) / Math.sqrt(z.length);

export function squares(z: Float64Array): number {
  let total = 0;
  for (const it of z) total += it * it;
  return total;
}
