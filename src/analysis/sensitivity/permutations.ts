/** The permutations of an output that measure its noise: the same for one batch and output on every machine. */
import { createHash } from 'node:crypto';
import { TAG_NOISE_FLOOR, openUniform, philox } from '../../domain/sampling/philox.ts';

/** The two key words, from the batch's id and the output's name. */
export type PermutationKey = readonly [k0: number, k1: number];

/** The first two words (little endian) of SHA-256 over the id, a zero byte and the name, in UTF-8. */
export function permutationKey(batchId: string, output: string): PermutationKey {
  const digest = createHash('sha256').update(`${batchId}\0${output}`, 'utf8').digest();
  return [digest.readInt32LE(0), digest.readInt32LE(4)];
}

const block = new Uint32Array(4);

/**
 * Writes the permutation with this number of `values` to `out`: i from the last index down to 1 changes places with
 * floor(u (i + 1)), where u is the open uniform of the first two words of philox at the counter (i, number, 0, 6).
 * Source: Fisher and Yates (1938), in the form of Durstenfeld, Comm. ACM 7 (1964) 420.
 */
export function permute(values: Float64Array, [k0, k1]: PermutationKey, number: number, out: Float64Array): void {
  out.set(values);
  for (let i = values.length - 1; i >= 1; i--) {
    philox(k0, k1, i, number, 0, TAG_NOISE_FLOOR, block);
    // Below 2^31, so that `| 0` is the floor.
    const other = (openUniform(block[0]!, block[1]!) * (i + 1)) | 0;
    const kept = out[i]!;
    out[i] = out[other]!;
    out[other] = kept;
  }
}
