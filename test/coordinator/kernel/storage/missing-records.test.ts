/** Records that other records refer to and that are gone: a reader gets an error and not a plausible state. */
import { expect } from 'chai';
import { keys } from '../../../../src/coordinator/kernel/storage/keys.ts';
import { jobId } from '../../../../src/domain/ids.ts';
import { openCoordinator } from '../../../../src/coordinator/coordinator.ts';
import { MemoryStore } from '../../../support/memory-store.ts';
import { all, codeOf } from '../../../support/scene.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';
import { study, type StudyOptions } from '../../../support/studies.ts';

const capabilities = {
  max_concurrent_jobs: 4,
  cpu_cores: 0,
  memory_gb: 0,
  gpu_available: false,
  supported_simulation_types: [],
};

describe('coordinator/kernel/storage: a missing record', () => {
  /** A batch with two Completed runs and one untouched one. */
  async function ended(options: StudyOptions = { runs: 3 }) {
    const disk = new Map<string, string>();
    const coordinator = await openCoordinator(new MemoryStore(disk), new SimulatedClock());
    const { batch_id: batch } = await coordinator.submit(study(options));
    await coordinator.register({ id: 'r', instance: 'i', capabilities });
    const { assignments } = await coordinator.claim('r', { instance: 'i', max_jobs: 2 });
    for (const { job, attempt } of assignments) {
      await coordinator.start(job.id, { runner_id: 'r', attempt });
      const result = { execution_time_secs: 1, output_files: [], metadata: {} };
      await coordinator.complete(job.id, { runner_id: 'r', attempt, result });
    }
    return { disk, coordinator, batch, run: (at: number) => jobId(batch, at) };
  }

  it('of a claimed run is damage, and of an untouched run is not', async () => {
    const { disk, coordinator, run, batch } = await ended();
    disk.delete(keys.job(run(0)));
    expect(await codeOf(coordinator.job(run(0)))).to.equal('store-damaged');
    expect(await codeOf(coordinator.cancelJob(run(0)))).to.equal('store-damaged');
    const listed = coordinator.jobs({ batch_id: [batch] }).then((listing) => all(listing));
    expect(await codeOf(listed)).to.equal('store-damaged');
    expect((await coordinator.job(run(2))).status).to.equal('Pending');
    await coordinator.close();
  });

  it('of a claimed run is damage in a batch of selected runs too', async () => {
    const { disk, coordinator, batch } = await ended({ runs: 100, config: { monte_carlo: { run_ids: '7,50,90' } } });
    disk.delete(keys.job(jobId(batch, 50)));
    expect(await codeOf(coordinator.job(jobId(batch, 50)))).to.equal('store-damaged');
    expect(await codeOf(coordinator.cancelJob(jobId(batch, 50)))).to.equal('store-damaged');
    expect((await coordinator.job(jobId(batch, 90))).status).to.equal('Pending');
    await coordinator.close();
  });

  it('of a result is damage when the run has ended, and not before', async () => {
    const { disk, coordinator, run } = await ended();
    disk.delete(keys.result(run(1)));
    expect(await codeOf(coordinator.jobResult(run(1)))).to.equal('store-damaged');
    expect(await codeOf(coordinator.jobResult(run(2)))).to.equal('result-not-ready');
    await coordinator.close();
  });
});
