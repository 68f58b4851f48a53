/** One-sided Clopper-Pearson bounds of a probability, and the numbers of runs that follow from them. */
import { incompleteBeta, incompleteBetaComplement, incompleteBetaInverse } from './beta.ts';
import { leastCount, leastWithin } from '../search.ts';

/** Tails closer to the level than this, relatively, are equal to it: rounding decides no verdict. */
const ROUNDING = 1e-13;

/**
 * The lower bound at this confidence of a probability with k successes in n trials. 0 when k is 0.
 * Source: Clopper and Pearson, Biometrika 26 (1934) 404.
 */
export function lowerBound(k: number, n: number, confidence: number): number {
  return k === 0 ? 0 : incompleteBetaInverse(1 - confidence, k, n - k + 1);
}

/** The upper bound, likewise. 1 when k is n. */
export function upperBound(k: number, n: number, confidence: number): number {
  return k === n ? 1 : incompleteBetaInverse(confidence, k + 1, n - k);
}

/** Whether the lower bound is at least `probability`. */
export function showsAtLeast(k: number, n: number, probability: number, confidence: number): boolean {
  return k > 0 && incompleteBeta(probability, k, n - k + 1) <= (1 - confidence) * (1 + ROUNDING);
}

/** Whether the upper bound is below `probability`. */
export function showsBelow(k: number, n: number, probability: number, confidence: number): boolean {
  return k < n && incompleteBetaComplement(probability, k + 1, n - k) < (1 - confidence) * (1 - ROUNDING);
}

/** The least number of further runs, all successes, after which the lower bound is at least `probability`; null beyond 2^50. */
export function moreCleanRuns(k: number, n: number, probability: number, confidence: number): number | null {
  return leastCount((m) => showsAtLeast(k + m, n + m, probability, confidence));
}

/** The largest number of failures in n runs with which the lower bound is at least `probability`; -1 where even none is too many. */
export function failuresAllowed(n: number, probability: number, confidence: number): number {
  return leastWithin(0, n, (failures) => !showsAtLeast(n - failures, n, probability, confidence)) - 1;
}
