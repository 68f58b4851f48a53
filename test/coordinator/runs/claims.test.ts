/** Claims: long polls, caps, resource limits, fairness. */
import { expect } from 'chai';
import { settled } from '../../support/simulated-clock.ts';
import { codeOf, ref, runs, Scene } from '../../support/scene.ts';

describe('coordinator/runs: claims', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  it('assigns runs in order, within the requested number and the free capacity', async () => {
    await scene.register('a', { slots: 3 });
    await scene.submit({ runs: 5 });
    expect(await scene.claim('a', 2)).to.deep.equal([0, 1]);
    expect(await scene.claim('a', 9, await held())).to.deep.equal([2]);
    expect(await scene.claim('a', 9, await held())).to.deep.equal([]);
    async function held() {
      const { current_jobs } = await scene.api.runner('a');
      return current_jobs.map((job_id) => ({ job_id, attempt: 1 }));
    }
  });

  it('returns the configuration of each batch once, and the parameters of each run', async () => {
    await scene.register('a', { slots: 2 });
    const batch = await scene.submit({ runs: 2 });
    const answer = await scene.claimRaw('a', 2);
    expect(Object.keys(answer.batches)).to.deep.equal([batch]);
    expect(answer.batches[batch]?.config).to.deep.equal((await scene.api.submission(batch)).config);
    const [first] = answer.assignments;
    expect(first?.attempt).to.equal(1);
    expect(first?.job).to.deep.include({
      status: 'Claimed',
      assigned_runner: 'a',
      claimed_at: '2026-01-01T00:00:00.000Z',
    });
    expect(Object.keys(first?.job.run_config.parameters ?? {})).to.deep.equal(['mass', 'wind']);
  });

  it('repeats assignments that the runner does not name', async () => {
    await scene.register('a', { slots: 2 });
    const batch = await scene.submit({ runs: 3 });
    expect(await scene.claim('a', 2)).to.deep.equal([0, 1]);
    expect(await scene.claim('a', 2), 'the reply was lost').to.deep.equal([0, 1]);
    expect(await scene.claim('a', 2, [ref(batch, 0)])).to.deep.equal([1]);
    await scene.start(batch, 0, 'a');
    expect(await scene.claim('a', 2), 'running jobs are not assigned again').to.deep.equal([1]);
    expect(await scene.status(batch)).to.equal('Running: 1 Pending, 1 Claimed, 1 Running');
  });

  it('refuses unknown runners and earlier processes', async () => {
    expect(await codeOf(scene.claim('a'))).to.equal('unknown-runner');
    await scene.register('a');
    const stranger = scene.api.claim('a', { instance: 'x', max_jobs: 1 });
    expect(await codeOf(stranger)).to.equal('wrong-instance');
  });

  it('respects max_parallel_jobs', async () => {
    await scene.register('a', { slots: 9 });
    await scene.register('b', { slots: 9 });
    const batch = await scene.submit({ runs: 9, maxParallelJobs: 2 });
    const [a, b] = await Promise.all([scene.claim('a', 9), scene.claim('b', 9)]);
    expect(a.length + b.length).to.equal(2);
    await scene.restart();
    expect(await scene.claim('b', 9, []), 'after a restart too').to.deep.equal([]);
    await scene.start(batch, 0, 'a');
    await scene.complete(batch, 0, 'a');
    expect(await scene.claim('b', 9)).to.deep.equal([2]);
  });

  it('respects processors, memory and supported simulations', async () => {
    const table: [string, Parameters<Scene['register']>[1], Parameters<Scene['submit']>[0], number][] = [
      ['undeclared', { slots: 5 }, { cpu: '64', memory: '1Ti' }, 5],
      ['by processors', { slots: 5, cpuCores: 4 }, { cpu: '1500m' }, 2],
      ['by memory', { slots: 5, memoryGb: 1 }, { memory: '512Mi' }, 2],
      ['too large for it', { slots: 5, cpuCores: 1 }, { cpu: '2' }, 0],
      ['of its type', { slots: 5, types: ['probe', 'rocket'] }, { simulation: 'rocket' }, 5],
      ['of any type', { slots: 5, types: ['*'] }, { simulation: 'rocket' }, 5],
      ['of another type', { slots: 5, types: ['probe'] }, { simulation: 'rocket' }, 0],
      ['named like a member of every object', { slots: 5, types: ['__proto__'] }, { simulation: '__proto__' }, 5],
    ];
    for (const [name, runner, submission, count] of table) {
      const own = await Scene.open();
      await own.register('a', runner);
      await own.submit({ runs: 9, ...submission });
      expect((await own.claim('a', 9)).length, name).to.equal(count);
    }
  });

  it('assigns only runs that end before the machine of the runner is taken from it', async () => {
    const seconds = (count: number) => new Date(scene.world.now() + count * 1000).toISOString();
    await scene.register('short', { slots: 9, ends_at: seconds(60) });
    await scene.register('long', { slots: 9 });
    await scene.submit({ runs: 4, timeoutSecs: 61 });
    expect(await scene.claim('short', 9)).to.deep.equal([]);
    const limited = await scene.submit({ runs: 4, timeoutSecs: 60 });
    const { assignments } = await scene.claimRaw('short', 1);
    expect(assignments.map((it) => it.job.batch_id)).to.deep.equal([limited]);
    await scene.restart();
    await scene.world.advance(2_000);
    expect(await scene.claim('short', 9, [ref(limited, 0)]), 'after a restart too').to.deep.equal([]);
    expect((await scene.claim('long', 9)).length).to.equal(7);
  });

  it('takes the mean duration of the simulation for runs without a time limit', async () => {
    await scene.register('short', { slots: 9, ends_at: new Date(scene.world.now() + 100_000).toISOString() });
    const batch = await scene.submit({ runs: 4 });
    expect(await scene.claim('short', 1)).to.deep.equal([0]);
    await scene.start(batch, 0, 'short');
    await scene.world.advance(40_000);
    await scene.complete(batch, 0, 'short');
    expect(await scene.claim('short', 1)).to.deep.equal([1]);
    await scene.world.advance(21_000);
    expect(await scene.claim('short', 9, [ref(batch, 1)])).to.deep.equal([]);
  });

  it('assigns no run to a slot that a runner reported lost, and serves its waiting poll when the slot is back', async () => {
    await scene.register('a', { slots: 3 });
    const beat = (slots_lost?: number) =>
      scene.api.heartbeat('a', {
        instance: scene.instance('a'),
        holding: [],
        ...(slots_lost === undefined ? {} : { slots_lost }),
      });
    expect((await beat(2)).runner).to.include({ slots_lost: 2 });
    const batch = await scene.submit({ runs: 5 });
    expect(await scene.claim('a', 9)).to.deep.equal([0]);
    await scene.start(batch, 0, 'a');
    const answer = scene.claimRaw('a', 9, 10).then(runs);
    await settled();
    expect(await scene.status(batch), 'the claim waits').to.equal('Running: 4 Pending, 1 Running');
    expect(await scene.api.runners({})).to.include({ total_capacity: 1 });
    expect((await beat()).runner).to.not.have.property('slots_lost');
    expect(await answer).to.deep.equal([1, 2]);
  });

  it('counts the lost slots that a registration or a claim reports, also after a restart', async () => {
    await scene.register('a', { slots: 3, slots_lost: 3 });
    await scene.submit({ runs: 5 });
    expect(await scene.claim('a', 9)).to.deep.equal([]);
    await scene.restart();
    expect(await scene.api.runner('a')).to.include({ slots_lost: 3 });
    expect(await scene.claim('a', 9), 'a claim that reports no number').to.deep.equal([]);
    const answer = await scene.api.claim('a', { instance: scene.instance('a'), max_jobs: 9, slots_lost: 1 });
    expect(runs(answer)).to.deep.equal([0, 1]);
    expect(await scene.api.runner('a')).to.include({ slots_lost: 1 });
  });

  it('serves the study with the fewest active jobs next', async () => {
    await scene.register('a', { slots: 9 });
    const large = await scene.submit({ runs: 1000 });
    await scene.claim('a', 3);
    const small = await scene.submit({ runs: 4 });
    const { assignments } = await scene.claimRaw('a', 6, 0, [ref(large, 0), ref(large, 1), ref(large, 2)]);
    const served = assignments.map((it) => (it.job.batch_id === small ? 'small' : 'large'));
    expect(served.slice(0, 3)).to.deep.equal(['small', 'small', 'small']);
    expect(served.slice(3).toSorted()).to.deep.equal(['large', 'large', 'small']);
  });

  it('assigns requeued runs first, preferably to another runner', async () => {
    await scene.register('a', { slots: 3 });
    await scene.register('b', { slots: 3 });
    const batch = await scene.submit({ runs: 9 });
    await scene.running(batch, 0, 'a');
    await scene.fail(batch, 0, 'a');
    expect(await scene.claim('a'), 'b is free').to.deep.equal([1]);
    expect(await scene.claim('b'), 'requeued first').to.deep.equal([0]);
  });

  it('assigns a requeued run to the same runner when no other could take it, or after 10 s', async () => {
    await scene.register('a', { slots: 3, cpuCores: 4 });
    const batch = await scene.submit({ runs: 9, cpu: '2' });
    await scene.running(batch, 0, 'a');
    await scene.fail(batch, 0, 'a');
    // Connected, but without capacity for the run.
    await scene.register('b', { slots: 3, cpuCores: 1 });
    await scene.running(batch, 0, 'a', 2);
    await scene.fail(batch, 0, 'a', 2, 'exit', 'broke again');
    await scene.register('c', { slots: 3 });
    await scene.world.advance(9_999);
    expect(await scene.claim('a')).to.deep.equal([1]);
    await scene.world.advance(1);
    expect(await scene.claim('a', 1, [ref(batch, 1)])).to.deep.equal([0]);
  });

  it('assigns a requeued run to the same runner when the other one asks for no work', async () => {
    await scene.register('a', { slots: 3 });
    await scene.register('b', { slots: 3 });
    const batch = await scene.submit({ runs: 1 });
    // Connected by its heartbeats, but paused: it has not asked for work for ten seconds.
    await scene.world.advance(9_000);
    await scene.beat('b');
    await scene.running(batch, 0, 'a');
    await scene.world.advance(1_000);
    await scene.fail(batch, 0, 'a');
    expect(await scene.claim('a')).to.deep.equal([0]);
  });

  it('assigns a requeued run to the same runner when the client of the other one has disconnected', async () => {
    await scene.register('a', { slots: 3 });
    await scene.register('b', { slots: 3 });
    const client = new AbortController();
    const poll = scene.claimRaw('b', 1, 30, undefined, client.signal);
    await settled();
    client.abort();
    expect(runs(await poll)).to.deep.equal([]);
    const batch = await scene.submit({ runs: 1 });
    await scene.running(batch, 0, 'a');
    await scene.fail(batch, 0, 'a');
    expect(await scene.claim('a')).to.deep.equal([0]);
  });

  it('answers long polls as soon as work appears, and spreads it', async () => {
    for (const id of ['a', 'b', 'c']) await scene.register(id, { slots: 4 });
    const answers = ['a', 'b', 'c'].map((id) => scene.claimRaw(id, 4, 30).then(runs));
    await settled();
    await scene.submit({ runs: 5 });
    expect((await Promise.all(answers)).map((it) => it.length)).to.deep.equal([2, 2, 1]);
  });

  it('answers a long poll whose heartbeat is being written when the work appears', async () => {
    await scene.register('a');
    await scene.world.advance(1);
    const answer = scene.claimRaw('a', 1, 30).then(runs);
    const submitted = scene.submit({ runs: 1 });
    expect(await answer).to.deep.equal([0]);
    await submitted;
  });

  it('answers a long poll with no work when its time is up, and not before', async () => {
    await scene.register('a', { heartbeat_interval_secs: 60 });
    let answer: number[] | undefined;
    void scene.claimRaw('a', 1, 20).then((it) => (answer = runs(it)));
    await settled();
    await scene.world.advance(19_999);
    expect(answer).to.equal(undefined);
    await scene.world.advance(1);
    expect(answer).to.deep.equal([]);
  });

  it('does not loop while no waiting runner can take the pending work', async () => {
    await scene.register('a', { types: ['probe'] });
    const waiting = scene.claimRaw('a', 1, 10);
    await settled();
    const batch = await scene.submit({ runs: 1 });
    await settled();
    expect(await scene.status(batch)).to.equal('Pending: 1 Pending');
    await scene.world.advance(10_000);
    expect(runs(await waiting)).to.deep.equal([]);
  });

  it('claims nothing for a disconnected client', async () => {
    await scene.register('a');
    const gone = new AbortController();
    const answer = scene.claimRaw('a', 1, 30, undefined, gone.signal);
    await settled();
    gone.abort();
    expect(runs(await answer)).to.deep.equal([]);
    const batch = await scene.submit({ runs: 1 });
    await settled();
    expect(await scene.status(batch)).to.equal('Pending: 1 Pending');
  });

  it('keeps one long poll per runner: the latest', async () => {
    await scene.register('a', { slots: 2 });
    const first = scene.claimRaw('a', 1, 30).then(runs);
    await settled();
    const second = scene.claimRaw('a', 1, 30).then(runs);
    expect(await first).to.deep.equal([]);
    await scene.submit({ runs: 2 });
    expect(await second).to.deep.equal([0]);
  });

  it('assigns nothing to a drained runner, even to its waiting poll, until it is resumed', async () => {
    await scene.register('a');
    const answer = scene.claimRaw('a', 1, 30).then(runs);
    await settled();
    await scene.api.drain('a', 'a new disk');
    const batch = await scene.submit({ runs: 2 });
    await settled();
    expect(await scene.status(batch)).to.equal('Pending: 2 Pending');
    await scene.api.resume('a');
    expect(await answer).to.deep.equal([0]);
  });

  it('assigns nothing of a cancelled batch, even to a waiting claim', async () => {
    await scene.register('a');
    const batch = await scene.submit({ runs: 2, maxParallelJobs: 1 });
    await scene.register('b');
    expect(await scene.claim('a')).to.deep.equal([0]);
    const waiting = scene.claimRaw('b', 1, 5).then(runs);
    await settled();
    await scene.api.cancelBatch(batch, 'enough');
    await scene.world.advance(5000);
    expect(await waiting).to.deep.equal([]);
    expect(await scene.status(batch)).to.equal('Cancelled: 2 Cancelled');
  });

  it('skips runs that were cancelled one by one, also after queries about other runs', async () => {
    await scene.register('a', { slots: 9 });
    const batch = await scene.submit({ runs: 6 });
    for (const run of [0, 2, 5]) await scene.api.cancelJob(ref(batch, run).job_id);
    for (const run of [1, 3, 4]) expect(await codeOf(scene.start(batch, run, 'a'))).to.equal('stale-attempt');
    expect(scene.api.parts.directory.jobs.size, 'no job is left active').to.equal(0);
    expect(await scene.claim('a', 9)).to.deep.equal([1, 3, 4]);
    expect(await scene.status(batch)).to.equal('Running: 3 Claimed, 3 Cancelled');
  });
});
