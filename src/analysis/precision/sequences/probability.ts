/** The confidence sequence of a probability. */
import type { OpenInterval } from '../../outputs/quantiles.ts';
import { BernoulliMixture } from './bernoulli-mixture.ts';
import { type Sequence, checkedState } from './sequence.ts';

/**
 * The share of runs whose value is 1 rather than 0. Its interval has every probability that the beta mixture with a = b = 1/2 has not excluded; a run
 * whose value is not known is a failure for the lower end and a success for the upper one.
 */
export class ProbabilitySequence implements Sequence {
  readonly #mixture: BernoulliMixture;
  #successes = 0;
  #failures = 0;
  #unknown = 0;

  /** `state`: from `state()`. @throws RangeError when it is not one */
  constructor(confidence: number, state?: readonly number[]) {
    this.#mixture = new BernoulliMixture(0.5, 0.5, confidence);
    if (state !== undefined)
      [this.#successes, this.#failures, this.#unknown] = checkedState(state, 3) as [number, number, number];
  }

  take(value: number): void {
    if (value === 1) this.#successes++;
    else if (value === 0) this.#failures++;
    else this.#unknown++;
  }

  value(): number | null {
    const known = this.#successes + this.#failures;
    return known === 0 ? null : this.#successes / known;
  }

  interval(): OpenInterval {
    return this.#mixture.interval(this.#successes, this.#failures, this.#unknown);
  }

  reason(): null {
    return null;
  }

  state(): number[] {
    return [this.#successes, this.#failures, this.#unknown];
  }
}
