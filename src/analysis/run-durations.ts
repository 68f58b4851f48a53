/**
 * The distribution of the durations of a study's runs, from finished attempts and from the active ones, which are known only
 * to take longer than they have. Can be resampled, so that its own uncertainty shows in what is computed from it.
 */

/** Longer than this times the median is a straggler. */
export const STRAGGLER = 3;
/**
 * Runs beyond all observations: on average at least this share of the longest one is added, and at most this multiple of it
 * or of the mean of an exponential distribution.
 */
const LEAST_TAIL = 0.05;
const MOST_TAIL = 1;

interface Observed {
  time: number;
  isEnd: boolean;
  weight: number;
}

export interface ObservedRuns {
  finished: readonly number[];
  finishedCount: number;
  /** Ages of the active runs, the longest first. */
  ages: readonly number[];
}

/** Most active runs that are simulated; more are represented by these. */
const MOST_ACTIVE = 96;

export class Durations {
  readonly #observed: Observed[];
  readonly #longest: number;
  /** The mean of the exponential distribution with all observed ends and times. */
  readonly #exponentialMean: number;
  readonly #values: Float64Array;
  /** P(duration <= value), before the tail beyond all values. */
  readonly #below: Float64Array;
  #tailMean = 0;
  mean = 0;
  variance = 0;

  constructor({ finished, finishedCount, ages }: ObservedRuns) {
    // `finished` represents all finished attempts; the active runs weigh as much less as these are fewer.
    const group = Math.max(1, ages.length / MOST_ACTIVE);
    const weight = (group * finished.length) / Math.max(finished.length, finishedCount);
    this.#observed = [
      ...finished.map((time) => ({ time, isEnd: true, weight: 1 })),
      ...Array.from({ length: Math.floor(ages.length / group) }, (_, at) => {
        return { time: ages[Math.floor(at * group)]!, isEnd: false, weight };
      }),
    ].sort((a, b) => a.time - b.time || Number(b.isEnd) - Number(a.isEnd));
    this.#longest = this.#observed.at(-1)?.time ?? 0;
    // The next run exceeds all n before it with probability 1 / (n + 1).
    this.#observed.push({ time: this.#longest, isEnd: false, weight: 1 });
    const observed = this.#observed.reduce((sum, it) => sum + it.time * it.weight, 0);
    this.#exponentialMean = observed / Math.max(1, finished.length);
    this.#values = Float64Array.from(finished).sort();
    this.#below = new Float64Array(finished.length);
  }

  /**
   * Draws one distribution that agrees with the observations: the product-limit estimate with random weights, and a tail of
   * random mean beyond the longest one. Sources: Kaplan and Meier, J. Am. Stat. Assoc. 53 (1958) 457; Rubin, The Bayesian
   * bootstrap, Ann. Stat. 9 (1981) 130.
   */
  resample(uniform: () => number): void {
    const weights = this.#observed.map((it) => -Math.log(uniform()) * it.weight);
    let atRisk = weights.reduce((sum, it) => sum + it, 0);
    let surviving = 1;
    let end = 0;
    this.#observed.forEach((it, at) => {
      if (it.isEnd) {
        surviving *= Math.max(0, 1 - weights[at]! / atRisk);
        this.#below[end++] = 1 - surviving;
      }
      atRisk = Math.max(atRisk - weights[at]!, 1e-300);
    });
    const least = Math.log(LEAST_TAIL * this.#longest + 1e-300);
    const most = Math.log(MOST_TAIL * Math.max(this.#longest, this.#exponentialMean) + 1e-300);
    this.#tailMean = Math.exp(least + (most - least) * uniform());
    this.#moments();
  }

  #moments(): void {
    let [before, first, second] = [0, 0, 0];
    this.#below.forEach((below, at) => {
      const [mass, value] = [below - before, this.#values[at]!];
      first += mass * value;
      second += mass * value ** 2;
      before = below;
    });
    const beyond = this.#longest + this.#tailMean;
    this.mean = first + (1 - before) * beyond;
    this.variance = Math.max(0, second + (1 - before) * (beyond ** 2 + this.#tailMean ** 2) - this.mean ** 2);
  }

  /** The remaining time at the probability u in (0, 1) of a run that has executed for `age`. */
  after(age: number, u: number): number {
    const passed = age === 0 ? 0 : this.#probability(age);
    const p = passed + u * (1 - passed);
    const known = this.#below.at(-1)!;
    if (p < known && known > passed) return Math.max(0, this.#values[this.#firstAtLeast(p)]! - age);
    // Beyond the longest observation durations are taken as exponential; an age beyond it is its own scale.
    const left = known > passed ? (p - known) / (1 - known) : u;
    const from = Math.max(this.#longest, age);
    const mean = Math.max(this.#tailMean, LEAST_TAIL * age);
    return from - age - mean * Math.log1p(-left);
  }

  #probability(time: number): number {
    let [low, high] = [0, this.#values.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#values[middle]! <= time) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? 0 : this.#below[low - 1]!;
  }

  #firstAtLeast(p: number): number {
    let [low, high] = [0, this.#below.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#below[middle]! < p) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The duration beyond which an active run is a straggler; undefined without a finished one. */
export function stragglerLimit(finished: readonly number[]): number | undefined {
  if (finished.length === 0) return undefined;
  const sorted = [...finished].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  return STRAGGLER * median;
}
