/** The pool: registration, return, replacement, draining, resuming and sign-off of runners. */
import { expect } from 'chai';
import { codeOf, ref, Scene } from '../../support/scene.ts';
import { settled } from '../../support/simulated-clock.ts';

describe('coordinator/pool/runners', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  it('returns heartbeat interval, silence and lease to a runner', async () => {
    const { runner, ...terms } = await scene.register('a', { name: 'Ada', tags: ['lab'], heartbeat_interval_secs: 30 });
    expect(terms).to.deep.equal({ heartbeat_interval_secs: 30, offline_after_secs: 90, lease_secs: 90, lost: [] });
    expect(runner).to.deep.include({ id: 'a', name: 'Ada', status: 'Idle', tags: ['lab'], accepting_jobs: true });
    expect(runner).to.not.have.property('drain_reason');
    const { lease_secs } = await scene.register('b');
    expect(lease_secs).to.equal(60);
  });

  it('refuses the id of a live runner, unless the process is known to be dead or silent', async () => {
    await scene.register('a', { instance: 'one' });
    expect(await codeOf(scene.register('a', { instance: 'two' }))).to.equal('runner-id-in-use');
    expect(await codeOf(scene.register('a', { instance: 'two', replaces: 'zero' }))).to.equal('runner-id-in-use');
    expect(await codeOf(scene.register('a', { instance: 'two', replaces: 'one' }))).to.equal('ok');
    expect(await codeOf(scene.api.heartbeat('a', { instance: 'one', holding: [] }))).to.equal('wrong-instance');
    await scene.world.advance(16_000);
    expect(await scene.runnerStatus('a')).to.equal('Offline');
    expect(await codeOf(scene.register('a', { instance: 'three' }))).to.equal('ok');
    const message = await scene.api.heartbeat('a', { instance: 'two', holding: [] }).catch((it: Error) => it.message);
    expect(message, 'the message does not reveal the current instance').to.not.contain('three');
  });

  it('forgets an ephemeral runner when it signs off, also with a job', async () => {
    const allocation = { allocation: 'slurm/main/1', ephemeral: true, ends_at: '2026-01-01T10:00:00.000Z' };
    const { runner } = await scene.register('a', { instance: 'one', ...allocation });
    expect(runner).to.include(allocation);
    const batch = await scene.submit({ runs: 1 });
    await scene.claim('a', 1);
    await scene.start(batch, 0, 'a');
    expect(await scene.api.signOff('a', { instance: 'one' })).to.include({ status: 'Offline', ephemeral: true });
    expect(await codeOf(scene.api.runner('a'))).to.equal('unknown-runner');
    expect(await scene.status(batch)).to.equal('Running: 1 Pending');
    await scene.register('b', { instance: 'one' });
    await scene.api.signOff('b', { instance: 'one' });
    expect(await scene.runnerStatus('b')).to.equal('Offline');
  });

  it('refuses a registration that ends at a leap second', async () => {
    expect(await codeOf(scene.register('a', { ends_at: '2026-06-30T23:59:60Z' }))).to.equal('invalid-request');
  });

  it('forgets an ephemeral runner that is gone without a sign-off, within two hours', async () => {
    await scene.register('a', { ephemeral: true });
    await scene.register('b');
    await scene.world.advance(7_200_000);
    await settled();
    expect(await codeOf(scene.api.runner('a'))).to.equal('unknown-runner');
    expect(await scene.runnerStatus('b')).to.equal('Offline');
  });

  it('keeps the attempts that a new process names and requeues the others', async () => {
    await scene.register('a', { slots: 4, instance: 'one' });
    const batch = await scene.submit({ runs: 4 });
    await scene.claim('a', 3);
    for (const run of [0, 1]) await scene.start(batch, run, 'a');
    const { lost, runner } = await scene.register('a', {
      slots: 4,
      instance: 'two',
      replaces: 'one',
      holding: [ref(batch, 0), ref(batch, 3), ref(batch, 1, 7)],
    });
    expect(lost).to.deep.equal([ref(batch, 3), ref(batch, 1, 7)]);
    expect(runner.current_jobs).to.deep.equal([ref(batch, 0).job_id]);
    expect(await scene.status(batch)).to.equal('Running: 3 Pending, 1 Running');
    expect(await scene.complete(batch, 0, 'a')).to.include({ status: 'Completed' });
    expect(await codeOf(scene.complete(batch, 1, 'a'))).to.equal('stale-attempt');
  });

  it('keeps everything when the same process registers again', async () => {
    await scene.register('a', { slots: 2 });
    const batch = await scene.submit({ runs: 1 });
    await scene.running(batch, 0, 'a');
    const { lost, runner } = await scene.register('a', { slots: 2, holding: [ref(batch, 0)] });
    expect({ lost, status: runner.status }).to.deep.equal({ lost: [], status: 'Busy' });
    expect(await scene.jobStatus(batch, 0)).to.equal('Running');
  });

  it('requeues the jobs of a runner that signs off, without counting, and sets it Offline', async () => {
    await scene.register('a', { slots: 2 });
    const batch = await scene.submit({ runs: 2 });
    await scene.claim('a', 2);
    await scene.start(batch, 0, 'a');
    const stranger = scene.api.signOff('a', { instance: 'x' });
    expect(await codeOf(stranger)).to.equal('wrong-instance');
    const gone = await scene.api.signOff('a', { instance: scene.instance('a') });
    expect(gone).to.deep.include({ status: 'Offline', current_jobs: [], total_jobs_failed: 0, accepting_jobs: false });
    expect(await scene.status(batch)).to.equal('Running: 2 Pending');
    expect(await scene.api.job(ref(batch, 0).job_id)).to.include({ retries: 0 });
  });

  it('keeps a runner that has signed off Offline until it registers, despite other requests', async () => {
    const instance = (await scene.register('a', { slots: 2 })) && scene.instance('a');
    const batch = await scene.submit({ runs: 2 });
    // A heartbeat and a claim that cross the sign-off.
    const crossing = [scene.api.signOff('a', { instance }), scene.beat('a'), scene.claimRaw('a', 1, 30)];
    expect(await Promise.all(crossing.map(codeOf))).to.deep.equal(['ok', 'signed-off', 'signed-off']);
    for (const restarts of [0, 1]) {
      expect(await codeOf(scene.beat('a')), `${restarts} restarts`).to.equal('signed-off');
      expect(await codeOf(scene.claimRaw('a'))).to.equal('signed-off');
      expect(await codeOf(scene.api.signOff('a', { instance })), 'an exact repeat').to.equal('ok');
      expect(await scene.runnerStatus('a')).to.equal('Offline');
      await scene.restart();
    }
    await scene.register('a', { slots: 2 });
    expect(await scene.claim('a')).to.deep.equal([0]);
    expect(await scene.status(batch)).to.equal('Running: 1 Pending, 1 Claimed');
  });

  it('lets active work end when drained, until a resume', async () => {
    await scene.register('a', { slots: 2, instance: 'one' });
    const batch = await scene.submit({ runs: 3 });
    await scene.running(batch, 0, 'a');
    const drained = { status: 'Maintenance', accepting_jobs: false, drain_reason: 'a new disk' };
    expect(await scene.api.drain('a', 'a new disk')).to.include(drained);
    expect(await scene.api.drain('a', 'a new disk'), 'again').to.include(drained);
    expect(await scene.complete(batch, 0, 'a')).to.include({ status: 'Completed' });
    await scene.restart();
    expect(await scene.api.runner('a'), 'after a restart').to.include(drained);
    await scene.world.advance(16_000);
    expect(await scene.api.runner('a')).to.include({ status: 'Offline', drain_reason: 'a new disk' });
    await scene.beat('a');
    expect(await scene.api.runner('a'), 'back again').to.include(drained);
    await scene.register('a', { slots: 2, instance: 'two', replaces: 'one' });
    expect(await scene.api.runner('a'), 'a new process').to.include(drained);
    expect(await scene.claim('a')).to.deep.equal([]);
    const resumed = await scene.api.resume('a');
    expect(resumed).to.include({ status: 'Idle', accepting_jobs: true });
    expect(resumed).to.not.have.property('drain_reason');
    expect(await scene.claim('a')).to.deep.equal([1]);
  });

  it('accepts a resume of a runner that is not drained', async () => {
    await scene.register('a');
    expect(await scene.api.resume('a')).to.include({ status: 'Idle' });
    expect(await codeOf(scene.api.resume('ghost'))).to.equal('unknown-runner');
    expect(await codeOf(scene.api.drain('ghost'))).to.equal('unknown-runner');
  });

  it('counts connected runners and their capacity in the list', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await scene.register(id, { slots: 2, tags: [id < 'c' ? 'lab' : 'office'] });
    await scene.api.drain('b');
    await scene.api.signOff('c', { instance: scene.instance('c') });
    const { runners, ...counts } = await scene.api.runners({});
    expect(runners.map((it) => `${it.id} ${it.status}`)).to.deep.equal([
      'a Idle',
      'b Maintenance',
      'c Offline',
      'd Idle',
    ]);
    expect(counts).to.deep.equal({ active_runners: 3, offline_runners: 1, total_capacity: 4 });
    const lab = await scene.api.runners({ tag: ['lab'], status: ['Maintenance', 'Offline'] });
    expect(lab.runners.map((it) => it.id)).to.deep.equal(['b']);
  });
});
