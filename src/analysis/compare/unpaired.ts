/** Two batches without common runs: distributions, means and passing fractions. */
import { ksDistance, twoSampleKsPValue } from '../groups/kolmogorov-smirnov.ts';
import { mannWhitney } from '../groups/mann-whitney.ts';
import { type Range, newcombeInterval } from '../groups/proportion.ts';
import { mean, sampleVariance } from '../numeric/correlation.ts';
import { ascendingOrder } from '../numeric/order.ts';
import { averageRanks } from '../numeric/ranks.ts';
import { studentQuantile } from '../special/student.ts';
import type { PassingDifference, UnpairedOutput } from './answer.ts';

/** The figures of one output; missing values are NaN. Differences are after minus before. */
export function unpairedOutput(
  name: string,
  before: Float64Array,
  after: Float64Array,
  confidence: number,
): Omit<UnpairedOutput, 'p_holm'> {
  const [first, second] = [before, after].map((it) => it.filter((value) => Number.isFinite(value)));
  const [n1, n2] = [first!.length, second!.length];
  const counts = { name, n_before: n1, n_after: n2 };
  if (n1 === 0 || n2 === 0) {
    const reason = `the ${n1 === 0 ? 'first' : 'second'} study has no run with the output`;
    return { ...counts, mean_difference: null, welch: null, ks_d: null, ks_p: null, mann_whitney_p: null, reason };
  }
  const values = new Float64Array(n1 + n2);
  values.set(second!);
  values.set(first!, n2);
  const isAfter = new Uint8Array(n1 + n2).fill(1, 0, n2);
  const order = ascendingOrder(values);
  const { ranks, tieSum } = averageRanks(values, order);
  let rankSum = 0;
  for (let i = 0; i < n2; i++) rankSum += ranks[i]!;
  const ks_d = ksDistance(values, order, isAfter, n2);
  return {
    ...counts,
    mean_difference: mean(second!) - mean(first!),
    welch: welchInterval(first!, second!, confidence),
    ks_d,
    ks_p: twoSampleKsPValue(ks_d, n2, n1),
    mann_whitney_p: mannWhitney(rankSum, n2, n1, tieSum).p,
    reason: Math.min(n1, n2) < 2 ? 'an interval of the difference of means needs 2 runs of each study' : null,
  };
}

/**
 * The t interval of mean(second) - mean(first) without equal variances; null below two values in either.
 * Source: Welch, Biometrika 34 (1947) 28.
 */
export function welchInterval(first: Float64Array, second: Float64Array, confidence: number): Range | null {
  const [n1, n2] = [first.length, second.length];
  if (n1 < 2 || n2 < 2) return null;
  const [v1, v2] = [sampleVariance(first) / n1, sampleVariance(second) / n2];
  const difference = mean(second) - mean(first);
  const variance = v1 + v2;
  if (variance === 0) return [difference, difference];
  // Variances are divided by their sum first, since the squares of small ones may underflow.
  const freedom = 1 / ((v1 / variance) ** 2 / (n1 - 1) + (v2 / variance) ** 2 / (n2 - 1));
  const half = studentQuantile(0.5 + confidence / 2, freedom) * Math.sqrt(variance);
  return [difference - half, difference + half];
}

/** The fractions of passing runs. A column has 0 for a passing run, 1 for a failing one, less for a run that was not judged. Null where a batch has no judged run. */
export function passingDifference(before: Int8Array, after: Int8Array, confidence: number): PassingDifference | null {
  const [first, second] = [before, after].map((it) => {
    const judged = it.filter((group) => group >= 0);
    return { n: judged.length, passing: judged.filter((group) => group === 0).length };
  });
  if (first!.n === 0 || second!.n === 0) return null;
  const shares = [first!.passing / first!.n, second!.passing / second!.n] as const;
  const newcombe = newcombeInterval(first!.passing, first!.n, second!.passing, second!.n, confidence);
  return { before: shares[0], after: shares[1], difference: shares[1] - shares[0], newcombe };
}
