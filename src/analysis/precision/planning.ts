/** How many runs a precision takes, before any run. */
import type { BatchSubmission, SubmissionWarning } from '../../contract/types.ts';
import { plural } from '../../domain/plural.ts';
import { leastCount } from '../search.ts';
import { LEAST_VALUES } from './sequences/asymptotic-mean.ts';
import { BernoulliMixture } from './sequences/bernoulli-mixture.ts';
import { LARGEST_BET } from './sequences/bounded-mean.ts';
import { type ParsedPrecision, parsePrecision, quantityText } from './precision.ts';
import { type QuantileCounts, quantileCounts } from './sequences/quantile.ts';

/** The study is looked at after each run up to 1,000; of more, after the numbers of three digits and zeros: 1,010, 1,020, ..., 10,100. */
const EVERY_RUN = 1000;

/** The distance from a number of runs to the next look. */
function stepAt(runs: number): number {
  let step = 1;
  while (runs >= EVERY_RUN * step) step *= 10;
  return step;
}

/** Whether the study is looked at after so many runs. */
export const isLook = (runs: number): boolean => runs > 0 && runs % stepAt(runs) === 0;

/** The first number of runs from this one on at which the study is looked at. */
const nextLook = (runs: number): number => Math.ceil(runs / stepAt(runs)) * stepAt(runs);

export interface PrecisionPlan {
  /** The precision in words. */
  name: string;
  /** No study reaches it with fewer runs. */
  runs_at_least: number;
  /** Every study whose runs all give a value reaches it with so many; null where no number is enough for all. */
  runs_at_most: number | null;
}

/** The precisions of a study that stops at them. */
export const precisionsOf = ({ policy }: Partial<Pick<BatchSubmission, 'policy'>>): ParsedPrecision[] =>
  policy?.stop_when === 'precise' ? (policy.precision ?? []).map((it) => parsePrecision(it)) : [];

/** The numbers of runs of each precision. */
export const precisionPlans = (submission: Pick<BatchSubmission, 'policy'>): PrecisionPlan[] =>
  precisionsOf(submission).map((it) => ({
    name: quantityText({ output: it.output, quantity: it.written, condition: it.condition }),
    runs_at_least: runsAtLeast(it),
    runs_at_most: runsAtMost(it),
  }));

/**
 * The least number of runs with which the precision can be reached. A probability: all runs alike. A bounded mean: no bet is above 1/2, so the radius after n
 * runs is at least 2 ln(2/alpha) / n of the range, of which the bounds may cut off one half. A quantile: both ranks exist. An asymptotic mean: the first look.
 */
export function runsAtLeast({ quantity, bounds, half_width: half, confidence }: ParsedPrecision): number {
  if (quantity === 'probability') return half === undefined ? 1 : nextLook(leastWithHalf(half, confidence, () => 0));
  if (quantity !== 'mean') {
    const counts = quantileCounts(quantity.p, confidence);
    return leastCount((n) => isBounded(counts, n)) ?? Number.MAX_SAFE_INTEGER;
  }
  if (bounds === undefined) return LEAST_VALUES;
  if (half === undefined) return 1;
  const width = half / (bounds[1] - bounds[0]);
  return Math.max(1, Math.ceil((Math.LN2 - Math.log1p(-confidence)) / (LARGEST_BET * 2 * width)));
}

function isBounded(counts: QuantileCounts, n: number): boolean {
  if (n === 0) return false;
  const [least, greatest] = counts.of(n);
  return least >= 1 && greatest < n;
}

/** The interval of a probability is the widest at 1/2. */
function runsAtMost({ quantity, half_width: half, confidence }: ParsedPrecision): number | null {
  if (quantity !== 'probability' || half === undefined) return null;
  return nextLook(leastWithHalf(half, confidence, (n) => Math.floor(n / 2)));
}

function leastWithHalf(half: number, confidence: number, successes: (n: number) => number): number {
  const mixture = new BernoulliMixture(0.5, 0.5, confidence);
  const least = leastCount((n) => {
    if (n === 0) return false;
    const [low, high] = mixture.interval(successes(n), n - successes(n), 0);
    return (high - low) / 2 <= half;
  });
  return least ?? Number.MAX_SAFE_INTEGER;
}

/** The precisions that the runs of a study cannot reach. */
export function precisionWarnings(submission: Pick<BatchSubmission, 'policy'>, runs: number): SubmissionWarning[] {
  return precisionPlans(submission).flatMap(({ name, runs_at_least: needed }, at) =>
    needed <= runs
      ? []
      : [
          {
            code: 'precision-cannot-be-reached',
            pointer: `/policy/precision/${at}`,
            detail: `${plural(runs, 'run')} cannot reach the precision of the ${name}: it takes at least ${needed}; raise the number of runs, or the half-width`,
          },
        ],
  );
}
