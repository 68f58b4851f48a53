/** Tail probabilities and quantiles of the standard normal distribution, for arguments at the ends of their range too. */
import { normalTails, standardNormalQuantile } from '../../base/distributions/normal.ts';

/** 2 P(Z > |z|), the two-sided p-value; relative error about 1e-15, down to 1e-300. NaN for NaN. */
export function normalTwoSided(z: number): number {
  const tails = { p: 0, q: 0 };
  normalTails(Math.abs(z), tails);
  return 2 * tails.q;
}

/** The z with P(Z <= z) = u, for u in [0, 1]; relative error about 1e-16. */
export function normalQuantile(u: number): number {
  if (u === 0) return Number.NEGATIVE_INFINITY;
  return u === 1 ? Number.POSITIVE_INFINITY : standardNormalQuantile(u);
}
