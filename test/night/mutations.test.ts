/** Injected bugs that the seeds of the simulation find. */
import { itFinds } from '../sim/finds.ts';
import * as launcher from '../sim/launcher/mutations.ts';
import { playLauncher } from '../sim/launcher/scenario.ts';
import { MUTATIONS, SEEDS } from '../sim/mutations.ts';
import { play } from '../sim/scenario.ts';

describe('night/mutations', () => {
  for (const it of MUTATIONS) itFinds(it, SEEDS, (seed) => play(seed, it.bug));
  for (const it of launcher.LAUNCHER_MUTATIONS) itFinds(it, launcher.SEEDS, (seed) => playLauncher(seed, it.bug));
});
