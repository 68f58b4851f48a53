/** The random numbers of a study of rare events: functions of its seed and of the number of the run alone. */
import { standardNormalQuantile } from '../../base/distributions/normal.ts';
import { RARE_EVENT_ALGORITHM } from '../../contract/enums.ts';
import { deriveKey } from '../../domain/sampling/key.ts';
import {
  openUniform,
  philox,
  TAG_MONTE_CARLO,
  TAG_RARE_CHOICE,
  TAG_RARE_NORMALS,
} from '../../domain/sampling/philox.ts';
import { SAMPLING_SCHEME } from '../../domain/sampling/sampler.ts';

/** The random numbers of runs. Not for concurrent use. */
export class RareDraws {
  readonly #nominal: readonly Uint32Array[];
  readonly #own: readonly Uint32Array[];
  readonly #choice: Uint32Array;
  readonly #block = new Int32Array(4);

  /** `names`: the random parameters, sorted. `seed`: in decimal. */
  constructor(names: readonly string[], seed: string) {
    this.#nominal = names.map((name) => deriveKey(SAMPLING_SCHEME, 'monte_carlo', seed, name));
    this.#own = names.map((name) => deriveKey(SAMPLING_SCHEME, RARE_EVENT_ALGORITHM, seed, name));
    this.#choice = deriveKey(SAMPLING_SCHEME, RARE_EVENT_ALGORITHM, seed, '');
  }

  /** The number of coordinates. */
  get dimensions(): number {
    return this.#nominal.length;
  }

  /** Writes the normals of the run in a plain Monte Carlo study of the same seed. */
  nominalInto(run: number, out: Float64Array): void {
    this.#into(this.#nominal, run, TAG_MONTE_CARLO, out);
  }

  /** Writes the normals by which the run moves, or is drawn from a proposal. */
  ownInto(run: number, out: Float64Array): void {
    this.#into(this.#own, run, TAG_RARE_NORMALS, out);
  }

  /** Three uniforms: the choice of a component of a proposal, and two for its coordinates. */
  choices(run: number): [number, number, number] {
    const block = this.#block;
    const [k0, k1] = [this.#choice[0]! | 0, this.#choice[1]! | 0];
    philox(k0, k1, run, 0, 0, TAG_RARE_CHOICE, block);
    const first = openUniform(block[0]!, block[1]!);
    const second = openUniform(block[2]!, block[3]!);
    philox(k0, k1, run, 1, 0, TAG_RARE_CHOICE, block);
    return [first, second, openUniform(block[0]!, block[1]!)];
  }

  #into(keys: readonly Uint32Array[], run: number, tag: number, out: Float64Array): void {
    const block = this.#block;
    for (const [at, key] of keys.entries()) {
      philox(key[0]! | 0, key[1]! | 0, run, 0, 0, tag, block);
      out[at] = standardNormalQuantile(openUniform(block[0]!, block[1]!));
    }
  }
}
