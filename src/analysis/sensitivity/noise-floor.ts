/** The noise floor of first-order indices: how large the largest becomes when the output has nothing to do with any parameter. */
import { ascendingOrder } from '../numeric/order.ts';
import { orderedQuantile } from '../numeric/quantile.ts';
import { adjustedIndex, cosinePower } from './cosine-index.ts';
import { permute, type PermutationKey } from './permutations.ts';

/** Permutations of an output of up to `MOST_RUNS_FOR_ALL` runs. */
export const PERMUTATIONS = 200;
const MOST_RUNS_FOR_ALL = 200_000;
/** The 95 % quantile of fewer would be their maximum. */
const LEAST_PERMUTATIONS = 40;
const LEVEL = 0.95;

interface Columns {
  /** The ascending order of each parameter. */
  orders: readonly Uint32Array[];
  /** The output minus its mean. */
  deviations: Float64Array;
  /** The output's variance, divisor n. */
  variance: number;
  /** `cosineBasis` of the number of runs. */
  basis: Float64Array;
  key: PermutationKey;
}

/** Returns the number of permutations: fewer for more than 200,000 runs, so that the time grows no further before 10^6 runs. */
export function permutationsFor(runs: number): number {
  const affordable = Math.floor((PERMUTATIONS * MOST_RUNS_FOR_ALL) / runs);
  return Math.max(LEAST_PERMUTATIONS, Math.min(PERMUTATIONS, affordable));
}

/** The largest of the parameters' first-order indices by chance: one for each permutation of the output, ascending. */
export type ChanceIndices = Float64Array;

export function chanceIndices({ orders, deviations, variance, basis, key }: Columns): ChanceIndices {
  const n = deviations.length;
  const permuted = new Float64Array(n);
  return Float64Array.from({ length: permutationsFor(n) }, (_, number) => {
    permute(deviations, key, number, permuted);
    const power = orders.reduce((most, order) => Math.max(most, cosinePower(permuted, order, basis)), 0);
    return adjustedIndex(power, variance, n);
  }).sort();
}

/** The 95 % quantile, type 7. */
export const noiseFloor = (chance: ChanceIndices): number => orderedQuantile(chance, ascendingOrder(chance), LEVEL);

/**
 * The p-value of an index among those of all parameters: the share of the orders of the output, the observed order included, that
 * reach it.
 * Source: Westfall and Young, Resampling-Based Multiple Testing (1993), 2.3.
 */
export const chanceOf = (index: number, chance: ChanceIndices): number =>
  (1 + chance.filter((it) => it >= index).length) / (1 + chance.length);
