/**
 * Descriptive statistics of one output over the runs of a study: moments by a streaming update, quantiles exact.
 * No I/O; knows neither results nor tables.
 */

/** Descriptive statistics of a set of numbers. `sd` is the sample standard deviation (n - 1), undefined for fewer than two. */
export interface Description {
  count: number;
  /** Values that were NaN or infinite: left out of everything else. */
  nonFinite: number;
  mean: number;
  sd: number | undefined;
  min: number;
  p5: number;
  p25: number;
  p50: number;
  p75: number;
  p95: number;
  max: number;
}

/** One equal-width bin of a histogram: [from, to), the last one closed. */
export interface Bin {
  from: number;
  to: number;
  count: number;
}

/** The value at `share` in [0, 1] of the way from low to high, low <= high; monotone in `share` and within [low, high]. */
export function interpolate(low: number, high: number, share: number): number {
  // Each form grows with `share` and stays within [low, high] although it is rounded: the first because adding and
  // multiplying round monotonically (and the end is held), the second because its terms have opposite signs, which is
  // the only case where the difference can overflow.
  const width = high - low;
  return Number.isFinite(width) ? Math.min(low + share * width, high) : (1 - share) * low + share * high;
}

/**
 * Takes numbers one at a time. Mean and variance by Welford's update (Technometrics 4 (1962) 419), which does not cancel
 * for values far from zero; the values themselves are kept, 8 bytes each, so that quantiles are exact.
 */
export class NumberSeries {
  #values = new Float64Array(64);
  #sorted = true;
  #count = 0;
  #nonFinite = 0;
  #mean = 0;
  #squares = 0;

  get count(): number {
    return this.#count;
  }

  /** NaN without values. */
  get mean(): number {
    return this.#count === 0 ? Number.NaN : this.#mean;
  }

  /** The sample standard deviation (n - 1), undefined for fewer than two values. */
  get sd(): number | undefined {
    return this.#count < 2 ? undefined : Math.sqrt(this.#squares / (this.#count - 1));
  }

  add(value: number): void {
    if (!Number.isFinite(value)) {
      this.#nonFinite++;
      return;
    }
    if (this.#count === this.#values.length) {
      const grown = new Float64Array(this.#values.length * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#count++] = value;
    this.#sorted = false;
    const before = this.#mean;
    const delta = value - before;
    // Two quotients are subtracted where the difference of values near the largest doubles would overflow.
    this.#mean += Number.isFinite(delta) ? delta / this.#count : value / this.#count - before / this.#count;
    this.#squares += delta * (value - this.#mean);
  }

  /**
   * The quantile for p in [0, 1], linear between order statistics (type 7 of Hyndman and Fan, Am. Stat. 50 (1996) 361,
   * the default of NumPy and R). NaN without values.
   */
  quantile(p: number): number {
    const values = this.sorted();
    if (values.length === 0) return Number.NaN;
    const position = Math.min(Math.max(p, 0), 1) * (values.length - 1);
    const below = Math.floor(position);
    const low = values[below] as number;
    const high = values[Math.min(below + 1, values.length - 1)] as number;
    const share = position - below;
    if (share === 0) return low;
    return interpolate(low, high, share);
  }

  /** Returns undefined without finite values. */
  describe(): Description | undefined {
    if (this.#count === 0) return undefined;
    const [min, p5, p25, p50, p75, p95, max] = [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1].map((p) => this.quantile(p)) as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    return {
      count: this.#count,
      nonFinite: this.#nonFinite,
      mean: this.#mean,
      sd: this.sd,
      min,
      p5,
      p25,
      p50,
      p75,
      p95,
      max,
    };
  }

  /** Equal-width bins from the smallest to the largest value; one bin when all values are equal, none without values. */
  histogram(bins: number): Bin[] {
    const values = this.sorted();
    if (values.length === 0) return [];
    const min = values[0] as number;
    const max = values.at(-1) as number;
    if (min === max) return [{ from: min, to: max, count: values.length }];
    // Halved before the subtraction, so that the width of the widest range of doubles is still finite.
    const halfWidth = (max / 2 - min / 2) / bins;
    const edge = (i: number): number => (i === bins ? max : min + i * halfWidth + i * halfWidth);
    const result = Array.from({ length: bins }, (_, i): Bin => ({ from: edge(i), to: edge(i + 1), count: 0 }));
    let bin = 0;
    for (const value of values) {
      while (bin < bins - 1 && value >= (result[bin] as Bin).to) bin++;
      (result[bin] as Bin).count++;
    }
    return result;
  }

  /** The values in ascending order: a view that the next `add` invalidates. */
  sorted(): Float64Array {
    const used = this.#values.subarray(0, this.#count);
    if (!this.#sorted) used.sort();
    this.#sorted = true;
    return used;
  }
}
