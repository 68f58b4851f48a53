/** Two batches with the same parameters in the same runs: differences run by run. */
import type { Range } from '../groups/proportion.ts';
import { takeRows } from '../numeric/columns.ts';
import { mean, sampleVariance } from '../numeric/correlation.ts';
import { ascendingOrder } from '../numeric/order.ts';
import { averageRanks } from '../numeric/ranks.ts';
import { binomialCdf } from '../special/binomial.ts';
import { normalTwoSided } from '../special/normal.ts';
import { studentQuantile } from '../special/student.ts';
import type { Flips, PairedOutput } from './answer.ts';

const MOST_LARGEST = 10;

/** The paired figures of one output; `before`, `after` and `runIds` by pair, NaN where a value is missing. */
export function pairedOutput(
  name: string,
  runIds: Uint32Array,
  before: Float64Array,
  after: Float64Array,
  confidence: number,
): Omit<PairedOutput, 'p_holm'> {
  const both = runIds
    .map((_, pair) => pair)
    .filter((pair) => Number.isFinite(before[pair]) && Number.isFinite(after[pair]));
  const earlier = takeRows(before, both);
  const differences = takeRows(after, both).map((value, i) => value - earlier[i]!);
  const sizes = differences.map((it) => Math.abs(it));
  const order = ascendingOrder(sizes);
  const identical = both.reduce((sum, pair) => sum + Number(Object.is(before[pair], after[pair])), 0);
  const average = both.length === 0 ? null : mean(differences);
  const p = wilcoxonPValue(differences, sizes, order);
  return {
    name,
    pairs: both.length,
    identical,
    mean_difference: average,
    interval: average === null ? null : meanInterval(average, sampleVariance(differences), both.length, confidence),
    wilcoxon_p: p,
    largest: largestPairs(sizes, order).map((it) => {
      const pair = both[it]!;
      return { run_id: runIds[pair]!, before: before[pair]!, after: after[pair]! };
    }),
    reason: reasonForNull(both.length, p),
  };
}

function reasonForNull(pairs: number, p: number | null): string | null {
  if (pairs === 0) return 'no pair has the output in both studies';
  if (pairs === 1) return 'one pair has the output in both studies, an interval needs 2';
  return p === null ? 'no pair differs, so there is nothing to rank' : null;
}

/** The t interval of a mean from the sample variance; null below two values. */
function meanInterval(average: number, variance: number, n: number, confidence: number): Range | null {
  if (n < 2) return null;
  const half = studentQuantile(0.5 + confidence / 2, n - 1) * Math.sqrt(variance / n);
  return [average - half, average + half];
}

/**
 * The two-sided p-value of Wilcoxon's signed-rank test, from the sizes of the differences and their order: zeros dropped, average ranks, normal approximation with tie correction and
 * without continuity correction. Null where no difference is left.
 * Source: Wilcoxon, Biometrics Bull. 1 (1945) 80; the ties' correction as in Lehmann, Nonparametrics (1975), 3.2.
 */
function wilcoxonPValue(differences: Float64Array, sizes: Float64Array, order: Uint32Array): number | null {
  const zeros = order.findIndex((pair) => sizes[pair]! > 0);
  if (zeros === -1) return null;
  const { ranks, tieSum } = averageRanks(sizes, order.subarray(zeros));
  const n = order.length - zeros;
  let positive = 0;
  for (let i = 0; i < ranks.length; i++) if (differences[i]! > 0) positive += ranks[i]!;
  const variance = (n * (n + 1) * (2 * n + 1)) / 24 - tieSum / 48;
  return normalTwoSided((positive - (n * (n + 1)) / 4) / Math.sqrt(variance));
}

/** The places of the largest differences in size, largest first; of equal ones the first. Zeros are not among them. */
function largestPairs(sizes: Float64Array, order: Uint32Array): number[] {
  const places: number[] = [];
  for (let end = order.length; end > 0 && places.length < MOST_LARGEST;) {
    const size = sizes[order[end - 1]!]!;
    if (size === 0) break;
    let start = end;
    while (start > 0 && sizes[order[start - 1]!] === size) start--;
    places.push(...order.subarray(start, Math.min(end, start + MOST_LARGEST - places.length)));
    end = start;
  }
  return places;
}

/**
 * The pass/fail table of the pairs that are in a group in both studies, and McNemar's exact test: twice the lower binomial
 * tail of the discordant pairs, at most 1.
 * Source: McNemar, Psychometrika 12 (1947) 153, exact as in Agresti, Categorical Data Analysis (2002), 10.1.
 */
export function flips(runIds: Uint32Array, failingBefore: Int8Array, failingAfter: Int8Array): Flips {
  const broke: number[] = [];
  const mended: number[] = [];
  let passed = 0;
  let failed = 0;
  runIds.forEach((runId, pair) => {
    const [before, after] = [failingBefore[pair]!, failingAfter[pair]!];
    if (before < 0 || after < 0) return;
    if (before < after) broke.push(runId);
    else if (before > after) mended.push(runId);
    else if (before === 0) passed++;
    else failed++;
  });
  const discordant = broke.length + mended.length;
  const p = Math.min(1, 2 * binomialCdf(Math.min(broke.length, mended.length), discordant, 0.5));
  return { broke, mended, passed_both: passed, failed_both: failed, mcnemar_p: discordant === 0 ? 1 : p };
}
