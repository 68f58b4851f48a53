/** Histories and derived outputs by their definitions: whole arrays, no streaming. For comparison. */
import type { DerivedConfig, HistoryConfig } from '../../../src/contract/types.ts';
import {
  type Comparison,
  comparisonsOf,
  type Condition,
  parseCondition,
} from '../../../src/domain/histories/conditions.ts';
import { parseEvent } from '../../../src/domain/histories/events.ts';
import { pointsOf } from '../../../src/domain/histories/points.ts';
import { meets } from '../../../src/domain/study/condition.ts';

export interface Arrival {
  variable: string;
  time: number;
  value: number;
}

interface Point {
  time: number;
  value: number;
}

/** The samples of a variable in the order of time; of equal times the last arrival. */
export function seriesOf(arrivals: readonly Arrival[], variable: string): Point[] {
  const byTime = new Map<number, number>();
  for (const it of arrivals) if (it.variable === variable && !Number.isNaN(it.value)) byTime.set(it.time, it.value);
  return [...byTime].map(([time, value]) => ({ time, value })).sort((a, b) => a.time - b.time);
}

export function valueAt(series: readonly Point[], time: number, interpolation: 'linear' | 'previous'): number {
  const before = series.filter((it) => it.time <= time).at(-1);
  const after = series.find((it) => it.time >= time);
  if (before === undefined || after === undefined) return NaN;
  if (after.time === time) return after.value;
  if (interpolation === 'previous') return before.value;
  return before.value + ((after.value - before.value) * (time - before.time)) / (after.time - before.time);
}

interface Judged {
  times: number[];
  holds: boolean[];
  /** When each change happens, by index. */
  moments: number[];
}

function judged(arrivals: readonly Arrival[], condition: Condition): Judged {
  const leaves = comparisonsOf(condition).map((leaf) => ({ leaf, series: seriesOf(arrivals, leaf.variable) }));
  const begin = Math.max(...leaves.map(({ series }) => series[0]?.time ?? Infinity));
  const all = new Set(leaves.flatMap(({ series }) => series.map((it) => it.time)));
  const times = [...all].filter((it) => it >= begin).sort((a, b) => a - b);
  const holdsAt = (it: Condition, time: number): boolean => {
    if (it.kind === 'not') return !holdsAt(it.term, time);
    if (it.kind === 'compare') return leafHolds(it, seriesOf(arrivals, it.variable), time);
    const truths = it.terms.map((term) => holdsAt(term, time));
    return it.kind === 'and' ? !truths.includes(false) : truths.includes(true);
  };
  const holds = times.map((time) => holdsAt(condition, time));
  const moments = times.map((time, index) => {
    if (index === 0) return time;
    const crossings = leaves.flatMap(({ leaf, series }) =>
      crossingsOf(
        leaf,
        series.filter((it) => it.time <= time),
      ),
    );
    return Math.max(begin, ...crossings);
  });
  return { times, holds, moments };
}

const leafHolds = (leaf: Comparison, series: readonly Point[], time: number): boolean =>
  meets(leaf, series.filter((it) => it.time <= time).at(-1)!.value);

function crossingsOf(leaf: Comparison, series: readonly Point[]): number[] {
  return series.flatMap((it, index) => {
    const last = series[index - 1];
    if (last === undefined || meets(leaf, last.value) === meets(leaf, it.value)) return [];
    return [last.time + ((it.time - last.time) * (leaf.threshold - last.value)) / (it.value - last.value)];
  });
}

