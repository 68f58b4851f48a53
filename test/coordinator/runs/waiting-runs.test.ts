/** Runs that wait on a runner for a slot: assignment, reassignment to a free runner, and hand-back. */
import { expect } from 'chai';
import { jobId } from '../../../src/domain/ids.ts';
import type { AttemptRef, ClaimResponse, Uuid } from '../../../src/contract/types.ts';
import { runIdOf } from '../../../src/domain/ids.ts';
import { Scene, type RunnerOptions } from '../../support/scene.ts';

const runsOf = ({ assignments }: ClaimResponse): number[] => assignments.map(({ job }) => runIdOf(job.id));

describe('coordinator/runs/waiting-runs', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  const claimAhead = (id: string, ahead: number, more: { waitSecs?: number; holding?: AttemptRef[] } = {}) =>
    scene.api.claim(id, {
      instance: scene.instance(id),
      max_jobs: 100,
      ahead,
      wait_seconds: more.waitSecs ?? 0,
      ...(more.holding === undefined ? {} : { holding: more.holding }),
    });
  const heldBy = async (id: string): Promise<number[]> => (await scene.api.runner(id)).current_jobs.map(runIdOf);
  const handBack = async (id: string, batch: Uuid, run: number, attempt = 1): Promise<string> => {
    const reports = [{ type: 'hand_back' as const, job_id: jobId(batch, run), attempt }];
    const [judgement] = await scene.api.reports(id, { instance: scene.instance(id), reports });
    if (judgement === undefined) throw new Error('no judgement');
    return 'refusal' in judgement ? judgement.refusal.code : judgement.status;
  };
  const historyOf = async (batch: Uuid, run: number) => scene.api.jobHistory(jobId(batch, run));
  const register = (id: string, options: RunnerOptions = {}) => scene.register(id, { slots: 2, ...options });

  it('assigns no more than the slots to a runner that does not ask for more', async () => {
    await register('a');
    await scene.submit({ runs: 10 });
    expect(await scene.claim('a', 100)).to.deep.equal([0, 1]);
  });

  it('assigns as many more as may wait, and no further ones while they do', async () => {
    await register('a');
    const batch = await scene.submit({ runs: 10 });
    expect(runsOf(await claimAhead('a', 3))).to.deep.equal([0, 1, 2, 3, 4]);
    const holding = [0, 1, 2, 3, 4].map((run) => ({ job_id: jobId(batch, run), attempt: 1 }));
    expect(runsOf(await claimAhead('a', 3, { holding }))).to.deep.equal([]);
    await scene.start(batch, 0, 'a');
    await scene.complete(batch, 0, 'a');
    expect(runsOf(await claimAhead('a', 3, { holding: holding.slice(1) }))).to.deep.equal([5]);
  });

  it('lets runs wait for cores too, each of which fits the whole runner', async () => {
    await register('a', { slots: 8, cpuCores: 2 });
    const batch = await scene.submit({ runs: 10, cpu: '1' });
    const large = await scene.submit({ runs: 1, cpu: '3' });
    const { assignments } = await claimAhead('a', 3);
    expect(assignments.map(({ job }) => job.batch_id)).to.deep.equal(Array.from({ length: 5 }, () => batch));
    expect(await scene.jobStatus(large, 0)).to.equal('Pending');
  });

  it('fills the slots of every waiting poll before runs wait on one', async () => {
    await register('a');
    await register('b');
    const polls = [claimAhead('a', 8, { waitSecs: 20 }), claimAhead('b', 8, { waitSecs: 20 })];
    await scene.world.advance(0);
    await scene.submit({ runs: 4 });
    const [a, b] = (await Promise.all(polls)).map((it) => runsOf(it).length);
    expect([a, b]).to.deep.equal([2, 2]);
  });

  it('gives a waiting run to a runner that asks with a free slot, the latest first, and counts nothing', async () => {
    await register('a');
    await register('b');
    const batch = await scene.submit({ runs: 5 });
    await claimAhead('a', 3);
    for (const run of [0, 1]) await scene.start(batch, run, 'a');
    expect(await scene.claim('b', 100)).to.deep.equal([4, 3]);
    expect(await heldBy('a')).to.deep.equal([0, 1, 2]);
    const { attempts } = await historyOf(batch, 4);
    expect((await scene.api.job(jobId(batch, 4))).retries).to.equal(0);
    expect(attempts.map((it) => [it.runner_id, it.outcome, it.reason])).to.deep.equal([
      ['a', 'released', 'handed-back'],
      ['b', undefined, undefined],
    ]);
    const late = await scene.start(batch, 4, 'a', 1).catch((error: { code: string }) => error.code);
    expect(late).to.equal('stale-attempt');
    expect((await scene.start(batch, 4, 'b', 2)).status).to.equal('Running');
  });

  it('gives waiting runs to a poll that waits, as soon as its runner has a free slot', async () => {
    await register('a', { slots: 1 });
    await register('b', { slots: 1 });
    const first = await scene.submit({ runs: 1 });
    expect(await scene.claim('b')).to.deep.equal([0]);
    await scene.start(first, 0, 'b');
    const batch = await scene.submit({ runs: 3 });
    await claimAhead('a', 2);
    await scene.start(batch, 0, 'a');
    const poll = claimAhead('b', 0, { waitSecs: 20, holding: [{ job_id: jobId(first, 0), attempt: 1 }] });
    await scene.world.advance(0);
    await scene.complete(first, 0, 'b');
    expect(runsOf(await poll)).to.deep.equal([2]);
    expect(await heldBy('a')).to.deep.equal([0, 1]);
  });

  it('names a run to the runner alone that has it in the end, when it would have waited on another', async () => {
    await register('crowded', { slots: 1 });
    await register('last', { types: ['glider'] });
    await register('free', { slots: 1, types: ['glider'] });
    const rockets = await scene.submit({ runs: 2 });
    await claimAhead('crowded', 1);
    await scene.start(rockets, 0, 'crowded');
    const gliders = await scene.submit({ runs: 2, maxRetries: 1, simulation: 'glider' });
    await scene.claim('last', 2);
    for (const run of [0, 1]) await scene.start(gliders, run, 'last');
    const [waiting, running] = [rockets, gliders].map((batch) =>
      [0, 1].map((run) => ({ job_id: jobId(batch, run), attempt: 1 })),
    );
    const polls = {
      crowded: claimAhead('crowded', 3, { waitSecs: 20, holding: waiting! }),
      last: claimAhead('last', 0, { waitSecs: 20, holding: running! }),
      free: claimAhead('free', 0, { waitSecs: 20 }),
    };
    await scene.world.advance(0);
    // Both are for another runner than the one where they failed: one for the free runner, and the other would wait on the crowded one.
    const fail = { type: 'fail' as const, attempt: 1, error_message: 'broke', reason: 'exit' as const };
    const reports = running!.map(({ job_id }) => ({ ...fail, job_id }));
    await scene.api.reports('last', { instance: scene.instance('last'), reports });
    for (const id of ['last', 'free'] as const) {
      const { assignments } = await polls[id];
      expect(assignments.map(({ job }) => [job.batch_id, job.assigned_runner])).to.deep.equal([[gliders, id]]);
    }
    await scene.world.advance(20_000);
    expect(await polls.crowded).to.deep.equal({ assignments: [], batches: {} });
  });

  it('never takes a run that has started or that has a free slot', async () => {
    await register('a');
    await register('b');
    const batch = await scene.submit({ runs: 2 });
    await claimAhead('a', 3);
    expect(await scene.claim('b', 100)).to.deep.equal([]);
    for (const run of [0, 1]) await scene.start(batch, run, 'a');
    const more = await scene.submit({ runs: 2 });
    await claimAhead('a', 3);
    for (const run of [0, 1]) await scene.start(more, run, 'a');
    expect(await scene.claim('b', 100)).to.deep.equal([]);
  });

  it('leaves a waiting run where it is when the other runner does not support it or is drained', async () => {
    await register('a');
    await register('b', { types: ['another'] });
    await register('c');
    await scene.submit({ runs: 4 });
    await claimAhead('a', 2);
    await scene.api.drain('c');
    expect(await scene.claim('b', 100)).to.deep.equal([]);
    expect(await scene.claim('c', 100)).to.deep.equal([]);
    expect(await heldBy('a')).to.deep.equal([0, 1, 2, 3]);
  });

  it('takes waiting runs back when their study is paused or their runner is drained', async () => {
    await register('a');
    const batch = await scene.submit({ runs: 4 });
    await claimAhead('a', 2);
    await scene.api.pauseBatch(batch);
    expect(await heldBy('a')).to.deep.equal([0, 1]);
    await scene.api.resumeBatch(batch);
    const holding = [0, 1].map((run) => ({ job_id: jobId(batch, run), attempt: 1 }));
    expect(runsOf(await claimAhead('a', 2, { holding }))).to.have.members([2, 3]);
    await scene.api.drain('a');
    expect(await heldBy('a')).to.deep.equal([0, 1]);
    expect((await scene.api.batch(batch)).jobs_by_status).to.include({ Pending: 2, Claimed: 2 });
  });

  it('cancels a waiting run as any other', async () => {
    await register('a');
    const batch = await scene.submit({ runs: 4 });
    await claimAhead('a', 2);
    await scene.api.cancelBatch(batch);
    expect(await heldBy('a')).to.deep.equal([]);
    const { cancel } = await scene.beat('a', [{ job_id: jobId(batch, 3), attempt: 1 }]);
    expect(cancel).to.have.length(1);
  });

  it('takes back a run that its runner hands back, once, and repeats the answer', async () => {
    await register('a');
    const batch = await scene.submit({ runs: 4 });
    await claimAhead('a', 2);
    expect(await handBack('a', batch, 3)).to.equal('Pending');
    expect(await handBack('a', batch, 3)).to.equal('Pending');
    expect(await heldBy('a')).to.deep.equal([0, 1, 2]);
    await scene.start(batch, 0, 'a');
    expect(await handBack('a', batch, 0)).to.equal('illegal-transition');
    expect(await handBack('a', batch, 2, 7)).to.equal('stale-attempt');
    expect((await historyOf(batch, 3)).attempts.map((it) => it.outcome)).to.deep.equal(['released']);
  });

  it('counts no loss for a run that waited on a lost runner', async () => {
    await register('a', { slots: 1 });
    const batch = await scene.submit({ runs: 2 });
    await claimAhead('a', 1);
    await scene.start(batch, 0, 'a');
    await scene.world.advance(61_000);
    await register('b', { slots: 2 });
    await scene.claim('b', 2);
    expect((await historyOf(batch, 0)).attempts[0]?.outcome).to.equal('lost');
    expect((await historyOf(batch, 1)).attempts[0]?.outcome).to.equal('released');
  });

  it('knows after a restart which runs wait', async () => {
    await register('a');
    await register('b');
    const batch = await scene.submit({ runs: 4 });
    await claimAhead('a', 2);
    await scene.restart();
    for (const run of [0, 1]) await scene.start(batch, run, 'a');
    expect(await scene.claim('b', 100)).to.deep.equal([3, 2]);
  });
});
