/** The flow of a study: pause, resume, canary runs, release, the limit on failures, priority. */
import { expect } from 'chai';
import { codeOf, ref, RESULT, runs, Scene } from '../../support/scene.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { settled } from '../../support/simulated-clock.ts';

describe('coordinator/studies/flow', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 50 });
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  const finish = async (batch: string, ...runIds: number[]): Promise<void> => {
    for (const run of runIds) {
      await scene.start(batch, run, 'a');
      await scene.complete(batch, run, 'a');
    }
  };
  const failFinally = async (batch: string, run: number): Promise<void> => {
    await scene.start(batch, run, 'a');
    await scene.fail(batch, run, 'a', 1, 'invalid');
  };

  it('assigns no runs of a paused batch, requeued ones included, until it is resumed; running ones continue', async () => {
    const batch = await scene.submit({ runs: 4 });
    expect(await scene.claim('a', 2)).to.deep.equal([0, 1]);
    const paused = { status: 'Running', paused: true, pause_reason: 'a look' };
    expect(await scene.api.pauseBatch(batch, 'a look')).to.include(paused);
    expect(await scene.api.pauseBatch(batch, 'again'), 'a repeat').to.include(paused);
    await finish(batch, 0);
    await scene.start(batch, 1, 'a');
    await scene.fail(batch, 1, 'a');
    await scene.world.advance(15_000);
    await scene.register('a', { slots: 50 });
    expect(await scene.claim('a', 4)).to.deep.equal([]);
    await scene.restart();
    expect(await scene.api.batch(batch).then((it) => it.batch), 'after a restart').to.include(paused);
    expect(await scene.claim('a', 4)).to.deep.equal([]);
    const waiting = scene.claimRaw('a', 4, 30);
    await settled();
    const resumed = await scene.api.resumeBatch(batch);
    expect(resumed).to.not.have.any.keys('paused', 'pause_reason');
    expect(runs(await waiting)).to.deep.equal([1, 2, 3]);
    expect(await scene.api.resumeBatch(batch), 'a repeat').to.include({ status: 'Running' });
  });

  it('releases the runs after the canary runs when all of these are Completed', async () => {
    const batch = await scene.submit({ runs: 6, policy: { canary_runs: 2 } });
    expect(await scene.claim('a', 6)).to.deep.equal([0, 1]);
    expect((await scene.api.batch(batch)).batch).to.include({ status: 'Running', waiting_for_canary: 'runs' });
    await finish(batch, 0);
    expect(await scene.claim('a', 6, [ref(batch, 1)])).to.deep.equal([]);
    const waiting = scene.claimRaw('a', 6, 30, [ref(batch, 1)]);
    await settled();
    await finish(batch, 1);
    expect(runs(await waiting)).to.deep.equal([2, 3, 4, 5]);
    expect((await scene.api.batch(batch)).batch).to.not.have.property('waiting_for_canary');
  });

  it('withholds the other runs after a failed canary run until a release', async () => {
    const batch = await scene.submit({ runs: 5, policy: { canary_runs: 2 } });
    await scene.claim('a', 4);
    await finish(batch, 0);
    await failFinally(batch, 1);
    await scene.restart();
    expect(await scene.claim('a', 4)).to.deep.equal([]);
    expect((await scene.api.batch(batch)).batch)
      .to.include({ status: 'Running', canary_failed: true })
      .and.not.have.property('waiting_for_canary');
    expect(await scene.api.releaseBatch(batch)).to.not.have.property('canary_failed');
    expect(await scene.api.releaseBatch(batch), 'a repeat').to.include({ status: 'Running' });
    expect(await scene.claim('a', 4)).to.deep.equal([2, 3, 4]);
  });

  it('one canary run that hangs by chance does not withhold the others: two of three decide', async () => {
    const hangs = await scene.submit({ runs: 6, policy: { canary_runs: 3 } });
    expect(await scene.claim('a', 6)).to.deep.equal([0, 1, 2]);
    await finish(hangs, 1);
    await finish(hangs, 2);
    expect(await scene.claim('a', 6, [ref(hangs, 0)])).to.deep.equal([3, 4, 5]);
    for (const run of [0, 3, 4, 5]) await finish(hangs, run);
    const fails = await scene.submit({ runs: 6, maxRetries: 0, policy: { canary_runs: 1 } });
    expect(await scene.claim('a', 6)).to.deep.equal([0]);
    await scene.start(fails, 0, 'a');
    await scene.fail(fails, 0, 'a', 1, 'timeout');
    expect(await scene.claim('a', 6)).to.deep.equal([1, 2]);
    await finish(fails, 1);
    expect(await scene.claim('a', 6, [ref(fails, 2)])).to.deep.equal([]);
    await finish(fails, 2);
    expect(await scene.claim('a', 6)).to.deep.equal([3, 4, 5]);
  });

  it('a single canary run that takes a minute lets three decide, also after a restart', async () => {
    const batch = await scene.submit({ runs: 6, policy: { canary_runs: 1 } });
    expect(await scene.claim('a', 6)).to.deep.equal([0]);
    await scene.start(batch, 0, 'a');
    const held = [ref(batch, 0)];
    const wait = async (seconds: number) => {
      for (let passed = 0; passed < seconds; passed++) {
        await scene.world.advance(1_000);
        await scene.beat('a', held);
      }
      await scene.api.tick();
    };
    await wait(59);
    expect(await scene.claim('a', 6, held)).to.deep.equal([]);
    await scene.restart();
    await wait(1);
    expect(await scene.claim('a', 6, held)).to.deep.equal([1, 2]);
    await scene.restart();
    await finish(batch, 1);
    expect(await scene.claim('a', 6, [...held, ref(batch, 2)])).to.deep.equal([]);
    await finish(batch, 2);
    expect(await scene.claim('a', 6, held)).to.deep.equal([3, 4, 5]);
    const { events } = await scene.api.batchHistory(batch);
    expect(events.map((it) => it.type)).to.deep.equal(['submitted', 'started', 'canary-late', 'canary-passed']);
  });

  it('shows a cancelled canary run as failed, and assigns no run beyond the canary runs', async () => {
    const batch = await scene.submit({ runs: 5, policy: { canary_runs: 2 } });
    await scene.api.cancelJob(jobId(batch, 1));
    expect(await scene.claim('a', 5)).to.deep.equal([0]);
    await finish(batch, 0);
    expect(await scene.claim('a', 5)).to.deep.equal([]);
    expect((await scene.api.batch(batch)).batch).to.include({ canary_failed: true });
    await scene.api.releaseBatch(batch);
    expect(await scene.claim('a', 5)).to.deep.equal([2, 3, 4]);
  });

  it('cancels a study that reaches max_failures, as a number or a share; early terminations do not count', async () => {
    for (const limit of [2, '20%']) {
      const batch = await scene.submit({ runs: 10, maxRetries: 0, policy: { max_failures: limit } });
      expect(await scene.claim('a', 5)).to.deep.equal([0, 1, 2, 3, 4]);
      await scene.start(batch, 0, 'a');
      await scene.fail(batch, 0, 'a', 1, 'early_termination');
      await scene.start(batch, 1, 'a');
      await scene.api.complete(jobId(batch, 1), { runner_id: 'a', attempt: 1, result: RESULT });
      await failFinally(batch, 2);
      expect(await scene.status(batch), `${limit}`).to.equal('Running: 5 Pending, 2 Claimed, 1 Completed, 2 Failed');
      await failFinally(batch, 3);
      expect(await scene.status(batch), `${limit}`).to.equal('Cancelled: 1 Completed, 3 Failed, 6 Cancelled');
      const history = await scene.api.jobHistory(jobId(batch, 4));
      expect(history.attempts[0]?.reason).to.equal('2 runs failed, which reaches max_failures (2)');
      await scene.restart();
      expect(await scene.status(batch), 'after a restart').to.equal('Cancelled: 1 Completed, 3 Failed, 6 Cancelled');
    }
  });

  it('states when a study started and ended, why it was cancelled, and how many runs a condition ended', async () => {
    const batch = await scene.submit({ runs: 4, maxRetries: 0, policy: { max_failures: 1 } });
    const read = () => scene.api.batch(batch).then((it) => it.batch);
    expect(await read()).to.not.have.any.keys('started_at', 'ended_at', 'cancel_reason', 'terminated_jobs');
    await scene.world.advance(1_000);
    await scene.claim('a', 3);
    const started_at = new Date(scene.world.now()).toISOString();
    await scene.start(batch, 0, 'a');
    await scene.fail(batch, 0, 'a', 1, 'early_termination');
    await scene.start(batch, 1, 'a');
    await scene.world.advance(1_000);
    expect(await read())
      .to.include({ started_at, terminated_jobs: 1 })
      .and.not.have.any.keys('ended_at');
    await failFinally(batch, 2);
    const ended_at = new Date(scene.world.now()).toISOString();
    const cancel_reason = '1 runs failed, which reaches max_failures (1)';
    await scene.restart();
    expect(await read()).to.include({ status: 'Cancelled', started_at, ended_at, cancel_reason, terminated_jobs: 1 });
  });

  it('keeps its history: pauses, canary runs, releases, and the rule that cancels it, with times and reasons', async () => {
    const events = async (batch: string): Promise<string[]> => {
      const history = await scene.api.batchHistory(batch);
      const text = history.events.map(({ at, type, reason, status }) => {
        const secs = (Date.parse(at) - Date.parse(history.events[0]?.at ?? '')) / 1000;
        return [secs, type, reason, status].filter((it) => it !== undefined).join(' ');
      });
      return [...text, `${history.events_omitted} omitted`];
    };
    const batch = await scene.submit({ runs: 6, maxRetries: 0, policy: { canary_runs: 2, max_failures: 3 } });
    await scene.world.advance(1_000);
    await scene.api.pauseBatch(batch, 'a look');
    await scene.api.pauseBatch(batch, 'again');
    await scene.world.advance(1_000);
    await scene.api.resumeBatch(batch);
    await scene.world.advance(1_000);
    await scene.claim('a', 6);
    await failFinally(batch, 0);
    await failFinally(batch, 1);
    await scene.world.advance(1_000);
    await scene.api.releaseBatch(batch);
    await scene.claim('a', 2);
    await scene.world.advance(1_000);
    await failFinally(batch, 2);
    await scene.world.advance(1_000);
    await scene.restart();
    const reason = '3 runs failed, which reaches max_failures (3)';
    const first = ['0 submitted', '1 paused a look', '2 resumed', '3 started', '3 canary-failed', '4 released'];
    expect(await events(batch)).to.deep.equal([...first, `5 max-failures ${reason}`, '5 ended Cancelled', '0 omitted']);
    const other = await scene.submit({ runs: 3, policy: { canary_runs: 1 } });
    await scene.register('b', { slots: 3 });
    expect(await scene.claim('b', 3)).to.deep.equal([0]);
    await scene.start(other, 0, 'b');
    await scene.complete(other, 0, 'b');
    await scene.api.cancelBatch(other, 'enough');
    await scene.api.cancelBatch(other, 'twice');
    const all = ['0 submitted', '0 started', '0 canary-passed', '0 cancelled enough', '0 ended Cancelled', '0 omitted'];
    expect(await events(other)).to.deep.equal(all);
  });

  it('keeps the latest hundred events of its history, and counts the others', async () => {
    const batch = await scene.submit({ runs: 1 });
    for (let round = 0; round < 60; round++) {
      await scene.api.pauseBatch(batch, `${round}`);
      await scene.api.resumeBatch(batch);
    }
    const { events, events_omitted } = await scene.api.batchHistory(batch);
    expect([events.length, events_omitted]).to.deep.equal([101, 20]);
    expect(events[1]).to.include({ type: 'paused', reason: '10' });
  });

  it('serves the study of higher priority first, whatever its active runs', async () => {
    const names = ['low', 'high', 'plain'];
    const ids = [
      await scene.submit({ name: 'low', runs: 2, policy: { priority: -1 } }),
      await scene.submit({ name: 'high', runs: 3, policy: { priority: 5 } }),
      await scene.submit({ name: 'plain', runs: 2 }),
    ];
    const { assignments } = await scene.claimRaw('a', 7);
    const served = assignments.map(({ job }) => names[ids.indexOf(job.batch_id)]);
    expect(served).to.deep.equal(['high', 'high', 'high', 'plain', 'plain', 'low', 'low']);
  });

  it('refuses to pause, resume and release a batch that has ended or does not exist', async () => {
    const batch = await scene.submit({ runs: 1 });
    const missing = batch.replace('0', 'f');
    await scene.api.cancelBatch(batch);
    for (const operation of ['pauseBatch', 'resumeBatch', 'releaseBatch'] as const) {
      expect(await codeOf(scene.api[operation](batch)), operation).to.equal('illegal-transition');
      expect(await codeOf(scene.api[operation](missing)), operation).to.equal('unknown-batch');
    }
  });
});
