/** Submissions that continue the study of the same design: nothing is executed that exists, and the answer says what becomes of it. */
import { expect } from 'chai';
import type { BatchSubmission, SamplingMethod, SubmissionResponse } from '../../../src/contract/types.ts';
import { RESULT, Scene } from '../../support/scene.ts';
import { study, type StudyOptions } from '../../support/studies.ts';

const CLOSE = { name: 'close', output: 'miss', condition: '< 50', probability: 0.5, confidence: 0.6 };
const by = (method: SamplingMethod): StudyOptions => ({ config: { monte_carlo: { sampling_method: method } } });

describe('coordinator/studies/continue', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 1000 });
  });
  afterEach(async () => {
    expect(scene.faults).to.deep.equal([]);
    await scene.api.close();
  });

  const go = (options: StudyOptions, more: Partial<BatchSubmission> = {}): Promise<SubmissionResponse> =>
    scene.api.continueStudy({ ...study(options), ...more });
  /** Executes every run that waits; returns how many there were. */
  const execute = async (): Promise<number> => {
    const { assignments: jobs } = await scene.claimRaw('a', 1000);
    const reports = jobs.flatMap(({ job: { id } }) => [
      { type: 'start' as const, job_id: id, attempt: 1 },
      { type: 'complete' as const, job_id: id, attempt: 1, result: RESULT },
    ]);
    if (jobs.length > 0) await scene.api.reports('a', { instance: scene.instance('a'), reports });
    await scene.api.parts.judgements.idle();
    return jobs.length;
  };

  for (const method of ['quasi_monte_carlo', 'monte_carlo', 'latin_hypercube'] as const) {
    it(`executes the further runs of a ${method} study alone, and all of them for another design`, async () => {
      const first = await go({ runs: 40, ...by(method) });
      expect(first.continuation).to.deep.include({ created: true, runs: 40, changed: [] });
      expect(await execute()).to.equal(40);
      const same = await go({ runs: 40, ...by(method) });
      expect(same).to.deep.include({ batch_id: first.batch_id, total_jobs: 40 });
      expect(same.continuation).to.deep.include({ created: false, amended: [], kept: [], runs: 40 });
      expect(same.continuation).to.not.have.property('extension');
      const judged = await go({ runs: 40, ...by(method), requirements: [CLOSE] }, { labels: { campaign: 'a' } });
      expect(judged.continuation).to.deep.include({ amended: ['requirements', 'labels'], runs: 40 });
      expect(await execute()).to.equal(0);
      const more = await go({ runs: 52, ...by(method), requirements: [CLOSE] }, { labels: { campaign: 'a' } });
      const { extension, sentence } = more.continuation!;
      const isReplicate = method === 'latin_hypercube';
      expect(more.continuation).to.deep.include({ amended: [], runs: 52 });
      expect(extension).to.include({ total_jobs: 12, mode: isReplicate ? 'replicate' : 'continued' });
      expect(sentence).to.contain(isReplicate ? '12 further runs as replicate 1' : '12 further runs');
      expect(await execute()).to.equal(12);
      expect((await scene.api.batch(extension!.batch_id)).requirements).to.have.length(1);
      const fewer = await go({ runs: 30, ...by(method), requirements: [CLOSE] }, { labels: { campaign: 'a' } });
      expect(fewer.continuation!.sentence).to.contain(
        'it has 52 runs, more than the 30 asked for; nothing is executed',
      );
      expect(await execute()).to.equal(0);
      const other = await go({
        runs: 52,
        config: { monte_carlo: { sampling_method: method }, simulation: { version: '2' } },
      });
      expect(other.continuation).to.deep.include({ created: true, changed: ['/config/simulation/version'] });
      expect(other.continuation!.sentence).to.contain(`another study than ${first.batch_id}; changed: version`);
      expect(await execute()).to.equal(52);
    });
  }

  it('amends the extensions with the study, and keeps what later runs alone would follow', async () => {
    const { batch_id: id } = await go({ runs: 4 });
    const more = await go({ runs: 8 });
    await execute();
    const changed = await go({
      runs: 8,
      name: 'a study',
      requirements: [CLOSE],
      maxRetries: 7,
      policy: { priority: 3 },
    });
    expect(changed.continuation).to.deep.include({
      amended: ['requirements'],
      kept: ['/policy/priority', '/config/compute/max_retries'],
    });
    expect(changed.continuation!.sentence).to.contain('it keeps its priority, max_retries');
    await scene.api.parts.judgements.idle();
    for (const one of [id, more.continuation!.extension!.batch_id]) {
      const { requirements } = await scene.api.judgement(one);
      expect(requirements.map((it) => [it.name, it.stated_at.runs_ended])).to.deep.equal([['close', 4]]);
    }
  });

  it('names every member because of which a study is another one', async () => {
    const { batch_id: id } = await go({ runs: 4 });
    const other = await go({
      runs: 4,
      seed: 43,
      config: {
        dispersions: { wind: { distribution: { type: 'uniform', min: -6, max: 5 } } },
        compute: { container: { environment: { MODE: 'b' } } },
      },
      policy: { stop_when: 'settled' },
      requirements: [CLOSE],
    });
    expect(other.continuation).to.deep.include({ created: true, previous: id });
    expect(other.continuation!.sentence).to.match(/changed: seed, inputs\.wind, environment, stop_when$/);
    // The same runs of the design are asked for by their numbers.
    const chosen = await go({ runs: 4, config: { monte_carlo: { run_ids: '0-1' } } });
    expect(chosen.continuation).to.deep.include({ created: true, previous: other.batch_id });
  });

  it('takes any seed for a submission without one, and never a descendant or another seed', async () => {
    const { batch_id: id } = await go({ runs: 4, seed: null });
    expect((await go({ runs: 4, seed: null })).batch_id).to.equal(id);
    expect((await go({ runs: 4, seed: 42 })).batch_id).to.not.equal(id);
    await execute();
    const rerun = await scene.api.rerunBatch(id, {});
    const audit = await scene.api.auditBatch(id, { fraction: 0.5, seed: 1 });
    await execute();
    const { seed } = (await scene.api.submission(id)).config.monte_carlo;
    const found = (await go({ runs: 4, seed: seed! })).batch_id;
    expect(found).to.equal(id).and.to.not.be.oneOf([rerun.batch_id, audit.batch_id]);
  });

  it('creates one study for several clients at once, and a deleted one anew', async () => {
    const all = await Promise.all([go({ runs: 4 }), go({ runs: 4 }), go({ runs: 4 })]);
    expect(new Set(all.map((it) => it.batch_id)).size).to.equal(1);
    await execute();
    await scene.api.deleteBatch(all[0].batch_id);
    expect((await go({ runs: 4 })).continuation).to.include({ created: true });
  });

  it('adds no run to a cancelled study, and says so', async () => {
    const { batch_id: id } = await go({ runs: 4 });
    await scene.api.cancelBatch(id);
    const again = await go({ runs: 9 });
    expect(again.batch_id).to.equal(id);
    expect(again.continuation!.sentence).to.contain('it was cancelled, and no run is added');
    expect(await execute()).to.equal(0);
  });

  it('finds a study after a restart, with the judgement that it has by then', async () => {
    const { batch_id: id } = await go({ runs: 4 });
    await execute();
    await go({ runs: 4, requirements: [CLOSE] });
    await scene.restart();
    const again = await go({ runs: 4, requirements: [CLOSE] });
    expect(again).to.include({ batch_id: id });
    expect(again.continuation).to.deep.include({ created: false, amended: [] });
    expect(await scene.jobStatus(id, 0)).to.equal('Completed');
  });
});
