/** The confidence sequence of a quantile. */
import { interpolate } from '../../numeric/statistics.ts';
import type { OpenInterval } from '../../outputs/quantiles.ts';
import { plural } from '../../../domain/plural.ts';
import { BernoulliMixture } from './bernoulli-mixture.ts';
import type { Sequence } from './sequence.ts';
import { SortedValues } from './sorted-values.ts';

/** The sum of the parameters of the mixture: its intervals are the narrowest at about 500 runs. */
export const QUANTILE_WEIGHT = 60;

/** More numbers of runs than a study of a million is looked at. */
const MOST_KNOWN = 10_000;

/** How many of n runs may lie at or below a quantile p in (0, 1), for each n, computed once. */
export class QuantileCounts {
  readonly #p: number;
  readonly #mixture: BernoulliMixture;
  readonly #known = new Map<number, [least: number, greatest: number]>();

  constructor(p: number, confidence: number) {
    this.#p = p;
    this.#mixture = new BernoulliMixture(QUANTILE_WEIGHT * p, QUANTILE_WEIGHT * (1 - p), confidence);
  }

  /** The least and the greatest number that is possible. */
  of(n: number): [least: number, greatest: number] {
    let counts = this.#known.get(n);
    if (counts !== undefined) return counts;
    counts = this.#mixture.counts(n, this.#p);
    if (this.#known.size === MOST_KNOWN) this.#known.clear();
    this.#known.set(n, counts);
    return counts;
  }
}

/** The counts of the latest quantiles: many studies, and many readings of one, ask for the same. */
const latest = new Map<string, QuantileCounts>();
const MOST_KEPT = 16;

/** Returns the counts of this quantile. */
export function quantileCounts(p: number, confidence: number): QuantileCounts {
  const key = `${p} ${confidence}`;
  let counts = latest.get(key);
  if (counts === undefined) {
    if (latest.size === MOST_KEPT) latest.clear();
    latest.set(key, (counts = new QuantileCounts(p, confidence)));
  }
  return counts;
}

/**
 * The quantile p in (0, 1) by the sequence of the distribution function at it: of n independent runs the number that lies at or below it is binomial (n, p),
 * and the beta mixture with a = 60 p, b = 60 (1 - p) says which numbers r..s are possible at all n at once. So [y_(r), y_(s+1)] holds the quantile,
 * for every distribution. Runs whose value is not known are at minus infinity for the lower end and at plus infinity for the upper one.
 * Source: Howard and Ramdas, Bernoulli 28 (2022) 1704, theorem 1.
 */
export class QuantileSequence implements Sequence {
  readonly #p: number;
  readonly #counts: QuantileCounts;
  readonly #values = new SortedValues();
  #unknown = 0;

  constructor(p: number, confidence: number) {
    this.#p = p;
    this.#counts = quantileCounts(p, confidence);
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
    const [least, greatest] = this.#counts.of(n);
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
