/** Histories and derived outputs of one run, computed of its telemetry in one or two readings. Pure. */
import type { DerivedConfig } from '../../../contract/types.ts';
import { numberOf as numberOfOutput } from '../../runs/outputs.ts';
import { evaluateExpression, type Valued } from '../evaluate-expression.ts';
import type { Scope } from '../expression.ts';
import type { Accumulator } from './accumulator.ts';
import { FirstReading } from './first-reading.ts';
import { isKnownLate, type Plan, type PlannedEvent, type PlannedHistory, type PlannedOutput } from './plan.ts';
import { Resampler } from './resampler.ts';
import type { OrderedValues } from './sample-buffer.ts';

/** The values of a run that are not telemetry, for expressions. */
export interface RunValues {
  parameters: Readonly<Record<string, unknown>>;
  /** By flat name, as the simulation wrote them. */
  outputs: ReadonlyMap<string, unknown>;
}

export interface Evaluated {
  /** By name; NaN where a value is missing. */
  histories: Map<string, Float64Array>;
  /** Finite, by name, in the order of their declaration. */
  derived: Map<string, number>;
  /** Derived outputs without a value, with the reasons. */
  missing: Map<string, string>;
  /** Histories without a single value, with the reasons. */
  empty: Map<string, string>;
}

/**
 * `begin` and `add` take samples as they arrive. After `finish`, the samples that `keep` was passed are given again to `again`, in
 * the same order; then `evaluate` has everything.
 */
export class RunEvaluation {
  readonly plan: Plan;
  readonly #first: FirstReading;
  readonly #again = new Map<PlannedHistory | PlannedOutput, Resampler>();
  #listeners: readonly Resampler[][] = [];
  #unread: string | undefined;

  /**
   * @param keep takes the ordered samples where a second reading is needed (`plan.readAgain`), and is called at least once then;
   * the arrays belong to it after the call that `isLast`, and before only during the call
   * @param held see `SampleBuffer`
   */
  constructor(plan: Plan, keep: (ordered: OrderedValues, isLast: boolean) => void, held?: number) {
    this.plan = plan;
    this.#first = new FirstReading(plan, keep, held);
  }

  /** By the name of a variable: values that arrived too late to be put in order, and are in nothing that is computed. */
  get late(): Map<string, number> {
    const counts = this.#first.late;
    return new Map(
      this.plan.variables.map((name, at) => [name, counts[at]!] as const).filter(([, count]) => count > 0),
    );
  }

  /** Notes that a sample has arrived, of any variables; before its values are added. `time`: seconds of telemetry time. */
  begin(time: number): void {
    this.#first.begin(time);
  }

  /** Takes a value of a sample. `variable`: its number in the plan. */
  add(variable: number, time: number, value: number): void {
    this.#first.add(variable, time, value);
  }

  /** Ends the first reading, and prepares the second. */
  finish(): void {
    this.#first.finish();
    const listeners: Resampler[][] = this.plan.variables.map(() => []);
    const look = (of: PlannedHistory | PlannedOutput, variable: number, resampler: Resampler): void => {
      this.#again.set(of, resampler);
      listeners[variable]!.push(resampler);
    };
    for (const it of this.plan.histories) {
      const origin = it.origin === undefined || !isKnownLate(it.origin) ? undefined : this.#first.timeOf(it.origin);
      if (origin !== undefined && 'value' in origin)
        look(it, it.variable, new Resampler(it.points, it.interpolation, origin.value));
    }
    for (const it of this.plan.outputs) {
      if (it.config.take !== 'value' || it.variable === undefined || it.event === undefined) continue;
      const time = this.#first.timeOf(it.event);
      if ('value' in time) look(it, it.variable, new Resampler(Float64Array.of(time.value), 'linear'));
    }
    this.#listeners = listeners;
  }

