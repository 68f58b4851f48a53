/** Deadlines of runners and runs, to the millisecond: silence, leases, claims, limits, losses, restarts. */
import { expect } from 'chai';
import { jobId } from '../../../../src/domain/ids.ts';
import { DeadlineQueue, type TimedActor } from '../../../../src/coordinator/kernel/actors/deadline-queue.ts';
import type { Address } from '../../../../machines/protocol.ts';
import { codeOf, ref, Scene } from '../../../support/scene.ts';

/** An actor as the queue sees it. */
const timed = (address: Address): TimedActor => ({ address, deadline: undefined, deadlineEntry: undefined });

describe('coordinator/kernel/actors: deadlines', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  /** Checks a state at the last millisecond before `ms` from now, and again at `ms`. */
  async function around<T>(ms: number, look: () => Promise<T>): Promise<[before: T, after: T]> {
    scene.world.setClock(scene.world.now() + ms - 1);
    await scene.api.tick();
    const before = await look();
    scene.world.setClock(scene.world.now() + 1);
    await scene.api.tick();
    return [before, await look()];
  }

  it('sets a runner Offline after 15 s of silence, or three of its intervals', async () => {
    await scene.register('a');
    expect(await around(15_000, () => scene.runnerStatus('a'))).to.deep.equal(['Idle', 'Offline']);
    await scene.beat('a');
    expect(await scene.runnerStatus('a')).to.equal('Idle');
    await scene.register('slow', { heartbeat_interval_secs: 60 });
    expect(await around(180_000, () => scene.runnerStatus('slow'))).to.deep.equal(['Idle', 'Offline']);
  });

  it('requeues a claim that is not started within 60 s', async () => {
    await scene.register('a', { heartbeat_interval_secs: 60 });
    const batch = await scene.submit({ runs: 1 });
    await scene.claim('a');
    expect(await around(60_000, () => scene.jobStatus(batch, 0))).to.deep.equal(['Claimed', 'Pending']);
    expect(await codeOf(scene.start(batch, 0, 'a'))).to.equal('stale-attempt');
    expect(await scene.api.job(jobId(batch, 0))).to.include({ retries: 0 });
    expect((await scene.beat('a', [ref(batch, 0)])).lost).to.deep.equal([ref(batch, 0)]);
  });

  it('times a run out at its limit, with a cancel notice to its runner and a result', async () => {
    await scene.register('a', { heartbeat_interval_secs: 600 });
    const batch = await scene.submit({ runs: 1, timeoutSecs: 30 });
    await scene.running(batch, 0, 'a');
    expect(await around(30_000, () => scene.jobStatus(batch, 0))).to.deep.equal(['Running', 'Timeout']);
    expect((await scene.beat('a', [ref(batch, 0)])).cancel).to.deep.equal([
      { job_id: jobId(batch, 0), attempt: 1, reason: 'timeout' },
    ]);
    expect(await codeOf(scene.fail(batch, 0, 'a', 1, 'timeout')), 'its runner saw it too').to.equal('ok');
    expect(await codeOf(scene.complete(batch, 0, 'a')), 'too late').to.equal('illegal-transition');
    expect(await scene.api.jobResult(jobId(batch, 0))).to.include({ success: false, execution_time_secs: 30 });
    expect(await scene.status(batch)).to.equal('Failed: 1 Timeout');
  });

  it('keeps a run without a limit running', async () => {
    await scene.register('a', { heartbeat_interval_secs: 100_000 });
    const batch = await scene.submit({ runs: 1, timeoutSecs: 0 });
    await scene.running(batch, 0, 'a');
    await scene.world.advance(200_000);
    expect(await scene.jobStatus(batch, 0)).to.equal('Running');
  });

  it('keeps the runs of a silent runner until its lease ends, and accepts a report in time', async () => {
    await scene.register('a', { slots: 2 });
    const batch = await scene.submit({ runs: 2 });
    await scene.running(batch, 0, 'a');
    await scene.claim('a', 1, [ref(batch, 0)]);
    await scene.start(batch, 1, 'a');
    scene.world.setClock(scene.world.now() + 40_000);
    await scene.api.tick();
    expect(await scene.runnerStatus('a')).to.equal('Offline');
    expect(await scene.complete(batch, 1, 'a')).to.include({ status: 'Completed' });
    const look = () => scene.jobStatus(batch, 0);
    expect(await around(20_000, look)).to.deep.equal(['Running', 'Pending']);
    expect(await codeOf(scene.complete(batch, 0, 'a')), 'after the lease').to.equal('stale-attempt');
    const history = await scene.api.jobHistory(jobId(batch, 0));
    expect(history).to.include({ losses: 1, retries: 0 });
    expect(history.attempts[0]).to.include({ outcome: 'lost', message: 'runner a sent no heartbeat for 60 s' });
  });

  it('requeues an attempt that its runner no longer names after a lease', async () => {
    await scene.register('a', { slots: 2 });
    const batch = await scene.submit({ runs: 1 });
    await scene.running(batch, 0, 'a');
    for (let second = 0; second < 60; second += 5) {
      await scene.beat('a', []);
      expect(await scene.jobStatus(batch, 0), `${second} s`).to.equal('Running');
      await scene.world.advance(5000);
    }
    expect(await scene.jobStatus(batch, 0)).to.equal('Pending');
    expect(await scene.runnerStatus('a')).to.equal('Idle');
  });

  it('fails a run that loses five runners, with the last one in its message', async () => {
    const batch = await scene.submit({ runs: 1 });
    for (let loss = 1; loss <= 5; loss += 1) {
      await scene.register('a', { instance: `i${loss}`, ...(loss > 1 && { replaces: `i${loss - 1}` }) });
      if (loss > 1) expect(await scene.jobStatus(batch, 0)).to.equal('Pending');
      await scene.running(batch, 0, 'a', loss);
    }
    await scene.register('a', { instance: 'i6', replaces: 'i5' });
    const job = await scene.api.job(jobId(batch, 0));
    expect(job).to.include({ status: 'Failed', retries: 0 });
    expect(job.error_message).to.match(/^runner a was restarted .* lost its runner 5 times/);
    expect(await scene.api.jobResult(jobId(batch, 0))).to.include({ success: false });
    expect(await scene.status(batch)).to.equal('Failed: 1 Failed');
  });

  it('resets deadlines at a restart', async () => {
    await scene.register('a', { slots: 3, heartbeat_interval_secs: 30 });
    const batch = await scene.submit({ runs: 3, timeoutSecs: 20 });
    await scene.claim('a', 2);
    await scene.start(batch, 0, 'a');
    scene.world.setClock(scene.world.now() + 3_600_000);
    await scene.restart();
    expect(await around(60_000, () => scene.status(batch)), 'the claim, the time limit').to.deep.equal([
      'Running: 1 Pending, 1 Claimed, 1 Running',
      'Running: 2 Pending, 1 Timeout',
    ]);
    expect(await around(30_000, () => scene.runnerStatus('a'))).to.deep.equal(['Idle', 'Offline']);
  });

  it('does not extend deadlines when the clock is set back before a restart', async () => {
    await scene.register('a', { slots: 2 });
    const batch = await scene.submit({ runs: 2 });
    await scene.claim('a', 2);
    await scene.start(batch, 0, 'a');
    scene.world.setClock(scene.world.now() - 86_400_000);
    await scene.restart();
    await scene.world.advance(61_000);
    expect(await scene.status(batch)).to.equal('Running: 2 Pending');
  });

  it('tolerates a clock that is set back while serving', async () => {
    await scene.register('a');
    const batch = await scene.submit({ runs: 1 });
    scene.world.setClock(scene.world.now() - 3_600_000);
    await scene.running(batch, 0, 'a');
    await scene.world.advance(20_000);
    await scene.complete(batch, 0, 'a');
    expect(await scene.status(batch)).to.equal('Completed: 1 Completed');
  });

  it('keep one heap entry per actor, however often they move', () => {
    const deadlines = new DeadlineQueue();
    const [a, b] = [timed('runner/a'), timed('job/b')];
    for (let round = 0; round < 1000; round += 1) {
      deadlines.set(a, { kind: 'silence', atMs: round + 15 });
      if (round % 2 === 0) deadlines.set(a, undefined);
      deadlines.set(b, { kind: 'claim', atMs: 5000 - round });
      expect(deadlines.due(round).length).to.equal(0);
    }
    expect(deadlines.due(10_000)).to.deep.equal([
      { address: 'runner/a', kind: 'silence' },
      { address: 'job/b', kind: 'claim' },
    ]);
    expect(deadlines.size).to.equal(0);
  });

  it('remove the entries of ended jobs before their deadlines expire', () => {
    const deadlines = new DeadlineQueue();
    deadlines.set(timed('job/stays'), { kind: 'claim', atMs: 50 });
    for (let at = 0; at < 20_000; at += 1) {
      const job = timed(`job/${at}`);
      deadlines.set(job, { kind: 'claim', atMs: 1_000 + (at % 7) });
      deadlines.set(job, { kind: 'time-limit', atMs: 3_600_000 });
      if (at % 100 > 0) deadlines.set(job, undefined);
    }
    expect(deadlines.size).to.be.lessThan(2_000);
    expect(deadlines.due(49)).to.deep.equal([]);
    expect(deadlines.due(50)).to.deep.equal([{ address: 'job/stays', kind: 'claim' }]);
    expect(deadlines.due(3_599_999)).to.deep.equal([]);
    expect(deadlines.due(3_600_000)).to.have.length(200);
  });
});
