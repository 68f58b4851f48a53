/** Pseudo-random draws of a selftest: the same seed gives the same kills in the same order. */
import { openUniform, philox } from '../../domain/sampling/philox.ts';

export class Draws {
  readonly #seed: number;
  readonly #words = new Int32Array(4);
  #count = 0;

  /** `seed` is an integer in [0, 2^32 - 1]. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /** A uniform number in (0, 1). */
  fraction(): number {
    philox(this.#seed | 0, 0x5e1f, this.#count, 0, 0, 0, this.#words);
    this.#count += 1;
    return openUniform(this.#words[0] ?? 0, this.#words[1] ?? 0);
  }

  /** One element of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.fraction() * list.length)] as T;
  }

  /** The elements in random order. */
  shuffled<T>(list: readonly T[]): T[] {
    return list
      .map((it) => ({ it, key: this.fraction() }))
      .sort((a, b) => a.key - b.key)
      .map(({ it }) => it);
  }
}
