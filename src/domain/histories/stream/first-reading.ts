/** The first reading of a run's samples, as they arrive: histories without an event, conditions, events, sums. Pure. */
import type { DerivedConfig } from '../../../contract/types.ts';
import type { Condition } from '../conditions.ts';
import type { Valued } from '../evaluate-expression.ts';
import { Accumulator, OutsideBand } from './accumulator.ts';
import { Judge, type LastSamples } from './judge.ts';
import { isKnownLate, type Plan, type PlannedEvent, type PlannedHistory, type PlannedOutput } from './plan.ts';
import { Resampler } from './resampler.ts';
import { type OrderedValues, SampleBuffer } from './sample-buffer.ts';

/** Takes the samples of a variable in the order of their times. */
interface Listener {
  take: (time: number, value: number) => void;
}

/** Memory: the points of the histories and the buffer that orders samples, whatever the number of samples. */
export class FirstReading {
  readonly #plan: Plan;
  readonly #buffer: SampleBuffer;
  readonly #keep: (ordered: OrderedValues, isLast: boolean) => void;
  readonly #samples: LastSamples;
  /** By variable. */
  readonly #judges: Judge[][];
  readonly #listeners: Listener[][];
  readonly #byCondition = new Map<string, Judge>();
  readonly #accumulators = new Map<string, Accumulator>();
  readonly #bands = new Map<DerivedConfig, OutsideBand>();
  readonly #histories = new Map<PlannedHistory, Resampler>();
  /** By variable: values that are NaN. */
  readonly #notNumbers: Float64Array;
  #start = Infinity;
  #end = -Infinity;
  #isStarted = false;

  /** @param keep takes the ordered samples for a second reading, `isLast` with the last of them */
  constructor(plan: Plan, keep: (ordered: OrderedValues, isLast: boolean) => void, held?: number) {
    const count = plan.variables.length;
    const column = (): Float64Array => new Float64Array(count).fill(NaN);
    this.#plan = plan;
    this.#keep = keep;
    this.#buffer = new SampleBuffer(count, (ordered, isLast) => this.#take(ordered, isLast), held);
    this.#samples = { times: column(), values: column(), earlierTimes: column(), earlierValues: column() };
    this.#judges = plan.variables.map(() => []);
    this.#listeners = plan.variables.map(() => []);
    this.#notNumbers = new Float64Array(count);
    for (const output of plan.outputs) this.#prepare(output);
    for (const { origin } of plan.histories) if (origin !== undefined) this.#prepareEvent(origin);
  }

  /** By variable: values that arrived too late to be put in order, and are in nothing that is computed. */
  get late(): Float64Array {
    return this.#buffer.late;
  }

