/**
 * Reduces samples to `sampling_rate_hz` by telemetry time. Decides only; what is kept is stored elsewhere, and the
 * watchdog has seen every sample before.
 */
import type { Sample } from './sample.ts';

const NS_PER_S = 1e9;

/** Times come rounded to nanoseconds from floating point: this share of a period early still counts as on time. */
const TOLERANCE = 0.01;

/**
 * Time is cut into slots of 1 / `rateHz` seconds from the first sample on, and of each variable the first value in a slot
 * is kept: the average rate is met whatever the spacing of the samples, and two kinds of samples sent at the same
 * times do not push each other out. A kept sample is kept with all its variables. Times may run backwards: only a
 * change of slot counts, so a simulation that starts its clock anew is stored on.
 *
 * A rate of 0 (or one that is negative or not finite) keeps everything.
 */
export class Reduction {
  readonly #rateHz: number;
  #originHigh = 0;
  #originLow = 0;
  #started = false;

  constructor(rateHz: number) {
    this.#rateHz = Number.isFinite(rateHz) && rateHz > 0 ? rateHz : 0;
  }

  /** True when the sample is to be stored; remembers it then. */
  keeps(sample: Sample): boolean {
    if (this.#rateHz === 0) return true;
    if (!this.#started) {
      this.#started = true;
      this.#originHigh = sample.high;
      this.#originLow = sample.low;
    }
    // Exact up to 104 days of telemetry time, and within a microsecond beyond: a slot needs no more.
    const elapsedNs = (sample.high - this.#originHigh) * 2 ** 32 + (sample.low - this.#originLow);
    const slot = Math.floor((elapsedNs / NS_PER_S) * this.#rateHz + TOLERANCE);
    let due = false;
    for (let index = 0; index < sample.count && !due; index += 1) {
      const variable = sample.variables[index];
      due = variable !== undefined && variable.column >= 0 && variable.slot !== slot;
    }
    if (!due) return false;
    for (let index = 0; index < sample.count; index += 1) {
      const variable = sample.variables[index];
      if (variable !== undefined) variable.slot = slot;
    }
    return true;
  }
}
