/** Estimates with their intervals as people read them: the mean with its half-width, a quantile with its one bracket. Pure. */
import type { StudySummary } from '../../contract/types.ts';
import type { OpenInterval, QuantileEstimate } from './quantiles.ts';

type Output = StudySummary['outputs'][number];

/** A quantile is shown with at least these digits, and more where its interval is narrow beside it. */
const LEAST_DIGITS = 4;
/** Decimal digits that every double keeps. */
const MOST_DIGITS = 15;

/** The signs of an end that the runs do not bound. */
export type Infinities = readonly [low: string, high: string];
const ASCII: Infinities = ['-inf', 'inf'];

/** `6551 ± 73`; a share, whose interval is not symmetric, as `0.987 [0.953, 0.998]`. `-` without a mean. */
export function meanText(mean: number | null, interval: readonly [number, number] | null): string {
  if (mean === null) return '-';
  if (interval === null) return rounded(mean, decimalsOf([mean]));
  const [low, high] = interval;
  const half = (high - low) / 2;
  if (!(half > 0)) return rounded(mean, decimalsOf([mean]));
  const isSymmetric = Math.abs(mean - low - half) <= 1e-6 * half;
  if (!isSymmetric) return [rounded(mean, decimalsOf([mean, low, high])), rangeText(interval)].join(' ');
  const decimals = Math.max(0, 1 - exponentOf(half));
  return `${rounded(mean, decimals)} ± ${rounded(half, decimals)}`;
}

/**
 * The parts of `5800 [4648, 6091]`, without the interval where neither end is bounded. Where the threshold of a rule excludes the value of the survivors, the bound alone: `> 10.09`; its
 * interval is beside it only where it says more than the bound.
 */
export function quantileParts(
  { value, interval, bounds }: Pick<QuantileEstimate, 'value' | 'interval' | 'bounds'>,
  infinities: Infinities = ASCII,
): [value: string] | [value: string, interval: string] {
  const [low, high] = bounds ?? [null, null];
  const isExcluded = (low !== null && value < low) || (high !== null && value > high);
  const decimals = decimalsOf([...(isExcluded ? [low, high] : [value]), ...interval]);
  const bracket = rangeText(interval, infinities, decimals);
  if (!isExcluded) return isUnbounded(interval) ? [rounded(value, decimals)] : [rounded(value, decimals), bracket];
  const ends = [...new Set([low, high].flatMap((it) => (it === null ? [] : [rounded(it, decimals)])))];
  if (low !== null && high !== null) return isUnbounded(interval) ? [ends.join(' to ')] : [ends.join(' to '), bracket];
  const bound = `${low === null ? '<' : '>'} ${ends[0]}`;
  const saysNoMore = (interval[0] === low && interval[1] === high) || isUnbounded(interval);
  return saysNoMore ? [bound] : [bound, bracket];
}

/** The parts of the quantile p of an output; undefined where p was not asked for. */
export function quantileOf(
  { quantiles }: Pick<Output, 'quantiles'>,
  p: number,
  infinities: Infinities = ASCII,
): string[] | undefined {
  const found = quantiles.find((it) => it.p === p);
  return found === undefined ? undefined : quantileParts(found, infinities);
}

const isUnbounded = ([low, high]: readonly [number | null, number | null]): boolean => low === null && high === null;

/** Returns a range as text: `[4648, 6091]`. */
export function rangeText(
  interval: Readonly<OpenInterval>,
  infinities: Infinities = ASCII,
  decimals = decimalsOf(interval),
): string {
  const ends = interval.map((it, side) => (it === null ? infinities[side] : rounded(it, decimals)));
  return `[${ends.join(', ')}]`;
}

/** Explains the brackets and the half-widths of a table of statistics, or says why there are none; undefined without outputs. */
export function intervalNote(outputs: readonly Output[]): string | undefined {
  const [first] = outputs;
  if (first === undefined) return undefined;
  const quantiles = outputs.flatMap((it) => it.quantiles);
  const level = `${Number((100 * first.tolerance.confidence).toPrecision(10))} %`;
  if (quantiles.every((it) => isUnbounded(it.interval))) {
    if (first.mean_interval === null)
      return first.mean_reason === null ? undefined : `no intervals: ${first.mean_reason}`;
    const meaning = `±: ${level} interval of the mean`;
    return quantiles.length === 0 ? meaning : `${meaning}; quantiles have none: too few values`;
  }
  const meaning = `[ ]: ${level} interval of the quantile of all runs`;
  return quantiles.some(({ bounds }) => bounds !== null)
    ? `${meaning}, whatever the values of the runs without one are; mean (± ${level}), sd, min and max are of the values alone`
    : `${meaning}; ±: ${level} interval of the mean`;
}

const exponentOf = (value: number): number => Math.floor(Math.log10(Math.abs(value)));

/** Decimals that show four digits of the largest number, and two of the smallest distance between different ones. */
function decimalsOf(numbers: readonly (number | null)[]): number {
  const finite = numbers.filter((it) => it !== null && Number.isFinite(it)) as number[];
  const largest = Math.max(...finite.map(Math.abs));
  if (!(largest > 0)) return 0;
  const spread = Math.max(...finite) - Math.min(...finite);
  const digits = spread > 0 ? exponentOf(largest) - exponentOf(spread) + 2 : 0;
  return Math.min(Math.max(digits, LEAST_DIGITS), MOST_DIGITS) - 1 - exponentOf(largest);
}

/** Integers below 10^15 keep all of their digits; trailing zeros are dropped. */
function rounded(value: number, decimals: number): string {
  // Beyond, `toFixed` has no decimals to give, or no digits.
  const isFixed = Math.abs(value) < 1e15 && decimals <= 100;
  return String(Number(isFixed ? value.toFixed(Math.max(decimals, 0)) : value.toPrecision(LEAST_DIGITS)) + 0);
}
