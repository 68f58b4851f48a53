/** The seeded simulation. SIM_SEEDS=10000 plays more seeds; SIM_SEED=n replays one seed exactly. */
import { expect } from 'chai';
import { play, type Tally } from './scenario.ts';

const DEFAULT_SEEDS = 300;
const ONE = process.env.SIM_SEED;
const first = ONE === undefined ? 1 : Number(ONE);
const count = ONE === undefined ? Number(process.env.SIM_SEEDS ?? DEFAULT_SEEDS) : 1;

describe('sim', () => {
  it(`keeps its promises in ${count} scenarios with faults`, async function () {
    this.timeout(0);
    const sum: Tally = { steps: 0, crashes: 0, powerLosses: 0, answers: 0, refusals: {}, extracted: 0, gone: 0 };
    for (let seed = first; seed < first + count; seed += 1) {
      try {
        const { tally } = await play(seed);
        sum.steps += tally.steps;
        sum.crashes += tally.crashes;
        sum.powerLosses += tally.powerLosses;
        sum.answers += tally.answers;
        sum.extracted += tally.extracted;
        sum.gone += tally.gone;
        for (const [code, times] of Object.entries(tally.refusals))
          sum.refusals[code] = (sum.refusals[code] ?? 0) + times;
      } catch (error) {
        const replay = `SIM_SEED=${seed} npx mocha dist/test/sim/simulation.test.js`;
        throw new Error(`seed ${seed}: ${(error as Error).message}\nreplay: ${replay}`, { cause: error });
      }
    }
    // Scenarios without faults would prove nothing.
    if (count >= 100) {
      expect(sum.crashes).to.be.above(count);
      expect(sum.powerLosses).to.be.above(count / 2);
      expect(sum.extracted).to.be.above(count / 2);
      expect(sum.gone).to.be.above(count / 20);
      expect(sum.refusals).to.include.keys(
        'stale-attempt',
        'illegal-transition',
        'wrong-instance',
        'runner-id-in-use',
        'signed-off',
      );
    }
  });
});
