/**
 * Sobol' indices from the blocks of Saltelli's design, with the estimators of SALib 1.6: first order by Saltelli et al. (2010), total
 * by Jansen (1999), second order by Saltelli (2002); and their standard errors by the bootstrap over blocks (Archer et al., 1997).
 */
import { TAG_BOOTSTRAP, philox } from '../../domain/sampling/philox.ts';
import { NumberSeries } from '../numeric/statistics.ts';
import type { PermutationKey } from '../sensitivity/permutations.ts';
import { type Blocks, standardised } from './blocks.ts';

/** One figure for each input, or for each pair of inputs in the order (0, 1), (0, 2), ... (1, 2), ... */
export interface Indices {
  readonly first: Float64Array;
  readonly total: Float64Array;
  /** Empty without second order. */
  readonly second: Float64Array;
}

export interface EstimatedIndices extends Indices {
  /** Standard errors; of the shape of the indices. */
  readonly errors: Indices;
  /** Bootstrap samples that the errors are from. */
  readonly resamples: number;
}

const MOST_RESAMPLES = 1000;
const LEAST_RESAMPLES = 100;
/** Bounds the bootstrap to about a second. */
const MOST_OPERATIONS = 5e8;

/** The pairs of `count` inputs, in the order of the second indices. */
export function pairsOf(count: number): [number, number][] {
  const pairs: [number, number][] = [];
  for (let one = 0; one < count; one++) for (let other = one + 1; other < count; other++) pairs.push([one, other]);
  return pairs;
}

/** The terms of the sums, by block: made once, so that a bootstrap sample only adds. */
interface Terms {
  readonly a: Float64Array;
  readonly b: Float64Array;
  /** B (AB - A) by input. */
  readonly first: readonly Float64Array[];
  /** (A - AB)^2 / 2 by input. */
  readonly total: readonly Float64Array[];
  /** BA AB - A B by pair. */
  readonly second: readonly Float64Array[];
}

function termsOf({ a, b, ab, ba }: Blocks): Terms {
  return {
    a,
    b,
    first: ab.map((values) => values.map((value, at) => b[at]! * (value - a[at]!))),
    total: ab.map((values) => values.map((value, at) => 0.5 * (a[at]! - value) ** 2)),
    second:
      ba.length === 0
        ? []
        : pairsOf(ab.length).map(([one, other]) =>
            a.map((value, at) => ba[one]![at]! * ab[other]![at]! - value * b[at]!),
          ),
  };
}

/**
 * The indices of the complete blocks. `key`: of the bootstrap, so that the same runs give the same errors. All are 0 where the output
 * is the same in every row of A and B. Needs at least one block.
 */
export function estimateIndices(blocks: Blocks, key: PermutationKey): EstimatedIndices {
  const terms = termsOf(standardised(blocks));
  const count = blocks.a.length;
  const everyBlock = Uint32Array.from({ length: count }, (_, at) => at);
  const found = indicesOf(terms, everyBlock);
  const columns = 2 + terms.first.length * 2 + terms.second.length;
  const resamples = Math.max(
    LEAST_RESAMPLES,
    Math.min(MOST_RESAMPLES, Math.floor(MOST_OPERATIONS / (count * columns))),
  );
  const spread = { first: [], total: [], second: [] } as Record<keyof Indices, NumberSeries[]>;
  for (const name of NAMES) spread[name] = Array.from(found[name], () => new NumberSeries());
  const drawn = new Uint32Array(count);
  for (let number = 0; number < resamples; number++) {
    drawBlocks(drawn, key, number);
    const again = indicesOf(terms, drawn);
    for (const name of NAMES) again[name].forEach((value, at) => spread[name][at]!.add(value));
  }
  const errorsOf = (name: keyof Indices): Float64Array => Float64Array.from(spread[name], (it) => it.sd ?? 0);
  const errors = { first: errorsOf('first'), total: errorsOf('total'), second: errorsOf('second') };
  return { ...found, errors, resamples };
}

const NAMES = ['first', 'total', 'second'] as const satisfies readonly (keyof Indices)[];

function indicesOf(terms: Terms, drawn: Uint32Array): Indices {
  const variance = varianceOf(terms.a, terms.b, drawn);
  const share = (column: Float64Array): number => {
    if (!(variance > Number.EPSILON)) return 0;
    let sum = 0;
    for (const at of drawn) sum += column[at]!;
    return sum / drawn.length / variance;
  };
  const first = Float64Array.from(terms.first, share);
  const total = Float64Array.from(terms.total, share);
  const pairs = terms.second.length === 0 ? [] : pairsOf(first.length);
  const second = Float64Array.from(pairs, ([one, other], at) => share(terms.second[at]!) - first[one]! - first[other]!);
  return { first, total, second };
}

/** The variance of the drawn rows of A and B together, over their number. */
function varianceOf(a: Float64Array, b: Float64Array, drawn: Uint32Array): number {
  let sum = 0;
  for (const at of drawn) sum += a[at]! + b[at]!;
  const mean = sum / (2 * drawn.length);
  let squares = 0;
  for (const at of drawn) squares += (a[at]! - mean) ** 2 + (b[at]! - mean) ** 2;
  return squares / (2 * drawn.length);
}

const words = new Uint32Array(4);

/** Draws as many blocks as there are, with replacement: four from a block of random words. */
function drawBlocks(drawn: Uint32Array, [k0, k1]: PermutationKey, number: number): void {
  for (let at = 0; at < drawn.length; at++) {
    if (at % 4 === 0) philox(k0, k1, at, number, 0, TAG_BOOTSTRAP, words);
    drawn[at] = Math.floor((words[at % 4]! / 2 ** 32) * drawn.length);
  }
}
