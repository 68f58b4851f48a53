/** The bins of a histogram: how many there are, and the limits that a long tail does not move. Pure. */

const MOST_BINS = 40;
const LEAST_BINS = 5;
/** Values that the limits are estimated from; more would cost a sort of the whole column. */
const MOST_SORTED = 10_000;
/** Tukey's outer fences: values further out than this many interquartile ranges are in no bin. */
const FENCE = 3;

/** The number of bins for so many values by Rice's rule, twice the cube root, from 5 to 40. */
export const binCount = (values: number): number =>
  Math.min(MOST_BINS, Math.max(LEAST_BINS, Math.ceil(2 * Math.cbrt(values))));

/** Step between the values from which the limits are estimated: 1 for few values, more for many. */
export const sampleStep = (values: number): number => Math.max(1, Math.floor(values / MOST_SORTED));

/**
 * The extremes, or the outer fences where these are further in.
 * @param sample at least one value, each `sampleStep`-th; sorted in place.
 */
export function binLimits(sample: Float64Array, min: number, max: number): [from: number, to: number] {
  sample.sort();
  const last = sample.length - 1;
  const low = sample[Math.floor(last * 0.25)]!;
  const high = sample[Math.ceil(last * 0.75)]!;
  const reach = FENCE * (high - low);
  return reach === 0 ? [min, max] : [Math.max(min, low - reach), Math.min(max, high + reach)];
}
