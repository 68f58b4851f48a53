/** How many runs a precision takes, before any run. */
import { LIMITS } from '../../contract/limits.ts';
import type { BatchSubmission, Fault, SequenceMethod, SubmissionWarning } from '../../contract/types.ts';
import { plural } from '../../domain/plural.ts';
import { leastCount } from '../search.ts';
import { LEAST_VALUES } from './sequences/asymptotic-mean.ts';
import { replicateRunsOf } from '../../domain/sampling/replicates.ts';
import { BernoulliMixture } from './sequences/bernoulli-mixture.ts';
import { LARGEST_BET } from './sequences/bounded-mean.ts';
import { type ParsedPrecision, parsePrecision, quantityText } from './precision.ts';
import { REPLICATE_MEANS } from './sequences/replicate-means.ts';
import { ShareBets } from './sequences/share-bets.ts';
import { type QuantileCounts, quantileCounts } from './sequences/quantile.ts';

/** The study is looked at after each run (of a study of replicates: after each whole replicate) up to 1,000; of more, after the numbers of three digits and zeros: 1,010, 1,020, ..., 10,100. */
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
  /** Its confidence sequence; `asymptotic` is approximate. */
  method: SequenceMethod;
  /** No study reaches it with fewer runs. */
  runs_at_least: number;
  /** Every study whose runs all give a value reaches it with so many; null where no number is enough for all. */
  runs_at_most: number | null;
  /** Of a study of replicates: the replicates that `runs_at_least` are. */
  replicates_at_least?: number;
}

type Planned = Partial<Pick<BatchSubmission, 'policy' | 'config'>>;

/** The precisions of a study that stops at them. */
export function precisionsOf({ policy, config }: Planned): ParsedPrecision[] {
  if (policy?.stop_when !== 'precise') return [];
  const replicateRuns = config === undefined ? undefined : replicateRunsOf(config.monte_carlo);
  return (policy.precision ?? []).map((it) => parsePrecision(it, replicateRuns));
}

/** The numbers of runs of each precision. */
export const precisionPlans = (submission: Planned): PrecisionPlan[] =>
  precisionsOf(submission).map((it) => ({
    name: quantityText({ output: it.output, quantity: it.written, condition: it.condition }),
    method: it.method,
    runs_at_least: runsAtLeast(it),
    runs_at_most: runsAtMost(it),
    ...(it.replicateRuns === undefined ? {} : { replicates_at_least: observationsAtLeast(it) }),
  }));

/** The least number of runs with which the precision can be reached. */
export const runsAtLeast = (precision: ParsedPrecision): number =>
  Math.min(Number.MAX_SAFE_INTEGER, observationsAtLeast(precision) * (precision.replicateRuns ?? 1));

/**
 * The least number of runs, of a study of replicates of these, with which the precision can be reached. A probability: all runs alike. A bounded mean: no bet is above 1/2, so the radius after n
 * runs is at least 2 ln(2/alpha) / n of the range, of which the bounds may cut off one half. A quantile: both ranks exist. An asymptotic mean: the first look.
 * Of replicates, a probability is the mean of shares with the bounds 0 and 1, and a quantile takes bets that refute the values beyond all others.
 */
function observationsAtLeast(precision: ParsedPrecision): number {
  const { quantity, bounds, half_width: half, confidence, replicateRuns } = precision;
  if (replicateRuns !== undefined && quantity !== 'mean') {
    if (quantity === 'probability') return observationsAtLeast({ ...precision, quantity: 'mean', bounds: [0, 1] });
    const bets = new ShareBets(quantity.p, replicateRuns, confidence);
    const all = (n: number, k: number): Int32Array => new Int32Array(replicateRuns + 1).fill(n, k, k + 1);
    const areBounded = (n: number): boolean => bets.areTooLarge(all(n, replicateRuns)) && bets.areTooSmall(all(n, 0));
    return leastCount(areBounded) ?? Number.MAX_SAFE_INTEGER;
  }
  if (quantity === 'probability') return half === undefined ? 1 : nextLook(leastWithHalf(half, confidence, () => 0));
  if (quantity !== 'mean') {
    const counts = quantileCounts(quantity.p, confidence);
    return leastCount((n) => isBounded(counts, n)) ?? Number.MAX_SAFE_INTEGER;
  }
  if (bounds === undefined) return replicateRuns === undefined ? LEAST_VALUES : REPLICATE_MEANS.least;
  if (half === undefined) return 1;
  const width = half / (bounds[1] - bounds[0]);
  const least = Math.max(1, Math.ceil((Math.LN2 - Math.log1p(-confidence)) / (LARGEST_BET * 2 * width)));
  return replicateRuns === undefined ? least : nextLook(least);
}

function isBounded(counts: QuantileCounts, n: number): boolean {
  if (n === 0) return false;
  const [least, greatest] = counts.of(n);
  return least >= 1 && greatest < n;
}

/** The interval of a probability is the widest at 1/2. */
function runsAtMost({ quantity, half_width: half, confidence, replicateRuns }: ParsedPrecision): number | null {
  if (quantity !== 'probability' || half === undefined || replicateRuns !== undefined) return null;
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

/** The precisions that the runs of a study cannot reach; those of replicates are refused instead. */
export function precisionWarnings(submission: Planned, runs: number): SubmissionWarning[] {
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

/** The faults of a valid study of so many runs whose replicates are too few for its precisions. */
export function replicateCountFaults(submission: Planned, runs: number): Fault[] {
  const size = submission.config === undefined ? undefined : replicateRunsOf(submission.config.monte_carlo);
  if (size === undefined) return [];
  const replicates = Math.floor(runs / size);
  return precisionPlans(submission).flatMap(({ name, replicates_at_least: needed = 0 }) => {
    if (needed <= replicates) return [];
    const remedy =
      needed > LIMITS.replicates
        ? 'use monte_carlo, or a larger half-width'
        : `raise replicates to ${needed} or more (${needed * size} runs in replicates of ${size}), or make them smaller`;
    const detail = `is ${replicates}, too few for the precision of the ${name}, which takes at least ${needed}; ${remedy}`;
    return [{ pointer: '/config/monte_carlo/replicates', detail }];
  });
}
