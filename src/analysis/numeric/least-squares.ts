/** Least squares on standardised columns: coefficients, partial correlations and the share of variance explained. */

/** A column of which less than this share of variance is left, given the ones before it, counts as their combination. */
const DEPENDENT = 1e-10;

export interface StandardisedFit {
  /** The coefficient of each standardised column; null where the others determine the column, so that none is defined. */
  coefficients: (number | null)[];
  /** The correlation of each column with the output given all others; null as above. */
  partialCorrelations: (number | null)[];
  /** The share of the output's variance that the fit explains, in [0, 1]. */
  rSquared: number;
  /** How many columns are independent of each other. Below the number of columns the problem is rank deficient. */
  rank: number;
}

/**
 * Fits the last variable of a correlation matrix by all others, with a constant. Works on correlations of standardised columns
 * and never divides by a pivot below 1e-10; columns found dependent are left out of the basis, and every column that takes
 * part in a dependence is answered with null.
 * Source: Beaton (1964), the sweep operator, as in Goodnight, Am. Stat. 33 (1979) 149.
 */
export function standardisedFit(correlations: readonly Float64Array[]): StandardisedFit {
  const count = correlations.length - 1;
  const swept = correlations.map((row) => Float64Array.from(row));
  const basis: number[] = [];
  const dependent: number[] = [];
  for (let column = 0; column < count; column++) {
    if (swept[column]![column]! > DEPENDENT) {
      sweep(swept, column);
      basis.push(column);
    } else dependent.push(column);
  }
  const residual = Math.max(0, swept[count]![count]!);
  const isDetermined = (column: number): boolean =>
    dependent.includes(column) || dependent.some((it) => Math.abs(swept[column]![it]!) > Math.sqrt(DEPENDENT));
  const coefficients: (number | null)[] = Array.from({ length: count }, () => null);
  const partialCorrelations: (number | null)[] = Array.from({ length: count }, () => null);
  for (const column of basis) {
    if (isDetermined(column)) continue;
    const coefficient = swept[column]![count]!;
    coefficients[column] = coefficient;
    // The t statistic of the coefficient, turned into a correlation: b / sqrt(b^2 + RSS (R^-1)_jj).
    const norm = Math.hypot(coefficient, Math.sqrt(residual * -swept[column]![column]!));
    partialCorrelations[column] = norm > 0 ? coefficient / norm : 0;
  }
  return { coefficients, partialCorrelations, rSquared: 1 - Math.min(1, residual), rank: basis.length };
}

/** Sweeps a symmetric matrix on one column; a swept diagonal holds minus the inverse. */
function sweep(matrix: Float64Array[], pivotIndex: number): void {
  const pivotRow = Float64Array.from(matrix[pivotIndex]!);
  const pivot = pivotRow[pivotIndex]!;
  for (let i = 0; i < matrix.length; i++) {
    const row = matrix[i]!;
    const factor = pivotRow[i]! / pivot;
    if (i === pivotIndex) for (let j = 0; j < row.length; j++) row[j] = pivotRow[j]! / pivot;
    else {
      for (let j = 0; j < row.length; j++) row[j] = row[j]! - factor * pivotRow[j]!;
      row[pivotIndex] = factor;
    }
  }
  matrix[pivotIndex]![pivotIndex] = -1 / pivot;
}
