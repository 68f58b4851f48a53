/**
 * Quasi-Monte Carlo: Sobol' points with an exact Owen scramble of all 32 digits, continued by 20 random bits below the last
 * digit, as an infinitely deep scramble would. The scramble of a parameter is a tree of flip bits, made from its key as needed.
 */
import { TAG_OWEN_TAIL, TAG_OWEN_TREE, openUniform, philox } from '../philox.ts';
import { sobolPoint } from './sobol.ts';

/** Digits are scrambled in groups of 7 (the last of 4): a block of 128 bits holds the flips of a group's subtree. */
const GROUP_DIGITS = 7;
const block = new Int32Array(4);

/** The flip blocks of the first two groups, which every point needs again: 1 + 128 blocks, the latter made when first met. */
class UpperTree {
  readonly #k0: number;
  readonly #k1: number;
  readonly root = new Int32Array(4);
  readonly #second = new Int32Array(4 * 128);
  readonly #known = new Uint8Array(128);

  constructor(k0: number, k1: number) {
    this.#k0 = k0;
    this.#k1 = k1;
    philox(k0, k1, 0, 0, 0, TAG_OWEN_TREE, this.root);
  }

  /** All second-group blocks, with the one below the point's first 7 digits present from index 4 * digits on. */
  second(digits: number): Int32Array {
    if (this.#known[digits] === 0) {
      philox(this.#k0, this.#k1, digits, 1, 0, TAG_OWEN_TREE, block);
      this.#second.set(block, 4 * digits);
      this.#known[digits] = 1;
    }
    return this.#second;
  }
}

/** The uniforms of one parameter, the one with Sobol' direction numbers `directions`: a function of the run in [0, 2^31). */
export function quasiMonteCarloUniforms(key: Uint32Array, directions: Int32Array): (run: number) => number {
  const k0 = key[0]! | 0;
  const k1 = key[1]! | 0;
  const tree = new UpperTree(k0, k1);
  return (run) => {
    const point = sobolPoint(directions, run);
    let flips = flipBits(tree.root, 0, point >>> 25, GROUP_DIGITS) << 25;
    const first = point >>> 25;
    flips |= flipBits(tree.second(first), 4 * first, (point >>> 18) & 127, GROUP_DIGITS) << 18;
    philox(k0, k1, point >>> 18, 2, 0, TAG_OWEN_TREE, block);
    flips |= flipBits(block, 0, (point >>> 11) & 127, GROUP_DIGITS) << 11;
    philox(k0, k1, point >>> 11, 3, 0, TAG_OWEN_TREE, block);
    flips |= flipBits(block, 0, (point >>> 4) & 127, GROUP_DIGITS) << 4;
    philox(k0, k1, point >>> 4, 4, 0, TAG_OWEN_TREE, block);
    flips |= flipBits(block, 0, point & 15, 4);
    philox(k0, k1, point, 0, 0, TAG_OWEN_TAIL, block);
    return openUniform(point ^ flips, block[0]!);
  };
}

/**
 * The flips of one group of digits: on the way down the subtree whose 128 bits are in `words` from `offset`, node h (the root
 * is 1, the children of h are 2h and 2h + 1) says whether the digit met there is flipped.
 */
function flipBits(words: Int32Array, offset: number, digits: number, count: number): number {
  let flips = 0;
  const path = digits | (1 << count);
  for (let rest = count; rest > 0; rest--) {
    const node = path >>> rest;
    flips = (flips << 1) | ((words[offset + (node >>> 5)]! >>> (node & 31)) & 1);
  }
  return flips;
}
