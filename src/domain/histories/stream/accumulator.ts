/** Greatest, least, mean and the other values that a derived output takes from the samples of one variable, in one pass. Pure. */
import { CompensatedSum } from './compensated-sum.ts';
import type { Judge } from './judge.ts';

/**
 * Takes samples where a condition holds. Integral and mean are by the trapezoid over pairs of neighbouring samples that both count.
 */
export class Accumulator {
  /** Samples that counted. */
  count = 0;
  /** Pairs of neighbouring samples that both counted. */
  pairs = 0;
  first = NaN;
  last = NaN;
  max = -Infinity;
  min = Infinity;
  /** Times of the first greatest and of the first least sample. */
  maxTime = NaN;
  minTime = NaN;
  readonly #area = new CompensatedSum();
  readonly #span = new CompensatedSum();
  readonly #judge: Judge | undefined;
  #hasCounted = false;
  #time = NaN;
  #value = NaN;

  /** @param judge of the condition, which is up to date when a sample is taken; undefined: every sample counts */
  constructor(judge: Judge | undefined) {
    this.#judge = judge;
  }

  get integral(): number {
    return this.#area.value;
  }

  /** NaN without two neighbouring samples that count. */
  get mean(): number {
    return this.#area.value / this.#span.value;
  }

  take(time: number, value: number): void {
    const counts = this.#judge === undefined || this.#judge.holds;
    if (counts) this.#count(time, value);
    this.#hasCounted = counts;
    this.#time = time;
    this.#value = value;
  }

  #count(time: number, value: number): void {
    if (this.count === 0) this.first = value;
    this.count++;
    this.last = value;
    if (value > this.max || this.count === 1) [this.max, this.maxTime] = [value, time];
    if (value < this.min || this.count === 1) [this.min, this.minTime] = [value, time];
    if (!this.#hasCounted) return;
    this.pairs++;
    const step = time - this.#time;
    this.#area.add(step * ((this.#value + value) / 2));
    this.#span.add(step);
  }
}

/** When a variable was last outside of a band, ends included. */
export class OutsideBand {
  /** Seconds from the first sample to the last one outside; 0: none is outside. NaN: no sample. */
  last = NaN;
  /** The last sample is outside. */
  isOutside = false;
  readonly #low: number;
  readonly #high: number;
  #firstTime = NaN;

  constructor([low, high]: readonly [number, number]) {
    this.#low = low;
    this.#high = high;
  }

  take(time: number, value: number): void {
    if (Number.isNaN(this.#firstTime)) [this.#firstTime, this.last] = [time, 0];
    this.isOutside = value < this.#low || value > this.#high;
    if (this.isOutside) this.last = time - this.#firstTime;
  }
}
