/** Puts samples into the order of their times within a bounded buffer, as they arrive. Pure. */

/** Values in the order of their times; at each time every variable at most once. Valid during the call that passes them. */
export interface OrderedValues {
  /** Seconds of telemetry time. */
  times: Float64Array;
  /** The numbers of the variables. */
  variables: Uint16Array;
  values: Float64Array;
}

/** A value can be put in order before so many values that arrived earlier; a later one is left out and counted. */
export const REORDERED_VALUES = 32_768;
const FIRST_CAPACITY = 256;

/**
 * Holds values until so many newer ones have arrived, and passes them on in the order of their times. Of values of a variable with
 * the same time the last arrival counts. Memory: 18 bytes for each value of twice the buffer, and less for short runs.
 */
export class SampleBuffer {
  /** By variable: values that arrived too late to be put in order. */
  readonly late: Float64Array;
  readonly #pass: (ordered: OrderedValues, isLast: boolean) => void;
  readonly #held: number;
  readonly #capacity: number;
  #times: Float64Array;
  #variables: Uint16Array;
  #values: Float64Array;
  #count = 0;
  #isSorted = true;
  /** The time up to which everything was passed on. */
  #passedTime = -Infinity;
  /** By variable: the time of its latest value in the buffer, and where it is. */
  readonly #latestTimes: Float64Array;
  readonly #latestAt: Uint32Array;

  /** @param pass takes values in order, `isLast` with the last of them. @param held see REORDERED_VALUES */
  constructor(
    variables: number,
    pass: (ordered: OrderedValues, isLast: boolean) => void,
    held: number = REORDERED_VALUES,
  ) {
    this.late = new Float64Array(variables);
    this.#pass = pass;
    this.#held = Math.max(held, variables);
    this.#capacity = 2 * this.#held;
    const capacity = Math.min(FIRST_CAPACITY, this.#capacity);
    this.#times = new Float64Array(capacity);
    this.#variables = new Uint16Array(capacity);
    this.#values = new Float64Array(capacity);
    this.#latestTimes = new Float64Array(variables);
    this.#latestAt = new Uint32Array(variables);
  }

  /** Takes a value as it arrives; `time` and `value` are not NaN. */
  add(variable: number, time: number, value: number): void {
    if (this.#count === this.#times.length) this.#makeRoom();
    if (time <= this.#passedTime) {
      this.late[variable]!++;
      return;
    }
    if (this.#count > 0 && time < this.#times[this.#count - 1]!) this.#isSorted = false;
    this.#times[this.#count] = time;
    this.#variables[this.#count] = variable;
    this.#values[this.#count] = value;
    this.#count++;
  }

  /** Passes everything on that is left. */
  finish(): void {
    this.#order();
    this.#passOn(this.#count, true);
  }

  #makeRoom(): void {
    if (this.#count < this.#capacity) {
      const capacity = Math.min(this.#capacity, this.#count * 2);
      this.#times = grown(this.#times, new Float64Array(capacity));
      this.#variables = grown(this.#variables, new Uint16Array(capacity));
      this.#values = grown(this.#values, new Float64Array(capacity));
      return;
    }
    this.#order();
    if (this.#count <= this.#held) return;
    // All values of one time are passed on together; there are fewer of them than the buffer holds.
    let end = this.#count - this.#held;
    while (end > 0 && this.#times[end - 1] === this.#times[end]) end--;
    if (end === 0) while (this.#times[end] === this.#times[0]) end++;
    this.#passOn(end, false);
  }

  #order(): void {
    if (!this.#isSorted) this.#sort();
    this.#isSorted = true;
    this.#latestTimes.fill(NaN);
    let kept = 0;
    for (let from = 0; from < this.#count; from++) {
      const [time, variable, value] = [this.#times[from]!, this.#variables[from]!, this.#values[from]!];
      if (this.#latestTimes[variable] === time) {
        this.#values[this.#latestAt[variable]!] = value;
        continue;
      }
      this.#latestTimes[variable] = time;
      this.#latestAt[variable] = kept;
      this.#times[kept] = time;
      this.#variables[kept] = variable;
      this.#values[kept] = value;
      kept++;
    }
    this.#count = kept;
  }

  #sort(): void {
    const [times, variables, values] = [this.#times, this.#variables, this.#values];
    const order = Uint32Array.from({ length: this.#count }, (_, index) => index);
    // By arrival where times are equal.
    order.sort((a, b) => times[a]! - times[b]! || a - b);
    this.#times = new Float64Array(times.length);
    this.#variables = new Uint16Array(times.length);
    this.#values = new Float64Array(times.length);
    for (const [to, from] of order.entries()) {
      this.#times[to] = times[from]!;
      this.#variables[to] = variables[from]!;
      this.#values[to] = values[from]!;
    }
  }

  #passOn(end: number, isLast: boolean): void {
    const ordered = {
      times: this.#times.subarray(0, end),
      variables: this.#variables.subarray(0, end),
      values: this.#values.subarray(0, end),
    };
    if (end > 0) this.#passedTime = this.#times[end - 1]!;
    this.#pass(ordered, isLast);
    if (isLast) {
      this.#count = 0;
      return;
    }
    this.#times.copyWithin(0, end, this.#count);
    this.#variables.copyWithin(0, end, this.#count);
    this.#values.copyWithin(0, end, this.#count);
    this.#count -= end;
  }
}

function grown<A extends Float64Array | Uint16Array>(from: A, into: A): A {
  into.set(from);
  return into;
}
