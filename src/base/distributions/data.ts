/** Inverse CDFs of distributions given as data. Arguments are uniforms in [2^-53, 1 - 2^-53]. */
import type { Values, ValuesOfTails } from './entry.ts';
import type { WeightedValue } from './members.ts';

/** The first value whose cumulated weight is at least u times the total. O(log values) a sample. */
export function discreteQuantile(values: readonly WeightedValue[]): Values {
  const cumulated = new Float64Array(values.length);
  let total = 0;
  for (const [index, { weight }] of values.entries()) {
    total += weight;
    cumulated[index] = total;
  }
  const value = Float64Array.from(values, (entry) => entry.value);
  return (u) => {
    const sought = u * total;
    let low = 0;
    let high = value.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (cumulated[middle]! >= sought) high = middle;
      else low = middle + 1;
    }
    return value[low]!;
  };
}

/** The same from both tails: the weights above are summed from the top, so that a rare greatest value keeps its probability. */
export function discreteOfTails(values: readonly WeightedValue[]): ValuesOfTails {
  const fromBelow = discreteQuantile(values);
  const above = new Float64Array(values.length);
  let total = 0;
  for (let index = values.length - 1; index >= 0; index--) {
    above[index] = total;
    total += values[index]!.weight;
  }
  return (p, q) => {
    if (p <= q) return fromBelow(p);
    const sought = q * total;
    let low = 0;
    let high = values.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (above[middle]! <= sought) high = middle;
      else low = middle + 1;
    }
    return values[low]!.value;
  };
}

/**
 * The quantiles of data, linear between the sorted numbers.
 * Source: Hyndman and Fan, "Sample quantiles in statistical packages" (1996), doi:10.2307/2684934, definition 7.
 */
export function empiricalQuantile(data: readonly number[]): Values {
  const sorted = Float64Array.from(data).sort();
  const last = sorted.length - 1;
  return (u) => {
    const position = u * last;
    const below = Math.min(Math.floor(position), last - 1);
    const share = position - below;
    const from = sorted[below]!;
    const to = sorted[below + 1]!;
    const range = to - from;
    // A range above the greatest double is weighed from both ends.
    if (!Number.isFinite(range)) return (1 - share) * from + share * to;
    return share < 0.5 ? from + share * range : to - (1 - share) * range;
  };
}

/** The same from both tails: the upper half is measured from the greatest number. */
export function empiricalOfTails(data: readonly number[]): ValuesOfTails {
  const fromBelow = empiricalQuantile(data);
  const mirrored = empiricalQuantile(data.map((it) => -it));
  return (p, q) => (p <= q ? fromBelow(p) : -mirrored(q));
}
