/** Canary studies: the runs of a study wait until every run of a small companion study is Completed, or for a release. */
import { expect } from 'chai';
import type { ClaimResponse, EvidenceReport, StudySummary, Uuid } from '../../../src/contract/types.ts';
import { jobId, shortId } from '../../../src/domain/ids.ts';
import { codeDigest } from '../../../src/domain/study/function-code.ts';
import { codeOf, ref, runs, Scene } from '../../support/scene.ts';
import { study } from '../../support/studies.ts';
import { settled } from '../../support/simulated-clock.ts';

describe('coordinator/studies/canary', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 50 });
  });
  afterEach(async () => {
    expect(scene.faults).to.deep.equal([]);
    await scene.api.close();
  });

  /** The study and its canary study. */
  const submitted = async (canary: 'nominal' | 'corners' = 'nominal'): Promise<[batch: Uuid, canary: Uuid]> => {
    const batch = await scene.submit({ runs: 4, maxRetries: 0, policy: { canary } });
    return [batch, await canaryOf(batch)];
  };
  const canaryOf = async (batch: Uuid): Promise<Uuid> => {
    const { children = [] } = (await scene.api.batch(batch)).batch;
    expect(children.map(({ relation }) => relation)).to.deep.equal(['probe']);
    return children[0]!.batch_id;
  };
  const claimed = async (): Promise<ClaimResponse['assignments']> => (await scene.claimRaw('a', 50)).assignments;
  const batchesOf = (assignments: ClaimResponse['assignments']): Uuid[] => assignments.map((it) => it.job.batch_id);
  const complete = async (batch: Uuid, ...runIds: number[]): Promise<void> => {
    for (const run of runIds) {
      await scene.start(batch, run, 'a');
      await scene.complete(batch, run, 'a');
    }
  };
  const failRun = async (batch: Uuid, run = 0): Promise<void> => {
    await scene.start(batch, run, 'a');
    await scene.fail(batch, run, 'a', 1, 'invalid');
  };
  const history = async (batch: Uuid): Promise<string[]> =>
    (await scene.api.batchHistory(batch)).events.map(({ type }) => type);
  const waitingFindings = async (batch: Uuid) =>
    (await scene.api.findings(batch)).filter(({ code }) => code.startsWith('canary'));

  it('is not continued after its canary study has failed, waiting or cancelled: the next submission makes a new one, and says so', async () => {
    const again = () => scene.api.continueStudy(study({ runs: 4, maxRetries: 0, policy: { canary: 'nominal' } }));
    const [first, canary] = await submitted();
    await claimed();
    expect(await again(), 'while the canary study runs').to.include({ batch_id: first });
    await failRun(canary);
    const second = await again();
    expect(second.batch_id).to.not.equal(first);
    expect(second.continuation).to.deep.include({ created: true, previous: first, changed: [], amended: [], runs: 4 });
    expect(second.continuation!.sentence).to.equal(
      `study ${second.batch_id} is new: study ${first} has the same design, and no run of it was executed, since its canary study has failed`,
    );
    expect(await again()).to.include({ batch_id: second.batch_id });
    await claimed();
    await failRun(await canaryOf(second.batch_id));
    await scene.api.cancelBatch(second.batch_id);
    const third = await again();
    expect(third.continuation).to.include({ created: true, previous: second.batch_id });
    await scene.api.releaseBatch(third.batch_id);
    expect(await again(), 'released').to.include({ batch_id: third.batch_id });
    // A later study that waits does not hide it.
    const [, failing] = await submitted();
    await claimed();
    await failRun(failing);
    expect(await again()).to.include({ batch_id: third.batch_id });
  });

  it('is continued after its canary study has failed where it carries its function, which would fail again', async () => {
    const code = { sha256: 'a'.repeat(64), python: '3.11' };
    const given = study({ runs: 4, maxRetries: 0, policy: { canary: 'nominal' }, config: { simulation: { code } } });
    const { batch_id: first } = await scene.api.continueStudy(given);
    await claimed();
    await failRun(await canaryOf(first));
    expect(await scene.api.continueStudy(given)).to.include({ batch_id: first });
  });

  it('says of a continued study that its runs and those of an extension wait for a release, as long as they do', async () => {
    const again = (runCount: number) =>
      scene.api.continueStudy(study({ runs: runCount, maxRetries: 0, policy: { canary: 'nominal' } }));
    const [first, canary] = await submitted();
    await claimed();
    await complete(canary, 0);
    await claimed();
    await complete(first, 0, 1, 2, 3);
    const { continuation } = await again(6);
    expect(continuation).to.not.have.property('waiting');
    const { batch_id: extension } = continuation!.extension!;
    expect(extension).to.not.equal(first);
    await claimed();
    await failRun(await canaryOf(extension));
    for (const asked of [6, 4, 8]) {
      const { sentence, waiting } = (await again(asked)).continuation!;
      expect(waiting, `${asked} runs`).to.deep.equal([extension]);
      expect(sentence).to.contain(
        `2 runs of 1 study (${extension}) must wait, since the canary has failed: see why with \`simbatch status ${shortId(extension)}\``,
      );
    }
    // The remedy: the runs of the extension are executed with the corrected code, after a canary study of their own.
    await scene.api.cancelBatch(extension);
    expect((await again(8)).continuation).to.not.have.property('waiting');
    const rerun = await scene.api.rerunBatch(extension, {});
    await claimed();
    await complete(await canaryOf(rerun.batch_id), 0);
    await claimed();
    await complete(rerun.batch_id, 4, 5);
    expect(await scene.status(rerun.batch_id)).to.equal('Completed: 2 Completed');
  });

  it('says of a continued study whose own canary has failed that its runs wait, and that further ones are added', async () => {
    const code = Buffer.from('def f(p): ...').toString('base64');
    const simulation = { name: 'python-functions-3.11', code: { sha256: codeDigest(code), python: '3.11' } };
    const again = (runCount: number) =>
      scene.api.continueStudy({
        ...study({ runs: runCount, maxRetries: 0, policy: { canary: 'nominal' }, config: { simulation } }),
        code,
      });
    await scene.register('b', { slots: 50, types: [simulation.name] });
    const failFunction = async (batch: Uuid): Promise<void> => {
      const canary = await canaryOf(batch);
      await scene.claimRaw('b', 1);
      await scene.start(canary, 0, 'b');
      await scene.fail(canary, 0, 'b', 1, 'invalid');
    };
    const { batch_id: first } = await again(4);
    await failFunction(first);
    const { continuation } = await again(6);
    expect(continuation!.extension).to.include({ total_jobs: 2 });
    expect(continuation!.waiting).to.deep.equal([first]);
    expect(continuation!.sentence).to.contain(`2 further runs; 4 runs of 1 study (${first}) must wait`);
    await failFunction(continuation!.extension!.batch_id);
    const both = (await again(6)).continuation!;
    expect(both.waiting).to.deep.equal([first, continuation!.extension!.batch_id]);
    expect(both.sentence).to.contain(
      `it has 6 runs; nothing is executed; 6 runs of 2 studies (${first}, ${continuation!.extension!.batch_id}) must wait`,
    );
    await scene.api.releaseBatch(first);
    expect((await again(6)).continuation!.waiting).to.deep.equal([continuation!.extension!.batch_id]);
  });

  it('answers about the canary study itself as about chosen rows: no interval, no tolerance bound, no verdict', async () => {
    for (const [kind, runCount] of [
      ['nominal', 1],
      ['corners', 3],
    ] as const) {
      const [, canary] = await submitted(kind);
      await claimed();
      await complete(canary, ...Array.from({ length: runCount }, (_, run) => run));
      await scene.api.amendJudgement(canary, {
        requirements: [{ name: 'near', output: 'miss', condition: '< 1000', probability: 0.5, confidence: 0.5 }],
      });
      const ask = async <T>(name: 'summary' | 'verdicts' | 'evidence'): Promise<T> => {
        const found = await scene.api.answer({ name, batchId: canary, query: {} }, { waitMs: 1e6 });
        if (found.state !== 'ready') throw new Error(`the answer is ${found.state}`);
        return JSON.parse(new TextDecoder().decode(found.body)) as T;
      };
      const summary = await ask<StudySummary>('summary');
      expect(summary.warnings.map(({ code }) => code)).to.include('canary-design');
      const miss = summary.outputs.find((it) => it.name === 'miss')!;
      expect(miss).to.deep.include({ count: runCount, mean: 1, mean_interval: null });
      expect(miss.quantiles.every(({ interval: [low, high] }) => low === null && high === null)).to.equal(true);
      const { requirements } = await ask<{ requirements: { verdict: string | null; reason: string }[] }>('verdicts');
      expect(requirements[0]).to.include({ verdict: null, reason: 'canary-design' });
      const evidence = await ask<EvidenceReport>('evidence');
      expect(evidence.limits.join('\n')).to.contain('these runs were chosen: every input at its median');
      expect(evidence.executed.design).to.contain(`canary, ${runCount} run`);
    }
  });

  it('holds all runs until the nominal run is Completed, through a restart; its runs are in no count of the study', async () => {
    const [batch, canary] = await submitted();
    expect((await scene.api.batch(canary)).batch).to.deep.include({
      name: 'a study (canary)',
      total_jobs: 1,
      labels: { probe: 'a study' },
      parent: { batch_id: batch, relation: 'probe' },
    });
    expect(shortId(canary) < shortId(batch), 'the short ids differ').to.equal(true);
    const [nominal, ...others] = await claimed();
    expect(others).to.deep.equal([]);
    expect(nominal!.job.batch_id).to.equal(canary);
    expect(nominal!.job.run_config.parameters).to.deep.equal({ mass: 100, wind: 0 });
    const [finding] = await waitingFindings(batch);
    expect(finding).to.include({ code: 'canary-running', severity: 'waiting', count: 4, study: canary });
    await scene.restart();
    await scene.start(canary, 0, 'a');
    const waiting = scene.claimRaw('a', 50, 30, [{ job_id: nominal!.job.id, attempt: 1 }]);
    await settled();
    await scene.complete(canary, 0, 'a');
    const released = await waiting;
    expect(runs(released)).to.deep.equal([0, 1, 2, 3]);
    expect(new Set(batchesOf(released.assignments))).to.deep.equal(new Set([batch]));
    expect(await waitingFindings(batch)).to.deep.equal([]);
    await complete(batch, 0, 1, 2, 3);
    expect(await scene.status(batch)).to.equal('Completed: 4 Completed');
    expect(await history(batch)).to.deep.equal(['submitted', 'canary-passed', 'started', 'ended']);
  });

  it('executes the corners too, and holds the runs after one failed one until a release, through a restart', async () => {
    const [batch, canary] = await submitted('corners');
    const corners = (await claimed()).map(({ job }) => job.run_config.parameters);
    expect(corners.map(({ wind }) => wind)).to.deep.equal([0, -4.9, 4.9]);
    expect(corners.map(({ mass }) => Math.sign(mass! - 100))).to.deep.equal([0, -1, 1]);
    await complete(canary, 0, 2);
    expect((await scene.api.batch(batch)).batch)
      .to.include({ waiting_for_canary: 'study' })
      .and.not.have.property('canary_failed');
    await failRun(canary, 1);
    expect(await scene.status(canary)).to.equal('Completed: 2 Completed, 1 Failed');
    await scene.restart();
    expect(await claimed()).to.deep.equal([]);
    expect((await scene.api.batch(batch)).batch).to.include({ status: 'Pending', canary_failed: true });
    const [finding] = await waitingFindings(batch);
    expect(finding).to.include({ code: 'canary-failed', severity: 'blocked', count: 4, study: canary });
    expect(finding!.message).to.equal('the canary run with all inputs low has failed: broke; 4 runs must wait');
    expect(finding!.remedy)
      .to.contain(`simbatch status ${shortId(canary)}`)
      .and.to.contain(`simbatch release ${shortId(batch)}`);
    await scene.api.deleteBatch(canary);
    expect((await scene.api.batch(batch)).batch, 'a deleted canary study').to.include({ canary_failed: true });
    expect(await scene.api.releaseBatch(batch, 'known')).to.not.have.property('canary_failed');
    expect(batchesOf(await claimed())).to.deep.equal([batch, batch, batch, batch]);
    expect(await history(batch)).to.deep.equal(['submitted', 'canary-failed', 'released', 'started']);
  });

  it('does not start the runs when its canary study is cancelled', async () => {
    const [batch, canary] = await submitted();
    await scene.api.cancelBatch(canary, 'enough');
    expect(await claimed()).to.deep.equal([]);
    expect((await scene.api.batch(batch)).batch).to.include({ status: 'Pending', canary_failed: true });
  });

  it('cancels the canary study with it, running or not; both can then be deleted', async () => {
    for (const isRunning of [false, true]) {
      const [batch, canary] = await submitted();
      if (isRunning) expect(batchesOf(await claimed())).to.deep.equal([canary]);
      await scene.api.cancelBatch(batch, 'enough');
      expect(await scene.status(batch)).to.equal('Cancelled: 4 Cancelled');
      expect(await scene.status(canary)).to.equal('Cancelled: 1 Cancelled');
      expect(await codeOf(scene.api.deleteBatch(batch))).to.equal('ok');
      expect(await codeOf(scene.api.deleteBatch(canary))).to.equal('ok');
      await scene.restart();
    }
  });

  it('cancels a canary study of which a run waits for its next attempt', async () => {
    const batch = await scene.submit({ runs: 4, maxRetries: 2, policy: { canary: 'corners' } });
    const canary = await canaryOf(batch);
    await claimed();
    await scene.start(canary, 1, 'a');
    await scene.fail(canary, 1, 'a');
    expect(await scene.status(canary)).to.equal('Running: 1 Pending, 2 Claimed');
    await scene.api.cancelBatch(batch);
    expect(await scene.status(batch)).to.equal('Cancelled: 4 Cancelled');
    expect(await scene.status(canary)).to.equal('Cancelled: 3 Cancelled');
  });

  it('cancels a running canary study with its released study, when that is cancelled, run by run or whole', async () => {
    for (const isWhole of [true, false]) {
      const [batch, canary] = await submitted();
      expect(batchesOf(await claimed())).to.deep.equal([canary]);
      await scene.api.releaseBatch(batch);
      const { assignments } = await scene.claimRaw('a', 50, 0, [ref(canary, 0)]);
      expect(batchesOf(assignments)).to.deep.equal([batch, batch, batch, batch]);
      await scene.start(batch, 0, 'a');
      if (isWhole) await scene.api.cancelBatch(batch);
      else for (const run of [0, 1, 2, 3]) await scene.api.cancelJob(jobId(batch, run));
      expect(await scene.status(batch)).to.equal('Cancelled: 4 Cancelled');
      expect(await scene.status(canary)).to.equal('Cancelled: 1 Cancelled');
      await scene.beat('a');
    }
  });

  it('leaves a canary study alone that runs while its study is released; its end changes nothing then', async () => {
    const [batch, canary] = await submitted();
    expect(batchesOf(await claimed())).to.deep.equal([canary]);
    await scene.api.releaseBatch(batch);
    await failRun(canary);
    expect((await scene.api.batch(batch)).batch).to.not.have.property('canary_failed');
    expect(batchesOf(await claimed())).to.deep.equal([batch, batch, batch, batch]);
    expect(await history(batch)).to.deep.equal(['submitted', 'released', 'started']);
  });

  it('lets a canary study continue that runs while its released study completes', async () => {
    const [batch, canary] = await submitted();
    expect(batchesOf(await claimed())).to.deep.equal([canary]);
    await scene.api.releaseBatch(batch);
    await scene.claimRaw('a', 50, 0, [ref(canary, 0)]);
    await complete(batch, 0, 1, 2, 3);
    expect(await scene.status(batch)).to.equal('Completed: 4 Completed');
    expect(await scene.status(canary)).to.equal('Running: 1 Claimed');
  });

  it('keeps the runs of a paused study after its canary study has passed; a paused canary study holds them', async () => {
    const [batch, canary] = await submitted();
    await scene.api.pauseBatch(batch, 'a look');
    await scene.api.pauseBatch(canary);
    expect(await claimed()).to.deep.equal([]);
    await scene.api.resumeBatch(canary);
    expect(batchesOf(await claimed())).to.deep.equal([canary]);
    await complete(canary, 0);
    expect(await claimed()).to.deep.equal([]);
    await scene.api.resumeBatch(batch);
    expect(batchesOf(await claimed())).to.deep.equal([batch, batch, batch, batch]);
  });

  it('is made anew for an extension and another version, of their own submission, and not for an audit', async () => {
    const [batch, canary] = await submitted();
    await claimed();
    await complete(canary, 0);
    await claimed();
    await complete(batch, 0, 1, 2, 3);
    const { batch_id: more } = await scene.api.extendBatch(batch, { runs: 6 });
    const request = { relation: 'comparison' as const, simulation_version: '2.0' };
    const { batch_id: other } = await scene.api.rerunBatch(batch, request);
    const { batch_id: audit } = await scene.api.auditBatch(batch, { fraction: 1 });
    const own = [await canaryOf(more), await canaryOf(other)];
    expect(new Set(batchesOf(await claimed()))).to.deep.equal(new Set([...own, audit]));
    expect((await scene.api.submission(own[1]!)).config.simulation.version).to.equal('2.0');
    expect((await scene.api.batch(audit)).batch).to.not.have.property('children');
    await complete(own[0]!, 0);
    const released = batchesOf(await claimed());
    expect(released).to.include(more).and.not.include(other);
  });

  it('is not made for a study without runs', async () => {
    const batch = await scene.submit({ runs: 3, runsOverride: 0, policy: { canary: 'nominal' } });
    expect((await scene.api.batch(batch)).batch)
      .to.include({ status: 'Completed' })
      .and.not.have.property('children');
  });
});
