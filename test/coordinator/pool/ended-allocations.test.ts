/** Runners whose allocations have ended: what launchers report of them, and what it counts. */
import { expect } from 'chai';
import { jobId } from '../../../src/domain/ids.ts';
import { ALLOCATION_ENDS } from '../../../src/contract/enums.ts';
import type { AllocationEndKind } from '../../../src/contract/types.ts';
import { Scene } from '../../support/scene.ts';

const ALLOCATION = 'slurm/main/a1';
/** A runner is Offline after this time without a heartbeat, and its lease ends after a minute. */
const SILENT_MS = 15_000;

describe('coordinator/pool/ended-allocations', () => {
  let scene: Scene;
  let batch: string;
  beforeEach(async () => {
    scene = await Scene.open();
    batch = await scene.submit({ runs: 1, maxRetries: 0 });
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  const register = (id: string, more: { ends_at?: string } = {}) =>
    scene.register(id, { slots: 1, allocation: ALLOCATION, ephemeral: true, ...more });
  const report = (end: AllocationEndKind, allocation = ALLOCATION) =>
    scene.api.reportLauncher({
      launcher: 'lab',
      poll_seconds: 5,
      problems: [],
      queues: [],
      unserved: [],
      allocations: [],
      ended: [{ allocation, end, reason: `the engine says ${end}` }],
    });
  const history = () => scene.api.jobHistory(jobId(batch, 0));

  const COUNTED = ['failed', 'out-of-memory'];
  const LEFT_TO_THE_LEASE = ['unknown', 'gone'];
  for (const end of ALLOCATION_ENDS.filter((it) => !LEFT_TO_THE_LEASE.includes(it))) {
    const isCounted = COUNTED.includes(end);
    it(`${isCounted ? 'counts' : 'does not count'} the loss of a silent runner whose allocation ended: ${end}`, async () => {
      await register('a');
      await scene.running(batch, 0, 'a');
      await scene.world.advance(SILENT_MS);
      await report(end);
      const { attempts, ...counts } = await history();
      const clause = `its allocation ${ALLOCATION} has ended: the engine says ${end}`;
      expect(counts).to.include({ status: 'Pending', retries: 0, losses: isCounted ? 1 : 0, infrastructure_faults: 0 });
      expect(attempts[0]).to.include(
        isCounted
          ? { outcome: 'lost', reason: 'runner-lost', message: `runner a was ended: ${clause}` }
          : { outcome: 'released', reason: 'machine-gone', message: `runner a: ${clause}` },
      );
    });
  }

  it('executes the run again any number of times after preemptions, and fails it after five ends by its own memory limit', async () => {
    for (let attempt = 1; attempt <= 6; attempt += 1) {
      await register(`p${attempt}`);
      await scene.running(batch, 0, `p${attempt}`, attempt);
      await scene.world.advance(SILENT_MS);
      await report('preempted');
      expect(await scene.jobStatus(batch, 0)).to.equal('Pending');
    }
    for (let attempt = 7; attempt <= 11; attempt += 1) {
      await register(`m${attempt}`);
      await scene.running(batch, 0, `m${attempt}`, attempt);
      await scene.world.advance(SILENT_MS);
      await report('out-of-memory');
    }
    const { status, losses, attempts } = await history();
    expect([status, losses]).to.deep.equal(['Failed', 5]);
    expect(attempts.at(-1)?.message).to.match(/the engine says out-of-memory .*lost its runner 5 times/);
  });

  for (const [end, after] of [
    ['node-failure', { status: 'Pending', losses: 0 }],
    ['out-of-memory', { status: 'Pending', losses: 1 }],
    ['gone', { status: 'Running', losses: 0 }],
  ] as const)
    it(`executes the run again once its runner has missed a heartbeat, and not before: ${end}`, async () => {
      await register('a');
      await scene.running(batch, 0, 'a');
      await scene.world.advance(7_000);
      await report(end);
      expect(await history()).to.include({ status: 'Running', losses: 0 });
      await scene.beat('a');
      await scene.world.advance(7_000);
      await report(end);
      expect(await history()).to.include({ status: 'Running', losses: 0 });
      await scene.world.advance(500);
      await report(end);
      expect(await history()).to.include(after);
      // The engine was wrong: the runner lives, and has lost the run.
      await scene.beat('a');
      expect((await scene.api.runner('a')).status).to.equal(end === 'gone' ? 'Busy' : 'Idle');
    });

  it('leaves other allocations and unexplained ends to the lease', async () => {
    await register('a');
    await scene.running(batch, 0, 'a');
    await scene.world.advance(SILENT_MS);
    await report('preempted', 'slurm/main/b2');
    for (const end of ['unknown', 'gone'] as const) await report(end);
    expect(await scene.jobStatus(batch, 0)).to.equal('Running');
    await scene.world.advance(45_000);
    expect(await history()).to.include({ status: 'Pending', losses: 1 });
  });

  const LEASE_MS = 61_000;
  for (const end of ['preempted', 'evicted', 'node-failure', 'timeout', 'completed', 'cancelled'] as const)
    it(`takes a loss back when its launcher reports after the lease that the allocation ended: ${end}`, async () => {
      await register('a');
      await scene.running(batch, 0, 'a');
      await scene.world.advance(LEASE_MS);
      expect(await history()).to.include({ status: 'Pending', losses: 1 });
      await report(end, 'slurm/main/b2');
      expect(await history()).to.include({ losses: 1 });
      await report(end);
      await scene.restart();
      const { attempts, ...counts } = await history();
      expect(counts).to.include({ status: 'Pending', losses: 0 });
      expect(attempts[0]).to.include({
        outcome: 'released',
        reason: 'machine-gone',
        message: `runner a: its allocation ${ALLOCATION} has ended: the engine says ${end}; its launcher reported it after the lease`,
      });
      await report(end);
      expect(await history()).to.include({ losses: 0 });
    });

  it('takes back losses of a run that is with another runner, and five of them do not fail it', async () => {
    const allocationOf = (attempt: number): string => `slurm/main/p${attempt}`;
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      await scene.register(`p${attempt}`, { slots: 1, allocation: allocationOf(attempt), ephemeral: true });
      await scene.running(batch, 0, `p${attempt}`, attempt);
      await scene.world.advance(LEASE_MS);
    }
    expect(await history()).to.include({ status: 'Pending', losses: 5 });
    await scene.register('b');
    await scene.running(batch, 0, 'b', 6);
    for (let attempt = 1; attempt <= 5; attempt += 1) await report('preempted', allocationOf(attempt));
    expect(await history()).to.include({ status: 'Running', losses: 0 });
    await scene.complete(batch, 0, 'b', 6);
    await report('preempted', allocationOf(5));
    expect(await history()).to.include({ status: 'Completed', losses: 0 });
  });

  it('keeps a loss whose allocation failed by itself, and one of a runner that came back', async () => {
    await register('a');
    await scene.running(batch, 0, 'a');
    await scene.world.advance(LEASE_MS);
    await report('out-of-memory');
    await report('preempted');
    expect(await history()).to.include({ losses: 1 });
    await register('a', {});
    await scene.running(batch, 0, 'a', 2);
    await scene.world.advance(LEASE_MS);
    await scene.beat('a');
    await scene.world.advance(SILENT_MS);
    await report('preempted');
    expect(await history()).to.include({ losses: 2 });
  });

  it('counts no loss of a runner that falls silent when its machine ends', async () => {
    await register('a', { ends_at: new Date(scene.world.now() + 50_000).toISOString() });
    await scene.running(batch, 0, 'a');
    await scene.world.advance(61_000);
    const { attempts, ...counts } = await history();
    expect(counts).to.include({ status: 'Pending', losses: 0 });
    expect(attempts[0]?.message).to.match(/^runner a: its machine was available until 20/);
  });
});
