/**
 * The down-sampled values of one telemetry variable of a running run: spans of time, each with its least and its greatest
 * value. Its memory is fixed, and a value costs O(1), amortized.
 */

import { LIMITS } from '../../../contract/limits.ts';

/** Spans of one variable: each has at most two points, and the first and the latest value are points as well. */
const SPANS = (LIMITS.livePoints - 2) / 2;

/** Numbers of one span: where it starts, then time and value of its least and of its greatest value. */
const START = 0;
const LOW_TIME = 1;
const LOW = 2;
const HIGH_TIME = 3;
const HIGH = 4;
const WIDTH = 5;

/** Values that came, in ascending order of time. */
export interface Points {
  /** Telemetry time in seconds. */
  time_s: number[];
  values: number[];
}

/**
 * Every point is a value that came, at its own time; the first, the latest, the least and the greatest value are always among
 * the points. When all spans are in use, they become twice as wide, or wider where values come unevenly. Times that run
 * backwards (a simulation that starts its clock anew) begin a new span, and `points` returns all in the order of time.
 */
export class LiveSeries {
  /** Number of values that arrived. */
  count = 0;
  /** Values that are NaN or infinite: no point shows them. */
  notFinite = 0;
  /** How often the time ran backwards. */
  reversals = 0;
  readonly #spans: Float64Array;
  readonly #most: number;
  #used = 0;
  /** Seconds of a span; 0: values of the same time alone share one. */
  #spanSecs = 0;
  #leastTime = Infinity;
  #greatestTime = -Infinity;
  #first: [time: number, value: number] | undefined;
  #latestTime = -Infinity;
  #latest = 0;

  /** @param most spans, an even number of at least 4 */
  constructor(most = SPANS) {
    this.#most = most;
    this.#spans = new Float64Array(most * WIDTH);
  }

  /** @param time in seconds, finite */
  take(time: number, value: number): void {
    this.count += 1;
    if (!Number.isFinite(value)) {
      this.notFinite += 1;
      return;
    }
    if (time < this.#latestTime) this.reversals += 1;
    this.#first ??= [time, value];
    this.#latestTime = time;
    this.#latest = value;
    if (time < this.#leastTime) this.#leastTime = time;
    if (time > this.#greatestTime) this.#greatestTime = time;
    if (this.#used === this.#most && !this.#isInLast(time)) this.#widen();
    if (this.#used > 0 && this.#isInLast(time)) this.#extend(time, value);
    else this.#begin(time, value);
  }

  /** Returns the points of the series, at most `2 * most + 2`. */
  points(): Points {
    const found: [time: number, value: number][] = [];
    const add = (time: number, value: number): void => {
      const last = found.at(-1);
      if (last?.[0] !== time || last[1] !== value) found.push([time, value]);
    };
    if (this.#first !== undefined) add(...this.#first);
    for (let at = 0; at < this.#used * WIDTH; at += WIDTH) {
      const isLowFirst = this.#at(at + LOW_TIME) <= this.#at(at + HIGH_TIME);
      const [before, after] = isLowFirst ? [LOW_TIME, HIGH_TIME] : [HIGH_TIME, LOW_TIME];
      add(this.#at(at + before), this.#at(at + before + 1));
      add(this.#at(at + after), this.#at(at + after + 1));
    }
    if (this.#used > 0) add(this.#latestTime, this.#latest);
    // Stable: values of one time stay in the order in which they came.
    if (found.some(([time], index) => index > 0 && time < (found[index - 1]?.[0] ?? time))) {
      found.sort(([a], [b]) => a - b);
    }
    return { time_s: found.map(([time]) => time), values: found.map(([, value]) => value) };
  }

  #at(index: number): number {
    return this.#spans[index] ?? NaN;
  }

  /** The number of the span of a time, in a grid from the earliest time on. */
  #cell(time: number): number {
    return this.#spanSecs === 0 ? time : Math.floor((time - this.#leastTime) / this.#spanSecs);
  }

  #isInLast(time: number): boolean {
    return this.#cell(time) === this.#cell(this.#at((this.#used - 1) * WIDTH + START));
  }

  #begin(time: number, value: number): void {
    this.#spans.set([time, time, value, time, value], this.#used * WIDTH);
    this.#used += 1;
  }

  #extend(time: number, value: number): void {
    const at = (this.#used - 1) * WIDTH;
    if (value < this.#at(at + LOW)) this.#spans.set([time, value], at + LOW_TIME);
    if (value > this.#at(at + HIGH)) this.#spans.set([time, value], at + HIGH_TIME);
  }

  /** Merges spans until at most three quarters are in use, so that the next time is far. */
  #widen(): void {
    const secs = this.#greatestTime - this.#leastTime;
    this.#spanSecs = Math.max(2 * this.#spanSecs, secs / (this.#most / 2));
    this.#merge((span, into) => this.#cell(this.#at(span + START)) === this.#cell(this.#at(into + START)));
    // Times that run to and fro do not share cells: neighbours in the order of arrival are merged.
    if (this.#used > (this.#most * 3) / 4) this.#merge((span) => (span / WIDTH) % 2 === 1);
  }

  /** @param joins whether the span at the first place is merged into the one at the second. */
  #merge(joins: (span: number, into: number) => boolean): void {
    let into = 0;
    for (let span = WIDTH; span < this.#used * WIDTH; span += WIDTH) {
      if (!joins(span, into)) {
        into += WIDTH;
        this.#spans.copyWithin(into, span, span + WIDTH);
        continue;
      }
      if (this.#at(span + LOW) < this.#at(into + LOW)) {
        this.#spans.copyWithin(into + LOW_TIME, span + LOW_TIME, span + HIGH_TIME);
      }
      if (this.#at(span + HIGH) > this.#at(into + HIGH)) {
        this.#spans.copyWithin(into + HIGH_TIME, span + HIGH_TIME, span + WIDTH);
      }
    }
    this.#used = into / WIDTH + 1;
  }
}
