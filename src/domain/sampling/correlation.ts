/**
 * Correlated parameters: a Gaussian copula joins the uniforms of each connected group of parameters, run by run. The distributions of the
 * parameters, and every parameter outside a group, stay as they are.
 */
import { normalTails, standardNormalQuantile } from '../../base/distributions/normal.ts';
import type { Correlation } from '../../contract/types.ts';

/** A group of parameters joined by correlations, directly or through others. */
export interface CorrelatedGroup {
  /** Names of the parameters, sorted by UTF-16 code unit. */
  readonly names: readonly string[];
  /** The lower Cholesky factor of the normal correlations, row by row, without the part above the diagonal. */
  readonly factor: Float64Array;
}

/** A group of correlations that no joint distribution has. */
export interface ContradictoryGroup {
  readonly names: readonly string[];
  /** The greatest factor, in steps of 0.001, by which all ranks of the group can be multiplied to make them possible. */
  readonly shrinkBy: number;
}

/** The most parameters of one group: the cost of a run grows with the square of their number. */
export const MAX_GROUP = 100;
/** A pivot below this is 0 but for rounding. */
const LEAST_PIVOT = 1e-12;
const LEAST_UNIFORM = 2 ** -53;
const GREATEST_UNIFORM = 1 - 2 ** -53;

/** The connected groups of the names, each sorted, in the order of their first names. */
export function connectedGroups(correlations: readonly Correlation[]): string[][] {
  const parent = new Map<string, string>();
  const root = (name: string): string => {
    let at = name;
    for (let up = parent.get(at); up !== undefined && up !== at; up = parent.get(at)) {
      const next = parent.get(up) ?? up;
      parent.set(at, next);
      at = next;
    }
    return at;
  };
  for (const { parameters } of correlations) {
    for (const name of parameters) if (!parent.has(name)) parent.set(name, name);
    parent.set(root(parameters[0]), root(parameters[1]));
  }
  const groups = new Map<string, string[]>();
  // Names are sorted by code unit and not by locale: the factor depends on the order.
  for (const name of [...parent.keys()].sort((a, b) => (a < b ? -1 : 1))) {
    const group = groups.get(root(name));
    if (group === undefined) groups.set(root(name), [name]);
    else group.push(name);
  }
  return [...groups.values()];
}

/** The factor of one group, or by how much its ranks must shrink. `names` is a whole group of `connectedGroups`. */
export function factorOf(
  names: readonly string[],
  correlations: readonly Correlation[],
): CorrelatedGroup | ContradictoryGroup {
  const place = new Map(names.map((name, index) => [name, index]));
  const pairs = correlations.flatMap(({ parameters: [a, b], rank }) => {
    const row = place.get(a);
    const column = place.get(b);
    return row === undefined || column === undefined ? [] : [{ row, column, rank }];
  });
  const factorOfRanks = (scale: number): Float64Array | undefined => {
    const matrix = identity(names.length);
    for (const { row, column, rank } of pairs) {
      matrix[packed(Math.max(row, column), Math.min(row, column))] = 2 * Math.sin((Math.PI * rank * scale) / 6);
    }
    return cholesky(matrix, names.length);
  };
  const factor = factorOfRanks(1);
  if (factor !== undefined) return { names, factor };
  let possible = 0;
  let impossible = 1000;
  while (impossible - possible > 1) {
    const middle = (possible + impossible) >>> 1;
    if (factorOfRanks(middle / 1000) === undefined) impossible = middle;
    else possible = middle;
  }
  return { names, shrinkBy: possible / 1000 };
}

/** The groups of a study. Throws a RangeError for contradictory correlations, which validation reports before. */
export function correlatedGroups(correlations: readonly Correlation[]): CorrelatedGroup[] {
  return connectedGroups(correlations).map((names) => {
    const group = factorOf(names, correlations);
    if ('shrinkBy' in group) throw new RangeError(`the correlations of ${names.join(', ')} contradict each other`);
    return group;
  });
}

/**
 * A function that replaces the uniforms of a group in place. `places[k]` is the index in `uniforms` of the group's k-th name. The
 * first one is kept to the bit.
 */
export function copula(factor: Float64Array, places: readonly number[]): (uniforms: Float64Array) => void {
  const size = places.length;
  const normals = new Float64Array(size);
  const tails = { p: 0, q: 0 };
  return (uniforms) => {
    for (let k = 0; k < size; k++) normals[k] = standardNormalQuantile(uniforms[places[k]!]!);
    let at = 1;
    for (let row = 1; row < size; row++) {
      let sum = 0;
      for (let column = 0; column <= row; column++) sum += factor[at++]! * normals[column]!;
      normalTails(sum, tails);
      uniforms[places[row]!] = Math.min(Math.max(tails.p, LEAST_UNIFORM), GREATEST_UNIFORM);
    }
  };
}

/** The index of an element of a lower triangle kept row by row. */
const packed = (row: number, column: number): number => (row * (row + 1)) / 2 + column;

function identity(size: number): Float64Array {
  const matrix = new Float64Array((size * (size + 1)) / 2);
  for (let k = 0; k < size; k++) matrix[packed(k, k)] = 1;
  return matrix;
}

/** Replaces a symmetric matrix by its lower Cholesky factor; undefined when it is not positive definite. */
function cholesky(matrix: Float64Array, size: number): Float64Array | undefined {
  for (let row = 0; row < size; row++) {
    const ofRow = packed(row, 0);
    for (let column = 0; column <= row; column++) {
      const ofColumn = packed(column, 0);
      let sum = matrix[ofRow + column]!;
      for (let k = 0; k < column; k++) sum -= matrix[ofRow + k]! * matrix[ofColumn + k]!;
      if (column < row) matrix[ofRow + column] = sum / matrix[ofColumn + column]!;
      else if (sum > LEAST_PIVOT) matrix[ofRow + row] = Math.sqrt(sum);
      else return undefined;
    }
  }
  return matrix;
}
