/** The asymptotic confidence sequence of the mean of values without bounds. */
import type { OpenInterval } from '../../outputs/quantiles.ts';
import { type Sequence, SequenceFault, checkedState } from './sequence.ts';

/** The number of values at which the sequence is the narrowest. */
const NARROWEST_AT = 500;
/** Fewer values have no interval. */
export const LEAST_VALUES = 100;

/** Settings that depend on the kind of values: single runs by default, means of whole replicates else. */
interface Looks {
  /** Fewer values have no interval. */
  least: number;
  /** The number of values at which the sequence is the narrowest. */
  narrowestAt: number;
  /** The values in words. */
  values: string;
}

/** A mean is looked at when n is above this number times the squared skewness. */
const COCHRAN = 25;

/**
 * m_t -/+ s_t sqrt(2 (t r2 + 1) / (t^2 r2) ln(sqrt(t r2 + 1) / alpha)), r2 = (-2 ln alpha + ln(1 - 2 ln alpha)) / T: an asymptotic confidence sequence, the narrowest at
 * about T values. It holds in the limit of many values: a study that stops after few of a skewed output may err more often. So it has no interval before 100
 * values, nor while their number is at most 25 times the squared skewness of these (Cochran, Sampling Techniques (1977), section 2.15): both delay the stop only.
 * Source: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Ann. Stat. 52 (2024) 2613, theorem 2.2 and section B.2.
 */
export class AsymptoticMeanSequence implements Sequence {
  readonly #logAlpha: number;
  readonly #rho2: number;
  readonly #least: number;
  readonly #values: string;
  #count = 0;
  #mean = 0;
  /** Sums of squares and of cubes of the distances from the mean. */
  #squares = 0;
  #cubes = 0;

  /** `state`: from `state()`. @throws RangeError when it is not one */
  constructor(
    confidence: number,
    state?: readonly number[],
    { least, narrowestAt, values }: Looks = { least: LEAST_VALUES, narrowestAt: NARROWEST_AT, values: 'values' },
  ) {
    this.#least = least;
    this.#values = values;
    this.#logAlpha = Math.log1p(-confidence);
    this.#rho2 = (-2 * this.#logAlpha + Math.log1p(-2 * this.#logAlpha)) / narrowestAt;
    if (state === undefined) return;
    [this.#count, this.#mean, this.#squares, this.#cubes] = checkedState(state, 4) as [number, number, number, number];
  }

  /** @throws SequenceFault for a value that is not known, and where sums leave the range of doubles */
  take(value: number): void {
    if (Number.isNaN(value))
      throw new SequenceFault('unknown-run', 'has no value, and a mean without bounds may then be any number');
    const n = ++this.#count;
    const delta = value - this.#mean;
    const step = delta / n;
    const square = delta * step * (n - 1);
    this.#mean += step;
    // Sums of powers are updated from the highest: each uses the lower ones of before (Pebay, SAND2008-6212).
    this.#cubes += square * step * (n - 2) - 3 * step * this.#squares;
    this.#squares += square;
    if (!Number.isFinite(this.#mean) || !Number.isFinite(this.#squares) || !Number.isFinite(this.#cubes))
      throw new SequenceFault('not-finite', `gives ${value}, with which the sums of powers leave the range of doubles`);
  }

  /** A value that is not known exactly is not known. */
  takeBetween(least: number, greatest: number): void {
    this.take(least === greatest ? least : Number.NaN);
  }

  value(): number | null {
    return this.#count === 0 ? null : this.#mean;
  }

  interval(): OpenInterval {
    const n = this.#count;
    if (this.reason() !== null) return [null, null];
    const t = n * this.#rho2 + 1;
    const factor = ((2 * t) / (n * n * this.#rho2)) * (0.5 * Math.log(t) - this.#logAlpha);
    const radius = Math.sqrt((this.#squares / n) * factor);
    return [this.#mean - radius, this.#mean + radius];
  }

  reason(): string | null {
    const n = this.#count;
    if (n < this.#least) return `an asymptotic interval needs at least ${this.#least} ${this.#values}`;
    if (this.#squares === 0) return 'no value differs from another, which says nothing about rare ones that do';
    const needed = COCHRAN * this.#squaredSkewness();
    if (n > needed) return null;
    return `the ${this.#values} are skewed: an asymptotic interval needs more than ${Math.floor(needed)} of them`;
  }

  /** 0 where no value differs. */
  #squaredSkewness(): number {
    const third = this.#cubes / this.#count;
    const variance = this.#squares / this.#count;
    const skewness = third / (variance * Math.sqrt(variance));
    return Number.isFinite(skewness) ? skewness * skewness : 0;
  }

  state(): number[] {
    return [this.#count, this.#mean, this.#squares, this.#cubes];
  }
}
