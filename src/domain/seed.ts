/**
 * A study's seed: an integer in [0, 2^63 - 1], a `number` as long as that is exact and a `bigint` above. `src/base/exact-json.ts` reads it
 * from JSON text without losing digits, `src/base/json-writing.ts` writes it.
 */
import type { Seed } from '../contract/types.ts';

/** The greatest seed, 2^63 - 1. */
export const MAX_SEED = 2n ** 63n - 1n;

/**
 * Returns the fault of a value as a seed, as a phrase that follows the member's name; undefined for a valid seed. A number above
 * 2^53 - 1 is refused: its last digits are already lost.
 */
export function seedFault(value: unknown): string | undefined {
  const range = `must be an integer from 0 to ${MAX_SEED}`;
  if (typeof value === 'bigint') return value < 0n || value > MAX_SEED ? `${range}, not ${value}` : undefined;
  if (typeof value !== 'number') return range;
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** 63) return `${range}, not ${value}`;
  if (!Number.isSafeInteger(value)) {
    return 'above 9007199254740991 must be written as plain digits (no fraction, no exponent): other forms lose digits';
  }
  return undefined;
}

/** A bigint as a seed: a `number` when that is exact, else the bigint. Throws a RangeError outside [0, 2^63 - 1]. */
export function seedFromBigint(value: bigint): Seed {
  const fault = seedFault(value);
  if (fault !== undefined) throw new RangeError(`a seed ${fault}`);
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

/** Reads a seed written in decimal digits, e.g. a command-line argument. Throws a RangeError naming the text. */
export function seedFromDecimal(text: string): Seed {
  // Longer digits cannot be a seed, and BigInt of very long digits takes time quadratic in their number.
  if (!/^\d{1,40}$/.test(text)) {
    const shown = text.length > 40 ? `${text.slice(0, 40)}...` : text;
    throw new RangeError(`a seed must be an integer from 0 to ${MAX_SEED} in decimal digits, not "${shown}"`);
  }
  return seedFromBigint(BigInt(text));
}

/** The seed in decimal, without sign or leading zeros: the form that enters the random key. Throws a RangeError for any other value. */
export function seedToDecimal(seed: Seed): string {
  const fault = seedFault(seed);
  if (fault !== undefined) throw new RangeError(`a seed ${fault}`);
  // BigInt drops the sign of -0.
  return BigInt(seed).toString();
}
