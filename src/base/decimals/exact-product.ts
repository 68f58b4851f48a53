/** The error of a product of two doubles, so that the product and it are exact together. */

/** 2^27 + 1, for the division of a double into two halves. */
const SPLITTER = 134_217_729;

/**
 * a * b - product exactly, for a product that is a * b rounded. Neither overflows nor underflows for factors from 1e-100 to 1e100.
 * T. J. Dekker, A floating-point technique for extending the available precision, 1971.
 */
export function productError(a: number, b: number, product: number): number {
  const aHigh = a * SPLITTER - (a * SPLITTER - a);
  const aLow = a - aHigh;
  const bHigh = b * SPLITTER - (b * SPLITTER - b);
  const bLow = b - bHigh;
  return aHigh * bHigh - product + aHigh * bLow + aLow * bHigh + aLow * bLow;
}
