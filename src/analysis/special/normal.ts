/** Tail probabilities and quantiles of the standard normal distribution. */
import { standardNormalQuantile } from '../../base/distributions/normal.ts';

const ROOT_TWO_PI = Math.sqrt(2 * Math.PI);
/** From here on the continued fraction needs fewer terms than the series. */
const TAIL = 2.2;

/** P(Z <= z); relative error about 1e-15 in both tails, down to underflow near z = -38.5. */
export function normalCdf(z: number): number {
  return normalSf(-z);
}

/** P(Z > z), without cancellation. */
export function normalSf(z: number): number {
  if (Number.isNaN(z)) return Number.NaN;
  if (z < 0) return z < -40 ? 1 : 1 - normalSf(-z);
  if (z > 40) return 0;
  return z < TAIL ? 0.5 - density(z) * centralSeries(z) : density(z) * millsRatio(z);
}

/** 2 P(Z > |z|), the two-sided p-value. */
export function normalTwoSided(z: number): number {
  return 2 * normalSf(Math.abs(z));
}

/** The z with P(Z <= z) = u, for u in [0, 1]; relative error about 1e-16. */
export function normalQuantile(u: number): number {
  if (u === 0) return Number.NEGATIVE_INFINITY;
  return u === 1 ? Number.POSITIVE_INFINITY : standardNormalQuantile(u);
}

/** The density; z is split so that the rounding of z squared does not enter the exponent. */
function density(z: number): number {
  const high = Math.round(z * 1024) / 1024;
  return (Math.exp(-0.5 * high * high) * Math.exp(-0.5 * (z - high) * (z + high))) / ROOT_TWO_PI;
}

/** (P(Z <= z) - 1/2) / density: z + z^3/3 + z^5/15 + ..., all terms positive (Abramowitz and Stegun 26.2.11). */
function centralSeries(z: number): number {
  const square = z * z;
  let term = z;
  let sum = z;
  for (let odd = 3; term > sum * 1e-17; odd += 2) {
    term *= square / odd;
    sum += term;
  }
  return sum;
}

/** P(Z > z) / density by Laplace's continued fraction (Abramowitz and Stegun 26.2.14), from its tail. */
function millsRatio(z: number): number {
  const terms = Math.ceil(20 + 500 / (z * z));
  let rest = z;
  for (let k = terms; k >= 1; k--) rest = z + k / rest;
  return 1 / rest;
}
