/** Average ranks of a column, and the sizes of its groups of equal values. */
import { ascendingOrder } from './order.ts';

export interface Ranks {
  /** Rank of each value, from 1; equal values share the mean of their ranks. */
  ranks: Float64Array<ArrayBuffer>;
  /** The sum of t^3 - t over the groups of t equal values: 0 without ties. */
  tieSum: number;
}

/**
 * Average ranks (mid-ranks). `values` must not hold NaN. `order` is `ascendingOrder(values)` where the caller has it already, or
 * that of some of the values: the others then count for nothing and have rank 0.
 * Source: Kendall, Biometrika 33 (1945) 239.
 */
export function averageRanks(values: Float64Array, order: Uint32Array = ascendingOrder(values)): Ranks {
  const n = order.length;
  const ranks = new Float64Array(values.length);
  let tieSum = 0;
  for (let start = 0; start < n;) {
    const value = values[order[start]!]!;
    let end = start + 1;
    while (end < n && values[order[end]!] === value) end++;
    const rank = (start + 1 + end) / 2;
    for (let i = start; i < end; i++) ranks[order[i]!] = rank;
    const ties = end - start;
    tieSum += ties * (ties * ties - 1);
    start = end;
  }
  return { ranks, tieSum };
}
