/**
 * A study's seed: an integer in [0, 2^63 - 1], a `number` as long as that is exact and a `bigint` above. `src/base/json/exact-json.ts` reads it
 * from JSON text without losing digits, `src/base/json/json-writing.ts` writes it.
 */
import { hash } from 'node:crypto';
import { int64Fault, MAX_INT64 } from '../base/int64.ts';
import type { JobRunConfig, Seed } from '../contract/types.ts';

export { int64Fault as seedFault, MAX_INT64 as MAX_SEED };

/** A bigint as a seed: a `number` when that is exact, else the bigint. Throws a RangeError outside [0, 2^63 - 1]. */
export function seedFromBigint(value: bigint): Seed {
  const fault = int64Fault(value);
  if (fault !== undefined) throw new RangeError(`a seed ${fault}`);
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

/** Reads a seed written in decimal digits, e.g. a command-line argument. Throws a RangeError naming the text. */
export function seedFromDecimal(text: string): Seed {
  // Longer digits cannot be a seed, and BigInt of very long digits takes time quadratic in their number.
  if (!/^\d{1,40}$/.test(text)) {
    const shown = text.length > 40 ? `${text.slice(0, 40)}...` : text;
    throw new RangeError(`a seed must be an integer from 0 to ${MAX_INT64} in decimal digits, not "${shown}"`);
  }
  return seedFromBigint(BigInt(text));
}

/** The seed in decimal, without sign or leading zeros: the form that enters the random key. Throws a RangeError for any other value. */
export function seedToDecimal(seed: Seed): string {
  const fault = int64Fault(seed);
  if (fault !== undefined) throw new RangeError(`a seed ${fault}`);
  // BigInt drops the sign of -0.
  return BigInt(seed).toString();
}

/**
 * The seed for a run's own random numbers, in [0, 2^48): the same for every attempt at the run, another for every other run, also of
 * equal draws. Of a study with scenarios it follows the sample: the same in every cell. The client libraries give simulations the same number.
 */
export function randomSeedOf({ run_id, metadata }: Pick<JobRunConfig, 'run_id' | 'metadata'>): number {
  const digest = hash('sha256', `${String(metadata.seed ?? 0)}/${String(metadata.sample ?? run_id)}`);
  return parseInt(digest.slice(0, 12), 16);
}
