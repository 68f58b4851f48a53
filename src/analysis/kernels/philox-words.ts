/** Philox blocks of consecutive counters, four at a time: the first two words of each, as `philox` gives them. */
import { WEYL_0, WEYL_1, MULTIPLIER_0, MULTIPLIER_1, ROUNDS, philox } from '../../domain/sampling/philox.ts';
import { type Code, type Kernel, assemble, get, i32, i32x4, loopWhile, seq, set, v128 } from './assembler.ts';

/** Blocks of one call. */
export const MOST_BLOCKS = 4096;
const WORD_BYTES = 4;
const LANES = 4;
/** Where the second words begin. */
const SECOND_AT = MOST_BLOCKS * WORD_BYTES;

// Parameters and locals of the kernel.
const [K0, K1, FIRST, C1, C3, END] = [0, 1, 2, 3, 4, 5];
const AT = 6;
const [X0, X1, X2, X3, KEY0, KEY1, LOW, HIGH, NEXT0, MULTIPLY0, MULTIPLY1] = [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];

/** Sets LOW and HIGH to the lower and upper words of the four products. */
const multiply = (x: number, multiplier: number): Code => [
  ...seq(get(x), get(multiplier), i32x4.multiplyLowUnsigned, set(LOW)),
  ...seq(get(x), get(multiplier), i32x4.multiplyHighUnsigned, set(HIGH)),
];
const lowerWords: Code = [...get(LOW), ...get(HIGH), ...v128.shuffle32(0, 2, 4, 6)];
const upperWords: Code = [...get(LOW), ...get(HIGH), ...v128.shuffle32(1, 3, 5, 7)];

const round: Code = [
  ...multiply(X2, MULTIPLY1),
  ...seq(upperWords, get(X1), v128.xor, get(KEY0), v128.xor, set(NEXT0)),
  ...seq(lowerWords, set(X1)),
  ...multiply(X0, MULTIPLY0),
  ...seq(upperWords, get(X3), v128.xor, get(KEY1), v128.xor, set(X2)),
  ...seq(lowerWords, set(X3)),
  ...seq(get(NEXT0), set(X0)),
  ...seq(get(KEY0), i32.const(WEYL_0), i32x4.splat, i32x4.add, set(KEY0)),
  ...seq(get(KEY1), i32.const(WEYL_1), i32x4.splat, i32x4.add, set(KEY1)),
];

const body: Code = [
  ...seq(i32.const(MULTIPLIER_0), i32x4.splat, set(MULTIPLY0)),
  ...seq(i32.const(MULTIPLIER_1), i32x4.splat, set(MULTIPLY1)),
  ...loopWhile(
    [...get(AT), ...get(END), ...i32.lessUnsigned],
    [
      ...seq(get(FIRST), i32x4.splat, i32x4.const(0, 1, 2, 3), i32x4.add, set(X0)),
      ...seq(get(C1), i32x4.splat, set(X1)),
      ...seq(i32x4.const(0, 0, 0, 0), set(X2)),
      ...seq(get(C3), i32x4.splat, set(X3)),
      ...seq(get(K0), i32x4.splat, set(KEY0)),
      ...seq(get(K1), i32x4.splat, set(KEY1)),
      ...Array.from({ length: ROUNDS }, () => round).flat(),
      ...seq(get(AT), get(X0), v128.store(0)),
      ...seq(get(AT), get(X1), v128.store(SECOND_AT)),
      ...seq(get(FIRST), i32.const(LANES), i32.add, set(FIRST)),
      ...seq(get(AT), i32.const(LANES * WORD_BYTES), i32.add, set(AT)),
    ],
  ),
];

const KERNEL = { fill: { parameters: 6, locals: { i32: 1, v128: 11 }, body } };

export class PhiloxWords {
  /** The first and second words of the blocks of the last `fill`. */
  readonly first: Uint32Array;
  readonly second: Uint32Array;
  readonly #kernel: Kernel<'fill'> | undefined;
  readonly #block = new Uint32Array(LANES);

  /** `vectors`: false computes without WebAssembly, as platforms do that lack it. */
  constructor({ vectors = true }: { vectors?: boolean } = {}) {
    this.#kernel = vectors ? assemble(KERNEL, 2 * SECOND_AT) : undefined;
    const memory = this.#kernel?.memory ?? new ArrayBuffer(2 * SECOND_AT);
    this.first = new Uint32Array(memory, 0, MOST_BLOCKS);
    this.second = new Uint32Array(memory, SECOND_AT, MOST_BLOCKS);
  }

  /** Computes the blocks at the counters (from + i, c1, 0, c3) for i in [0, count), count <= `MOST_BLOCKS`. */
  fill(k0: number, k1: number, from: number, c1: number, c3: number, count: number): void {
    if (this.#kernel !== undefined) {
      const whole = Math.ceil(count / LANES) * LANES;
      this.#kernel.functions.fill(k0, k1, from, c1, c3, whole * WORD_BYTES);
      return;
    }
    const block = this.#block;
    for (let i = 0; i < count; i++) {
      philox(k0, k1, from + i, c1, 0, c3, block);
      this.first[i] = block[0]!;
      this.second[i] = block[1]!;
    }
  }
}
