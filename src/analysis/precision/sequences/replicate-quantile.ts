/** The confidence sequence of a quantile over replicates. */
import { plural } from '../../../domain/plural.ts';
import { interpolate } from '../../numeric/statistics.ts';
import type { OpenInterval } from '../../outputs/quantiles.ts';
import { leastWithin } from '../../search.ts';
import type { Sequence } from './sequence.ts';
import { ShareBets } from './share-bets.ts';
import { SortedValues } from './sorted-values.ts';

/** A whole replicate: its known values in ascending order, and the number of the others. */
interface Replicate {
  values: Float64Array;
  unknown: number;
}

/**
 * The quantile p in (0, 1) by bets on the distribution function. At any x, the share of a replicate's runs at or below x is an unbiased estimate of F(x), in
 * [0, 1], independent of the other replicates. A value x is possible while bets neither show that the mean of these shares is below p, nor that the mean of
 * the shares strictly below x is above p. Shares grow with x, so the possible values are an interval whose ends are values of runs. Runs whose value is not
 * known are at minus infinity for the lower end and at plus infinity for the upper one.
 */
export class ReplicateQuantileSequence implements Sequence {
  readonly #p: number;
  readonly #runs: number;
  readonly #bets: ShareBets;
  readonly #replicates: Replicate[] = [];
  readonly #values = new SortedValues();
  #part: number[] = [];
  /** The interval of so many replicates, and the ranks of its ends, near which those of the next one are. */
  #latest: { replicates: number; interval: OpenInterval } = { replicates: 0, interval: [null, null] };
  #ranks: [low: number, high: number] = [1, 1];

  /** `runs`: of one replicate. */
  constructor(p: number, runs: number, confidence: number) {
    this.#p = p;
    this.#runs = runs;
    this.#bets = new ShareBets(p, runs, confidence);
  }

  /** Runs without a value of the replicate that is not whole. */
  get unknownInPart(): number {
    return this.#part.filter((it) => Number.isNaN(it)).length;
  }

  take(value: number): void {
    if (this.#part.push(value) < this.#runs) return;
    const values = Float64Array.from(this.#part.filter((it) => !Number.isNaN(it))).sort();
    const unknown = this.#runs - values.length;
    for (const it of values) this.#values.add(it);
    this.#replicates.push({ values, unknown });
    this.#part = [];
  }

  /** Type 7 of Hyndman and Fan, as in the summary. */
  value(): number | null {
    const { count } = this.#values;
    if (count === 0) return null;
    const position = this.#p * (count - 1);
    const below = Math.floor(position);
    return interpolate(this.#values.at(below + 1), this.#values.at(Math.min(below + 2, count)), position - below);
  }

  interval(): OpenInterval {
    const replicates = this.#replicates.length;
    if (this.#latest.replicates !== replicates) this.#latest = { replicates, interval: this.#computed() };
    return this.#latest.interval;
  }

  #computed(): OpenInterval {
    const { count } = this.#values;
    if (count === 0) return [null, null];
    const isPossibleLow = (x: number): boolean => !this.#bets.areTooSmall(this.#counted(x, true));
    const isExcludedHigh = (x: number): boolean => this.#bets.areTooLarge(this.#counted(x, false));
    // An end exists where the values beyond all others are excluded.
    const low = isPossibleLow(-Infinity)
      ? undefined
      : leastFrom(this.#ranks[0], count, (rank) => isPossibleLow(this.#values.at(rank)));
    const high = isExcludedHigh(Infinity)
      ? leastFrom(this.#ranks[1], count, (rank) => isExcludedHigh(this.#values.at(rank))) - 1
      : undefined;
    this.#ranks = [low ?? 1, high ?? 1];
    const at = (rank: number | undefined): number | null =>
      rank === undefined || rank < 1 || rank > count ? null : this.#values.at(rank);
    return [at(low), at(high)];
  }

  /** The number of replicates with k runs at or below x, unknown ones among them, or strictly below it, unknown ones not; by k. */
  #counted(x: number, isAtOrBelow: boolean): Int32Array {
    const counts = new Int32Array(this.#runs + 1);
    for (const { values, unknown } of this.#replicates) {
      let [from, to] = [0, values.length];
      while (from < to) {
        const middle = (from + to) >>> 1;
        const value = values[middle]!;
        if (value < x || (isAtOrBelow && value === x)) from = middle + 1;
        else to = middle;
      }
      counts[isAtOrBelow ? from + unknown : from]!++;
    }
    return counts;
  }

  reason(): string | null {
    const [low, high] = this.interval();
    if (low !== null && high !== null) return null;
    const count = this.#replicates.length;
    return `${plural(count, 'replicate')} ${count === 1 ? 'does' : 'do'} not bound ${low === null && high === null ? 'it' : low === null ? 'it from below' : 'it from above'}`;
  }

  state(): undefined {
    return undefined;
  }
}

/** The least integer in [1, to] for which a condition holds that, once it holds, holds for all larger ones; `to + 1` without one. Searched from `start` on. */
function leastFrom(start: number, to: number, holds: (rank: number) => boolean): number {
  let [least, most] = [0, to + 1];
  const at = Math.min(Math.max(start, 1), to);
  let step = 1;
  if (holds(at)) {
    most = at;
    for (; most - step > 0 && holds(most - step); step *= 2) most -= step;
    least = Math.max(0, most - step);
  } else {
    least = at;
    for (; least + step <= to && !holds(least + step); step *= 2) least += step;
    most = Math.min(to + 1, least + step);
  }
  return leastWithin(least + 1, most - 1, holds);
}
