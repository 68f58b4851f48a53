/** The interval of one parameter that holds most failures for its share of the runs. */
import { shortestAbove, shortestBelow } from '../wording.ts';

export interface Interval {
  /** The smallest and largest value of the runs inside, both included; null where no run lies further out. */
  first: number | null;
  last: number | null;
  /** Weighted relative accuracy (n_in/n) (f_in/n_in - f/n), in [0, 1/4]. */
  wracc: number;
  n_in: number;
  failures_in: number;
}

/** An interval as places in an ascending order, from `start` up to but without `end`. */
export interface PlacedInterval {
  start: number;
  end: number;
  /** n^2 times the weighted relative accuracy: an integer, so that equal intervals compare as equal. */
  gain: number;
  runs: number;
  failures: number;
}

/** A parameter of the runs of both groups, with its ascending order. */
export interface OrderedColumn {
  name: string;
  values: Float64Array;
  order: Uint32Array;
}

export interface GroupedRuns {
  /** 1 where the run fails, 0 where it passes. */
  failing: Uint8Array;
  failures: number;
}

/**
 * The best of all intervals of `values`, whose ends lie between neighbouring distinct values. Of equal ones the one with the
 * fewest runs, then the lowest. `inside` restricts the search to some runs; the accuracy stays that among all.
 * One pass over the order, with weight n - failures for a failing run and -failures for another one.
 * Sources: Lavrac, Flach, Zupan, ILP (1999) (the measure); Kadane's maximum-sum pass, Bentley, Comm. ACM 27 (1984) 865.
 */
export function bestInterval(
  { values, order }: OrderedColumn,
  { failing, failures }: GroupedRuns,
  inside?: Uint8Array,
): PlacedInterval {
  const n = failing.length;
  const none: PlacedInterval = { start: 0, end: 0, gain: Number.NEGATIVE_INFINITY, runs: 0, failures: 0 };
  let best = none;
  let start = 0;
  let gain = 0;
  let runs = 0;
  let found = 0;
  for (let place = 0; place < n;) {
    const value = values[order[place]!]!;
    // A sum of 0 is not kept either: it would add runs and no gain.
    if (gain <= 0) {
      start = place;
      gain = 0;
      runs = 0;
      found = 0;
    }
    let end = place;
    let tied = 0;
    let tiedFailures = 0;
    for (; end < n && values[order[end]!] === value; end++) {
      const run = order[end]!;
      if (inside !== undefined && inside[run] === 0) continue;
      tied++;
      tiedFailures += failing[run]!;
    }
    place = end;
    if (tied === 0) continue;
    gain += n * tiedFailures - failures * tied;
    runs += tied;
    found += tiedFailures;
    if (gain > best.gain || (gain === best.gain && runs < best.runs))
      best = { start, end, gain, runs, failures: found };
  }
  return best;
}

/**
 * The interval by the values of the runs inside it, and the condition in words that selects the same runs, such as
 * `gust_speed >= 23.1`. Of a box, `inside` holds the runs that its other side selects.
 */
export function describeInterval(
  { name, values, order }: OrderedColumn,
  interval: PlacedInterval,
  inside?: Uint8Array,
): Interval & { condition: string } {
  const n = order.length;
  const at = (place: number): number => values[order[place]!]!;
  const isFirst = at(interval.start) === at(0);
  const isLast = at(interval.end - 1) === at(n - 1);
  let { start, end } = interval;
  if (inside !== undefined) {
    while (inside[order[start]!] === 0) start++;
    while (inside[order[end - 1]!] === 0) end--;
  }
  const first = at(start);
  const last = at(end - 1);
  // The nearest values outside, between which and the ends a shorter number does as well.
  while (start > 0 && at(start) === first) start--;
  while (end < n && at(end - 1) === last) end++;
  return {
    first: isFirst ? null : first,
    last: isLast ? null : last,
    wracc: interval.gain / (n * n),
    n_in: interval.runs,
    failures_in: interval.failures,
    condition: inWords(
      name,
      isFirst ? null : shortestAbove(at(start), first),
      isLast ? null : shortestBelow(last, at(end - 1)),
    ),
  };
}

function inWords(name: string, first: number | null, last: number | null): string {
  if (first === null) return last === null ? `any ${name}` : `${name} <= ${last}`;
  if (last === null) return `${name} >= ${first}`;
  return first === last ? `${name} = ${first}` : `${first} <= ${name} <= ${last}`;
}

/** 1 for the runs between two places of an order, 0 for the others. */
export function runsInside(order: Uint32Array, { start, end }: PlacedInterval): Uint8Array<ArrayBuffer> {
  const inside = new Uint8Array(order.length);
  for (let place = start; place < end; place++) inside[order[place]!] = 1;
  return inside;
}
