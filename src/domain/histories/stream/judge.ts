/** Follows a condition through the samples of a run: when it begins and ends to hold, how often and how long. Pure. */
import { compares, type ConditionOperator } from '../../../base/expressions/comparison.ts';
import type { Condition } from '../conditions.ts';
import { CompensatedSum } from './compensated-sum.ts';

/** The last two samples of each variable by number; NaN where there are fewer. */
export interface LastSamples {
  times: Float64Array;
  values: Float64Array;
  earlierTimes: Float64Array;
  earlierValues: Float64Array;
}

interface Comparison {
  variable: number;
  operator: ConditionOperator;
  threshold: number;
  holds: boolean;
  /** Time of the sample that was judged last. */
  judgedTime: number;
  /** Time of the last change, interpolated between its two samples. */
  crossing: number;
}

/**
 * A condition is judged at every time at which one of its variables has a sample, with the last value of each, once each has one.
 * Where it changes, the moment is the latest crossing of its comparisons; at the first time it is judged, that time.
 */
export class Judge {
  readonly variables: readonly number[];
  holds = false;
  /** When it was judged last; NaN: never. */
  judgedTime = NaN;
  /** The first moment at which it holds; NaN: none. */
  first = NaN;
  /** How often it began to hold. */
  beginnings = 0;
  #end = NaN;
  #beginning = NaN;
  #firstJudged = NaN;
  readonly #duration = new CompensatedSum();
  readonly #comparisons: Comparison[] = [];
  readonly #isMet: () => boolean;

  /** @param numberOf the number of a variable by its name */
  constructor(condition: Condition, numberOf: (variable: string) => number) {
    this.#isMet = this.#compiled(condition, numberOf);
    this.variables = [...new Set(this.#comparisons.map((it) => it.variable))];
  }

  /** The last moment at which it holds so far; NaN: none. */
  get last(): number {
    return this.holds ? this.judgedTime : this.#end;
  }

  /** Seconds for which it has held so far. */
  get duration(): number {
    return this.#duration.value + (this.holds ? this.judgedTime - this.#beginning : 0);
  }

  /** Judges it at a time at which one of its variables has a sample. */
  judge(time: number, samples: LastSamples): void {
    let isComplete = true;
    for (const it of this.#comparisons) isComplete = compare(it, samples) && isComplete;
    if (!isComplete) return;
    const isFirst = Number.isNaN(this.judgedTime);
    if (isFirst) this.#firstJudged = time;
    this.judgedTime = time;
    const holds = this.#isMet();
    if (holds === this.holds) return;
    this.holds = holds;
    const moment = isFirst ? time : this.#latestCrossing();
    if (!holds) {
      this.#end = moment;
      this.#duration.add(moment - this.#beginning);
      return;
    }
    this.#beginning = moment;
    this.beginnings++;
    if (this.beginnings === 1) this.first = moment;
  }

  #latestCrossing(): number {
    // A comparison may have changed before the other variables had a sample.
    return this.#comparisons.reduce((latest, it) => Math.max(latest, it.crossing), this.#firstJudged);
  }

  #compiled(condition: Condition, numberOf: (variable: string) => number): () => boolean {
    switch (condition.kind) {
      case 'compare': {
        const { operator, threshold } = condition;
        const variable = numberOf(condition.variable);
        const it = { variable, operator, threshold, holds: false, judgedTime: NaN, crossing: -Infinity };
        this.#comparisons.push(it);
        return () => it.holds;
      }
      case 'not': {
        const term = this.#compiled(condition.term, numberOf);
        return () => !term();
      }
      case 'and': {
        const terms = condition.terms.map((it) => this.#compiled(it, numberOf));
        return () => terms.every((term) => term());
      }
      case 'or': {
        const terms = condition.terms.map((it) => this.#compiled(it, numberOf));
        return () => terms.some((term) => term());
      }
    }
  }
}

/** Brings a comparison up to date; false when its variable has no sample yet. */
function compare(it: Comparison, { times, values, earlierTimes, earlierValues }: LastSamples): boolean {
  const time = times[it.variable]!;
  if (Number.isNaN(time)) return false;
  if (time === it.judgedTime) return true;
  const isFirst = Number.isNaN(it.judgedTime);
  it.judgedTime = time;
  const value = values[it.variable]!;
  const holds = compares(value, it.operator, it.threshold);
  if (!isFirst && holds !== it.holds)
    it.crossing = crossing(earlierTimes[it.variable]!, earlierValues[it.variable]!, time, value, it.threshold);
  it.holds = holds;
  return true;
}

/** When the line through two samples has the value `threshold`, which is between them. */
function crossing(time0: number, value0: number, time1: number, value1: number, threshold: number): number {
  const share = (threshold - value0) / (value1 - value0);
  // Infinite values have no line.
  return Number.isFinite(share) ? time0 + (time1 - time0) * Math.min(1, Math.max(0, share)) : time1;
}
