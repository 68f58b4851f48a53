/** Bets against a stated mean of shares: the test from which the confidence sequence of a quantile over replicates follows. */

/** Shares of the largest bet that is safe, halved again and again: small ones for many replicates, large ones for few. */
const STAKES = Array.from({ length: 8 }, (_, at) => 0.95 / 2 ** at);

/**
 * Shares k/m of independent replicates have the mean p. Bets that it is larger have the capital prod (1 + s ((k/m)/p - 1)), bets that it is smaller
 * prod (1 + s ((1 - k/m)/(1 - p) - 1)), each for 8 stakes s whose capitals are averaged. While the mean is p (or on the other side of p), each average is a
 * supermartingale that begins at 1, so that either ever reaches 2/alpha with probability alpha at most (Ville 1939), whatever the distribution of the shares.
 * Source: Waudby-Smith and Ramdas, J. R. Stat. Soc. B 86 (2024) 1, section 4.
 */
export class ShareBets {
  readonly #runs: number;
  readonly #p: number;
  readonly #threshold: number;
  /** The logarithms of the factors of a share k/m, by k. */
  readonly #above: Float64Array[] = [];
  readonly #below: Float64Array[] = [];

  /** Shares are of `runs` runs; p and `confidence` are in (0, 1). */
  constructor(p: number, runs: number, confidence: number) {
    this.#p = p;
    this.#runs = runs;
    this.#threshold = Math.LN2 - Math.log1p(-confidence);
  }

  /** Whether the shares are too large together for the mean p; once they are, larger ones are too. `replicates[k]`: how many have k runs. */
  areTooLarge(replicates: Int32Array): boolean {
    return this.#isRefuted(replicates, this.#above, (k) => k / this.#runs / this.#p - 1);
  }

  /** Whether they are too small together; once they are, smaller ones are too. */
  areTooSmall(replicates: Int32Array): boolean {
    return this.#isRefuted(replicates, this.#below, (k) => (1 - k / this.#runs) / (1 - this.#p) - 1);
  }

  #isRefuted(replicates: Int32Array, known: Float64Array[], gain: (k: number) => number): boolean {
    const logs = new Float64Array(STAKES.length);
    for (let k = 0; k < replicates.length; k++) {
      const count = replicates[k]!;
      if (count === 0) continue;
      const factors = (known[k] ??= Float64Array.from(STAKES, (stake) => Math.log1p(stake * gain(k))));
      for (let at = 0; at < logs.length; at++) logs[at]! += count * factors[at]!;
    }
    const largest = Math.max(...logs);
    let sum = 0;
    for (const log of logs) sum += Math.exp(log - largest);
    return largest + Math.log(sum / STAKES.length) >= this.#threshold;
  }
}
