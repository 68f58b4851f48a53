/** The box of a group of values. Pure. */
import { sortedQuantile } from '../../../../src/analysis/numeric/quantile.ts';

export interface Box {
  n: number;
  /** The least and the greatest value within 1.5 times the distance of the quartiles from them. */
  low: number;
  high: number;
  q1: number;
  median: number;
  q3: number;
  /** How many values are beyond `low` and `high`, and some of them, evenly chosen in their order. */
  outside: number;
  beyond: Float64Array;
}

const REACH = 1.5;

/**
 * @param values at least one, finite; sorted in place.
 * @param most values in `beyond`.
 * Source: Tukey, Exploratory Data Analysis (1977), 2C; quartiles as quantiles elsewhere (type 7).
 */
export function boxOf(values: Float64Array, most: number): Box {
  values.sort();
  const [q1, median, q3] = [0.25, 0.5, 0.75].map((p) => sortedQuantile(values, p)) as [number, number, number];
  const reach = REACH * (q3 - q1);
  const first = values.findIndex((it) => it >= q1 - reach);
  const last = values.findLastIndex((it) => it <= q3 + reach);
  const outside = first + values.length - 1 - last;
  const beyondAt = (place: number): number => values[place < first ? place : last + 1 + place - first]!;
  const shown = Math.min(most, outside);
  const beyond = Float64Array.from({ length: shown }, (_, at) =>
    beyondAt(shown === outside ? at : Math.round((at * (outside - 1)) / (shown - 1))),
  );
  return { n: values.length, low: values[first]!, high: values[last]!, q1, median, q3, outside, beyond };
}
