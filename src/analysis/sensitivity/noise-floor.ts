/** The noise floor of first-order indices: how large the largest becomes when the output has nothing to do with any parameter. */
import { BlockSums, COLUMNS as GROUP } from '../kernels/block-sums.ts';
import { FREQUENCIES, adjustedIndex, cosinePower } from './cosine-index.ts';
import { permute, type PermutationKey } from './permutations.ts';

const PERMUTATIONS = 200;
/** Quantile 0.95, type 7, of 200 maxima: between the 11th and the 10th largest. */
const LEVEL = 0.95;
const POSITION = LEVEL * (PERMUTATIONS - 1);
const KEPT = PERMUTATIONS - Math.floor(POSITION);

/** Up to this many positions an order is not summarised. */
const MOST_BLOCKS = 2048;
/** The bound on the error of a summarised frequency, in standard deviations of its distribution over permutations. */
const MARGIN = 12;
/** Sums of rounded outputs over a block stay within an int32. */
const MOST_SUM = 2 ** 31 - 1;

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

/** Per permutation, bounds of the power at every parameter: `low` and `high` of permutation t and parameter j at t k + j. */
interface Bounds {
  low: Float64Array;
  high: Float64Array;
}

/**
 * The 95 % quantile, over 200 permutations of the output, of the largest of the parameters' first-order indices.
 *
 * Every permutation is first judged on orders cut into 2048 blocks, where a frequency counts with its mean over the block, and on
 * the output rounded to integers. The neglected rest has mean 0 and a known variance over permutations; only permutations that may be among
 * the 11 largest within 12 of its standard deviations are evaluated in full. The result is that of evaluating all of them.
 */
export function noiseFloor(columns: Columns): number {
  const { orders, variance } = columns;
  const n = columns.deviations.length;
  const count = orders.length;
  const bounds = powerBounds(columns);
  const largest = (values: Float64Array, number: number): number =>
    values.subarray(number * count, (number + 1) * count).reduce((a, b) => Math.max(a, b), 0);
  const lows = Float64Array.from({ length: PERMUTATIONS }, (_, number) => largest(bounds.low, number)).sort();
  const threshold = lows[PERMUTATIONS - KEPT]!;
  const maxima: number[] = [];
  const permuted = new Float64Array(n);
  for (let number = 0; number < PERMUTATIONS; number++) {
    if (largest(bounds.high, number) < threshold) continue;
    permute(columns.deviations, columns.key, number, permuted);
    let most = 0;
    for (let j = 0; j < count; j++) {
      if (bounds.high[number * count + j]! < largest(bounds.low, number)) continue;
      most = Math.max(most, cosinePower(permuted, orders[j]!, columns.basis));
    }
    maxima.push(most);
  }
  maxima.sort((a, b) => b - a);
  const below = maxima[KEPT - 1]!;
  const above = maxima[KEPT - 2]!;
  const power = below + (POSITION - Math.floor(POSITION)) * (above - below);
  return adjustedIndex(power, variance, n);
}

function powerBounds(columns: Columns): Bounds {
  const { orders, deviations, key } = columns;
  const n = deviations.length;
  const k = orders.length;
  const blocks = Math.min(n, MOST_BLOCKS);
  const rounded = roundedOutput(columns, Math.ceil(n / blocks));
  const { means, margins } = blockCosines(columns, blocks, rounded.variance);
  const low = new Float64Array(PERMUTATIONS * k);
  const high = new Float64Array(PERMUTATIONS * k);
  const sums = new BlockSums({ rows: n, blocks, partitions: k }, (j) => blockIndices(orders[j]!, blocks));
  const group = Array.from({ length: GROUP }, () => new Int32Array(n));
  for (let first = 0; first < PERMUTATIONS; first += GROUP) {
    group.forEach((out, member) => permute(rounded.values, key, first + member, out));
    sums.add(group);
    for (let j = 0; j < k; j++) {
      const ofParameter = sums.sums.subarray(j * blocks * GROUP, (j + 1) * blocks * GROUP);
      for (let member = 0; member < GROUP; member++) {
        const at = (first + member) * k + j;
        [low[at], high[at]] = powerBetween(ofParameter, member, { means, margins, scale: rounded.unit / n });
      }
    }
  }
  return { low, high };
}

