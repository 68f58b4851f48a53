/** Batches that hold a selection of their design: which runs they make, under which ids, and that every reading agrees. */
import { expect } from 'chai';
import { jobId } from '../../../src/domain/ids.ts';
import { RunSelection } from '../../../src/domain/runs/run-selection.ts';
import { replaySnapshot } from '../../../src/coordinator/snapshots/replay.ts';
import type { SnapshotRecord } from '../../../src/coordinator/snapshots/format.ts';
import type { BatchConfig } from '../../../src/contract/types.ts';
import { all, codeOf, ref, runOf, sampledRuns, Scene } from '../../support/scene.ts';
import { study } from '../../support/studies.ts';

const selecting = (runIds: string | null): { monte_carlo: Partial<BatchConfig['monte_carlo']> } => ({
  monte_carlo: { run_ids: runIds },
});

describe('coordinator/studies/run-selection', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 9 });
  });

  const listed = async (batch: string, page?: { limit: number; after?: string }): Promise<string> =>
    (await all(await scene.api.jobs({ batch_id: [batch] }, page)))
      .map((it) => `${runOf(it)}${it.status.slice(0, 2)}`)
      .join(' ');

  /** The export of the coordinator, replayed: the divergences found. */
  async function divergences(): Promise<number> {
    const { head, records: listing } = await scene.api.exportSnapshot();
    async function* records(): AsyncGenerator<SnapshotRecord> {
      for await (const chunk of listing.chunks) {
        for (const { key, json } of chunk) {
          yield { key: key as SnapshotRecord['key'], value: JSON.parse(json) as Record<string, unknown> };
        }
      }
    }
    const report = await replaySnapshot({ ...head, records: records() });
    expect(report.actors).to.be.above(1);
    return report.divergences.length;
  }

  it('make the selected runs only, with the parameters of the design', async () => {
    const whole = await scene.submit({ runs: 100 });
    const batch = await scene.submit({ runs: 100, config: selecting('3-4,10-20:5') });
    expect(await listed(batch)).to.equal('3Pe 4Pe 10Pe 15Pe 20Pe');
    expect((await scene.api.batch(batch)).batch.total_jobs).to.equal(5);
    const part = await scene.api.job(jobId(batch, 15));
    expect(part.run_config).to.include({ run_id: 15 });
    expect(part.run_config.parameters).to.deep.equal((await scene.api.job(jobId(whole, 15))).run_config.parameters);
    for (const run of [0, 5, 21])
      expect(await codeOf(scene.api.job(jobId(batch, run))), `run ${run}`).to.equal('unknown-job');
    expect(await codeOf(scene.api.cancelJob(jobId(batch, 5)))).to.equal('unknown-job');
  });

  it('hand out their runs in order, count them and end', async () => {
    const batch = await scene.submit({ runs: 50, config: selecting('7,40-44:2') });
    expect(await scene.claim('a', 2)).to.deep.equal([7, 40]);
    expect(await listed(batch)).to.equal('7Cl 40Cl 42Pe 44Pe');
    await scene.restart();
    await scene.start(batch, 7, 'a');
    await scene.complete(batch, 7, 'a');
    await scene.start(batch, 40, 'a');
    await scene.fail(batch, 40, 'a', 1, 'exit');
    // The failed run is Pending again and comes first.
    expect(await scene.claim('a', 9)).to.deep.equal([40, 42, 44]);
    expect(await divergences()).to.equal(0);
    for (const [run, attempt] of [
      [40, 2],
      [42, 1],
      [44, 1],
    ] as const) {
      await scene.start(batch, run, 'a', attempt);
      await scene.complete(batch, run, 'a', attempt);
    }
    expect(await scene.status(batch)).to.equal('Completed: 4 Completed');
    const { results } = await scene.api.batchResults(batch);
    expect((await all(results)).map((it) => runOf({ id: it.job_id }))).to.deep.equal([7, 40, 42, 44]);
    expect(await divergences()).to.equal(0);
  });

  it('skip runs that were cancelled one by one, also after a restart', async () => {
    const batch = await scene.submit({ runs: 50, config: selecting('7,40-44:2') });
    await scene.api.cancelJob(jobId(batch, 40));
    await scene.api.cancelJob(jobId(batch, 42));
    expect(await scene.claim('a', 1)).to.deep.equal([7]);
    await scene.restart();
    expect(await scene.claim('a', 9, [ref(batch, 7)])).to.deep.equal([44]);
    expect(await scene.status(batch)).to.equal('Running: 2 Claimed, 2 Cancelled');
    expect(await divergences()).to.equal(0);
    await scene.api.cancelBatch(batch);
    expect(await listed(batch)).to.equal('7Ca 40Ca 42Ca 44Ca');
    expect(await divergences()).to.equal(0);
  });

  it('cap the selection by runs_override, and page through it', async () => {
    const batch = await scene.submit({ runs: 50, runsOverride: 3, config: selecting('7,40-44:2') });
    expect(await listed(batch)).to.equal('7Pe 40Pe 42Pe');
    expect(await codeOf(scene.api.job(jobId(batch, 44)))).to.equal('unknown-job');
    expect(await listed(batch, { limit: 2 })).to.equal('7Pe 40Pe');
    expect(await listed(batch, { limit: 2, after: jobId(batch, 40) })).to.equal('42Pe');
    expect(await listed(batch, { limit: 2, after: jobId(batch, 41) })).to.equal('42Pe');
    const named = await all(await scene.api.jobs({ batch_id: [batch], run_id: [42, 0, 44, 7] }));
    expect(named.map(runOf)).to.deep.equal([7, 42]);
    expect(await sampledRuns(scene.api, batch)).to.deep.equal([7, 40, 42]);
  });

  it('partition a design: every run is made once, and null selects all', async () => {
    const parts = ['0-9:2', '1-9:2', null];
    const found: number[][] = [];
    for (const runIds of parts) {
      const batch = await scene.submit({ runs: 10, config: selecting(runIds) });
      found.push((await all(await scene.api.jobs({ batch_id: [batch] }))).map(runOf));
    }
    expect([...found[0]!, ...found[1]!].sort((a, b) => a - b)).to.deep.equal(found[2]);
  });

  it('leave the fingerprint of a plain study as it is, and have one of their own', async () => {
    const hashOf = async (config: object) =>
      (await scene.api.batch((await scene.api.submit(study({ runs: 10, config }))).batch_id)).batch.config_hash;
    const plain = await hashOf({});
    // The value of an earlier version.
    expect(plain).to.equal('317f08fb6c526f8fdda1c7e03e05feb0ee10756f290068da6801d3736e1b08f2');
    const others = [
      selecting('0-9'),
      { monte_carlo: { replicate: 1 } },
      { correlations: [{ parameters: ['mass', 'wind'], rank: 0.5 }] },
    ];
    const hashes = await Promise.all(others.map((it) => hashOf(it)));
    expect(new Set([plain, ...hashes]).size).to.equal(4);
  });

  it('cost what their ranges cost: two thousand million runs of a thousand ranges are submitted at once', async () => {
    const width = 2_000_000;
    const ranges = Array.from({ length: 1000 }, (_, k) => `${k * width}-${(k + 1) * width - 2}`).join(',');
    const begun = process.cpuUsage();
    const batch = await scene.submit({
      runs: 2 ** 31 - 1,
      config: { ...selecting(ranges), correlations: [{ parameters: ['mass', 'wind'], rank: 0.5 }] },
    });
    expect((await scene.api.batch(batch)).batch.total_jobs).to.equal(1000 * (width - 1));
    expect(await scene.claim('a', 3)).to.deep.equal([0, 1, 2]);
    // Of the processor and not of the clock: a busy machine changes nothing.
    expect(process.cpuUsage(begun).user / 1e3, 'milliseconds').to.be.below(1000);
    const last = 1000 * width - 2;
    expect((await scene.api.job(jobId(batch, last))).run_config.run_id).to.equal(last);
    expect(await codeOf(scene.api.job(jobId(batch, last + 1)))).to.equal('unknown-job');
    // The record of the batch, which every turn writes, does not hold the selection.
    expect(scene.store.disk.get(`!batch!${batch}`)!.length).to.be.below(1000);
    expect(RunSelection.parse(ranges)).to.be.instanceOf(RunSelection);
  });
});
