/** The test of a probability that may be looked at after every run. */
import { betaTails } from '../special/beta.ts';
import { leastCount, leastWithin, placeOfChange } from '../search.ts';

/**
 * Tests whether runs pass with at least the probability p, by two E values: `met` mixes the likelihood ratios of q against p over
 * q > p with a beta density (2p, 2(1-p)), `violated` over q < p. Each is a supermartingale on the other side, so deciding at the
 * first E >= 1/alpha errs with probability at most alpha however often one looks, for independent runs.
 * Sources: Ville (1939); Robbins, Ann. Math. Stat. 41 (1970) 1397; Ramdas et al., Statist. Sci. 38 (2023) 576.
 */
export class SequentialTest {
  readonly probability: number;
  /** ln(1 / alpha): an E value whose logarithm reaches it decides. */
  readonly threshold: number;
  readonly #complement: number;
  readonly #priorUpper: number;
  readonly #priorLower: number;

  /** `probability` and `confidence` are in (0, 1). */
  constructor(probability: number, confidence: number) {
    this.probability = probability;
    this.#complement = 1 - probability;
    this.threshold = -Math.log1p(-confidence);
    const prior = this.#tails(0, 0);
    this.#priorUpper = prior.logUpperRatio;
    this.#priorLower = prior.logLowerRatio;
  }

  /** ln of the E value for `met`; `failed` counts unknown runs too. */
  logMet(passed: number, failed: number): number {
    return this.#tails(passed, failed).logUpperRatio - this.#priorUpper;
  }

  /** ln of the E value for `violated`; `passed` counts unknown runs too. */
  logViolated(passed: number, failed: number): number {
    return this.#tails(passed, failed).logLowerRatio - this.#priorLower;
  }

  /** The least number of further runs, all passing, that decide `met`: E grows with a pass and shrinks with a failure. */
  cleanRunsToMet(passed: number, failed: number): number | null {
    return leastCount((m) => this.logMet(passed + m, failed) >= this.threshold);
  }

  /** The least number of further runs, all failing, that decide `violated`. */
  failuresToViolated(passed: number, failed: number): number | null {
    return leastCount((m) => this.logViolated(passed, failed + m) >= this.threshold);
  }

  /** The largest number of failures among n runs with which E decides `met` at n; -1 where even none is too many. */
  failuresAllowed(n: number): number {
    return leastWithin(0, n, (failures) => this.logMet(n - failures, failures) < this.threshold) - 1;
  }

  /**
   * The confidence sequence of the same E values: every probability whose `met` has not been shown is at least `lower`, every one whose
   * `violated` has not is at most `upper`. Each bound is wrong with probability at most alpha however often one looks.
   */
  static bounds(
    { passed, failed, unknown }: Record<'passed' | 'failed' | 'unknown', number>,
    confidence: number,
  ): [lower: number, upper: number] {
    const judged = passed + failed + unknown;
    if (judged === 0) return [0, 1];
    const shows = (probability: number, value: 'met' | 'violated'): boolean => {
      const test = new SequentialTest(probability, confidence);
      const log = value === 'met' ? test.logMet(passed, failed + unknown) : test.logViolated(passed + unknown, failed);
      return log >= test.threshold;
    };
    // No E value exceeds 1 at the share itself: no other probability explains the runs better.
    const lower = placeOfChange(0, passed / judged, (p) => !shows(p, 'met'));
    const upper = placeOfChange((passed + unknown) / judged, 1, (p) => shows(p, 'violated'));
    return [lower, upper];
  }

  /**
   * The powers of p and of 1 - p in E are those in the beta density at p, so that ln E is the difference of two logarithms of a tail
   * divided by the density there: neither underflows, nor do large numbers cancel.
   */
  #tails(passed: number, failed: number): { logLowerRatio: number; logUpperRatio: number } {
    const { probability: p } = this;
    const q = this.#complement;
    return betaTails(p, passed + 2 * p, failed + 2 * q, q);
  }
}
