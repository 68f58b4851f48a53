/** The two-sided test of a probability by a beta mixture of likelihood ratios, from which two sequences follow. */
import { leastWithin, placeOfChange } from '../../search.ts';
import { logBeta } from '../../special/beta.ts';

/**
 * ln E(s, f; p) = ln B(s + a, f + b) - ln B(a, b) - s ln p - f ln(1 - p): the mixture, over q with a beta density (a, b), of the likelihood
 * ratios of q against p after s successes and f failures. A martingale of mean 1 for independent runs that succeed with
 * probability p, so that it ever reaches 1/alpha with probability alpha at most (Ville 1939).
 * Sources: Robbins, Ann. Math. Stat. 41 (1970) 1397; Howard, Ramdas, McAuliffe and Sekhon, Ann. Stat. 49 (2021) 1055, section 3.1.
 */
export class BernoulliMixture {
  readonly #a: number;
  readonly #b: number;
  readonly #threshold: number;
  readonly #prior: number;

  /** The density has a, b > 0; `confidence` is in (0, 1). */
  constructor(a: number, b: number, confidence: number) {
    this.#a = a;
    this.#b = b;
    this.#threshold = -Math.log1p(-confidence);
    this.#prior = logBeta(a, b);
  }

  /** Whether p in (0, 1) is still possible after these runs. */
  isPossible(successes: number, failures: number, p: number): boolean {
    return this.#logMixture(successes, failures) - logLikelihood(successes, failures, p) < this.#threshold;
  }

  /** The probabilities that are possible after s successes, f failures and u runs that may be either. */
  interval(successes: number, failures: number, unknown: number): [low: number, high: number] {
    const n = successes + failures + unknown;
    if (n === 0) return [0, 1];
    return [this.#low(successes, failures + unknown), 1 - this.#low(failures, successes + unknown, true)];
  }

  /** The least possible probability: E falls up to the share itself. `isMirrored`: of failures, with the parameters exchanged. */
  #low(successes: number, failures: number, isMirrored = false): number {
    if (successes === 0) return 0;
    const log = isMirrored ? this.#logMixture(failures, successes) : this.#logMixture(successes, failures);
    return placeOfChange(
      0,
      successes / (successes + failures),
      (p) => log - logLikelihood(successes, failures, p) < this.#threshold,
    );
  }

  /** The least and the greatest number of successes in n runs with which p in (0, 1) is possible. */
  counts(n: number, p: number): [least: number, greatest: number] {
    const at = (successes: number): boolean => this.isPossible(successes, n - successes, p);
    // E is convex in the number of successes, and at most 1 at its least value, which is near n p.
    const centre = this.#centre(n, p);
    return [leastWithin(0, centre, at), leastWithin(centre, n, (s) => !at(s)) - 1];
  }

  /** The number of successes with the least E: where one more success no longer makes it smaller. */
  #centre(n: number, p: number): number {
    const odds = (1 - p) / p;
    return leastWithin(0, n - 1, (s) => (s + this.#a) * odds >= n - s - 1 + this.#b);
  }

  #logMixture(successes: number, failures: number): number {
    return logBeta(successes + this.#a, failures + this.#b) - this.#prior;
  }
}

const logLikelihood = (successes: number, failures: number, p: number): number =>
  (successes === 0 ? 0 : successes * Math.log(p)) + (failures === 0 ? 0 : failures * Math.log1p(-p));