  /** Notes that a sample of any variables has arrived; before its values are added. */
  begin(time: number): void {
    if (time < this.#start && !this.#isStarted) this.#start = time;
    if (time > this.#end) this.#end = time;
  }

  /** Takes a value of a sample. A NaN is skipped. */
  add(variable: number, time: number, value: number): void {
    if (Number.isNaN(value)) this.#notNumbers[variable]!++;
    else this.#buffer.add(variable, time, value);
  }

  /** Computes with all that has arrived; then the results below are complete. */
  finish(): void {
    this.#buffer.finish();
  }

  /** The values of a history whose origin is known from the start. */
  valuesOf(history: PlannedHistory): Float64Array {
    return this.#histories.get(history)?.values ?? new Float64Array(history.points.length).fill(NaN);
  }

  judgeOf(condition: Condition): Judge {
    return this.#byCondition.get(JSON.stringify(condition))!;
  }

  accumulatorOf(variable: number, condition: Condition | undefined): Accumulator {
    return this.#accumulators.get(JSON.stringify([variable, condition]))!;
  }

  bandOf(output: DerivedConfig): OutsideBand {
    return this.#bands.get(output)!;
  }

  /** Why there is nothing of these variables; undefined when each has a sample. */
  absence(variables: readonly number[]): string | undefined {
    const variable = variables.find((it) => Number.isNaN(this.#samples.times[it]));
    if (variable === undefined) return undefined;
    const name = JSON.stringify(this.#plan.variables[variable]);
    const late = this.late[variable]!;
    if (late > 0) return `no sample of ${name} arrived in time: ${late} came too late`;
    return this.#notNumbers[variable]! > 0 ? `every sample of ${name} is NaN` : `no sample of ${name} arrived`;
  }

  /** The time of an event, in seconds of telemetry time. */
  timeOf({ text, event }: PlannedEvent): Valued {
    switch (event.kind) {
      case 'start':
      case 'end': {
        if (this.#end === -Infinity) return { missing: 'no telemetry arrived' };
        return { value: event.kind === 'start' ? this.#start : this.#end };
      }
      case 'first_max':
      case 'first_min': {
        const variable = this.#plan.variables.indexOf(event.variable);
        const absence = this.absence([variable]);
        if (absence !== undefined) return { missing: absence };
        const { maxTime, minTime } = this.accumulatorOf(variable, undefined);
        return { value: event.kind === 'first_max' ? maxTime : minTime };
      }
      case 'first':
      case 'last':
      case 'each': {
        const judge = this.judgeOf(event.condition);
        const time = event.kind === 'last' ? judge.last : judge.first;
        if (!Number.isNaN(time)) return { value: time };
        return { missing: this.absence(judge.variables) ?? `there was no ${text}` };
      }
    }
  }

  #prepare({ config, variable, condition, event }: PlannedOutput): void {
    const judge = condition === undefined ? undefined : this.#judge(condition);
    if (event !== undefined) this.#prepareEvent(event);
    if (variable === undefined || config.take === 'value') return;
    if (config.take === 'last_time_outside') {
      const band = new OutsideBand(config.band ?? [NaN, NaN]);
      this.#bands.set(config, band);
      this.#listeners[variable]!.push(band);
    } else this.#accumulate(variable, condition, judge);
  }

  #prepareEvent({ event }: PlannedEvent): void {
    if ('condition' in event) this.#judge(event.condition);
    if ('variable' in event) this.#accumulate(this.#plan.variables.indexOf(event.variable), undefined, undefined);
  }

  /** One judge for equal conditions. */
  #judge(condition: Condition): Judge {
    const key = JSON.stringify(condition);
    const known = this.#byCondition.get(key);
    if (known !== undefined) return known;
    const judge = new Judge(condition, (name) => this.#plan.variables.indexOf(name));
    this.#byCondition.set(key, judge);
    for (const variable of judge.variables) this.#judges[variable]!.push(judge);
    return judge;
  }

  #accumulate(variable: number, condition: Condition | undefined, judge: Judge | undefined): void {
    const key = JSON.stringify([variable, condition]);
    if (this.#accumulators.has(key)) return;
    const accumulator = new Accumulator(judge);
    this.#accumulators.set(key, accumulator);
    this.#listeners[variable]!.push(accumulator);
  }

  /** The first samples have been put in order: a run begins at the first of them. */
  #open(): void {
    this.#isStarted = true;
    for (const history of this.#plan.histories) {
      const { origin, points, interpolation, variable } = history;
      if (isKnownLate(origin)) continue;
      const resampler = new Resampler(points, interpolation, origin === undefined ? 0 : this.#start);
      this.#histories.set(history, resampler);
      this.#listeners[variable]!.push(resampler);
    }
  }

  #take(ordered: OrderedValues, isLast: boolean): void {
    if (!this.#isStarted) this.#open();
    const { times, variables } = ordered;
    let next = 0;
    for (let from = 0; from < times.length; from = next) {
      const time = times[from]!;
      while (next < times.length && times[next] === time) this.#update(ordered, next++);
      // All variables first: a condition may name several.
      for (let at = from; at < next; at++)
        for (const judge of this.#judges[variables[at]!]!)
          if (judge.judgedTime !== time) judge.judge(time, this.#samples);
      for (let at = from; at < next; at++)
        for (const listener of this.#listeners[variables[at]!]!) listener.take(time, ordered.values[at]!);
    }
    if (this.#plan.readAgain.size > 0) this.#keep(ordered, isLast);
  }

  #update({ times, variables, values }: OrderedValues, at: number): void {
    const variable = variables[at]!;
    const last = this.#samples;
    last.earlierTimes[variable] = last.times[variable]!;
    last.earlierValues[variable] = last.values[variable]!;
    last.times[variable] = times[at]!;
    last.values[variable] = values[at]!;
  }
}
