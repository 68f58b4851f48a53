/** The Mann-Whitney test of two groups of numbers, by normal approximation with ties and continuity. */
import { normalTwoSided } from '../special/normal.ts';

export interface MannWhitney {
  /** The chance that a value of the first group exceeds one of the second, ties counting half: U / (n1 n2), in [0, 1]. */
  auc: number;
  /** Two-sided p-value. */
  p: number;
}

/**
 * The test from the sum of the first group's average ranks among all n1 + n2 values; `tieSum` is the sum of t^3 - t over ties.
 * All values equal give AUC 1/2 and p = 1.
 * Source: Mann and Whitney, Ann. Math. Stat. 18 (1947) 50; ties and continuity as in Lehmann, Nonparametrics (1975), 1.4.
 */
export function mannWhitney(rankSum: number, n1: number, n2: number, tieSum: number): MannWhitney {
  const n = n1 + n2;
  const u = rankSum - (n1 * (n1 + 1)) / 2;
  const distance = Math.abs(u - (n1 * n2) / 2);
  const variance = ((n1 * n2) / 12) * (n + 1 - tieSum / (n * (n - 1)));
  const p = variance > 0 ? Math.min(1, normalTwoSided(Math.max(0, distance - 0.5) / Math.sqrt(variance))) : 1;
  return { auc: u / (n1 * n2), p };
}
