/** The mean of an output with the interval that its sampling method allows. */
import { NumberSeries } from '../numeric/statistics.ts';
import { noSampleOf, type DesignMethod } from '../../domain/study/design-method.ts';
import { lowerBound, upperBound } from '../special/exact-bounds.ts';
import { studentUpperQuantile } from '../special/student.ts';

/** `t-conservative`: the t interval of one Latin hypercube, which can be many times too wide. `exact`: of the share of true values, by Clopper and Pearson. */
export type MeanMethod = 't' | 't-conservative' | 'replicates' | 'exact';

export interface MeanEstimate {
  /** Null without values. */
  mean: number | null;
  interval: [low: number, high: number] | null;
  method: MeanMethod | null;
  /** The reason for a missing interval. */
  reason: string | null;
}

/** The moments of a set of values; `sd` (n - 1) is undefined for fewer than two. */
export interface Moments {
  count: number;
  mean: number;
  sd: number | undefined;
}

const NO_TABLE_ERROR = 'the rows of a table are of unknown dependence: the mean has no error estimate';
const NO_SEQUENCE_ERROR = 'one quasi-Monte Carlo sequence has no error estimate: use replicates';

/**
 * The mean and its two-sided interval. `monte_carlo`: t with n - 1 degrees of freedom. The other methods with at least two
 * replicates: the mean of the replicates' means, t over these (McKay, Beckman and Conover 1979; Owen 1997). One Latin hypercube:
 * the t interval, which can be many times too wide. A table, and runs that are not a sample: no interval. One quasi-Monte Carlo sequence: no interval, since that of independent runs is 6 to 50 times too wide.
 * `isBoolean`: the values are 0 and 1, and so is the range of every interval; without replicates it is the exact one of a share, since
 * Student's has no width where all values are equal.
 */
export function estimateMean(
  method: DesignMethod,
  sample: Moments,
  replicateMeans: readonly number[],
  confidence: number,
  isBoolean = false,
): MeanEstimate {
  if (sample.count === 0) return { mean: null, interval: null, method: null, reason: 'no values' };
  const limit = noSampleOf(method);
  if (limit !== undefined)
    return { mean: sample.mean, interval: null, method: null, reason: `${limit.why}: the mean has no error estimate` };
  if (method === 'table') return { mean: sample.mean, interval: null, method: null, reason: NO_TABLE_ERROR };
  if (method !== 'monte_carlo' && replicateMeans.length >= 2) {
    const means = new NumberSeries();
    for (const mean of replicateMeans) means.add(mean);
    const around = studentInterval(means, confidence);
    const interval: MeanEstimate['interval'] =
      isBoolean && around !== null ? [Math.max(0, around[0]), Math.min(1, around[1])] : around;
    return { mean: means.mean, interval, method: 'replicates', reason: null };
  }
  const { mean } = sample;
  if (method === 'quasi_monte_carlo') return { mean, interval: null, method: null, reason: NO_SEQUENCE_ERROR };
  if (isBoolean) return { mean, interval: shareInterval(sample, confidence), method: 'exact', reason: null };
  const interval = studentInterval(sample, confidence);
  if (interval === null) return { mean, interval, method: null, reason: 'fewer than two values' };
  return { mean, interval, method: method === 'monte_carlo' ? 't' : 't-conservative', reason: null };
}

function studentInterval({ count, mean, sd }: Moments, confidence: number): [number, number] | null {
  if (sd === undefined) return null;
  const half = (studentUpperQuantile((1 - confidence) / 2, count - 1) * sd) / Math.sqrt(count);
  return [mean - half, mean + half];
}

function shareInterval({ count, mean }: Moments, confidence: number): [number, number] {
  const successes = Math.round(count * mean);
  const side = (1 + confidence) / 2;
  return [lowerBound(successes, count, side), upperBound(successes, count, side)];
}