/** An output rounded to multiples of `unit`, and the variance of the rounding errors. */
interface RoundedOutput {
  values: Int32Array;
  unit: number;
  variance: number;
}

/** Rounds as finely as sums of `terms` values allow. */
function roundedOutput({ deviations }: Columns, terms: number): RoundedOutput {
  const largest = deviations.reduce((most, it) => Math.max(most, Math.abs(it)), 0);
  const unit = largest / Math.floor(MOST_SUM / terms);
  const values = new Int32Array(deviations.length);
  let squares = 0;
  for (let run = 0; run < values.length; run++) {
    const value = Math.round(deviations[run]! / unit);
    values[run] = value;
    squares += (deviations[run]! - value * unit) ** 2;
  }
  return { values, unit, variance: squares / values.length };
}

/** The block of each run's place in an order. */
function blockIndices(order: Uint32Array, blocks: number): Uint16Array {
  const n = order.length;
  const indices = new Uint16Array(n);
  for (let place = 0; place < n; place++) indices[order[place]!] = Math.floor((place * blocks) / n);
  return indices;
}

/**
 * The mean of each frequency over each block (frequency h of block b at (h - 1) blocks + b), and by frequency the bound on the
 * parts of c_h that the means and the rounding of the output, whose errors have this variance, neglect.
 */
function blockCosines(
  columns: Columns,
  blocks: number,
  rounding: number,
): { means: Float64Array; margins: Float64Array } {
  const n = columns.basis.length;
  const means = new Float64Array(FREQUENCIES * blocks);
  const margins = new Float64Array(FREQUENCIES);
  const values = new Float64Array(n);
  for (let h = 1; h <= FREQUENCIES; h++) {
    const sums = means.subarray((h - 1) * blocks, h * blocks);
    const counts = new Float64Array(blocks);
    for (let i = 0; i < n; i++) {
      const at = Math.floor((i * blocks) / n);
      const value = Math.SQRT2 * Math.cos((Math.PI * h * (i + 0.5)) / n);
      values[i] = value;
      sums[at] = sums[at]! + value;
      counts[at] = counts[at]! + 1;
    }
    for (let at = 0; at < blocks; at++) sums[at] = sums[at]! / counts[at]!;
    let squares = 0;
    for (let i = 0; i < n; i++) squares += (values[i]! - sums[Math.floor((i * blocks) / n)]!) ** 2;
    // The variance of a mean of products over all permutations is var(y) * mean(rest^2) / (n - 1).
    // That of the rounding errors times the means, whose mean square is at most 1, likewise.
    const ofMeans = Math.sqrt((columns.variance * squares) / n / Math.max(1, n - 1));
    margins[h - 1] = MARGIN * (ofMeans + Math.sqrt(rounding / Math.max(1, n - 1)));
  }
  return { means, margins };
}

/** The least and the greatest power (sum of squares of c_1..c_6) that the sums of one member allow. */
function powerBetween(
  sums: Int32Array,
  member: number,
  { means, margins, scale }: { means: Float64Array; margins: Float64Array; scale: number },
): [low: number, high: number] {
  const blocks = sums.length / GROUP;
  let low = 0;
  let high = 0;
  for (let h = 0; h < FREQUENCIES; h++) {
    let total = 0;
    for (let at = 0; at < blocks; at++) total += sums[at * GROUP + member]! * means[h * blocks + at]!;
    const size = Math.abs(total * scale);
    low += Math.max(0, size - margins[h]!) ** 2;
    high += (size + margins[h]!) ** 2;
  }
  // Rounding of these sums, which alone is left where every block holds one run.
  return [low * (1 - 1e-9), high * (1 + 1e-9)];
}
