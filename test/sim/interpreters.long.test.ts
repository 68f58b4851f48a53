/** Seeded scenarios with both interpreters of the machines. SIM_SEEDS=1000 compares more; SIM_SEED=n one of them. */
import { expect } from 'chai';
import { play } from './scenario.ts';

const ONE = process.env.SIM_SEED;
const first = ONE === undefined ? 1 : Number(ONE);
const count = ONE === undefined ? Math.min(Number(process.env.SIM_SEEDS ?? 20), 1_000) : 1;

describe('sim: interpreters', () => {
  it(`leave the same records in ${count} scenarios with faults`, async function () {
    this.timeout(0);
    for (let seed = first; seed < first + count; seed += 1) {
      const compiled = await play(seed);
      const xstate = await play(seed, {}, 'xstate');
      expect(xstate.tally, `seed ${seed}`).to.deep.equal(compiled.tally);
      expect(Object.fromEntries(xstate.disk), `seed ${seed}`).to.deep.equal(Object.fromEntries(compiled.disk));
    }
  });
});
