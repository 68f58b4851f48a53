/** Answers about a family: replicates of a design give the mean an honest interval, and each run counts once. */
import { expect } from 'chai';
import type * as contract from '../../../src/contract/types.ts';
import type { Asked } from '../../../src/analysis/questions.ts';
import { joinTables } from '../../../src/analysis/table/join.ts';
import { estimateMean } from '../../../src/analysis/outputs/mean.ts';
import { NumberSeries } from '../../../src/analysis/numeric/statistics.ts';
import { codeOf, Scene } from '../../support/scene.ts';
import { study } from '../../support/studies.ts';
import { tableOf } from '../../analysis/tables.ts';

describe('coordinator/answers of a family', () => {
  let scene: Scene;
  before(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 200 });
  });
  after(() => scene.api.close());

  const ask = async <T>(question: Asked, family: boolean): Promise<T> => {
    const answer = await scene.api.answer(question, { waitMs: 1e6, family });
    if (answer.state !== 'ready') throw new Error(`the answer is ${answer.state}`);
    return JSON.parse(new TextDecoder().decode(answer.body)) as T;
  };

  /** Ends all open runs: those that fail by `fails`, the others with the wind as their output. */
  async function completed(fails: (run: number) => boolean = () => false): Promise<void> {
    const { assignments } = await scene.claimRaw('a', 200);
    const reports = assignments.flatMap(({ job, attempt }): contract.Report[] => {
      const end = { job_id: job.id, attempt };
      if (fails(job.run_config.run_id))
        return [
          { type: 'start', ...end },
          { type: 'fail', ...end, reason: 'invalid', error_message: 'no value' },
        ];
      const metadata = { y: job.run_config.parameters['wind']! };
      const result = { execution_time_secs: 1, output_files: [], metadata };
      return [
        { type: 'start', ...end },
        { type: 'complete', ...end, result },
      ];
    });
    await scene.api.reports('a', { instance: scene.instance('a'), reports });
  }

  it('takes the interval of the mean from the replicates of a Latin hypercube', async () => {
    const { batch_id: batchId } = await scene.api.submit(
      study({ runs: 16, config: { monte_carlo: { sampling_method: 'latin_hypercube' } } }),
    );
    await completed();
    for (let replicate = 1; replicate < 4; replicate++) {
      await scene.api.extendBatch(batchId, { runs: 16 });
      await completed();
    }
    const alone = await ask<contract.StudySummary>({ name: 'summary', batchId, query: {} }, false);
    const pooled = await ask<contract.StudySummary>({ name: 'summary', batchId, query: {} }, true);
    expect([alone.of, pooled.of, pooled.n_used, pooled.batch_id]).to.deep.equal([16, 64, 64, batchId]);
    const [one, four] = [alone, pooled].map((it) => it.outputs.find(({ name }) => name === 'y')!);
    expect([one!.mean_method, four!.mean_method]).to.deep.equal(['t-conservative', 'replicates']);
    const width = ([low, high]: [number, number]): number => high - low;
    expect(width(four!.mean_interval!)).to.be.below(width(one!.mean_interval!) / 5);
    // The truth, the mean of the uniform from -5 to 5.
    expect(four!.mean_interval![0]).to.be.below(0);
    expect(four!.mean_interval![1]).to.be.above(0);
    const { runs } = await ask<contract.WorstRuns>(
      { name: 'worst', batchId, query: { output: 'y', k: 3, direction: 'largest' } },
      true,
    );
    expect(runs.every((it) => it.replicate !== undefined)).to.equal(true);
    const convergence = { name: 'convergence', batchId, query: { output: 'y', quantity: 'mean' } } as const;
    const { points } = await ask<contract.Convergence>(convergence, true);
    expect(points.map((it) => it.n)).to.deep.equal([16, 32, 48, 64]);
  });

  it('completes a design for indices with a rerun, and adds blocks with an extension', async () => {
    const saltelli = { sampling_method: 'saltelli', design: { indices: 'total' } } as const;
    const { batch_id: batchId, warnings } = await scene.api.submit(
      study({ runs: 64, config: { monte_carlo: saltelli } }),
    );
    expect(warnings).to.equal(undefined);
    await completed((run) => run === 6 || run === 41);
    const indices = async (family: boolean) =>
      await ask<contract.StudyIndices>({ name: 'indices', batchId, query: { output: 'y' } }, family);
    const short = await indices(false);
    expect([short.blocks, short.excluded]).to.deep.equal([
      { used: 14, missing: 2, rows: 4 },
      { crashed: 2, no_value: 6 },
    ]);
    expect(short.inputs[0]!.total.bounds).to.not.equal(null);
    await scene.api.rerunBatch(batchId, { select: { states: ['Failed'] } });
    await completed();
    const whole = await indices(true);
    expect([whole.blocks, whole.of]).to.deep.equal([{ used: 16, missing: 0, rows: 4 }, 64]);
    // The output is one input: all of the variance is its.
    expect(whole.inputs.map((it) => [it.name, it.total.value > 0.5, it.total.told_apart])).to.deep.equal([
      ['wind', true, true],
      ['mass', false, false],
    ]);
    await scene.api.extendBatch(batchId, { runs: 128 });
    await completed();
    const more = await indices(true);
    expect([more.blocks, more.of]).to.deep.equal([{ used: 32, missing: 0, rows: 4 }, 128]);
    const odd = await codeOf(scene.api.extendBatch(batchId, { runs: 130 }));
    expect(odd).to.equal('invalid-request');
  });

  it('is the same from any of its batches but for the id and its requirements', async () => {
    const { batch_id: first } = await scene.api.submit(study({ runs: 12 }));
    await completed();
    const { batch_id: second } = await scene.api.extendBatch(first, { runs: 20 });
    await completed();
    const [a, b] = [
      await ask<contract.StudySummary>({ name: 'summary', batchId: first, query: {} }, true),
      await ask<contract.StudySummary>({ name: 'summary', batchId: second, query: {} }, true),
    ];
    expect(a.of).to.equal(20);
    expect({ ...b, batch_id: first }).to.deep.equal(a);
  });
});

