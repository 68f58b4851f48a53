/** A study with scenarios from its submission to its answers, its extension and its rerun. */
import { expect } from 'chai';
import type * as contract from '../../../src/contract/types.ts';
import type { Asked } from '../../../src/analysis/questions.ts';
import { codeOf, Scene } from '../../support/scene.ts';
import { study } from '../../support/studies.ts';

const SCENARIOS = {
  site: { north: { mass: 1 }, south: {} },
  wind: { calm: {}, storm: { wind: { type: 'uniform' as const, min: 50, max: 60 } } },
};

describe('coordinator/answers of a study with scenarios', () => {
  let scene: Scene;
  before(async () => {
    scene = await Scene.open();
    const capabilities = {
      max_concurrent_jobs: 200,
      cpu_cores: 0,
      memory_gb: 0,
      gpu_available: false,
      supported_simulation_types: [],
      features: ['scenarios'],
    };
    await scene.api.register({ id: 'a', instance: 'a-1', capabilities });
  });
  after(() => scene.api.close());

  const ask = async <T>(question: Asked, family = false): Promise<T> => {
    const answer = await scene.api.answer(question, { waitMs: 1e6, family });
    if (answer.state !== 'ready') throw new Error(`the answer is ${answer.state}`);
    return JSON.parse(new TextDecoder().decode(answer.body)) as T;
  };

  const table = async (batchId: string, request: object): Promise<Record<string, unknown>[]> => {
    const answer = await scene.api.table({ batchId, format: 'json', ...request }, { limit: 100 });
    if (answer.state !== 'ready') throw new Error(`the table is ${answer.state}`);
    const text = new TextDecoder().decode(answer.body as Uint8Array);
    return (JSON.parse(text) as { rows: Record<string, unknown>[] }).rows;
  };

  /** Ends all open runs with the wind as their output; those in a storm in the north fail. */
  async function completed(): Promise<contract.JobRunConfig[]> {
    const { assignments } = await scene.api.claim('a', { instance: 'a-1', max_jobs: 200, wait_seconds: 0 });
    const reports = assignments.flatMap(({ job, attempt }): contract.Report[] => {
      const end = { job_id: job.id, attempt };
      const { scenario } = job.run_config.metadata;
      if (scenario?.['site'] === 'north' && scenario['wind'] === 'storm')
        return [
          { type: 'start', ...end },
          { type: 'fail', ...end, reason: 'invalid', error_message: 'no value' },
        ];
      const result = { execution_time_secs: 1, output_files: [], metadata: { y: job.run_config.parameters['wind']! } };
      return [
        { type: 'start', ...end },
        { type: 'complete', ...end, result },
      ];
    });
    await scene.api.reports('a', { instance: 'a-1', reports });
    return assignments.map(({ job }) => job.run_config);
  }

  const requirements = [{ name: 'still', output: 'y', condition: '< 10', probability: 0.5, confidence: 0.8 }];
  let batchId: string;

  it('has a run of every cell for each sample, with its cell in the metadata', async () => {
    const { batch_id, total_jobs, warnings } = await scene.api.submit(
      study({ runs: 5, config: { scenarios: SCENARIOS }, requirements }),
    );
    batchId = batch_id;
    expect([total_jobs, warnings]).to.deep.equal([20, undefined]);
    const runs = await completed();
    expect(runs.map((it) => it.metadata.scenario)).to.deep.include.members([{ site: 'north', wind: 'storm' }]);
    const first = runs.filter((it) => it.metadata.sample === 0).sort((a, b) => a.run_id - b.run_id);
    expect(first.map((it) => [it.run_id, it.metadata.scenario])).to.deep.equal([
      [0, { site: 'north', wind: 'calm' }],
      [1, { site: 'north', wind: 'storm' }],
      [2, { site: 'south', wind: 'calm' }],
      [3, { site: 'south', wind: 'storm' }],
    ]);
    expect(first.map((it) => it.parameters['mass'])).to.deep.equal([
      1,
      1,
      first[2]!.parameters['mass'],
      first[2]!.parameters['mass'],
    ]);
    expect(first[0]!.parameters['wind']).to.equal(first[2]!.parameters['wind']);
  });

  it('judges each cell, and answers by axes', async () => {
    const { requirements: judged } = await ask<contract.StudyVerdicts>({
      name: 'verdicts',
      batchId,
      query: { by: ['site', 'wind'] },
    });
    const [it] = judged;
    expect(
      it!.by!.map((row) => [row.scenario['site'], row.scenario['wind'], row.passed, row.failed, row.unknown]),
    ).to.deep.equal([
      ['north', 'calm', 5, 0, 0],
      ['north', 'storm', 0, 0, 5],
      ['south', 'calm', 5, 0, 0],
      ['south', 'storm', 0, 5, 0],
    ]);
    expect([it!.verdict, it!.cells!.met, it!.cells!.called_violated]).to.deep.equal(['violated', 2, 1]);
    const summary = await ask<contract.StudySummary>({ name: 'summary', batchId, query: { by: ['wind'] } });
    expect(summary.by!.map((row) => [row.scenario, row.of, row.n_used])).to.deep.equal([
      [{ wind: 'calm' }, 10, 10],
      [{ wind: 'storm' }, 10, 5],
    ]);
    expect(summary.requirements[0]!.verdict).to.equal('violated');
    const answer = await ask<contract.StudyAnswer>({ name: 'answer', batchId, query: {} });
    expect(answer.sentence).to.contain('of the runs of its worst cell, site=south, wind=storm (allowed');
    const wrong = await codeOf(ask({ name: 'verdicts', batchId, query: { by: ['sote'] } }));
    expect(wrong).to.equal('malformed-query');
  });

  it('has a column for each axis, which a condition selects by', async () => {
    const rows = await table(batchId, {
      columns: ['run_id', 'site', 'parameters.mass'],
      where: "wind = 'storm' and site = 'north'",
    });
    expect(rows.map((row) => row['run_id'])).to.deep.equal([1, 5, 9, 13, 17]);
    expect(rows[0]).to.deep.equal({ run_id: 1, site: 'north', 'parameters.mass': 1 });
  });

  it('adds samples to every cell, and keeps every run', async () => {
    const extended = await scene.api.extendBatch(batchId, { runs: 8 });
    expect([extended.total_jobs, extended.run_ids]).to.deep.equal([12, '5-7']);
    const runs = await completed();
    expect(runs.map((it) => it.run_id).sort((a, b) => a - b)).to.deep.equal(
      Array.from({ length: 12 }, (_, at) => 20 + at),
    );
    const family = await ask<contract.StudyVerdicts>({ name: 'verdicts', batchId, query: { by: ['wind'] } }, true);
    expect(family.requirements[0]!.by!.map((row) => row.passed + row.failed + row.unknown)).to.deep.equal([16, 16]);
  });

  it('repeats single runs by their own numbers', async () => {
    const { batch_id: rerun, total_jobs } = await scene.api.rerunBatch(batchId, { select: { states: ['Failed'] } });
    expect(total_jobs).to.equal(5);
    const runs = await completed();
    expect(runs.map((it) => it.run_id).sort((a, b) => a - b)).to.deep.equal([1, 5, 9, 13, 17]);
    expect(runs.every((it) => it.metadata.scenario?.['wind'] === 'storm')).to.equal(true);
    const { config } = await scene.api.submission(rerun);
    expect(config.monte_carlo.cell_run_ids).to.equal('1-17:4');
    expect(await codeOf(scene.api.extendBatch(rerun, { runs: 8 }))).to.equal('invalid-request');
  });

  it('limits the samples of every cell, and adds a replicate of a Latin hypercube to every cell', async () => {
    const { batch_id, total_jobs } = await scene.api.submit(
      study({
        runs: 6,
        runsOverride: 2,
        config: { scenarios: SCENARIOS, monte_carlo: { sampling_method: 'latin_hypercube' } },
      }),
    );
    expect(total_jobs).to.equal(8);
    const completes = await scene.api.extendBatch(batch_id, { runs: 6 });
    expect([completes.total_jobs, completes.run_ids]).to.deep.equal([16, '2-5']);
    const replicate = await scene.api.extendBatch(batch_id, { runs: 3 });
    expect([replicate.total_jobs, replicate.mode, replicate.replicate]).to.deep.equal([12, 'replicate', 1]);
    await completed();
  });

  it('is not executed by a runner that seeds cells apart', async () => {
    await scene.register('old', { slots: 10 });
    await scene.api.submit(study({ runs: 1, config: { scenarios: SCENARIOS } }));
    expect((await scene.claimRaw('old', 10)).assignments).to.deep.equal([]);
    expect(await completed()).to.have.length(4);
  });
});
