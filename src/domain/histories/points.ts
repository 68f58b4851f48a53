/** The times of a history and its name, as its declaration says them. The one place that makes points of `from`, `to` and `step`. Pure. */
import type { HistoryConfig, HistoryTimes } from '../../contract/types.ts';

/** The name of a history: its variable where it has none of its own. */
export const historyName = ({ name, variable }: Pick<HistoryConfig, 'name' | 'variable'>): string => name ?? variable;

/** Steps of this share beyond `to` count as at `to`: 0, 0.1, 0.2 and 0.3 are four times, although 3 * 0.1 exceeds 0.3. */
const STEP_TOLERANCE = 1e-9;

/** How many times a history has: 0 for a declaration that is neither of the two forms. */
export function pointCount({ from, to, step, points }: HistoryTimes): number {
  if (points !== undefined) return points.length;
  if (from === undefined || to === undefined || step === undefined || !(step > 0) || !(to >= from)) return 0;
  return Math.floor((to - from) / step + STEP_TOLERANCE) + 1;
}

/** The times of a history, in seconds: `points`, or each `from + i * step`, the last at most `to`. */
export function pointsOf(times: HistoryTimes): Float64Array {
  if (times.points !== undefined) return Float64Array.from(times.points);
  const { from = 0, to = 0, step = 1 } = times;
  return Float64Array.from({ length: pointCount(times) }, (_, at) => Math.min(from + at * step, to));
}
