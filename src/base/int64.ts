/** Integers in [0, 2^63 - 1], kept exact: a `number` up to 2^53 - 1, a `bigint` above. */

export const MAX_INT64 = 2n ** 63n - 1n;

/**
 * Returns the fault of a value as such an integer, as a phrase that follows the member's name; undefined for a valid one. A
 * number above 2^53 - 1 is refused: its last digits are already lost.
 */
export function int64Fault(value: unknown): string | undefined {
  const range = `must be an integer from 0 to ${MAX_INT64}`;
  if (typeof value === 'bigint') return value < 0n || value > MAX_INT64 ? `${range}, not ${value}` : undefined;
  if (typeof value !== 'number') return range;
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** 63) return `${range}, not ${value}`;
  if (!Number.isSafeInteger(value)) {
    return 'above 9007199254740991 must be written as plain digits (no fraction, no exponent): other forms lose digits';
  }
  return undefined;
}
