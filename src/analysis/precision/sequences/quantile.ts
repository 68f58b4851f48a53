/** The confidence sequence of a quantile. */
import { interpolate } from '../../numeric/statistics.ts';
import type { OpenInterval } from '../../outputs/quantiles.ts';
import { plural } from '../../../domain/plural.ts';
import { BernoulliMixture } from './bernoulli-mixture.ts';
import type { Sequence } from './sequence.ts';
import { SortedValues } from './sorted-values.ts';

/** The sum of the parameters of the mixture: its intervals are the narrowest at about 500 runs. */
export const QUANTILE_WEIGHT = 60;

/** The mixture of the test of a quantile p: how many of n runs may lie below it. */
export const quantileMixture = (p: number, confidence: number): BernoulliMixture =>
  new BernoulliMixture(QUANTILE_WEIGHT * p, QUANTILE_WEIGHT * (1 - p), confidence);

/**
 * The quantile p in (0, 1) by the sequence of the distribution function at it: of n independent runs the number that lies at or below it is binomial (n, p),
 * and the beta mixture with a = 60 p, b = 60 (1 - p) says which numbers r..s are possible at all n at once. So [y_(r), y_(s+1)] holds the quantile,
 * for every distribution. Runs whose value is not known are at minus infinity for the lower end and at plus infinity for the upper one.
 * Source: Howard and Ramdas, Bernoulli 28 (2022) 1704, theorem 1.
 */
export class QuantileSequence implements Sequence {
  readonly #p: number;
  readonly #mixture: BernoulliMixture;
  readonly #values = new SortedValues();
  #unknown = 0;

  constructor(p: number, confidence: number) {
    this.#p = p;
    this.#mixture = quantileMixture(p, confidence);
  }

  take(value: number): void {
    if (Number.isNaN(value)) this.#unknown++;
    else this.#values.add(value);
  }

  /** Type 7 of Hyndman and Fan, as in the summary. */
  value(): number | null {
    const { count } = this.#values;
    if (count === 0) return null;
    const position = this.#p * (count - 1);
    const below = Math.floor(position);
    const low = this.#values.at(below + 1);
    return interpolate(low, this.#values.at(Math.min(below + 2, count)), position - below);
  }

  interval(): OpenInterval {
    const { count } = this.#values;
    const n = count + this.#unknown;
    if (n === 0) return [null, null];
    const [least, greatest] = this.#mixture.counts(n, this.#p);
    const low = least - this.#unknown;
    const high = greatest + 1;
    return [low >= 1 ? this.#values.at(low) : null, high <= count ? this.#values.at(high) : null];
  }

  reason(): string | null {
    const [low, high] = this.interval();
    if (low !== null && high !== null) return null;
    const count = this.#values.count + this.#unknown;
    return `${plural(count, 'run')} ${count === 1 ? 'does' : 'do'} not bound ${low === null && high === null ? 'it' : low === null ? 'it from below' : 'it from above'}`;
  }

  state(): undefined {
    return undefined;
  }
}
