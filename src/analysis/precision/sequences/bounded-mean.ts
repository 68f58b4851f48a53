/** The confidence sequence of the mean of values with known bounds. */
import type { OpenInterval } from '../../outputs/quantiles.ts';
import { type Sequence, SequenceFault, checkedState } from './sequence.ts';

/** The largest bet: a larger one makes the first intervals narrower, and those of widely spread values wider. */
export const LARGEST_BET = 0.5;

/**
 * One empirical-Bernstein sequence with predictable plug-in, of values in [0, 1]:
 * (sum l_i x_i -/+ (ln(2/alpha) + sum v_i psi(l_i))) / sum l_i with v_i = 4 (x_i - m_(i-1))^2, psi(l) = (-ln(1 - l) - l)/4,
 * l_t = min(sqrt(2 ln(2/alpha) / (s2_(t-1) t ln(1 + t))), 1/2), m_t = (1/2 + sum x_i)/(t + 1), s2_t = (1/4 + sum (x_i - m_i)^2)/(t + 1).
 * Source: Waudby-Smith and Ramdas, J. R. Stat. Soc. B 86 (2024) 1, theorem 2 and equation 15.
 */
class EmpiricalBernstein {
  readonly #logTwoOverAlpha: number;
  #count = 0;
  #sum = 0.5;
  #squares = 0.25;
  #bets = 0;
  #weighted = 0;
  #penalty = 0;

  constructor(confidence: number, state?: readonly number[]) {
    this.#logTwoOverAlpha = Math.LN2 - Math.log1p(-confidence);
    if (state === undefined) return;
    [this.#count, this.#sum, this.#squares, this.#bets, this.#weighted, this.#penalty] = state as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
  }

  take(x: number): void {
    const before = this.#sum / (this.#count + 1);
    const variance = this.#squares / (this.#count + 1);
    this.#count++;
    const t = this.#count;
    const bet = Math.min(Math.sqrt((2 * this.#logTwoOverAlpha) / (variance * t * Math.log1p(t))), LARGEST_BET);
    this.#bets += bet;
    this.#weighted += bet * x;
    // v_i psi(l_i): the factors 4 and 1/4 cancel.
    this.#penalty += (x - before) ** 2 * (-Math.log1p(-bet) - bet);
    this.#sum += x;
    this.#squares += (x - this.#sum / (t + 1)) ** 2;
  }

  interval(): [low: number, high: number] {
    const { centre, radius } = this.#place();
    return [Math.max(0, centre - radius), Math.min(1, centre + radius)];
  }

  #place(): { centre: number; radius: number } {
    if (this.#count === 0) return { centre: 0.5, radius: 0.5 };
    return { centre: this.#weighted / this.#bets, radius: (this.#logTwoOverAlpha + this.#penalty) / this.#bets };
  }

  state(): number[] {
    return [this.#count, this.#sum, this.#squares, this.#bets, this.#weighted, this.#penalty];
  }
}

/** Numbers of a state of one of the two sequences. */
const LENGTH = 6;

/**
 * The mean of values in [low, high]. Where values are not known, one sequence takes `low` for them and gives the lower end, another takes `high` and gives
 * the upper end.
 */
export class BoundedMeanSequence implements Sequence {
  readonly #low: number;
  readonly #range: number;
  readonly #below: EmpiricalBernstein;
  readonly #above: EmpiricalBernstein;
  #known = 0;
  #mean = 0;

  /** `state`: from `state()`. @throws RangeError when it is not one */
  constructor(bounds: readonly [low: number, high: number], confidence: number, state?: readonly number[]) {
    this.#low = bounds[0];
    this.#range = bounds[1] - bounds[0];
    const numbers = state === undefined ? undefined : checkedState(state, 2 + 2 * LENGTH);
    [this.#known, this.#mean] = [numbers?.[0] ?? 0, numbers?.[1] ?? 0];
    this.#below = new EmpiricalBernstein(confidence, numbers?.slice(2, 2 + LENGTH));
    this.#above = new EmpiricalBernstein(confidence, numbers?.slice(2 + LENGTH));
  }

  /** @throws SequenceFault for a value outside the bounds */
  take(value: number): void {
    if (Number.isNaN(value)) this.takeBetween(this.#low, this.#low + this.#range);
    else this.takeBetween(value, value);
  }

  /** Takes a value that is known to lie between two. @throws SequenceFault for one outside the bounds */
  takeBetween(least: number, greatest: number): void {
    const [from, to] = [(least - this.#low) / this.#range, (greatest - this.#low) / this.#range];
    if (!(from >= 0 && to <= 1)) {
      const high = this.#low + this.#range;
      throw new SequenceFault(
        'outside-bounds',
        `gives ${least < this.#low ? least : greatest}, outside the bounds ${this.#low} to ${high}`,
      );
    }
    this.#below.take(from);
    this.#above.take(to);
    if (least !== greatest) return;
    this.#known++;
    this.#mean += (least - this.#mean) / this.#known;
  }

  value(): number | null {
    return this.#known === 0 ? null : this.#mean;
  }

  interval(): OpenInterval {
    return [this.#scaled(this.#below.interval()[0]), this.#scaled(this.#above.interval()[1])];
  }

  #scaled(x: number): number {
    return this.#low + x * this.#range;
  }

  reason(): null {
    return null;
  }

  state(): number[] {
    return [this.#known, this.#mean, ...this.#below.state(), ...this.#above.state()];
  }
}
