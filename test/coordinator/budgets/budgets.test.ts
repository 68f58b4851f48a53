/** Budgets of core hours: what an attempt counts, who gets no further run, and what crashes, clocks and midnight change. */
import { expect } from 'chai';
import { openCoordinator, type Coordinator } from '../../../src/coordinator/coordinator.ts';
import type { OwnerBudget } from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { CountedSlices } from '../../support/counted-slices.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { ref, runs, Scene } from '../../support/scene.ts';
import { settled } from '../../support/simulated-clock.ts';
import { study, type StudyOptions } from '../../support/studies.ts';

const DAY_MS = 86_400_000;
/** With so many cores a second is a core hour. */
const CORES = '3600';

describe('coordinator/budgets', () => {
  let scene: Scene;
  const open = async (...limits: [string, number][]): Promise<void> => {
    scene = await Scene.open(limits.length === 0 ? {} : { budgets: new Map(limits) });
    await scene.register('r', { slots: 9 });
  };
  const submit = async (owner: string, options: StudyOptions = {}): Promise<string> =>
    (await scene.api.as(owner).submit(study({ runs: 4, cpu: CORES, ...options }))).batch_id;
  /** The runs of this study that the runner is given, of up to so many. */
  const claimed = async (batch: string, max = 1): Promise<number[]> => {
    const { assignments } = await scene.claimRaw('r', max, 0);
    return assignments.filter(({ job }) => job.batch_id === batch).map(({ job }) => job.run_config.run_id);
  };
  const pass = async (secs: number): Promise<void> => {
    await scene.world.advance(secs * 1_000);
    await scene.api.tick();
  };
  const budgetOf = async (owner: string): Promise<OwnerBudget> => (await scene.api.budgets(owner)).budgets[0]!;
  /** Executes a run for so many seconds. */
  const execute = async (batch: string, run: number, secs: number): Promise<void> => {
    await scene.running(batch, run, 'r');
    await pass(secs);
    await scene.complete(batch, run, 'r');
  };
  const codes = async (batch: string): Promise<string[]> => (await scene.api.findings(batch)).map(({ code }) => code);

  it('starts no further run of an owner whose budget is used while runs still execute, and those of others', async () => {
    await open(['alice', 3]);
    const batch = await submit('alice');
    await scene.running(batch, 0, 'r');
    await pass(2);
    expect(await codes(batch)).to.not.include('budget-used');
    expect((await scene.api.demand()).runs).to.equal(3);
    await pass(1);
    expect(await budgetOf('alice')).to.deep.equal({
      owner: 'alice',
      limit_core_hours: 3,
      used_core_hours: 3,
      is_used: true,
    });
    expect(await claimed(batch, 4)).to.deep.equal([]);
    expect((await scene.api.demand()).runs, 'launchers start nothing for it').to.equal(0);
    const found = (await scene.api.findings(batch)).find(({ code }) => code === 'budget-used');
    expect(found).to.include({ severity: 'fine', count: 3 });
    expect(found?.message).to.equal(
      'alice has used 3 of 3 core hours of today: 3 pending runs must wait until 2026-01-02T00:00:00.000Z; 1 run that has started continues',
    );
    const other = await submit('bob');
    expect(await claimed(other)).to.deep.equal([0]);
    await scene.complete(batch, 0, 'r');
    expect((await scene.api.batch(batch)).jobs_by_status).to.include({ Completed: 1, Pending: 3 });
    expect((await scene.api.findings(batch)).find(({ code }) => code === 'budget-used')).to.include({
      severity: 'waiting',
    });
  });

  it('adds up the runs that execute in slices of the event loop', async () => {
    await open(['alice', 100]);
    const batch = await submit('alice', { runs: 8 });
    for (let run = 0; run < 8; run += 1) await scene.running(batch, run, 'r');
    await pass(0);
    const slices = new CountedSlices(scene.api.share);
    await pass(1);
    expect(slices.pending).to.equal(0);
    expect(slices.asked).to.be.at.least(8);
    expect((await budgetOf('alice')).used_core_hours).to.equal(8);
  });

  it('gives a waiting runner work at midnight, UTC', async () => {
    await open(['*', 2]);
    const batch = await submit('alice');
    scene.world.setClock(scene.world.now() + DAY_MS - 20_000);
    await scene.register('r', { slots: 9 });
    await execute(batch, 0, 2);
    await pass(1);
    const waiting = scene.claimRaw('r', 4, 30);
    await settled();
    for (let n = 0; n < 4; n += 1) {
      await scene.beat('r');
      await pass(4);
    }
    expect((await budgetOf('alice')).is_used).to.equal(true);
    await scene.beat('r');
    await pass(2);
    expect(runs(await waiting)).to.deep.equal([1, 2, 3]);
    expect(await budgetOf('alice')).to.include({ used_core_hours: 0, is_used: false });
  });

  it('knows the use after a crash, to the millisecond, and a raised limit lets the runs start at the restart', async () => {
    await open(['alice', 3]);
    const batch = await submit('alice');
    await execute(batch, 0, 3);
    await scene.restart();
    await scene.register('r', { slots: 9 });
    expect(await budgetOf('alice')).to.include({ used_core_hours: 3, is_used: true });
    expect(await claimed(batch)).to.deep.equal([]);
    scene.store.crash();
    const raised: Coordinator = await openCoordinator(new MemoryStore(scene.store.disk), scene.world, {
      budgets: new Map([['alice', 3.5]]),
    });
    const request = { instance: scene.instance('r'), max_jobs: 1, wait_seconds: 0 };
    expect(runs(await raised.claim('r', request))).to.deep.equal([1]);
    await raised.close();
  });

  it('counts attempts that fail, are lost or cancelled, and none that has not started', async () => {
    await open(['alice', 100]);
    const batch = await submit('alice', { maxRetries: 2, runs: 5 });
    await scene.running(batch, 0, 'r');
    await pass(1);
    await scene.fail(batch, 0, 'r', 1, 'exit', 'once');
    expect((await budgetOf('alice')).used_core_hours).to.equal(1);
    expect(await scene.claim('r', 2)).to.have.length(2);
    await pass(5);
    await scene.api.signOff('r', { instance: scene.instance('r') });
    expect((await budgetOf('alice')).used_core_hours, 'runs that were only claimed').to.equal(1);
    await scene.register('r', { slots: 9, instance: 'r-2' });
    const [run = -1] = await scene.claim('r');
    await scene.start(batch, run, 'r', 3);
    await pass(2);
    await scene.api.cancelJob(jobId(batch, run));
    expect((await budgetOf('alice')).used_core_hours).to.equal(3);
  });

  it('counts a day of the clock once, when it is set back, and takes nothing from the days before', async () => {
    await open(['alice', 3]);
    const batch = await submit('alice', { runs: 9 });
    scene.world.setClock(Date.UTC(2026, 0, 5, 0, 0, 10));
    await execute(batch, 0, 3);
    await pass(1);
    expect((await budgetOf('alice')).is_used).to.equal(true);
    scene.world.setClock(Date.UTC(2026, 0, 4, 23, 0, 0));
    await pass(1);
    expect(await budgetOf('alice'), 'the day before').to.include({ used_core_hours: 0, is_used: false });
    await execute(batch, 1, 2);
    await scene.restart();
    await scene.register('r', { slots: 9 });
    expect((await budgetOf('alice')).used_core_hours).to.equal(2);
    scene.world.setClock(Date.UTC(2026, 0, 5, 0, 0, 30));
    await pass(1);
    expect(await budgetOf('alice'), 'the day is entered again').to.include({ used_core_hours: 3, is_used: true });
  });

  it('counts a run without a request for cores as one core, and studies without an owner as one owner', async () => {
    await open(['*', 1 / 3_600]);
    const batch = await scene.submit({ cpu: '0' });
    await execute(batch, 0, 1);
    await pass(1);
    expect(await scene.claim('r')).to.deep.equal([]);
    const all = await scene.api.budgets();
    expect(all.budgets).to.deep.equal([{ limit_core_hours: 1 / 3_600, used_core_hours: 1 / 3_600, is_used: true }]);
  });

  it('counts owners without a limit, and limits none of them', async () => {
    await open(['alice', 0]);
    expect(await claimed(await submit('alice')), 'no hours at all').to.deep.equal([]);
    await pass(1);
    const batch = await submit('bob');
    await scene.claimRaw('r', 1, 0, [ref(batch, 0)]);
    expect(await scene.api.budgets('bob')).to.deep.include({
      budgets: [{ owner: 'bob', limit_core_hours: null, used_core_hours: 0, is_used: false }],
    });
  });

  it('writes no record and lists none without budgets', async () => {
    await open();
    const batch = await submit('alice');
    await execute(batch, 0, 2);
    expect([...scene.store.disk.keys()].filter((key) => key.startsWith('!budget!'))).to.deep.equal([]);
    expect((await scene.api.budgets()).budgets).to.deep.equal([]);
  });
});
