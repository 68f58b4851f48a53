/** Resamples one variable at given times, in one pass over its samples. Pure. */

/**
 * The value at each point: `linear` between the two neighbours, `previous` the last value at or before it. NaN before the first
 * and after the last sample: nothing is extrapolated. Memory: the points.
 */
export class Resampler {
  /** By point; complete when all samples were taken. */
  readonly values: Float64Array;
  readonly #points: Float64Array;
  readonly #isLinear: boolean;
  readonly #origin: number;
  #next = 0;
  /** The point that is looked for next, in telemetry time. */
  #time: number;
  #lastTime = NaN;
  #lastValue = NaN;

  /** @param points strictly increasing seconds, counted from `origin`, a telemetry time in seconds */
  constructor(points: Float64Array, interpolation: 'linear' | 'previous', origin = 0) {
    this.#points = points;
    this.#isLinear = interpolation === 'linear';
    this.#origin = origin;
    this.values = new Float64Array(points.length).fill(NaN);
    this.#time = this.#timeOf(0);
  }

  /** Takes a sample; times increase strictly, and neither is NaN. */
  take(time: number, value: number): void {
    while (this.#time <= time) {
      this.values[this.#next] = this.#valueBefore(time, value);
      this.#time = this.#timeOf(++this.#next);
    }
    this.#lastTime = time;
    this.#lastValue = value;
  }

  #timeOf(index: number): number {
    return this.#origin + (this.#points[index] ?? Infinity);
  }

  #valueBefore(time: number, value: number): number {
    if (this.#time === time) return value;
    if (!this.#isLinear || Number.isNaN(this.#lastTime)) return this.#lastValue;
    const share = (this.#time - this.#lastTime) / (time - this.#lastTime);
    return this.#lastValue + (value - this.#lastValue) * share;
  }
}
