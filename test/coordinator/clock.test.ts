import { expect } from 'chai';
import { openCoordinator } from '../../src/coordinator/coordinator.ts';
import { steadyClock } from '../../src/base/clock.ts';
import { capabilities } from '../support/fake-api.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { study } from '../support/studies.ts';

describe('coordinator: its clock', () => {
  const HOUR = 3_600_000;
  // by how much the wall clock is set, what the coordinator's clock then shows after a minute: at most a tenth nearer
  const table: [string, number, number][] = [
    ['is right', 0, 60_000],
    ['is set back by an hour', -HOUR, 54_000],
    ['is set forward by an hour', HOUR, 66_000],
    ['is set back by a second', -1_000, 59_000],
    ['is set forward by a second', 1_000, 61_000],
  ];
  for (const [what, byMs, expected] of table) {
    it(`never jumps nor runs backwards when the wall clock ${what}`, () => {
      let monotonicMs = 5;
      let shiftMs = 1_000_000;
      const now = steadyClock(
        () => monotonicMs + shiftMs,
        () => monotonicMs,
      );
      const begun = now();
      shiftMs += byMs;
      let last = begun;
      for (let step = 0; step < 600; step += 1) {
        monotonicMs += 100;
        const time = now();
        expect(time).to.be.at.least(last);
        last = time;
      }
      expect(last - begun).to.be.closeTo(expected, 2);
    });
  }

  it('may step back under a running study: nothing is lost, and running jobs can be completed', async () => {
    const world = new SimulatedClock();
    const coordinator = await openCoordinator(new MemoryStore(), world);
    const { batch_id: batchId } = await coordinator.submit(study({ runs: 2, timeoutSecs: 100 }));
    await coordinator.register({ id: 'r1', capabilities, instance: 'i' });
    const { assignments } = await coordinator.claim('r1', { instance: 'i', max_jobs: 2 });
    const holding = assignments.map(({ job, attempt }) => ({ job_id: job.id, attempt }));
    const report = { runner_id: 'r1', attempt: 1 };
    await coordinator.start(holding[0]!.job_id, report);
    await world.advance(5_000);
    world.setClock(world.now() - HOUR);
    for (let beat = 0; beat < 30; beat += 1) {
      await world.advance(5_000);
      await coordinator.heartbeat('r1', { instance: 'i', holding });
      await coordinator.tick();
    }
    expect((await coordinator.runner('r1')).status).to.equal('Busy');
    const result = { execution_time_secs: 150, output_files: [], metadata: {} };
    for (const { job_id: jobId } of holding) {
      if (jobId !== holding[0]!.job_id) await coordinator.start(jobId, report);
      expect((await coordinator.complete(jobId, { ...report, result })).status).to.equal('Completed');
    }
    expect((await coordinator.batch(batchId)).batch.status).to.equal('Completed');
    await coordinator.close();
  });
});
