/** Reruns and comparisons: which runs they select, that their parameters are the same, and what they inherit. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { BatchSubmission, FailReason, JobStatus, RunSelect } from '../../../../src/contract/types.ts';
import { jobId } from '../../../../src/domain/ids.ts';
import { RunSelection } from '../../../../src/domain/runs/run-selection.ts';
import { all, codeOf, runOf, Scene } from '../../../support/scene.ts';
import { study, type StudyOptions } from '../../../support/studies.ts';

const TERMINAL = ['Completed', 'Failed', 'Timeout', 'Cancelled'] as const;

describe('coordinator/studies/growth/rerun', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 100 });
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  type Ending = 'ok' | 'lossy' | 'crash' | 'terminated' | 'timeout' | 'cancelled' | 'running';

  /** A study whose runs ended so, run by run; an output `miss_m` is the run's number. */
  async function studyEnding(endings: readonly Ending[], options: StudyOptions = {}): Promise<string> {
    const submission: BatchSubmission = {
      ...study({ runs: endings.length, maxRetries: 0, ...options }),
      requirements: [{ name: 'hit', output: 'miss_m', condition: '< 3', probability: 0.9 }],
    };
    const { batch_id: batch } = await scene.api.submit(submission);
    const claimed = await scene.claim('a', endings.length);
    for (const [index, run] of claimed.entries()) {
      const ending = endings[index]!;
      await scene.start(batch, run, 'a');
      const about = { runner_id: 'a', attempt: 1 };
      const result = { execution_time_secs: 1, output_files: [], metadata: { miss_m: run } };
      const telemetry = { seen: [], samples: 9, lost: 1, refused: 0 };
      if (ending === 'lossy')
        await scene.api.complete(jobId(batch, run), { ...about, result: { ...result, telemetry } });
      if (ending === 'ok') await scene.api.complete(jobId(batch, run), { ...about, result });
      if (ending === 'crash') await scene.fail(batch, run, 'a');
      if (ending === 'terminated') await scene.fail(batch, run, 'a', 1, 'early_termination');
      if (ending === 'timeout') await scene.fail(batch, run, 'a', 1, 'timeout');
      if (ending === 'cancelled') await scene.api.cancelJob(jobId(batch, run));
    }
    return batch;
  }

  async function rerunIds(batch: string, select: RunSelect): Promise<string> {
    const { batch_id: again } = await scene.api.rerunBatch(batch, { select });
    const jobs = await all(await scene.api.jobs({ batch_id: [again] }));
    await scene.api.cancelBatch(again);
    return RunSelection.of(jobs.map(runOf)).toString();
  }

  it('selects by state, kind of failure, requirement and number, and by all of them together', async () => {
    const batch = await studyEnding([
      'ok',
      'crash',
      'terminated',
      'timeout',
      'ok',
      'cancelled',
      'ok',
      'running',
      'crash',
    ]);
    const cases: [RunSelect, string][] = [
      [{}, '0-8'],
      [{ states: ['Failed'] }, '1-2,8'],
      [{ states: ['Completed', 'Timeout'] }, '0,3-4,6'],
      [{ states: ['Cancelled'] }, '5'],
      [{ failure_kind: 'crashed' }, '1,8'],
      [{ failure_kind: 'terminated' }, '2'],
      [{ failure_kind: 'timeout' }, '3'],
      [{ requirement: 'hit' }, '2-6:2'],
      [{ requirement: 'hit', states: ['Completed'] }, '4,6'],
      [{ run_ids: '0-8:4' }, '0-8:4'],
      [{ states: ['Failed'], run_ids: '2-8' }, '2,8'],
    ];
    for (const [select, expected] of cases) {
      expect(await rerunIds(batch, select), JSON.stringify(select)).to.equal(expected);
    }
  });

  it('selects the runs that were cancelled with their batch, which have no record', async () => {
    const batch = await scene.submit({ runs: 20 });
    await scene.claim('a', 3);
    await scene.start(batch, 1, 'a');
    await scene.complete(batch, 1, 'a');
    await scene.api.cancelBatch(batch);
    expect(await rerunIds(batch, { states: ['Cancelled'] })).to.equal('0,2-19');
    expect(await rerunIds(batch, { states: ['Cancelled'], run_ids: '5-10:5' })).to.equal('5,10');
  });

  it('selects no untouched run as Cancelled while the batch is not cancelled', async () => {
    const batch = await scene.submit({ runs: 20 });
    await scene.claim('a', 3);
    await scene.api.cancelJob(jobId(batch, 1));
    expect(await rerunIds(batch, { states: ['Cancelled'] })).to.equal('1');
    expect(await codeOf(scene.api.rerunBatch(batch, { select: { states: ['Cancelled'], run_ids: '2-19' } }))).to.equal(
      'invalid-request',
    );
  });

  it('selects by a requirement the runs that its verdict counts as failed, without those that lost samples', async () => {
    const conditions = [{ variable: 'altitude', condition: '< 0', description: '' }];
    for (const [enabled, failed] of [
      [true, '4'],
      [false, '3-4'],
    ] as const) {
      const config = { early_termination: { enabled, conditions } };
      const batch = await studyEnding(['ok', 'ok', 'ok', 'lossy', 'ok'], { config });
      await scene.api.parts.judgements.idle();
      const [verdict] = (await scene.api.batch(batch)).requirements!;
      expect(verdict).to.include(enabled ? { failed: 1, unknown: 1 } : { failed: 2, unknown: 0 });
      expect(await rerunIds(batch, { requirement: 'hit' })).to.equal(failed);
    }
  });

  it('selects by the kind of failure of the last attempt', async () => {
    const batch = await scene.submit({ runs: 3, maxRetries: 1 });
    const reasons: [FailReason, FailReason][] = [
      ['exit', 'timeout'],
      ['infrastructure', 'invalid'],
      ['exit', 'early_termination'],
    ];
    for (const attempt of [1, 2]) {
      for (const run of await scene.claim('a', 3)) {
        await scene.start(batch, run, 'a', attempt);
        await scene.fail(batch, run, 'a', attempt, reasons[run]![attempt - 1], `attempt ${attempt}`);
      }
    }
    expect(await scene.status(batch)).to.equal('Failed: 2 Failed, 1 Timeout');
    expect(await rerunIds(batch, { failure_kind: 'timeout' })).to.equal('0');
    expect(await rerunIds(batch, { failure_kind: 'crashed' })).to.equal('1');
    expect(await rerunIds(batch, { failure_kind: 'terminated' })).to.equal('2');
  });

  it('refuses an empty selection, unknown requirements and runs that the study does not hold', async () => {
    const batch = await studyEnding(['ok', 'ok']);
    const faultOf = async (select: RunSelect): Promise<string> => {
      const refused = await scene.api.rerunBatch(batch, { select }).then(
        () => new Error('accepted'),
        (error: Error) => error,
      );
      return refused.message;
    };
    expect(await faultOf({ states: ['Failed'] })).to.match(/\/select selects no run: of the 2 runs .* none is Failed$/);
    expect(await faultOf({ failure_kind: 'lost', run_ids: '1' })).to.match(/selects no run: of the runs in run_ids/);
    expect(await faultOf({ requirement: 'hits' })).to.match(/\/select\/requirement is "hits", did you mean "hit"\?/);
    expect(await faultOf({ run_ids: '1,7-8' })).to.match(
      /has 2 runs that the study does not hold, .* begins with run 7/,
    );
    expect(await faultOf({ run_ids: '3-1' })).to.match(/\/select\/run_ids has the part "3-1"/);
    expect(await codeOf(scene.api.rerunBatch(batch, { select: { states: [] } }))).to.equal('invalid-request');
    expect(await all(await scene.api.batches({}))).to.have.length(1);
  });

  it('gives the runs the same parameters, and changes only what the request names', async () => {
    const batch = await studyEnding(['ok', 'crash', 'ok', 'crash']);
    const changes = { simulation_version: '1.1', container_image: 'fixed', name: 'after the fix' };
    const { batch_id: again, relation } = await scene.api.rerunBatch(batch, {
      select: { states: ['Failed'] },
      ...changes,
    });
    expect(relation).to.equal('rerun');
    for (const run of [1, 3]) {
      const [before, after] = [await scene.api.job(jobId(batch, run)), await scene.api.job(jobId(again, run))];
      expect(after.run_config.parameters).to.deep.equal(before.run_config.parameters);
      expect(after.run_config.metadata.seed).to.equal(before.run_config.metadata.seed);
    }
    const [before, after] = [await scene.api.submission(batch), await scene.api.submission(again)];
    before.name = 'after the fix';
    before.config.simulation.version = '1.1';
    before.config.compute.container.image = 'fixed';
    before.config.monte_carlo.run_ids = '1,3';
    expect(after).to.deep.equal(before);
  });

  it('keeps the policy of all runs, and only the priority of a part', async () => {
    const policy = { canary_runs: 1, max_failures: '5%', priority: 2 };
    const batch = await scene.submit({ runs: 4, policy });
    const policyOf = async (select?: RunSelect) => {
      const { batch_id: again } = await scene.api.rerunBatch(batch, select === undefined ? {} : { select });
      return (await scene.api.submission(again)).policy;
    };
    expect(await policyOf()).to.deep.equal(policy);
    expect(await policyOf({ run_ids: '1-2' })).to.deep.equal({ priority: 2 });
  });

  it('keeps the configuration hash of all runs of an unchanged configuration', async () => {
    for (const options of [{ runs: 10 }, { runs: 10, config: { monte_carlo: { run_ids: '2-3,4,5' } } }]) {
      const batch = await scene.submit(options);
      const { batch_id: again } = await scene.api.rerunBatch(batch, { relation: 'comparison' });
      const hashes = await Promise.all([batch, again].map(async (it) => (await scene.api.batch(it)).batch.config_hash));
      expect(hashes[0]).to.equal(hashes[1]);
    }
    const capped = await scene.submit({ runs: 10, runsOverride: 4 });
    const { batch_id: again, total_jobs: jobs } = await scene.api.rerunBatch(capped);
    expect(jobs).to.equal(4);
    expect((await scene.api.submission(again)).config.monte_carlo.run_ids).to.equal('0-3');
  });

  it('partitions the runs of an ended batch by their states', async () => {
    const endings = fc.array(fc.constantFrom<Ending>('ok', 'crash', 'terminated', 'timeout', 'cancelled'), {
      minLength: 1,
      maxLength: 12,
    });
    const property = fc.asyncProperty(endings, fc.boolean(), async (drawn, selects) => {
      const config = selects ? { monte_carlo: { run_ids: `5-${5 + 3 * (drawn.length - 1)}:3` } } : {};
      const batch = await studyEnding(drawn, { config, runs: 100, ...(selects ? {} : { runsOverride: drawn.length }) });
      const held = (await all(await scene.api.jobs({ batch_id: [batch] }))).map(runOf);
      const parts: number[] = [];
      for (const state of TERMINAL) {
        const count = (await scene.api.batch(batch)).jobs_by_status[state satisfies JobStatus];
        const text = count === 0 ? '' : await rerunIds(batch, { states: [state] });
        const part = text === '' ? [] : [...(RunSelection.parse(text) as RunSelection).runIds()];
        expect(part, state).to.have.length(count);
        parts.push(...part);
      }
      expect(parts.sort((a, b) => a - b)).to.deep.equal(held);
    });
    await fc.assert(property);
  });
});
