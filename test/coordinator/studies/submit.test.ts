/** Submissions: batches, seeds, estimates, and idempotency keys. */
import { expect } from 'chai';
import { isBatchId, jobId } from '../../../src/domain/ids.ts';
import { createSampler } from '../../../src/domain/sampling/sampler.ts';
import type { SubmissionWarning } from '../../../src/contract/types.ts';
import { openCoordinator } from '../../../src/coordinator/coordinator.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { codeOf, Scene } from '../../support/scene.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { study } from '../../support/studies.ts';

describe('coordinator/studies/submit', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open({ defaultMaxRetries: 7 });
  });

  it('creates one batch with its jobs', async () => {
    const answer = await scene.api.submit(study({ runs: 3, name: 'drop', timeoutSecs: 90 }));
    expect(answer).to.deep.equal({ batch_id: answer.batch_id, total_jobs: 3, estimated_completion_time_mins: null });
    expect(isBatchId(answer.batch_id)).to.equal(true);
    const { batch, jobs_by_status, ...rest } = await scene.api.batch(answer.batch_id);
    expect(batch).to.deep.include({ name: 'drop', status: 'Pending', completed_jobs: 0, failed_jobs: 0 });
    expect(jobs_by_status).to.deep.equal({
      Pending: 3,
      Claimed: 0,
      Running: 0,
      Completed: 0,
      Failed: 0,
      Timeout: 0,
      Cancelled: 0,
    });
    expect(rest).to.deep.equal({ throughput_jobs_per_minute: 0 });
    const job = await scene.api.job(jobId(answer.batch_id, 2));
    expect(job).to.include({ status: 'Pending', retries: 0, max_retries: 7, timeout_secs: 90 });
    expect(job).to.not.have.any.keys('assigned_runner', 'claimed_at', 'started_at', 'completed_at', 'error_message');
    expect(await codeOf(scene.api.job(jobId(answer.batch_id, 3)))).to.equal('unknown-job');
  });

  it('caps the number of runs and never raises it', async () => {
    for (const [runs, runsOverride, total] of [
      [10, 3, 3],
      [10, 0, 0],
      [10, 99, 10],
      [0, 5, 0],
    ] as const) {
      const { total_jobs } = await scene.api.submit(study({ runs, runsOverride }));
      expect(total_jobs, `${runs} capped at ${runsOverride}`).to.equal(total);
    }
    const nulled = { ...study({ runs: 4 }), runs_override: null };
    expect((await scene.api.submit(nulled)).total_jobs).to.equal(4);
  });

  it('without runs is Completed at once', async () => {
    const batch = await scene.submit({ runs: 0 });
    expect(await scene.status(batch)).to.equal('Completed: ');
    await scene.restart();
    expect(await scene.status(batch)).to.equal('Completed: ');
  });

  it('takes the first runs of the full study for every cap', async () => {
    const lhs = { monte_carlo: { sampling_method: 'latin_hypercube' as const } };
    const whole = await scene.submit({ runs: 10, config: lhs });
    const part = await scene.submit({ runs: 10, runsOverride: 2, config: lhs });
    const { parameters } = (await scene.api.job(jobId(whole, 1))).run_config;
    expect((await scene.api.job(jobId(part, 1))).run_config.parameters).to.deep.equal(parameters);
    const { config } = await scene.api.submission(whole);
    const sampler = createSampler(config.dispersions, { ...config.monte_carlo, seed: 42 });
    expect(parameters).to.deep.equal(sampler.parameters(1));
  });

  it('draws and stores a missing seed, and keeps every digit of a given one', async () => {
    const drawn = await scene.submit({ seed: null });
    const { seed } = (await scene.api.submission(drawn)).config.monte_carlo;
    expect(Number.isSafeInteger(seed)).to.equal(true);
    const other = (await scene.api.submission(await scene.submit({ seed: null }))).config.monte_carlo.seed;
    expect(other).to.not.equal(seed);
    await scene.restart();
    expect((await scene.api.submission(drawn)).config.monte_carlo.seed).to.equal(seed);
    const huge = 9_223_372_036_854_775_807n;
    const batch = await scene.submit({ seed: huge });
    await scene.restart();
    expect((await scene.api.submission(batch)).config.monte_carlo.seed).to.equal(huge);
    expect((await scene.api.job(jobId(batch, 0))).run_config.metadata.seed).to.equal(huge);
  });

  it('returns the first answer for a repeated key, concurrently, after a restart, and for 24 h', async () => {
    const ask = (digest = 'd', key = 'k') =>
      scene.api.submit(study(), { idempotencyKey: key, bodyDigest: digest }).then((it) => it.batch_id);
    const [first, second] = await Promise.all([ask(), ask()]);
    expect(second).to.equal(first);
    await scene.restart();
    expect(await ask()).to.equal(first);
    expect(await codeOf(ask('another body'))).to.equal('idempotency-key-reused');
    expect(await ask('d', '__proto__')).to.not.equal(first);
    scene.world.setClock(scene.world.now() + 24 * 3_600_000);
    expect(await ask(), 'the last moment').to.equal(first);
    scene.world.setClock(scene.world.now() + 1);
    expect(await ask('another body'), 'forgotten').to.not.equal(first);
  });

  it('deletes expired keys from the store, and only those', async () => {
    const submit = (key: string) => scene.api.submit(study({ runs: 1 }), { idempotencyKey: key, bodyDigest: 'd' });
    await submit('old');
    scene.world.setClock(scene.world.now() + 20 * 3_600_000);
    await submit('young');
    scene.world.setClock(scene.world.now() + 5 * 3_600_000);
    await scene.api.tick();
    const known = [...scene.store.disk.keys()].filter((key) => key.startsWith('!idempotency!'));
    expect(known).to.deep.equal(['!idempotency!young']);
  });

  it('estimates from recent run times and the capacity of the pool', async () => {
    await scene.register('a', { slots: 2, heartbeat_interval_secs: 600 });
    const batch = await scene.submit({ runs: 4, maxRetries: 0 });
    await scene.running(batch, 0, 'a');
    await scene.world.advance(60_000);
    await scene.complete(batch, 0, 'a');
    await scene.api.cancelJob(jobId(batch, 3));
    const estimate = async (options: Parameters<typeof study>[0]) =>
      (await scene.api.submit(study(options))).estimated_completion_time_mins;
    // Two runs of a minute are ahead, and two are done at once.
    expect(await estimate({ runs: 10 })).to.equal(6);
    expect(await estimate({ runs: 0 })).to.equal(0);
    expect(await estimate({ runs: 10, simulation: 'unknown' })).to.equal(null);
  });

  it('warns the client and the operator of a misleading study', async () => {
    const logged: { batchId: string; codes: string[] }[] = [];
    const world = new SimulatedClock();
    const news = {
      warned: (batchId: string, warnings: readonly SubmissionWarning[]) =>
        logged.push({ batchId, codes: warnings.map((it) => it.code) }),
    };
    const api = await openCoordinator(new MemoryStore(), world, { hooks: news });
    const quasi = study({ runs: 10, config: { monte_carlo: { sampling_method: 'quasi_monte_carlo' } } });
    const { batch_id: batchId, warnings } = await api.submit(quasi);
    expect(warnings?.map((it) => it.code)).to.include('quasi-monte-carlo-few-runs');
    expect(logged).to.deep.equal([{ batchId, codes: warnings?.map((it) => it.code) }]);
    expect(await api.submit(study({ runs: 10 }))).not.to.have.property('warnings');
    expect(logged).to.have.length(1);
    await api.close();
  });
});
