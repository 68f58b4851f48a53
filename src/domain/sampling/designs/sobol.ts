/**
 * Unscrambled Sobol' points as 32-bit integers, from the direction numbers in `joe-kuo.ts`. Point 0 is not skipped
 * (Owen, "On dropping the first Sobol' point", 2020).
 */
import { JOE_KUO } from './joe-kuo.ts';

/** How many dimensions there are direction numbers for. */
export const SOBOL_DIMENSIONS = 1111;

let rows: string[] | undefined;

/** The 32 direction numbers (as int32, the most significant digit first) of a dimension in [0, SOBOL_DIMENSIONS). */
export function directionNumbers(dimension: number): Int32Array {
  const directions = new Int32Array(32);
  if (dimension === 0) {
    for (let k = 0; k < 32; k++) directions[k] = 1 << (31 - k);
    return directions;
  }
  rows ??= JOE_KUO.trim().split('\n');
  const row = rows[dimension - 1];
  if (row === undefined) throw new RangeError(`there is no Sobol' dimension ${dimension}; the last is ${rows.length}`);
  const [degree = 0, coefficients = 0, ...initial] = row.split(' ').map(Number);
  for (let k = 0; k < 32; k++) {
    if (k < degree) {
      directions[k] = initial[k]! << (31 - k);
      continue;
    }
    let value = directions[k - degree]! ^ (directions[k - degree]! >>> degree);
    for (let j = 1; j < degree; j++) {
      if ((coefficients >>> (degree - 1 - j)) & 1) value ^= directions[k - j]!;
    }
    directions[k] = value;
  }
  return directions;
}

/** The point (as int32) with this index, in Gray-code order; equals the usual generators' unscrambled sequence. */
export function sobolPoint(directions: Int32Array, index: number): number {
  let point = 0;
  for (let gray = index ^ (index >>> 1); gray !== 0; gray &= gray - 1) {
    point ^= directions[31 - Math.clz32(gray & -gray)]!;
  }
  return point;
}