describe('analysis/table/join', () => {
  it('takes of each run the latest that ended, and keeps its rule, text and batch', () => {
    const rule = { variable: 'nz', condition: '> 3' };
    const first = tableOf([
      {
        status: 'Completed',
        outputs: [
          ['y', 1],
          ['mode', 'a'],
        ],
      },
      { status: 'Failed', reason: 'exit', errorMessage: 'exit code 3' },
      {
        status: 'Completed',
        outputs: [
          ['y', 3],
          ['mode', 'b'],
        ],
      },
    ]);
    const rerun = tableOf([
      'open',
      { status: 'Failed', reason: 'early_termination', terminatedBy: rule },
      {
        status: 'Completed',
        outputs: [
          ['y', 30],
          ['mode', 'c'],
        ],
      },
    ]);
    const joined = joinTables('family', [
      { table: first, replicate: 0 },
      { table: { ...rerun, batchId: 'rerun' }, replicate: 0 },
    ]);
    expect([joined.rows, joined.replicates]).to.deep.equal([3, undefined]);
    expect([...joined.outputs.get('y')!]).to.deep.equal([1, NaN, 30]);
    const { codes, values } = joined.texts.get('mode')!;
    expect(Array.from(codes, (code) => values[code])).to.deep.equal(['a', '', 'c']);
    expect(joined.rules[joined.ruleCodes[1]!]).to.include(rule);
    expect(Array.from(joined.batches!.codes, (code) => joined.batches!.values[code])).to.deep.equal([
      first.batchId,
      'rerun',
      'rerun',
    ]);
  });

  it('keeps replicates apart in ascending order', () => {
    const at = (y: number) => tableOf([{ status: 'Completed', outputs: [['y', y]] }]);
    const joined = joinTables('family', [
      { table: at(1), replicate: 2 },
      { table: at(2), replicate: 0 },
    ]);
    expect([...joined.replicates!]).to.deep.equal([0, 2]);
    expect([...joined.outputs.get('y')!]).to.deep.equal([2, 1]);
  });

  it('measures the mean of replicates as Owen (1997) does: by Student over their means', () => {
    const means = [1, 2, 4, 5];
    const series = new NumberSeries();
    for (const it of means) series.add(it);
    const { mean, interval, method } = estimateMean('latin_hypercube', series, means, 0.95);
    expect([mean, method]).to.deep.equal([3, 'replicates']);
    // t with 3 degrees of freedom: 3.182446305284263; sd of the means: sqrt(10 / 3).
    expect(interval![1] - mean!).to.be.closeTo((3.182446305284263 * Math.sqrt(10 / 3)) / 2, 1e-12);
  });
});
