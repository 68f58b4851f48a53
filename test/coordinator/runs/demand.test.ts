/** Tests of the demand for runners: which runs it counts, and how it groups them. */
import { expect } from 'chai';
import { jobId } from '../../../src/domain/ids.ts';
import { Scene } from '../../support/scene.ts';

describe('coordinator/runs: demand', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  const counts = async () =>
    (await scene.api.demand()).demand.map((it) => [it.simulation, it.cpu_cores, it.runs, it.active]);

  it('is empty without open batches', async () => {
    expect(await scene.api.demand()).to.deep.equal({ runs: 0, demand: [] });
  });

  it('groups batches of equal needs, the longest waiting first', async () => {
    const first = await scene.submit({ runs: 5, cpu: '500m', memory: '2Gi', timeoutSecs: 60 });
    await scene.world.advance(1_000);
    await scene.submit({ runs: 2, cpu: '2' });
    const third = await scene.submit({ runs: 1, cpu: '0.5', memory: '2Gi', timeoutSecs: 60 });
    const { runs, demand } = await scene.api.demand();
    expect(runs).to.equal(8);
    expect(demand.map((it) => [it.cpu_cores, it.memory_gb, it.timeout_secs, it.runs])).to.deep.equal([
      [0.5, 2, 60, 6],
      [2, 0, 0, 2],
    ]);
    expect(demand[0]).to.deep.include({
      oldest_pending_at: '2026-01-01T00:00:00.000Z',
      mean_seconds: null,
      batches: [first, third],
    });
  });

  it('gives the limits of a run where a study has them, in a group of their own', async () => {
    const container = {
      image: 'a:1',
      cpu_request: '1',
      memory_request: '1Gi',
      cpu_limit: '1500m',
      memory_limit: '2Gi',
    };
    await scene.submit({ config: { compute: { container } } });
    await scene.submit({ config: { compute: { container: { ...container, cpu_limit: null, memory_limit: null } } } });
    const { demand } = await scene.api.demand();
    expect(demand.map((it) => [it.cpu_limit_cores, it.memory_limit_gb])).to.deep.equal([
      [1.5, 2],
      [undefined, undefined],
    ]);
  });

  it('names the variables that studies set, in groups of their own, without their values', async () => {
    const submit = (environment: Record<string, string>) =>
      scene.submit({ config: { compute: { container: { environment } } } });
    await submit({ WIND: '1', SIM_A: 'x' });
    await submit({ SIM_A: 'y', WIND: '2' });
    await scene.submit();
    const { demand } = await scene.api.demand();
    expect(demand.map((it) => [it.environment, it.runs])).to.deep.equal([
      [['SIM_A', 'WIND'], 20],
      [undefined, 10],
    ]);
  });

  it('leaves out a study whose pinned code no connected runner of its simulation has, until one has it or none is there', async () => {
    const engines = (letter: string) => [
      { name: '*', code: { kind: 'entrypoint' as const, digest: letter.repeat(64) } },
    ];
    const pinned = await scene.submit({ runs: 5, policy: { code: 'pin' } });
    const total = async (): Promise<number> => (await scene.api.demand()).runs;
    const code = async () => (await scene.api.demand()).demand.map((it) => it.code);
    expect([await total(), await code()]).to.deep.equal([5, [null]]);
    await scene.register('r1', { engines: engines('a') });
    const request = { instance: scene.instance('r1'), max_jobs: 1, wait_seconds: 0, engines: engines('a') };
    await scene.api.claim('r1', request);
    const start = { type: 'start' as const, job_id: jobId(pinned, 0), attempt: 1, code: engines('a')[0]!.code };
    await scene.api.reports('r1', { instance: scene.instance('r1'), reports: [start] });
    expect(await total()).to.equal(4);
    // Its file is replaced.
    await scene.api.claim('r1', {
      ...request,
      holding: [{ job_id: jobId(pinned, 0), attempt: 1 }],
      engines: engines('b'),
    });
    expect(await total()).to.equal(0);
    const other = await scene.submit({ runs: 2 });
    expect((await scene.api.demand()).demand.map((it) => it.batches)).to.deep.equal([[other]]);
    await scene.register('r2', { engines: engines('a') });
    expect([await total(), await code()]).to.deep.equal([6, ['a'.repeat(64), undefined]]);
  });

  it('counts what the cap leaves, and requeued runs', async () => {
    const batch = await scene.submit({ runs: 10, maxParallelJobs: 3 });
    await scene.register('a', { slots: 2 });
    await scene.claim('a', 2);
    expect(await counts()).to.deep.equal([['rocket', 0, 1, 2]]);
    await scene.start(batch, 0, 'a');
    await scene.fail(batch, 0, 'a');
    expect(await counts()).to.deep.equal([['rocket', 0, 2, 1]]);
  });

  it('leaves out paused and cancelled batches, and runs after unfinished canary runs', async () => {
    const paused = await scene.submit({ runs: 3 });
    const cancelled = await scene.submit({ runs: 3 });
    await scene.submit({ runs: 100, policy: { canary_runs: 4 } });
    await scene.api.pauseBatch(paused);
    await scene.api.cancelBatch(cancelled);
    expect(await counts()).to.deep.equal([['rocket', 0, 4, 0]]);
  });

  it('says how long completed runs of the simulation took', async () => {
    const batch = await scene.submit({ runs: 2 });
    await scene.register('a', { slots: 1 });
    await scene.claim('a', 1);
    await scene.start(batch, 0, 'a');
    await scene.world.advance(8_000);
    await scene.complete(batch, 0, 'a');
    expect((await scene.api.demand()).demand[0]).to.deep.include({ runs: 1, mean_seconds: 8 });
  });
});
