/** Injected bugs that most seeds find; those that few find are in test/night. */
import { itFinds } from './finds.ts';
import { MUTATIONS, SEEDS } from './mutations.ts';
import { play } from './scenario.ts';

describe('sim/mutations', () => {
  for (const it of MUTATIONS.filter(({ isRare }) => isRare === undefined))
    itFinds(it, SEEDS, (seed) => play(seed, it.bug));
});
