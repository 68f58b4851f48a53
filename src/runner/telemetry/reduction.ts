/**
 * Reduces samples to `sampling_rate_hz` by telemetry time. Decides which values are stored; early termination has seen
 * every sample before.
 */
import { Sample } from './sample.ts';
import type { Variable } from './variables.ts';

const NS_PER_S = 1e9;

/**
 * Ticks are 1 / `rateHz` seconds apart from the first sample on. Of each variable the value nearest to each tick is stored,
 * with its own time; of two at the same distance, the earlier arrival. A tick without a sample within half a period
 * has no value: nothing is interpolated.
 *
 * A value waits until its variable moves to another tick, or until the telemetry as a whole is two ticks ahead, so at most
 * one value per variable is held back. Values that wait for the same time are stored as one sample. Times may run
 * backwards: only a change of tick counts, so the samples of a simulation that starts its clock anew are stored as well.
 *
 * A rate of 0 (or a negative or infinite rate) stores everything at once.
 */
export class Reduction {
  readonly #rateHz: number;
  readonly #store: (sample: Sample) => void;
  /** The variables with a value that waits. */
  #waiting: Variable[] = [];
  readonly #capacity: number;
  /** The reduced sample; made when it is needed, since most runs send none. */
  #out: Sample | undefined;
  #originHigh = 0;
  #originLow = 0;
  #tick: number | undefined;

  /** @param capacity the most values of one sample, and the most stored variables */
  constructor(rateHz: number, capacity: number, store: (sample: Sample) => void) {
    this.#rateHz = Number.isFinite(rateHz) && rateHz > 0 ? rateHz : 0;
    this.#store = store;
    this.#capacity = capacity;
  }

  /** Takes a sample; it is good only during the call. */
  take(sample: Sample): void {
    if (this.#rateHz === 0) {
      this.#store(sample);
      return;
    }
    if (this.#tick === undefined) {
      this.#originHigh = sample.high;
      this.#originLow = sample.low;
    }
    // Exact up to 104 days of telemetry time, and within a microsecond beyond: a tick needs no more.
    const elapsedNs = (sample.high - this.#originHigh) * 2 ** 32 + (sample.low - this.#originLow);
    const position = (elapsedNs / NS_PER_S) * this.#rateHz;
    const tick = Math.round(position);
    this.#release(sample, tick);
    const distance = Math.abs(position - tick);
    for (let index = 0; index < sample.count; index += 1) {
      const variable = sample.variables[index];
      if (variable === undefined || variable.column < 0) continue;
      if (variable.tick !== tick) {
        variable.tick = tick;
        variable.waits = true;
        this.#waiting.push(variable);
      } else if (!variable.waits || distance >= variable.distance) continue;
      variable.distance = distance;
      variable.high = sample.high;
      variable.low = sample.low;
      variable.value = sample.values[index] ?? NaN;
    }
  }

  /** Stores the samples that still wait. */
  finish(): void {
    this.#emit(this.#waiting);
    this.#waiting = [];
  }

  /** Stores the values whose tick is over. */
  #release(sample: Sample, tick: number): void {
    const ahead = this.#tick === undefined || tick > this.#tick;
    // Two ticks back is a clock that starts anew; one tick is two streams that are not quite at the same time.
    if (ahead || tick < (this.#tick ?? tick) - 1) this.#tick = tick;
    const latest = this.#tick ?? tick;
    let due: Variable[] | undefined;
    for (let index = 0; index < sample.count; index += 1) {
      const variable = sample.variables[index];
      if (variable === undefined || !variable.waits || variable.tick === tick) continue;
      variable.waits = false;
      (due ??= []).push(variable);
    }
    if (tick === latest) {
      for (const variable of this.#waiting) {
        if (!variable.waits || (variable.tick > latest - 2 && variable.tick <= latest)) continue;
        variable.waits = false;
        (due ??= []).push(variable);
      }
    }
    if (due === undefined) return;
    this.#waiting = this.#waiting.filter((variable) => variable.waits);
    this.#emit(due);
  }

  /** Stores values in the order of their times, those of one time as one sample. */
  #emit(variables: Variable[]): void {
    const first = variables[0];
    if (first === undefined) return;
    const out = (this.#out ??= new Sample(this.#capacity));
    if (!variables.every((variable) => sameTime(variable, first))) variables.sort(byTime);
    out.count = 0;
    for (const variable of variables) {
      variable.waits = false;
      if (out.count > 0 && !sameTime(variable, out)) {
        this.#store(out);
        out.count = 0;
      }
      out.high = variable.high;
      out.low = variable.low;
      out.variables[out.count] = variable;
      out.values[out.count] = variable.value;
      out.count += 1;
    }
    this.#store(out);
  }
}

interface Time {
  high: number;
  low: number;
}

const sameTime = (a: Time, b: Time): boolean => a.low === b.low && a.high === b.high;
const byTime = (a: Time, b: Time): number => a.high - b.high || a.low - b.low;
