/** The time left of a batch and its stragglers, in its progress. */
import { expect } from 'chai';
import { Scene } from '../../support/scene.ts';
import { jobId } from '../../../src/domain/ids.ts';

describe('coordinator/reads/time-left', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 2, heartbeat_interval_secs: 3600 });
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  /** Run 0 executes all the time, the others after each other for 10 s each. */
  const runsAfterRun0 = async (batch: string, count: number): Promise<void> => {
    expect(await scene.claim('a', 1)).to.deep.equal([0]);
    await scene.start(batch, 0, 'a');
    for (let run = 1; run <= count; run++) {
      await scene.running(batch, run, 'a');
      await scene.world.advance(10_000);
      if (run < count) await scene.complete(batch, run, 'a');
    }
  };

  it('is an interval once enough runs have ended, also after a restart, and none while the batch is paused', async () => {
    const batch = await scene.submit({ runs: 30 });
    const read = () => scene.api.batch(batch);
    for (let run = 0; run < 6; run++) {
      if (run === 4) expect(await read(), 'too few runs').to.not.have.property('eta');
      await scene.running(batch, run, 'a');
      await scene.world.advance(9_000 + 400 * run);
      await scene.complete(batch, run, 'a');
    }
    expect(await scene.claim('a', 1)).to.deep.equal([6]);
    await scene.start(batch, 6, 'a');
    const { eta } = await read();
    expect(eta?.median).to.be.within(230, 300);
    expect(eta?.low).to.be.at.most(eta!.median);
    expect(eta?.high).to.be.at.least(eta!.median);
    await scene.restart();
    expect((await read()).eta?.median, 'after a restart').to.be.within(230, 300);
    await scene.api.pauseBatch(batch);
    await scene.world.advance(3_000);
    expect(await read()).to.not.have.property('eta');
    await scene.api.cancelBatch(batch);
    expect(await read()).to.not.have.any.keys('eta', 'stragglers');
  });

  it('names the active runs that take longer than three times the median, also after a restart', async () => {
    const batch = await scene.submit({ runs: 9 });
    await runsAfterRun0(batch, 3);
    const stragglers = async () => (await scene.api.batch(batch)).stragglers;
    expect(await stragglers()).to.equal(undefined);
    await scene.world.advance(5_000);
    const expected = [{ job_id: jobId(batch, 0), run_id: 0, running_secs: 35 }];
    expect(await stragglers()).to.deep.equal(expected);
    await scene.restart();
    expect(await stragglers(), 'after a restart').to.deep.equal(expected);
  });
});
