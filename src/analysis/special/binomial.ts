/** Tail probabilities of the binomial distribution. */
import { incompleteBeta, incompleteBetaComplement } from './beta.ts';

/** P(B(n, q) <= k) for n >= 0 trials with success probability q in [0, 1]; any real k, rounded down. */
export function binomialCdf(k: number, n: number, q: number): number {
  const least = Math.floor(k);
  if (least < 0) return 0;
  if (least >= n) return 1;
  return incompleteBetaComplement(q, least + 1, n - least);
}

/** P(B(n, q) > k), without cancellation. */
export function binomialSf(k: number, n: number, q: number): number {
  const least = Math.floor(k);
  if (least < 0) return 1;
  if (least >= n) return 0;
  return incompleteBeta(q, least + 1, n - least);
}
