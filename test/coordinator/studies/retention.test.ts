import { expect } from 'chai';
import { SimbatchError } from '../../../src/domain/errors.ts';
import type { Uuid } from '../../../src/contract/types.ts';
import { openCoordinator, type Coordinator } from '../../../src/coordinator/coordinator.ts';
import type { CoordinatorOptions } from '../../../src/coordinator/options.ts';
import type { Changes, StoreView } from '../../../src/coordinator/kernel/storage/store.ts';
import { SWEEP_MS } from '../../../src/domain/retention/sweep-times.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { study } from '../../support/studies.ts';

const DAY_MS = 86_400_000;
const capabilities = {
  max_concurrent_jobs: 5_000,
  cpu_cores: 0,
  memory_gb: 0,
  gpu_available: false,
  supported_simulation_types: ['rocket'],
};
const result = { execution_time_secs: 1, output_files: [], metadata: {} };

/** Lets what runs by itself come to rest. */
const rest = async () => {
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
};

describe('coordinator/studies/retention', () => {
  let world: SimulatedClock;
  let disk: Map<string, string>;
  let coordinator: Coordinator;
  const open = async (options: Partial<CoordinatorOptions> = {}, store = new MemoryStore(disk)) =>
    (coordinator = await openCoordinator(store, world, options));
  const refusal = async (promise: Promise<unknown>) => {
    const error = await promise.then(
      () => expect.fail('was not refused'),
      (it: unknown) => it,
    );
    return (error as SimbatchError).code;
  };
  const ofBatch = (batchId: Uuid) => [...disk.keys()].filter((key) => key.includes(batchId.slice(0, 28)));

  beforeEach(async () => {
    world = new SimulatedClock();
    disk = new Map();
    await open();
  });
  afterEach(() => coordinator.close().catch(() => {}));

  /** The same coordinator after a stop of some days; every second of them would be a tick. */
  const after = async (days: number, options: Partial<CoordinatorOptions> = {}) => {
    await coordinator.close();
    world = new SimulatedClock({ nowMs: world.now() + days * DAY_MS, seed: days });
    await open(options);
    // After so long a stop deletion waits for an hour: the clock may be wrong.
    await world.advance(SWEEP_MS);
    await coordinator.tick();
    await rest();
  };

  /** A study of which all runs but the last ten are Completed, those Cancelled. */
  async function ended(runs: number, runnerId = 'r1'): Promise<Uuid> {
    const { batch_id } = await coordinator.submit(study({ runs }));
    await coordinator.register({ id: runnerId, instance: 'i', capabilities });
    const { assignments } = await coordinator.claim(runnerId, { instance: 'i', max_jobs: Math.max(0, runs - 10) });
    const reports = assignments.flatMap(({ job, attempt }) => [
      { type: 'start' as const, job_id: job.id, attempt },
      { type: 'complete' as const, job_id: job.id, attempt, result },
    ]);
    if (reports.length > 0) await coordinator.reports(runnerId, { instance: 'i', reports });
    await coordinator.cancelBatch(batch_id);
    return batch_id;
  }

  it('has no view open when it deletes records, since LevelDB keeps those that a view can see', async () => {
    await coordinator.close();
    let views = 0;
    const viewsAtDeletion: number[] = [];
    class CountingStore extends MemoryStore {
      override snapshot(): StoreView {
        const view = super.snapshot();
        views += 1;
        const close = async (): Promise<void> => {
          views -= 1;
          await view.close();
        };
        return { ...view, close };
      }
    }
    const beforeWrite = async (changes: Changes): Promise<void> => {
      const records = [...changes].filter(([key, value]) => value === null && /^!(job|result)!/.test(key));
      if (records.length > 0) viewsAtDeletion.push(views);
    };
    await open({}, new CountingStore(disk, { beforeWrite }));
    const batchId = await ended(1_300);
    await coordinator.deleteBatch(batchId);
    await coordinator.parts.purges.idle();
    expect(ofBatch(batchId)).to.deep.equal([]);
    expect(viewsAtDeletion.length).to.be.greaterThan(4);
    expect(Math.max(...viewsAtDeletion)).to.equal(0);
  });

  it('a study that ended is gone for every reader at once, and off the disk soon', async () => {
    const batchId = await ended(1_200);
    const other = await ended(20);
    const { value: some } = await (
      await coordinator.jobs({ batch_id: [batchId] })
    ).chunks[Symbol.asyncIterator]().next();
    const jobId = some[0].id as Uuid;
    expect((await coordinator.deleteBatch(batchId)).id).to.equal(batchId);
    expect(await refusal(coordinator.batch(batchId))).to.equal('unknown-batch');
    expect(await refusal(coordinator.submission(batchId))).to.equal('unknown-batch');
    expect(await refusal(coordinator.job(jobId))).to.equal('unknown-job');
    expect(await refusal(coordinator.jobResult(jobId))).to.equal('unknown-job');
    expect(await refusal(coordinator.cancelJob(jobId))).to.equal('unknown-job');
    expect(await refusal(coordinator.cancelBatch(batchId))).to.equal('unknown-batch');
    expect(await refusal(coordinator.deleteBatch(batchId))).to.equal('unknown-batch');
    await rest();
    expect(ofBatch(batchId)).to.deep.equal([]);
    expect(ofBatch(other).length).to.be.greaterThan(10);
    expect((await coordinator.batch(other)).jobs_by_status).to.include({ Completed: 10, Cancelled: 10 });
  });

  it('a study that has not ended stays', async () => {
    const { batch_id } = await coordinator.submit(study({ runs: 3 }));
    expect(await refusal(coordinator.deleteBatch(batch_id))).to.equal('illegal-transition');
    expect((await coordinator.batch(batch_id)).batch.status).to.equal('Pending');
  });

  it('a deletion while the last change is on its way to the disk is not undone by it', async () => {
    const { batch_id } = await coordinator.submit(study({ runs: 3 }));
    const cancelled = coordinator.cancelBatch(batch_id);
    await coordinator.deleteBatch(batch_id);
    await cancelled;
    await rest();
    expect(ofBatch(batch_id)).to.deep.equal([]);
  });

  it('a crash at any write of a deletion leaves a study that is whole, or gone and cleared up by the next start', async () => {
    const batchId = await ended(1_200);
    await rest();
    const whole = new Map(disk);
    let outcomes = '';
    for (let failing = 1; failing < 20; failing++) {
      disk = new Map(whole);
      let writes = -Infinity;
      const store = new MemoryStore(disk, {
        beforeWrite: async () => {
          if (++writes >= failing) throw new Error('crash');
        },
      });
      await open({}, store);
      writes = 0;
      const isAnswered = await coordinator.deleteBatch(batchId).then(
        () => true,
        () => false,
      );
      await rest();
      await open();
      await rest();
      const left = ofBatch(batchId).length;
      outcomes += left === 0 ? 'g' : 'w';
      if (isAnswered) expect(left, `crash at write ${failing}`).to.equal(0);
      else expect((await coordinator.batch(batchId)).jobs_by_status.Completed).to.equal(1_190);
    }
    // Whole when the very first write failed, gone otherwise; the later crashes met a deletion that was done.
    expect(outcomes).to.match(/^wg+$/);
  });

  it('what is too old goes by itself, an hour later at the latest; the rest stays', async () => {
    const old = await ended(20);
    const running = (await coordinator.submit(study({ runs: 3, simulation: 'glider' }))).batch_id;
    await after(5, { retainMs: 7 * DAY_MS });
    const young = await ended(20, 'r2');
    await after(3, { retainMs: 7 * DAY_MS });
    expect(ofBatch(old)).to.deep.equal([]);
    expect((await coordinator.batch(running)).batch.status).to.equal('Pending');
    expect((await coordinator.batch(young)).batch.status).to.equal('Cancelled');
    await after(4, { retainMs: 7 * DAY_MS + 9_000_000 });
    expect(ofBatch(young).length).to.be.greaterThan(0);
    await world.advance(3_700_000);
    await rest();
    expect(ofBatch(young)).to.deep.equal([]);
  });

  it('without an age nothing goes by itself', async () => {
    const old = await ended(20);
    await after(60);
    expect(ofBatch(old).length).to.be.greaterThan(10);
  });

  it('forgets a runner after a change of it that is being written', async () => {
    await coordinator.register({ id: 'r1', instance: 'i', capabilities });
    await world.advance(20_000);
    const forgotten = coordinator.forgetRunner('r1');
    const drained = coordinator.drain('r1', 'a new disk');
    await Promise.all([forgotten, drained]);
    expect([...disk.keys()].filter((key) => key.startsWith('!runner!'))).to.deep.equal([]);
    await coordinator.close();
    await open();
    expect(await refusal(coordinator.runner('r1'))).to.equal('unknown-runner');
  });

  it('deletes only runners that are Offline and hold nothing, and never drained ones by itself', async () => {
    await coordinator.submit(study({ runs: 3 }));
    await coordinator.register({ id: 'here', instance: 'i', capabilities });
    expect(await refusal(coordinator.forgetRunner('here'))).to.equal('illegal-transition');
    await coordinator.claim('here', { instance: 'i', max_jobs: 1 });
    await world.advance(20_000);
    expect((await coordinator.runner('here')).status).to.equal('Offline');
    expect(await refusal(coordinator.forgetRunner('here'))).to.equal('illegal-transition');
    await world.advance(60_000);
    expect((await coordinator.forgetRunner('here')).id).to.equal('here');
    expect(await refusal(coordinator.runner('here'))).to.equal('unknown-runner');
    expect(await refusal(coordinator.drain('here'))).to.equal('unknown-runner');
    expect(await refusal(coordinator.forgetRunner('here'))).to.equal('unknown-runner');
    await coordinator.register({ id: 'here', instance: 'j', capabilities });
    expect((await coordinator.runner('here')).total_jobs_failed).to.equal(0);
    await coordinator.register({ id: 'drained', instance: 'i', capabilities });
    await coordinator.drain('drained', 'new disk');
    await after(2, { retainMs: DAY_MS + 2 * SWEEP_MS });
    expect(await refusal(coordinator.runner('here'))).to.equal('unknown-runner');
    expect((await coordinator.runner('drained')).drain_reason).to.equal('new disk');
  });
});