/** The time of an event, NaN where there is none. */
export function timeOf(arrivals: readonly Arrival[], text: string): number {
  const event = parseEvent(text);
  const times = arrivals.map((it) => it.time);
  if (event.kind === 'start') return times.length === 0 ? NaN : Math.min(...times);
  if (event.kind === 'end') return times.length === 0 ? NaN : Math.max(...times);
  if ('variable' in event) {
    const series = seriesOf(arrivals, event.variable);
    const values = series.map((it) => it.value);
    const extreme = event.kind === 'first_max' ? Math.max(...values) : Math.min(...values);
    return series.find((it) => it.value === extreme)?.time ?? NaN;
  }
  if (!('condition' in event)) throw new Error(`${text} does not have a condition`);
  const { times: at, holds, moments } = judged(arrivals, event.condition);
  if (event.kind === 'first') return moments[holds.indexOf(true)] ?? NaN;
  const last = holds.lastIndexOf(true);
  if (last < 0) return NaN;
  return last === holds.length - 1 ? at[last]! : moments[last + 1]!;
}

export function historyOf(arrivals: readonly Arrival[], config: HistoryConfig): number[] {
  const origin = config.origin === undefined ? 0 : timeOf(arrivals, config.origin);
  const series = seriesOf(arrivals, config.variable);
  return [...pointsOf(config.at)].map((it) => valueAt(series, origin + it, config.interpolation ?? 'linear'));
}

/** The value of a derived output that is not an expression, NaN where it is missing. */
export function derivedOf(arrivals: readonly Arrival[], config: DerivedConfig): number {
  const { take, telemetry = '', band = [0, 0] } = config;
  const condition = config.while === undefined ? undefined : parseCondition(config.while);
  const series = seriesOf(arrivals, telemetry);
  switch (take) {
    case 'time':
      return timeOf(arrivals, config.at!);
    case 'value':
      return valueAt(series, timeOf(arrivals, config.at!), 'linear');
    case 'count': {
      const event = parseEvent(config.at!);
      if (!('condition' in event)) return NaN;
      const { holds } = judged(arrivals, event.condition);
      return holds.length === 0 ? NaN : holds.filter((it, index) => it && holds[index - 1] !== true).length;
    }
    case 'duration': {
      const { times, holds, moments } = judged(arrivals, condition!);
      if (times.length === 0) return NaN;
      let sum = 0;
      for (const [index, it] of holds.entries()) {
        if (it && holds[index - 1] !== true) sum -= moments[index]!;
        if (!it && holds[index - 1] === true) sum += moments[index]!;
      }
      return holds.at(-1) === true ? sum + times.at(-1)! : sum;
    }
    case 'last_time_outside': {
      const isOutside = ({ value }: Point): boolean => value < band[0] || value > band[1];
      if (series.length === 0 || isOutside(series.at(-1)!)) return NaN;
      const last = series.filter(isOutside).at(-1);
      return last === undefined ? 0 : last.time - series[0]!.time;
    }
    default:
      return overSamples(config, series, condition === undefined ? undefined : judged(arrivals, condition));
  }
}

function overSamples({ take }: DerivedConfig, series: readonly Point[], condition: Judged | undefined): number {
  if (series.length === 0 || condition?.times.length === 0) return NaN;
  const counts = series.map(({ time }) => {
    if (condition === undefined) return true;
    return condition.holds[condition.times.findLastIndex((it) => it <= time)] === true;
  });
  const values = series.filter((_, index) => counts[index]).map((it) => it.value);
  let [area, span] = [0, 0];
  for (let index = 1; index < series.length; index++) {
    if (counts[index] !== true || counts[index - 1] !== true) continue;
    const [a, b] = [series[index - 1]!, series[index]!];
    area += ((a.value + b.value) / 2) * (b.time - a.time);
    span += b.time - a.time;
  }
  switch (take) {
    case 'integral':
      return area;
    case 'mean':
      return area / span;
    case 'max':
      return values.length === 0 ? NaN : Math.max(...values);
    case 'min':
      return values.length === 0 ? NaN : Math.min(...values);
    case 'range':
      return values.length === 0 ? NaN : Math.max(...values) - Math.min(...values);
    case 'first':
      return values[0] ?? NaN;
    default:
      return values.at(-1) ?? NaN;
  }
}