  /** Takes samples the second time. */
  again({ times, variables, values }: OrderedValues): void {
    for (const [at, variable] of variables.entries())
      for (const resampler of this.#listeners[variable]!) resampler.take(times[at]!, values[at]!);
  }

  /**
   * The histories and derived outputs. Once, after both readings.
   * @param unread why the samples were not read a second time; all that needs it is missing then
   */
  evaluate({ parameters, outputs }: RunValues, unread?: string): Evaluated {
    this.#unread = unread;
    const [derived, missing] = [new Map<string, number>(), new Map<string, string>()];
    const numberOf = (scope: Scope, name: string): Valued => {
      const shown = `${scope}.${name}`;
      const [value, reason] = scope === 'outputs' ? [derived.get(name), missing.get(name)] : [];
      if (value !== undefined) return { value };
      if (reason !== undefined) return { missing: `${shown} is missing: ${reason}` };
      return numberIn(scope === 'outputs' ? outputs.get(name) : parameters[name], shown);
    };
    for (const output of this.plan.outputs) {
      const { expression } = output;
      const found = expression === undefined ? this.#take(output) : evaluateExpression(expression, numberOf);
      if ('missing' in found) missing.set(output.name, found.missing);
      else if (Number.isFinite(found.value)) derived.set(output.name, found.value);
      else missing.set(output.name, `the value is ${found.value}`);
    }
    return { ...this.#histories(), derived, missing };
  }

  #histories(): Pick<Evaluated, 'histories' | 'empty'> {
    const [histories, empty] = [new Map<string, Float64Array>(), new Map<string, string>()];
    for (const it of this.plan.histories) {
      const again = this.#unread === undefined ? this.#again.get(it)?.values : undefined;
      const values = again ?? this.#first.valuesOf(it);
      histories.set(it.name, values);
      if (values.every(Number.isNaN)) empty.set(it.name, this.#whyEmpty(it));
    }
    return { histories, empty };
  }

  #whyEmpty({ variable, origin }: PlannedHistory): string {
    const time: Valued = origin === undefined ? { value: 0 } : this.#first.timeOf(origin);
    if ('missing' in time) return time.missing;
    const unread = isKnownLate(origin) ? this.#unread : undefined;
    return this.#first.absence([variable]) ?? unread ?? 'no point of time is between its first and last sample';
  }

  #take(output: PlannedOutput): Valued {
    const { config, variable, condition, event } = output;
    if (config.take === 'time') return this.#first.timeOf(event!);
    if (config.take === 'count') return this.#countOf(event!);
    if (config.take === 'value') return this.#valueAt(output, event!);
    const judge = condition === undefined ? undefined : this.#first.judgeOf(condition);
    const absence = this.#first.absence([...(variable === undefined ? [] : [variable]), ...(judge?.variables ?? [])]);
    if (absence !== undefined) return { missing: absence };
    if (config.take === 'duration') return { value: judge!.duration };
    if (config.take !== 'last_time_outside') return taken(config, this.#first.accumulatorOf(variable!, condition));
    const { last, isOutside } = this.#first.bandOf(config);
    if (!isOutside) return { value: last };
    return { missing: `the last sample of ${JSON.stringify(config.telemetry)} is outside` };
  }

  #countOf({ event }: PlannedEvent): Valued {
    if (!('condition' in event)) return { missing: 'the event is not counted' };
    const { beginnings, variables } = this.#first.judgeOf(event.condition);
    const absence = this.#first.absence(variables);
    return absence === undefined ? { value: beginnings } : { missing: absence };
  }

  #valueAt(output: PlannedOutput, event: PlannedEvent): Valued {
    const time = this.#first.timeOf(event);
    if ('missing' in time) return time;
    if (this.#unread !== undefined) return { missing: this.#unread };
    const [value] = this.#again.get(output)?.values ?? [];
    if (value !== undefined && !Number.isNaN(value)) return { value };
    const absence = this.#first.absence([output.variable!]);
    const name = JSON.stringify(output.config.telemetry);
    return {
      missing: absence ?? `${event.text} is at ${time.value} s, before the first or after the last sample of ${name}`,
    };
  }
}

/** The value that is taken of samples; the variables have some. */
function taken({ take }: DerivedConfig, samples: Accumulator): Valued {
  if (take === 'integral') return { value: samples.integral };
  if (samples.count === 0) return { missing: 'the condition holds at no sample' };
  switch (take) {
    case 'max':
    case 'min':
    case 'first':
    case 'last':
      return { value: samples[take] };
    case 'range':
      return { value: samples.max - samples.min };
    case 'mean':
      return samples.pairs > 0 ? { value: samples.mean } : { missing: 'no two neighbouring samples count' };
    default:
      return { missing: `nothing is known of ${String(take)}` };
  }
}

/** A finite number, or a boolean as 0 or 1. */
function numberIn(value: unknown, shown: string): Valued {
  if (value === undefined || value === null) return { missing: `${shown} is missing` };
  const number = numberOfOutput(value);
  return number === undefined ? { missing: `${shown} is not a number` } : { value: number };
}
