/**
 * The live view of one running run: the down-sampled values of its variables, of a bounded number of them. The memory of a
 * view is bounded, and a sample costs O(1) for each of its values.
 */
import { LIMITS } from '../../../contract/limits.ts';
import type { Sample } from '../sample.ts';
import type { Variable } from '../variables.ts';
import { LiveSeries } from './series.ts';

export class LiveView {
  /** Variables in the order of their first values. */
  readonly variables: { name: string; series: LiveSeries }[] = [];
  /** Variables that came and are not in the view. */
  omitted = 0;
  readonly #reserved = new Set<string>();
  /** Places that no condition reserves. */
  #free: number;

  /** @param reserved the variables of conditions: they have a place, however many others come before. */
  constructor(reserved: Iterable<string>) {
    for (const name of reserved) if (this.#reserved.size < LIMITS.liveVariables) this.#reserved.add(name);
    this.#free = LIMITS.liveVariables - this.#reserved.size;
  }

  /** Takes a sample before it is reduced: a spike between two stored samples stays visible. */
  take(sample: Sample): void {
    const time = (sample.high * 2 ** 32 + sample.low) / NS_PER_S;
    for (let index = 0; index < sample.count; index += 1) {
      const variable = sample.variables[index];
      if (variable === undefined) continue;
      if (variable.live === undefined) variable.live = this.#admit(variable);
      variable.live?.take(time, sample.values[index] ?? NaN);
    }
  }

  #admit({ name }: Variable): LiveSeries | null {
    if (!this.#reserved.has(name)) {
      if (this.#free === 0) {
        this.omitted += 1;
        return null;
      }
      this.#free -= 1;
    }
    const series = new LiveSeries();
    this.variables.push({ name, series });
    return series;
  }
}

const NS_PER_S = 1e9;
