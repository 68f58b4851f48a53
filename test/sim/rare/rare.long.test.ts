/**
 * A study of rare events in simulated worlds: with crashes, power losses, deaths of runners, retries, failed runs and lost telemetry in every
 * phase, and in an extension after its end, its rounds, its rows and its answer are those of an undisturbed study, to the bit. SIM_SEEDS=1000 plays more worlds; SIM_SEED=n one of them.
 */
import { expect } from 'chai';
import type { RareEventAnswer } from '../../../src/contract/types.ts';
import { type End, expectedRounds, playRare, type World } from './world.ts';

const ONE = process.env.SIM_SEED;
const FIRST = ONE === undefined ? 1 : Number(ONE);
const COUNT = ONE === undefined ? Math.ceil(Number(process.env.SIM_SEEDS ?? 300) / 75) : 1;

async function answerOf({ stage, batch }: End): Promise<Partial<RareEventAnswer>> {
  const { answers } = stage.parts;
  const found = await answers.ask({ name: 'rare-event', batchId: batch, query: {} }, { waitMs: 60_000 });
  await answers.close();
  if (found.state !== 'ready') throw new Error(`the answer is ${found.state}`);
  const { batch_id: _, studies, parts, ...rest } = JSON.parse(Buffer.from(found.body).toString()) as RareEventAnswer;
  expect([studies, parts.map((it) => it.batch_id)]).to.deep.equal([[batch], [batch]]);
  return { ...rest, parts: parts.map((it) => ({ ...it, batch_id: '' })) };
}

/** The runners of a world: with one slot, with two, with sixteen, or of all kinds. */
const POOLS: readonly (readonly number[])[] = [[1], [2], [16], [1, 16, 3], [16, 16], [5, 2]];

describe('sim/rare', () => {
  let calm: End;
  let answer: Partial<RareEventAnswer>;
  before(async function () {
    this.timeout(0);
    calm = (await playRare(1, { slots: [16], isCalm: true }))!;
    answer = await answerOf(calm);
  });

  it('has the same rounds and the same answer with 1, 2 and 16 slots', async function () {
    this.timeout(0);
    const { rounds, reason } = expectedRounds();
    expect(answer).to.include({ reason, rounds: rounds.length, phase: 'ended' });
    expect(answer.estimate).to.be.within(0.0005, 0.003);
    expect(new Set(rounds.map(({ phase }) => phase))).to.deep.equal(new Set(['search', 'tune', 'confirm']));
    for (const slots of [1, 2]) {
      const other = (await playRare(1, { slots: [slots], isCalm: true }))!;
      expect(other.rounds).to.deep.equal(calm.rounds);
      expect(await answerOf(other)).to.deep.equal(answer);
    }
  });

  it(`has the same rounds and the same answer in ${COUNT} worlds with faults in every phase`, async function () {
    this.timeout(0);
    const crashes: Record<string, number> = {};
    let [powerLosses, played] = [0, 0];
    for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
      const world: World = { slots: POOLS[seed % POOLS.length]! };
      const end = await playRare(seed, world).catch((error: unknown) => {
        const replay = `SIM_SEED=${seed} npx mocha dist/test/sim/rare/rare.long.test.js`;
        throw new Error(`seed ${seed}: ${(error as Error).message}\nreplay: ${replay}`, { cause: error });
      });
      if (end === undefined) continue;
      played += 1;
      powerLosses += end.stage.tally.powerLosses;
      for (const [phase, count] of Object.entries(end.crashes)) crashes[phase] = (crashes[phase] ?? 0) + count;
      expect(end.rounds, `seed ${seed}`).to.deep.equal(calm.rounds);
      expect(await answerOf(end), `seed ${seed}`).to.deep.equal(answer);
    }
    // Worlds without faults would prove nothing.
    if (ONE !== undefined) return;
    expect(played).to.be.above(COUNT / 2);
    expect(powerLosses).to.be.above(0);
    expect(crashes).to.have.all.keys('search', 'tune', 'confirm', 'extended', 'deciding');
  });
});
