/** Tail probabilities and quantiles of Student's t distribution. */
import { betaTails, incompleteBetaInverse } from './beta.ts';

/** P(|T| > |t|), the two-sided p-value, for nu > 0 degrees of freedom, not necessarily an integer; relative error about 1e-13. */
export function studentTwoSided(t: number, nu: number): number {
  if (Number.isNaN(t)) return Number.NaN;
  if (!Number.isFinite(t)) return 0;
  // Divided before squaring, so that neither a large nor a small t leaves the range of a double.
  const ratio = t / Math.sqrt(nu);
  const square = ratio * ratio;
  return betaTails(1 / (1 + square), nu / 2, 0.5, Number.isFinite(square) ? square / (1 + square) : 1).lower;
}

/** The t with P(T <= t) = u, for u in [0, 1]; relative error about 1e-12. */
export function studentQuantile(u: number, nu: number): number {
  return u < 0.5 ? -studentUpperQuantile(u, nu) : studentUpperQuantile(1 - u, nu);
}

/** The t with P(T > t) = tail, for tail in [0, 1/2]. */
export function studentUpperQuantile(tail: number, nu: number): number {
  if (tail === 0) return Number.POSITIVE_INFINITY;
  // Whichever of the two shares is at most 1/2 has all its digits.
  const x = incompleteBetaInverse(2 * tail, nu / 2, 0.5);
  if (x <= 0.5) return Math.sqrt((nu * (1 - x)) / x);
  const y = incompleteBetaInverse(1 - 2 * tail, 0.5, nu / 2);
  return Math.sqrt((nu * y) / (1 - y));
}
