/** The confidence sequence of a mean over replicates: the mean of each whole replicate is one observation. */
import type { OpenInterval } from '../../outputs/quantiles.ts';
import { AsymptoticMeanSequence } from './asymptotic-mean.ts';
import { BoundedMeanSequence } from './bounded-mean.ts';
import { type Sequence, SequenceFault, checkedState } from './sequence.ts';

/** Means of replicates spread less and are more alike than single values: fewer of them are enough. */
export const REPLICATE_MEANS = { least: 30, narrowestAt: 100, values: 'means of replicates' };

/** Numbers of the state beside those of the sequence of means. */
const LENGTH = 5;

/**
 * Takes the runs of a Latin hypercube or Sobol' study in order. Each replicate is an independent randomisation whose mean has no bias (McKay, Beckman and
 * Conover 1979; Owen 1997), so that the sequences of independent values hold for these means: with bounds, which are those of the means too, for every number
 * of replicates, without in the limit of many. In a replicate with runs of unknown value, these have the lower bound for the lower end of the interval, and
 * the upper bound for the upper end.
 */
export class ReplicateMeanSequence implements Sequence {
  readonly #runs: number;
  readonly #bounds: readonly [low: number, high: number] | undefined;
  readonly #means: BoundedMeanSequence | AsymptoticMeanSequence;
  /** The replicate that is not whole: its runs with a value and their mean, and those without. */
  #known = 0;
  #mean = 0;
  #unknown = 0;
  /** The known values of the whole replicates. */
  #allKnown = 0;
  #allMean = 0;

  /** `runs`: of one replicate; `state`: from `state()`. @throws RangeError when it is not one */
  constructor(
    runs: number,
    bounds: readonly [low: number, high: number] | undefined,
    confidence: number,
    state?: readonly number[],
  ) {
    this.#runs = runs;
    this.#bounds = bounds;
    const means = state?.slice(LENGTH);
    this.#means =
      bounds === undefined
        ? new AsymptoticMeanSequence(confidence, means, REPLICATE_MEANS)
        : new BoundedMeanSequence(bounds, confidence, means);
    if (state === undefined) return;
    [this.#known, this.#mean, this.#unknown, this.#allKnown, this.#allMean] = checkedState(
      state.slice(0, LENGTH),
      LENGTH,
    ) as [number, number, number, number, number];
  }

  /** Runs without a value of the replicate that is not whole. */
  get unknownInPart(): number {
    return this.#unknown;
  }

  /** @throws SequenceFault for a value outside the bounds; without bounds for a value that is not known, and where sums leave the range of doubles */
  take(value: number): void {
    // Without bounds an unknown value is the fault of its run, whatever the others of its replicate give.
    if (Number.isNaN(value) && this.#bounds === undefined) return this.#means.take(value);
    if (Number.isNaN(value)) this.#unknown++;
    else this.#takeKnown(value);
    if (this.#known + this.#unknown === this.#runs) this.#endReplicate();
  }

  #takeKnown(value: number): void {
    const [low, high] = this.#bounds ?? [-Infinity, Infinity];
    if (value < low || value > high)
      throw new SequenceFault('outside-bounds', `gives ${value}, outside the bounds ${low} to ${high}`);
    this.#known++;
    this.#mean += (value - this.#mean) / this.#known;
    if (!Number.isFinite(this.#mean))
      throw new SequenceFault('not-finite', `gives ${value}, with which the mean leaves the range of doubles`);
  }

  #endReplicate(): void {
    const [known, unknown, mean] = [this.#known, this.#unknown, this.#mean];
    this.#allKnown += known;
    if (known > 0) this.#allMean += (mean - this.#allMean) * (known / this.#allKnown);
    [this.#known, this.#unknown, this.#mean] = [0, 0, 0];
    if (this.#bounds === undefined) return this.#means.take(mean);
    const [low, high] = this.#bounds;
    const [share, rest] = [known / this.#runs, unknown / this.#runs];
    // Rounding may carry a mean of equal values beyond a bound.
    const within = (x: number): number => Math.min(high, Math.max(low, x));
    this.#means.takeBetween(within(share * mean + rest * low), within(share * mean + rest * high));
  }

  value(): number | null {
    return this.#allKnown === 0 ? null : this.#allMean;
  }

  interval(): OpenInterval {
    return this.#means.interval();
  }

  reason(): string | null {
    return this.#means.reason();
  }

  state(): number[] {
    return [this.#known, this.#mean, this.#unknown, this.#allKnown, this.#allMean, ...this.#means.state()];
  }
}
