/** Audits: which runs they draw, which runners repeat them, and what they say of the differences. */
import { expect } from 'chai';
import { AUDIT_OTHER_RUNNER_MS, MAX_INFRASTRUCTURE_FAULTS } from '../../../../src/domain/rules.ts';
import { jobId } from '../../../../src/domain/ids.ts';
import { all, codeOf, runOf, runs, Scene } from '../../../support/scene.ts';
import { settled } from '../../../support/simulated-clock.ts';

describe('coordinator/studies/growth/audit', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  const join = (...ids: string[]) => Promise.all(ids.map((id) => scene.register(id, { slots: 50 })));
  const finish = async (
    batch: string,
    run: number,
    runner: string,
    metadata: Record<string, unknown> = { miss: run },
  ) => {
    await scene.start(batch, run, runner);
    const result = { execution_time_secs: 1, output_files: [], metadata };
    await scene.api.complete(jobId(batch, run), { runner_id: runner, attempt: 1, result });
  };
  /** A study whose runs a runner has completed. */
  async function finished(count: number, runner = 'a'): Promise<string> {
    const batch = await scene.submit({ runs: count, maxRetries: 0 });
    for (const run of await scene.claim(runner, count)) await finish(batch, run, runner);
    return batch;
  }
  const drawn = async (batch: string): Promise<number[]> => {
    const ids = (await all(await scene.api.jobs({ batch_id: [batch] }))).map(runOf);
    await scene.api.cancelBatch(batch);
    return ids;
  };

  it('draws a part of the finished runs, the same for the same seed', async () => {
    await join('a');
    const batch = await finished(50);
    const draws = [];
    for (const seed of [1, 1, 2]) {
      const audit = await scene.api.auditBatch(batch, { fraction: 0.2, seed });
      expect(audit).to.include({ total_jobs: 10, relation: 'audit', seed });
      draws.push(await drawn(audit.batch_id));
    }
    expect(draws[0]).to.deep.equal(draws[1]).and.not.deep.equal(draws[2]);
    expect((await scene.api.auditBatch(batch, { fraction: 0.0001 })).total_jobs, 'at least one').to.equal(1);
    expect((await scene.api.auditBatch(batch, { fraction: 1 })).total_jobs, 'all').to.equal(50);
  });

  it('draws each run about as often as each other one', async () => {
    await join('a');
    const batch = await finished(10);
    const counts = Array.from({ length: 10 }, () => 0);
    for (let seed = 0; seed < 200; seed += 1) {
      const { batch_id: audit } = await scene.api.auditBatch(batch, { fraction: 0.3, seed });
      for (const run of await drawn(audit)) counts[run]! += 1;
    }
    // 600 draws of 10 runs: 60 each, with a standard deviation of 6.5.
    for (const count of counts) expect(count).to.be.within(35, 85);
  });

  it('draws neither cancelled nor lost nor open runs, and keeps only the priority of the policy and no requirement', async () => {
    await join('a');
    const policy = { canary_runs: 1, max_failures: 5, priority: 4 };
    const requirements = [{ name: 'near', output: 'miss', condition: '< 5', probability: 0.9, confidence: 0.9 }];
    const batch = await scene.submit({ runs: 6, maxRetries: 0, policy, requirements });
    await scene.claim('a', 6);
    await finish(batch, 0, 'a');
    await scene.claim('a', 6);
    await scene.start(batch, 1, 'a');
    await scene.fail(batch, 1, 'a');
    await scene.start(batch, 2, 'a');
    await scene.fail(batch, 2, 'a', 1, 'early_termination');
    await scene.api.cancelJob(jobId(batch, 3));
    const { batch_id: audit } = await scene.api.auditBatch(batch, { fraction: 1, seed: 0 });
    const submission = await scene.api.submission(audit);
    expect(submission)
      .to.deep.include({ policy: { priority: 4 } })
      .and.not.have.property('requirements');
    expect(await scene.api.submission(batch)).to.have.property('requirements');
    expect(await drawn(audit)).to.deep.equal([0, 1, 2]);
    const empty = await scene.submit({ runs: 6 });
    expect(await codeOf(scene.api.auditBatch(empty, { fraction: 1 }))).to.equal('invalid-request');
    expect(await codeOf(scene.api.auditBatch(batch, { fraction: 0 }))).to.equal('invalid-request');
  });

  it('draws no run that failed with its machine, which has no outcome to compare', async () => {
    await join('a');
    const batch = await scene.submit({ runs: 3, maxRetries: 0 });
    for (let attempt = 1; attempt <= MAX_INFRASTRUCTURE_FAULTS; attempt += 1) {
      for (const run of await scene.claim('a', 3)) {
        await scene.start(batch, run, 'a', attempt);
        if (run === 1) await scene.fail(batch, run, 'a', attempt, 'infrastructure');
        else await scene.complete(batch, run, 'a');
      }
    }
    expect(await scene.status(batch)).to.equal('Completed: 2 Completed, 1 Failed');
    const { batch_id: audit } = await scene.api.auditBatch(batch, { fraction: 1, seed: 0 });
    expect(await drawn(audit)).to.deep.equal([0, 2]);
  });

  it('gives the runs to another runner than the original one while another is connected', async () => {
    await join('a', 'b');
    const batch = await finished(4);
    const { batch_id: audit } = await scene.api.auditBatch(batch, { fraction: 1, seed: 0 });
    await scene.claim('b', 0);
    expect(await scene.claim('a', 4)).to.deep.equal([]);
    expect(await scene.claim('b', 2)).to.deep.equal([0, 1]);
    expect(await scene.claim('a', 4), 'the other runner is busy').to.deep.equal([]);
    expect(
      await scene.claim(
        'b',
        2,
        [0, 1].map((run) => ({ job_id: jobId(audit, run), attempt: 1 })),
      ),
    ).to.deep.equal([2, 3]);
  });

  it('lets the original runner repeat a run when no other is connected, and after ten minutes', async () => {
    await join('a');
    const batch = await finished(3);
    const { batch_id: audit } = await scene.api.auditBatch(batch, { fraction: 1, seed: 0 });
    expect(await scene.claim('a', 1), 'alone').to.deep.equal([0]);
    await finish(audit, 0, 'a');
    // Full with another study, the second runner will ask for work.
    await scene.register('b', { slots: 1 });
    const other = await scene.submit({ runs: 1, policy: { priority: 1 } });
    expect(await scene.claim('b', 1)).to.deep.equal([0]);
    await scene.start(other, 0, 'b');
    const holding = [{ job_id: jobId(other, 0), attempt: 1 }];
    const waiting = scene.claimRaw('a', 2, 10 * AUDIT_OTHER_RUNNER_MS);
    await settled();
    let given: number[] = [];
    void waiting.then((answer) => (given = runs(answer)));
    for (let ms = 0; ms < AUDIT_OTHER_RUNNER_MS - 5_000; ms += 5_000) {
      await scene.world.advance(5_000);
      await scene.beat('b', holding);
      await scene.beat('a', []);
    }
    expect(given, 'before').to.deep.equal([]);
    const found = await scene.api.findings(audit);
    expect(found.map((it) => it.message)).to.include(
      'the next run waits for another runner than "a", which executed the original; for 5 s at most',
    );
    for (let ms = 0; ms < 10_000; ms += 5_000) {
      await scene.world.advance(5_000);
      await scene.beat('b', holding);
    }
    expect(given[0], 'after').to.equal(1);
  });

  it('compares the repeated runs: which runs, outputs and runners differ', async () => {
    await join('a');
    await scene.register('b', { slots: 50, cpuCores: 8 });
    const batch = await finished(5);
    const { batch_id: audit } = await scene.api.auditBatch(batch, { fraction: 1, seed: 0 });
    expect(await scene.api.auditAnswer(audit)).to.include({
      open: 5,
      compared: 0,
      sentence: 'no run is compared yet; 5 runs open',
    });
    await scene.claim('b', 5);
    // The order of members is not a difference.
    await finish(audit, 0, 'b', { miss: 0 });
    await finish(audit, 1, 'b', { miss: 1.5 });
    await finish(audit, 2, 'b', { miss: 2.25, note: 'new' });
    await scene.start(audit, 3, 'b');
    await scene.fail(audit, 3, 'b');
    await scene.api.cancelJob(jobId(audit, 4));
    await scene.restart();
    const answer = await scene.api.auditAnswer(audit);
    expect(answer).to.include({ audited: batch, runs: 5, compared: 4, open: 0, not_compared: 1, identical: 1 });
    expect(answer).to.include({ differing: 3, same_runner: 0 });
    expect(answer.sentence).to.equal('3 of 4 runs compared give other outputs (on another runner)');
    expect(answer.differing_runs.map((it) => [it.run_id, it.before.class, it.after.class, it.outputs])).to.deep.equal([
      [1, 'ok', 'ok', [{ name: 'miss', before: 1, after: 1.5 }]],
      [
        2,
        'ok',
        'ok',
        [
          { name: 'miss', before: 2, after: 2.25 },
          { name: 'note', after: 'new' },
        ],
      ],
      [3, 'ok', 'crashed', [{ name: 'miss', before: 3 }]],
    ]);
    expect(answer.outputs).to.deep.equal([
      { name: 'miss', differing: 3, largest_difference: 0.5 },
      { name: 'note', differing: 1, largest_difference: null },
    ]);
    expect(answer.runners).to.deep.equal([
      {
        before: 'a',
        after: 'b',
        compared: 4,
        differing: 3,
        capabilities: [{ name: 'cpu_cores', before: 0, after: 8 }],
      },
    ]);
  });

  it('says what cannot be compared: a deleted original, and a batch that is not an audit', async () => {
    await join('a', 'b');
    const batch = await finished(2);
    const { batch_id: audit } = await scene.api.auditBatch(batch, { fraction: 1, seed: 0 });
    await scene.api.deleteBatch(batch);
    for (const run of await scene.claim('b', 2)) await finish(audit, run, 'b');
    expect(await scene.api.auditAnswer(audit)).to.include({ compared: 0, not_compared: 2 });
    expect((await scene.api.batch(audit)).batch.parent).to.deep.equal({ batch_id: batch, relation: 'audit' });
    const other = await scene.submit();
    expect(await codeOf(scene.api.auditAnswer(other))).to.equal('illegal-transition');
  });
});
