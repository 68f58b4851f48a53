/** Score intervals of one proportion and of the difference of two. */
import { normalQuantile } from '../special/normal.ts';

export type Range = [low: number, high: number];

/**
 * Wilson's two-sided score interval of a proportion, k of n >= 1; within [0, 1].
 * Source: Wilson, J. Am. Stat. Assoc. 22 (1927) 209.
 */
export function wilsonInterval(k: number, n: number, confidence: number): Range {
  const z = normalQuantile(0.5 + confidence / 2);
  // A confidence whose half is 0.5 as a double.
  if (z === Infinity) return [0, 1];
  const share = k / n;
  const scale = 1 + (z * z) / n;
  const middle = (share + (z * z) / (2 * n)) / scale;
  const half = (z / scale) * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n));
  // At the ends the exact bound is 0 or 1, which rounding would miss.
  return [k === 0 ? 0 : Math.max(0, middle - half), k === n ? 1 : Math.min(1, middle + half)];
}

/**
 * The hybrid score interval of the difference k2/n2 - k1/n1 of two independent proportions.
 * Source: Newcombe, Stat. Med. 17 (1998) 873, method 10.
 */
export function newcombeInterval(k1: number, n1: number, k2: number, n2: number, confidence: number): Range {
  const [p1, p2] = [k1 / n1, k2 / n2];
  const [low1, high1] = wilsonInterval(k1, n1, confidence);
  const [low2, high2] = wilsonInterval(k2, n2, confidence);
  const difference = p2 - p1;
  return [difference - Math.hypot(p2 - low2, high1 - p1), difference + Math.hypot(high2 - p2, p1 - low1)];
}
