/** Feeds the telemetry of one run, every sample as it arrives, to its histories and derived outputs. */
import { type Evaluated, RunEvaluation, type RunValues } from '../../../domain/histories/stream/evaluation.ts';
import type { Plan } from '../../../domain/histories/stream/plan.ts';
import type { Sample } from '../sample.ts';
import { KeptValues } from './kept-values.ts';

const NS_PER_S = 1e9;

export class HistoryCollector {
  /** The numbers of the variables that are wanted, by name. */
  readonly variables: ReadonlyMap<string, number>;
  readonly #evaluation: RunEvaluation;
  readonly #kept: KeptValues;
  #completing: Promise<void> | undefined;

  /** @param directory of the run; samples that are read a second time are beside it, in a file without a name */
  constructor(plan: Plan, directory: string, maxBytes?: number) {
    this.variables = new Map(plan.variables.map((name, number) => [name, number]));
    this.#kept = new KeptValues(`${directory}.samples`, plan.readAgain, maxBytes);
    this.#evaluation = new RunEvaluation(plan, (values, isLast) => this.#kept.add(values, isLast));
  }

  /** Takes a sample, which is valid only during the call; none after `complete`. */
  take({ high, low, count, variables, values }: Sample): void {
    if (this.#completing !== undefined) return;
    const time = (high * 2 ** 32 + low) / NS_PER_S;
    this.#evaluation.begin(time);
    for (let index = 0; index < count; index++) {
      const number = variables[index]?.wanted ?? -1;
      if (number >= 0) this.#evaluation.add(number, time, values[index] ?? NaN);
    }
  }

  /** Takes a row of a stored file; none after `complete`. `columns[i]` has the values of the variable `numbers[i]`: null where a row has none. */
  takeRow(timeNs: bigint, numbers: readonly number[], columns: readonly ArrayLike<unknown>[], row: number): void {
    const time = Number(timeNs) / NS_PER_S;
    this.#evaluation.begin(time);
    for (const [at, number] of numbers.entries()) {
      const value = columns[at]?.[row];
      if (typeof value === 'number') this.#evaluation.add(number, time, value);
    }
  }

  /** True while the disk is too slow: no more samples should be given. */
  get pressed(): boolean {
    return this.#kept.pressed;
  }

  /** Calls back, once, when there is room. */
  whenRelieved(action: () => void): void {
    this.#kept.whenRelieved(action);
  }

  /** Reads the samples a second time where that is needed. Call it when no sample follows; a second call waits for the first. @param stop ends it early */
  complete(stop: Pick<AbortSignal, 'aborted'>): Promise<void> {
    this.#completing ??= this.#complete(stop);
    return this.#completing;
  }

  async #complete(stop: Pick<AbortSignal, 'aborted'>): Promise<void> {
    this.#evaluation.finish();
    await this.#kept.read((values) => this.#evaluation.again(values), stop);
    await this.#kept.close();
  }

  /** Histories and derived outputs; once, after `complete`. `late`: by variable, values that arrived too late to be put in order. */
  evaluate(values: RunValues): Evaluated & { late: Map<string, number> } {
    return { ...this.#evaluation.evaluate(values, this.#kept.fault), late: this.#evaluation.late };
  }
}
