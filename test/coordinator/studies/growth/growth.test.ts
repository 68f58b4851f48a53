/** Growth as a whole: flips after a fix, canary runs of selections, and costs that do not grow with the number of runs. */
import { expect } from 'chai';
import type { BatchSubmission, StudyComparison } from '../../../../src/contract/types.ts';

import { CountedSlices } from '../../../support/counted-slices.ts';
import { Scene } from '../../../support/scene.ts';
import { study } from '../../../support/studies.ts';

describe('coordinator/studies/growth', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 200 });
  });
  afterEach(async () => {
    expect(scene.faults).to.deep.equal([]);
    await scene.api.close();
  });

  /** Executes all runs that are assigned; those that `fails` names fail. */
  async function execute(batch: string, fails: (run: number) => boolean = () => false): Promise<number[]> {
    const executed: number[] = [];
    for (;;) {
      const runs = await scene.claim('a', 50);
      if (runs.length === 0) return executed;
      for (const run of runs) {
        await scene.start(batch, run, 'a');
        if (fails(run)) await scene.fail(batch, run, 'a', 1, 'invalid');
        else await scene.complete(batch, run, 'a');
        executed.push(run);
      }
    }
  }

  it('shows the flips of a rerun of the failed runs after a fix', async () => {
    const before = await scene.submit({ runs: 40, maxRetries: 0 });
    await execute(before, (run) => run % 5 === 2);
    const select = { states: ['Failed' as const] };
    const { batch_id: after, total_jobs: jobs } = await scene.api.rerunBatch(before, {
      select,
      simulation_version: '1.1',
    });
    expect(jobs).to.equal(8);
    // One failure is not mended.
    expect(await execute(after, (run) => run === 12)).to.deep.equal([2, 7, 12, 17, 22, 27, 32, 37]);
    const answer = await scene.api.answer(
      { name: 'compare', batchId: before, query: { with: after } },
      { waitMs: 1e6 },
    );
    if (answer.state !== 'ready') throw new Error(answer.state);
    const {
      paired,
      flips,
      configuration_changes: changes,
    } = JSON.parse(new TextDecoder().decode(answer.body)) as Extract<StudyComparison, { paired: true }>;
    expect(paired).to.equal(true);
    expect(flips.mended).to.deep.equal([2, 7, 17, 22, 27, 32, 37]);
    expect(flips.broke).to.deep.equal([]);
    expect(changes.map((it) => it.pointer)).to.include('/simulation/version');
  });

  it('waits for each slice of the event loop before the work of the slice', async () => {
    const batch = await scene.submit({ runs: 30, maxRetries: 0 });
    await execute(batch, (run) => run % 5 === 2);
    const slices = new CountedSlices(scene.api.share);
    const operations = [
      () => scene.api.rerunBatch(batch, { select: { states: ['Failed'] } }),
      () => scene.api.auditBatch(batch, { fraction: 0.5, seed: 1 }),
      () => scene.api.extendBatch(batch, { runs: 40 }),
    ];
    for (const operation of operations) {
      await operation();
      expect(slices).to.include({ pending: 0, mostPending: 1 });
    }
    expect(slices.asked).to.be.above(6);
  });

  it('withholds the other runs of a selection until its canary runs are Completed', async () => {
    const config = { monte_carlo: { run_ids: '10-90:10' } };
    const batch = await scene.submit({ runs: 100, config, policy: { canary_runs: 2 } });
    expect(await scene.claim('a', 9)).to.deep.equal([10, 20]);
    await scene.restart();
    for (const run of [10, 20]) await scene.start(batch, run, 'a');
    await scene.complete(batch, 10, 'a');
    expect(await scene.claim('a', 9)).to.deep.equal([]);
    await scene.complete(batch, 20, 'a');
    expect(await scene.claim('a', 9)).to.deep.equal([30, 40, 50, 60, 70, 80, 90]);
  });

  it('holds back 10,000 runs after a failed canary run, through a restart, until a release', async () => {
    const batch = await scene.submit({ runs: 10_001, maxRetries: 0, policy: { canary_runs: 1 } });
    expect(await execute(batch, () => true)).to.deep.equal([0]);
    expect(await scene.status(batch)).to.equal('Running: 10000 Pending, 1 Failed');
    await scene.restart();
    expect(await scene.claim('a', 50)).to.deep.equal([]);
    expect((await scene.api.batch(batch)).batch.canary_failed).to.equal(true);
    expect(await scene.api.releaseBatch(batch, 'known')).to.include({ release_reason: 'known' });
    expect(await scene.claim('a', 3)).to.deep.equal([1, 2, 3]);
  });

  it('writes as much for a million runs as for ten, in a submission and its extension with every option', async () => {
    const written = async (runs: number): Promise<number[]> => {
      const submission: BatchSubmission = {
        ...study({
          runs,
          seed: runs,
          config: { monte_carlo: { sampling_method: 'quasi_monte_carlo', run_ids: `0-${runs - 1}:2`, replicate: 3 } },
          policy: { canary_runs: 2, max_failures: '5%', priority: 1, stop_when: 'settled' },
        }),
        requirements: [{ name: 'hit', output: 'miss', condition: '< 5', probability: 0.9 }],
        outputs: { miss: { units: 'm' } },
        labels: { campaign: 'q4' },
      };
      const records = scene.store.disk.size;
      const bytes = scene.store.bytesWritten;
      const { batch_id: batch } = await scene.api.submit(submission);
      await scene.api.extendBatch(batch, { runs: 2 * runs });
      await scene.api.rerunBatch(batch, { select: { run_ids: `0-${runs - 1}:4` } });
      return [scene.store.disk.size - records, scene.store.bytesWritten - bytes];
    };
    // The first study of a store writes records that later ones replace.
    await scene.submit();
    const [few, many] = [await written(10), await written(1_000_000)] as [number[], number[]];
    expect(many[0], 'records').to.equal(few[0]);
    // The numbers of runs have more digits.
    expect(many[1], 'bytes').to.be.within(few[1]! - 100, few[1]! + 100);
  });
});
