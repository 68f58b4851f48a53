/** Intervals by the ranks of sorted values: of a quantile, and tolerance bounds. Ranks count from 1. */
import { leastWithin } from '../search.ts';
import { binomialCdf, binomialSf } from '../special/binomial.ts';

/** Tails closer to the level than this, relatively, are equal to it. */
const ROUNDING = 1e-13;

const atMost = (tail: number, level: number): boolean => tail <= level * (1 + ROUNDING);

/** Ranks of an interval's ends; null where no value bounds that side. */
export interface Ranks {
  lower: number | null;
  upper: number | null;
}

/**
 * The distribution-free two-sided interval [y_(lower), y_(upper)] of the quantile q in [0, 1] of n independent values; the coverage is
 * at least `confidence`. Source: David and Nagaraja, Order Statistics (2003), section 7.1.
 */
export function quantileRanks(n: number, q: number, confidence: number): Ranks {
  const level = (1 - confidence) / 2;
  const beyond = leastWithin(1, n, (r) => !atMost(binomialCdf(r - 1, n, q), level));
  const upper = leastWithin(1, n, (s) => atMost(binomialSf(s - 1, n, q), level));
  return { lower: beyond > 1 ? beyond - 1 : null, upper: upper <= n ? upper : null };
}

/** The rank of the upper tolerance bound with this content; null where n is too small. Source: Wilks, Ann. Math. Stat. 12 (1941) 91. */
export function toleranceRank(n: number, content: number, confidence: number): number | null {
  const rank = leastWithin(1, n, (s) => atMost(binomialSf(s - 1, n, content), 1 - confidence));
  return rank <= n ? rank : null;
}

/** The largest r for which the r-th and (n - r + 1)-th values enclose the content; null where n is too small. */
export function twoSidedToleranceRank(n: number, content: number, confidence: number): number | null {
  const most = Math.floor(n / 2);
  const beyond = leastWithin(1, most, (r) => !atMost(binomialSf(n - 2 * r, n, content), 1 - confidence));
  return beyond > 1 ? beyond - 1 : null;
}

/** The least n whose largest value is an upper tolerance bound: 59 for content 0.95 at confidence 0.95. */
export function toleranceRunsNeeded(content: number, confidence: number): number {
  const level = 1 - confidence;
  const near = Math.max(1, Math.floor(Math.log(level) / Math.log(content)) - 1);
  return leastWithin(near, near + 4, (n) => atMost(content ** n, level));
}
