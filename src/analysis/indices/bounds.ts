/** How far the blocks that are missing could move an index. */
import { type Blocks, columnsOf, momentsOf } from './blocks.ts';

export type Bounds = readonly [low: number, high: number];

export interface IndexBounds {
  /** By input. */
  readonly first: readonly Bounds[];
  readonly total: readonly Bounds[];
}

/**
 * Bounds of the indices of the whole design, whatever values within the range of the complete blocks the missing ones have; undefined
 * where none is missing. Numerator and denominator are bounded one by one, so the bounds are wide rather than wrong. An index is a share:
 * bounds are within [0, 1].
 */
export function indexBounds(blocks: Blocks): IndexBounds | undefined {
  const { a, b, ab, missing } = blocks;
  if (missing === 0) return undefined;
  const of = a.length + missing;
  let low = Infinity;
  let high = -Infinity;
  for (const column of columnsOf(blocks)) {
    for (const value of column) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  const most = (high - low) ** 2 * missing;
  const variance = varianceBounds([a, b], 2 * missing, low, high);
  return {
    first: ab.map((values) => {
      let products = 0;
      let differences = 0;
      for (const [at, value] of values.entries()) {
        products += b[at]! * (value - a[at]!);
        differences += value - a[at]!;
      }
      // The estimator subtracts the mean of all values, which the missing ones move within the range.
      const centred = [products - low * differences, products - high * differences];
      return within(Math.min(...centred) - most, Math.max(...centred) + most, of, variance);
    }),
    total: ab.map((values) => {
      let squares = 0;
      for (const [at, value] of values.entries()) squares += (a[at]! - value) ** 2;
      return within(squares / 2, (squares + most) / 2, of, variance);
    }),
  };
}

function within(least: number, most: number, of: number, [lowVariance, highVariance]: Bounds): Bounds {
  const share = (sum: number, variance: number): number =>
    variance > 0 ? sum / of / variance : Math.sign(sum) * Infinity;
  const low = share(least, least < 0 ? lowVariance : highVariance);
  const high = share(most, most < 0 ? highVariance : lowVariance);
  const inUnit = (value: number): number => Math.min(1, Math.max(0, Number.isNaN(value) ? 0 : value));
  return [inUnit(low), inUnit(high)];
}

/** The least and the greatest variance (over n) of these values and `missing` others from [low, high]. */
function varianceBounds(columns: readonly Float64Array[], missing: number, low: number, high: number): Bounds {
  const { count, mean, squares } = momentsOf(columns);
  const of = count + missing;
  const [least, most] = [low - mean, high - mean];
  const withAtUpperEnd = (upper: number): number => {
    const lower = missing - upper;
    const moved = (upper * most + lower * least) / of;
    return (squares + upper * most ** 2 + lower * least ** 2) / of - moved ** 2;
  };
  // Least where all others are the mean; greatest where each is at an end. That is a parabola in the number at the upper end.
  const top = most > least ? (((most + least) * of) / 2 - missing * least) / (most - least) : 0;
  const candidates = [Math.floor(top), Math.ceil(top)].map((it) => Math.min(missing, Math.max(0, it)));
  const greatest = Math.max(...candidates.map(withAtUpperEnd));
  return [squares / of, greatest];
}
