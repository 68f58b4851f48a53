/** Means, variances and Pearson's correlation of columns, in sums that do not cancel. */
import { studentTwoSided } from '../special/student.ts';

/** Runs per partial sum: rounding errors then grow with the number of blocks, and a block of all columns stays in the cache. */
const BLOCK = 1024;

/** The mean of the values; NaN without values. */
export function mean(values: Float64Array): number {
  let total = 0;
  for (let start = 0; start < values.length; start += BLOCK) {
    const end = Math.min(start + BLOCK, values.length);
    let sum = 0;
    for (let i = start; i < end; i++) sum += values[i]!;
    total += sum;
  }
  return total / values.length;
}

/** The values minus their mean, and the sum of squares of these. A column without two different values gives exactly 0. */
export function centred(values: Float64Array): { deviations: Float64Array<ArrayBuffer>; squares: number } {
  const n = values.length;
  const deviations = new Float64Array(n);
  if (isConstant(values)) return { deviations, squares: 0 };
  // The first value is taken off first, so that a mean far from 0 costs no digits.
  const origin = values[0]!;
  for (let i = 0; i < n; i++) deviations[i] = values[i]! - origin;
  const middle = mean(deviations);
  for (let i = 0; i < n; i++) deviations[i] = deviations[i]! - middle;
  return { deviations, squares: sumOfProducts(deviations, deviations) };
}

/** True when no two values differ. */
export function isConstant(values: Float64Array): boolean {
  const first = values[0];
  return values.every((value) => value === first);
}

/** The sample variance (divisor n - 1); NaN below two values. */
export function sampleVariance(values: Float64Array): number {
  return values.length < 2 ? Number.NaN : centred(values).squares / (values.length - 1);
}

function sumOfProducts(a: Float64Array, b: Float64Array): number {
  let total = 0;
  for (let start = 0; start < a.length; start += BLOCK) {
    const end = Math.min(start + BLOCK, a.length);
    let sum = 0;
    for (let i = start; i < end; i++) sum += a[i]! * b[i]!;
    total += sum;
  }
  return total;
}

/**
 * Pearson's correlation of every pair of columns (all of one length), as a symmetric matrix by rows; 1 on the diagonal.
 * A column without variance has NaN in its row.
 */
export function correlationMatrix(columns: readonly Float64Array[]): Float64Array[] {
  const centredColumns = columns.map((column) => centred(column));
  const rows = columns.map(() => new Float64Array(columns.length));
  const n = columns[0]?.length ?? 0;
  for (let start = 0; start < n; start += BLOCK) {
    const end = Math.min(start + BLOCK, n);
    for (let a = 1; a < columns.length; a++) {
      for (let b = 0; b < a; b++) {
        const left = centredColumns[a]!.deviations;
        const right = centredColumns[b]!.deviations;
        let sum = 0;
        for (let i = start; i < end; i++) sum += left[i]! * right[i]!;
        rows[a]![b]! += sum;
      }
    }
  }
  for (let a = 0; a < columns.length; a++) {
    rows[a]![a] = centredColumns[a]!.squares > 0 ? 1 : Number.NaN;
    for (let b = 0; b < a; b++) {
      // Two roots, because the product of two sums of squares may leave the range of a double.
      const scale = Math.sqrt(centredColumns[a]!.squares) * Math.sqrt(centredColumns[b]!.squares);
      const correlation = Math.max(-1, Math.min(1, rows[a]![b]! / scale));
      rows[a]![b] = scale > 0 ? correlation : Number.NaN;
      rows[b]![a] = rows[a]![b]!;
    }
  }
  return rows;
}

/** The two-sided p-value of a correlation by Student's t with `freedom` > 0 degrees of freedom. */
export function correlationPValue(correlation: number, freedom: number): number {
  const rest = (1 - correlation) * (1 + correlation);
  return rest <= 0 ? 0 : studentTwoSided(correlation * Math.sqrt(freedom / rest), freedom);
}
