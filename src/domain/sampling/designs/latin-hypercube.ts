/**
 * Latin hypercube: the runs of a study fill n equal strata of every parameter, one run each, in an order shuffled per parameter.
 * The shuffle is computed per run, never stored.
 */
import { TAG_LHS_JITTER, TAG_LHS_ROUNDS, bits52, multiplyHigh, philox } from '../philox.ts';

const SHUFFLE_ROUNDS = 32;
const block = new Int32Array(4);

/** All ones or all zeros: the top bit of h after mixing, which decides whether a pair of strata is swapped. */
function topBitMask(h: number): number {
  h ^= h >>> 16;
  h = Math.imul(h, 0x7feb352d);
  h ^= h >>> 15;
  h = Math.imul(h, 0x846ca68b | 0);
  // A last `h ^= h >>> 16` would leave the top bit as it is.
  return h >> 31;
}

/** The two words of each shuffle round: a point in [0, strata) about which strata are paired, and a salt for `topBitMask`. */
function shuffleRounds(key: Uint32Array, strata: number): { pivots: Int32Array; salts: Int32Array } {
  const pivots = new Int32Array(SHUFFLE_ROUNDS);
  const salts = new Int32Array(SHUFFLE_ROUNDS);
  for (let round = 0; round < SHUFFLE_ROUNDS; round += 2) {
    philox(key[2]! | 0, key[3]! | 0, round, 0, 0, TAG_LHS_ROUNDS, block);
    pivots[round] = multiplyHigh(block[0]!, strata);
    salts[round] = block[1]!;
    pivots[round + 1] = multiplyHigh(block[2]!, strata);
    salts[round + 1] = block[3]!;
  }
  return { pivots, salts };
}

/**
 * The stratum of each run: a permutation of [0, strata), computed one element at a time for any number of strata in [1, 2^31).
 * Source: Hoang, Morris, Rogaway, "An enciphering scheme based on a card shuffle" (2012), doi:10.1007/978-3-642-32009-5_1.
 */
export function swapOrNotShuffle(key: Uint32Array, strata: number): (run: number) => number {
  const { pivots, salts } = shuffleRounds(key, strata);
  return (run) => {
    let stratum = run;
    for (let round = 0; round < SHUFFLE_ROUNDS; round++) {
      let partner = (pivots[round]! - stratum) | 0;
      partner = (partner + (strata & (partner >> 31))) | 0;
      const difference = (stratum - partner) | 0;
      const greater = (partner + (difference & ~(difference >> 31))) | 0;
      // No branch on random bits: half of them would be mispredicted.
      stratum ^= (stratum ^ partner) & topBitMask(greater ^ salts[round]!);
    }
    return stratum;
  };
}

/** The uniforms of one parameter: a function of the run index in [0, runs). */
export function latinHypercubeUniforms(key: Uint32Array, runs: number): (run: number) => number {
  const k0 = key[0]! | 0;
  const k1 = key[1]! | 0;
  const stratumOf = swapOrNotShuffle(key, runs);
  // The jitter gives up as many of its bits as the stratum needs, so that their sum is exact and never rounds into the next
  // stratum or to 1.
  const stratumBits = runs <= 1 ? 0 : 32 - Math.clz32(runs - 1);
  const dropped = 2 ** -(2 + stratumBits);
  const jitterStep = 2 ** -(50 - stratumBits);
  return (run) => {
    philox(k0, k1, run, 0, 0, TAG_LHS_JITTER, block);
    const jitter = (Math.floor(bits52(block[0]!, block[1]!) * dropped) + 0.5) * jitterStep;
    return (stratumOf(run) + jitter) / runs;
  };
}
