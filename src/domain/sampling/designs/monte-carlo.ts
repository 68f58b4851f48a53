/** Plain Monte Carlo: every run's uniform is an independent draw. */
import { TAG_MONTE_CARLO, openUniform, philox } from '../philox.ts';

const block = new Int32Array(4);

/** The uniforms of one parameter: a function of the run index in [0, 2^31). */
export function monteCarloUniforms(key: Uint32Array): (run: number) => number {
  const k0 = key[0]! | 0;
  const k1 = key[1]! | 0;
  return (run) => {
    philox(k0, k1, run, 0, 0, TAG_MONTE_CARLO, block);
    return openUniform(block[0]!, block[1]!);
  };
}
