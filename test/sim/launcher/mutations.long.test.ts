/** Injected bugs of the launcher that most seeds find; those that few find are in test/night. */
import { itFinds } from '../finds.ts';
import { LAUNCHER_MUTATIONS, SEEDS } from './mutations.ts';
import { playLauncher } from './scenario.ts';

describe('sim/launcher: injected bugs', () => {
  for (const it of LAUNCHER_MUTATIONS.filter(({ isRare }) => isRare === undefined))
    itFinds(it, SEEDS, (seed) => playLauncher(seed, it.bug));
});
