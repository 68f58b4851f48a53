/** Owners and the pool: each owner has the same share of the slots, then each of his studies. */
import { expect } from 'chai';
import { batchIdOf } from '../../../src/domain/ids.ts';
import type { Uuid } from '../../../src/contract/types.ts';
import { ref, Scene } from '../../support/scene.ts';
import { study, type StudyOptions } from '../../support/studies.ts';

describe('coordinator/runs: owners', () => {
  let scene: Scene;
  let owners: Map<Uuid, string>;
  const submitAs = async (owner: string, options: StudyOptions): Promise<Uuid> => {
    const { batch_id: batch } = await scene.api.as(owner).submit(study(options));
    owners.set(batch, owner);
    return batch;
  };
  /** Claims this many runs, and returns how many the studies of each owner got. */
  const shares = async (most: number): Promise<Record<string, number>> => {
    const { current_jobs: held } = await scene.api.runner('r');
    const answer = await scene.claimRaw(
      'r',
      most,
      0,
      held.map((job_id) => ({ job_id, attempt: 1 })),
    );
    const counts: Record<string, number> = {};
    for (const { job } of answer.assignments) {
      const owner = owners.get(batchIdOf(job.id)) ?? 'none';
      counts[owner] = (counts[owner] ?? 0) + 1;
    }
    return counts;
  };

  beforeEach(async () => {
    scene = await Scene.open();
    owners = new Map();
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  it('serves the owner with the fewest active runs first, also after a restart', async () => {
    await scene.register('r', { slots: 8 });
    for (let i = 0; i < 3; i += 1) await submitAs('alice', { runs: 30 });
    await submitAs('bob', { runs: 20 });
    expect(await shares(4)).to.deep.equal({ alice: 2, bob: 2 });
    await scene.restart();
    expect(await shares(4)).to.deep.equal({ alice: 2, bob: 2 });
  });

  it('counts paused and capped studies of an owner, whose runs are active', async () => {
    await scene.register('r', { slots: 6 });
    const first = await submitAs('alice', { runs: 30 });
    expect(await shares(2)).to.deep.equal({ alice: 2 });
    await scene.api.pauseBatch(first, undefined);
    await submitAs('alice', { runs: 30 });
    await submitAs('bob', { runs: 30 });
    expect(await shares(4)).to.deep.equal({ alice: 1, bob: 3 });
  });

  it('takes studies without an owner as those of one', async () => {
    await scene.register('r', { slots: 4 });
    for (let i = 0; i < 3; i += 1) await scene.submit({ runs: 30 });
    await submitAs('bob', { runs: 20 });
    expect(await shares(4)).to.deep.equal({ none: 2, bob: 2 });
  });

  it('shares the runs of one owner among his studies', async () => {
    await scene.register('r', { slots: 6 });
    const batches = [await submitAs('alice', { runs: 30 }), await submitAs('alice', { runs: 30 })];
    expect(await shares(6)).to.deep.equal({ alice: 6 });
    const { current_jobs: held } = await scene.api.runner('r');
    for (const batch of batches) expect(held.filter((it) => batchIdOf(it) === batch)).to.have.length(3);
  });

  it('gives a slot that falls free to owners in turn', async () => {
    await scene.register('r', { slots: 1 });
    const [a, b] = [await submitAs('alice', { runs: 9 }), await submitAs('bob', { runs: 9 })];
    for (const [batch, run] of [a, b, a, b].map((it, i) => [it, Math.floor(i / 2)] as const)) {
      const { assignments } = await scene.claimRaw('r', 1, 0, []);
      expect(assignments.map(({ job }) => job.id)).to.deep.equal([ref(batch, run).job_id]);
      await scene.start(batch, run, 'r');
      await scene.complete(batch, run, 'r');
    }
  });
});
