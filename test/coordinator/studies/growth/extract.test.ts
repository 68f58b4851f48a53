/** Extractions: which runs they have, which runner gets them, what is refused and said, and that nothing of the parent changes. */
import { expect } from 'chai';
import type { ExtractionRequest, Uuid } from '../../../../src/contract/types.ts';
import { SimbatchError } from '../../../../src/domain/errors.ts';
import { jobId } from '../../../../src/domain/ids.ts';
import { recount } from '../../../support/recount.ts';
import { all, codeOf, runOf, runs, Scene, type RunnerOptions } from '../../../support/scene.ts';
import { study } from '../../../support/studies.ts';

const PEAK: ExtractionRequest = { derived: [{ name: 'peak', take: 'max', telemetry: 'nz' }] };

describe('coordinator/studies/growth/extract', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
    expect(recount(scene.store.disk)).to.deep.equal([]);
  });

  const join = (id: string, options: RunnerOptions = {}) =>
    scene.api.register({
      id,
      instance: `${id}-1`,
      capabilities: {
        max_concurrent_jobs: options.slots ?? 50,
        cpu_cores: 0,
        memory_gb: 0,
        gpu_available: false,
        supported_simulation_types: [],
        features: ['histories', 'extraction'],
      },
    });
  const claim = async (id: string, max = 50): Promise<number[]> =>
    runs(await scene.api.claim(id, { instance: `${id}-1`, max_jobs: max }));
  const finish = async (batch: Uuid, run: number, runner: string, attempt = 1, members = {}) => {
    await scene.start(batch, run, runner, attempt);
    const result = { execution_time_secs: 1, output_files: [], metadata: { miss: run }, ...members };
    await scene.api.complete(jobId(batch, run), { runner_id: runner, attempt, result });
  };
  const telemetryOf = (batch: Uuid, run: number) => ({
    telemetry_data: `/out/${batch}/${String(run).padStart(8, '0')}/attempt-1/telemetry.parquet`,
  });
  /** A study whose runs these runners have completed by turns. */
  async function finished(count: number, runners = ['a', 'b']): Promise<Uuid> {
    for (const id of runners) await join(id);
    const batch = await scene.submit({ runs: count });
    for (let run = 0; run < count; run += 1) {
      const runner = runners[run % runners.length]!;
      const [claimed] = await claim(runner, 1);
      await finish(batch, claimed!, runner, 1, telemetryOf(batch, run));
    }
    return batch;
  }
  const refusal = async (asked: Promise<unknown>): Promise<string> => {
    const error = await asked.then(
      () => undefined,
      (it: unknown) => it,
    );
    if (!(error instanceof SimbatchError)) throw error ?? new Error('it was taken');
    return `${error.code} ${error.message}`;
  };
  const complete = async (batch: Uuid, run: number, runner: string, attempt = 1) => {
    await scene.start(batch, run, runner, attempt);
    const result = { execution_time_secs: 0, output_files: [], metadata: { peak: run * 2 } };
    await scene.api.complete(jobId(batch, run), { runner_id: runner, attempt, result });
  };

  it('gives each run to the runner that has its files, in any order, and changes nothing of the parent', async () => {
    const batch = await finished(7);
    const resultsNow = async () => JSON.stringify(await all((await scene.api.batchResults(batch)).results));
    const results = await resultsNow();
    const answer = await scene.api.extractBatch(batch, PEAK);
    expect(answer)
      .to.include({ total_jobs: 7, relation: 'extraction', name: 'x1' })
      .and.not.have.property('without_files');
    const { batch_id: x1 } = answer;
    expect(await claim('b')).to.deep.equal([1, 3, 5]);
    expect((await all(await scene.api.jobs({ batch_id: [x1], status: ['Pending'] }))).map(runOf)).to.deep.equal([
      0, 2, 4, 6,
    ]);
    expect(await claim('a', 2)).to.deep.equal([0, 2]);
    for (const run of [1, 3, 5]) await complete(x1, run, 'b');
    expect(await claim('b')).to.deep.equal([]);
    for (const run of [0, 2]) await complete(x1, run, 'a');
    expect(await claim('a')).to.deep.equal([4, 6]);
    for (const run of [4, 6]) await complete(x1, run, 'a');
    expect(await scene.status(x1)).to.equal('Completed: 7 Completed');
    expect(await resultsNow()).to.equal(results);
    expect((await scene.api.batch(batch)).batch.children).to.deep.equal([{ batch_id: x1, relation: 'extraction' }]);
  });

  it('continues after a restart without a repeat, and a run that is requeued returns to the runner of its files', async () => {
    const batch = await finished(6);
    const { batch_id: x1 } = await scene.api.extractBatch(batch, PEAK);
    expect(await claim('b', 2)).to.deep.equal([1, 3]);
    await complete(x1, 1, 'b');
    await scene.restart();
    await scene.start(x1, 3, 'b');
    await scene.fail(x1, 3, 'b', 1, 'exit');
    expect(await claim('a')).to.deep.equal([0, 2, 4]);
    for (const run of [0, 2, 4]) await complete(x1, run, 'a');
    expect(await claim('a')).to.deep.equal([]);
    expect(await claim('b')).to.deep.equal([3, 5]);
    await complete(x1, 3, 'b', 2);
    await complete(x1, 5, 'b');
    expect(await scene.status(x1)).to.equal('Completed: 6 Completed');
  });

  it('takes cancelled runs one by one out of it, and waits for a runner that is gone', async () => {
    const batch = await finished(6);
    const { batch_id: x1 } = await scene.api.extractBatch(batch, PEAK);
    await scene.api.cancelJob(jobId(x1, 2));
    expect(await claim('a')).to.deep.equal([0, 4]);
    for (const run of [0, 4]) await complete(x1, run, 'a');
    expect(await scene.status(x1)).to.equal('Running: 3 Pending, 2 Completed, 1 Cancelled');
    expect((await scene.api.demand()).runs, 'no further runner has the files').to.equal(0);
    const codesNow = async () => (await scene.api.findings(x1)).map(({ code }) => code);
    expect(await codesNow()).not.to.include('files-elsewhere');
    await scene.api.drain('b', 'a new disk');
    const [drained] = (await scene.api.findings(x1)).filter(({ code }) => code === 'files-elsewhere');
    expect(drained).to.deep.include({ severity: 'blocked', count: 3, runners: ['b'] });
    expect(drained?.message).to.match(/runner b, which is drained \(a new disk\) and has the files/);
    expect(drained?.remedy).to.match(/simbatch resume b/);
    await scene.api.signOff('b', { instance: 'b-1' });
    const [finding] = (await scene.api.findings(x1)).filter(({ code }) => code === 'files-elsewhere');
    expect(finding).to.deep.include({ severity: 'blocked', count: 3, runners: ['b'] });
    await scene.api.cancelBatch(x1);
    expect(await scene.status(x1)).to.equal('Cancelled: 2 Completed, 4 Cancelled');
  });

  it('gives runs without samples to any runner, and runs without an old feature to new runners alone', async () => {
    await join('a');
    await scene.register('old', { slots: 5 });
    const batch = await scene.submit({ runs: 3 });
    for (const run of await claim('a')) await finish(batch, run, 'a');
    const { batch_id: x1 } = await scene.api.extractBatch(batch, PEAK);
    expect(await scene.claim('old', 5)).to.deep.equal([]);
    await join('c');
    expect(await claim('c')).to.deep.equal([0, 1, 2]);
    const files = await scene.api.parentFiles(jobId(x1, 1), { runner_id: 'c', attempt: 1 });
    expect(files).to.deep.include({ batch_id: batch, run_id: 1, attempt: 1, files: [] });
    expect(files.result?.metadata).to.deep.equal({ miss: 1 });
    expect(await codeOf(scene.api.parentFiles(jobId(x1, 1), { runner_id: 'a', attempt: 1 }))).to.equal('stale-attempt');
  });

  it('computes formulas of outputs on any runner, which needs no file of the run', async () => {
    const batch = await finished(1, ['a']);
    await join('b');
    const doubled = { derived: [{ name: 'doubled', expression: 'outputs.miss * 2' }] };
    const { batch_id: x1 } = await scene.api.extractBatch(batch, doubled);
    expect(await claim('b')).to.deep.equal([0]);
    const found = await scene.api.parentFiles(jobId(x1, 0), { runner_id: 'b', attempt: 1 });
    expect(found.files).to.deep.equal([]);
    expect(found.result?.metadata).to.deep.equal({ miss: 0 });
  });

  it('names the file of the run for the runner that has it', async () => {
    const batch = await finished(2, ['a']);
    const { batch_id: x1 } = await scene.api.extractBatch(batch, PEAK);
    await claim('a');
    const found = await scene.api.parentFiles(jobId(x1, 1), { runner_id: 'a', attempt: 1 });
    expect(found.files).to.deep.equal([{ path: 'telemetry.parquet' }]);
    await scene.api.deleteBatch(batch);
    const after = await scene.api.parentFiles(jobId(x1, 0), { runner_id: 'a', attempt: 1 });
    expect(after.gone).to.match(/there is no run/);
  });

  it('counts and names the runs whose files are gone', async () => {
    const batch = await finished(8, ['a']);
    const { batch_id: x1 } = await scene.api.extractBatch(batch, { ...PEAK, name: 'again' });
    for (const run of await claim('a')) {
      await scene.start(x1, run, 'a');
      if (run === 2 || run === 6) await scene.fail(x1, run, 'a', 1, 'files-gone', 'the files are gone: no such file');
      else
        await scene.api.complete(jobId(x1, run), {
          runner_id: 'a',
          attempt: 1,
          result: { execution_time_secs: 0, output_files: [], metadata: { peak: 1 } },
        });
    }
    const { extractions } = await scene.api.extractions(batch);
    expect(extractions).to.have.length(1);
    expect(extractions[0]).to.deep.include({
      batch_id: x1,
      name: 'again',
      status: 'Completed',
      runs: 8,
      completed: 6,
      without_files: { runs: 2, run_ids: '2,6', why: 'the files are gone: no such file' },
    });
    expect(extractions[0]!.notes[0]).to.match(/at most 10 samples per second/);
    expect((await scene.api.findings(x1)).map(({ code }) => code)).to.include('files-gone');
  });

  it('leaves out a run that has the result of a run of a deleted study, and names it', async () => {
    await join('a');
    const first = await scene.submit({ runs: 2 });
    for (const run of await claim('a')) await finish(first, run, 'a', 1, telemetryOf(first, run));
    const asked = study({ runs: 2 });
    // The key of a run needs the code, which this runner does not state: the record is that of a run that took its result.
    const { batch_id: batch } = await scene.api.submit(asked);
    for (const run of await claim('a')) await finish(batch, run, 'a', 1, telemetryOf(batch, run));
    const key = `!job!${jobId(batch, 1)}`;
    const record = JSON.parse(scene.store.disk.get(key)!) as object;
    scene.store.disk.set(key, JSON.stringify({ ...record, reusedFrom: jobId(first, 1), reusedCode: 'ab' }));
    await scene.api.deleteBatch(first);
    await scene.restart();
    const answer = await scene.api.extractBatch(batch, PEAK);
    expect(answer.total_jobs).to.equal(1);
    expect(answer.without_files).to.deep.include({ runs: 1, run_ids: '1' });
    expect(answer.without_files?.why).to.match(/whose study was deleted/);
    expect((await scene.api.extractions(batch)).extractions[0]!.without_files).to.deep.equal(answer.without_files);
    await scene.api.cancelBatch(answer.batch_id);
  });

  it('numbers extractions, and refuses a name twice', async () => {
    const batch = await finished(2, ['a']);
    expect((await scene.api.extractBatch(batch, PEAK)).name).to.equal('x1');
    expect((await scene.api.extractBatch(batch, { ...PEAK, name: 'x3' })).name).to.equal('x3');
    expect((await scene.api.extractBatch(batch, PEAK)).name).to.equal('x2');
    const [one, two] = await Promise.allSettled([
      scene.api.extractBatch(batch, { ...PEAK, name: 'same' }),
      scene.api.extractBatch(batch, { ...PEAK, name: 'same' }),
    ]);
    expect([one.status, two.status].sort()).to.deep.equal(['fulfilled', 'rejected']);
    expect(await refusal(scene.api.extractBatch(batch, { ...PEAK, name: 'x3' }))).to.match(
      /^invalid-request .*choose another one/,
    );
  });

  it('computes of completed runs unless another state is asked for', async () => {
    await join('a');
    const batch = await scene.submit({ runs: 4, maxRetries: 0 });
    await claim('a');
    await finish(batch, 0, 'a', 1, telemetryOf(batch, 0));
    await scene.start(batch, 1, 'a');
    await scene.fail(batch, 1, 'a');
    const { batch_id: x1, total_jobs: completed } = await scene.api.extractBatch(batch, PEAK);
    expect(completed).to.equal(1);
    const failed = await scene.api.extractBatch(batch, { ...PEAK, select: { states: ['Failed'] } });
    expect(failed.total_jobs).to.equal(1);
    for (const it of [x1, failed.batch_id]) await scene.api.cancelBatch(it);
    expect(await refusal(scene.api.extractBatch(batch, { ...PEAK, select: { run_ids: '2-3' } }))).to.match(
      /selects no run/,
    );
  });

  it('refuses what cannot be computed, with the place and the remedy', async () => {
    const batch = await finished(2, ['a']);
    const say = (request: ExtractionRequest, of = batch) => refusal(scene.api.extractBatch(of, request));
    expect(await say({})).to.match(/\/derived is missing, and so are `histories` and `with`/);
    expect(await say({ derived: [{ name: 'p', take: 'max' }] })).to.match(/\/derived\/0/);
    expect(await say({ derived: [{ name: 'p', take: 'time', at: 'first(nz >' }] })).to.match(/\/derived\/0\/at/);
    expect(await say({ histories: [{ variable: 'nz', at: { points: [1, 1] } }] })).to.match(/\/histories\/0\/at/);
    const { batch_id: x1 } = await scene.api.extractBatch(batch, PEAK);
    expect(await say(PEAK, x1)).to.match(/is about an extraction.*ask about study/);
    expect(await codeOf(scene.api.extractBatch('01900000-0000-8000-8000-000000000000', PEAK))).to.equal(
      'unknown-batch',
    );
    await scene.api.cancelBatch(x1);
  });

  it('refuses a variable that the study has not stored, and warns of telemetry that was thinned out', async () => {
    await join('a');
    const batch = await scene.submit({ runs: 1, config: { telemetry: { variables: ['nz_g', 'alt_m'] } } });
    await claim('a');
    await finish(batch, 0, 'a', 1, telemetryOf(batch, 0));
    const misspelt: ExtractionRequest = { derived: [{ name: 'peak', take: 'max', telemetry: 'nz_h' }] };
    expect(await refusal(scene.api.extractBatch(batch, misspelt))).to.match(
      /\/derived\/0 uses .*"nz_h".*did you mean "nz_g"/,
    );
    const { warnings = [] } = await scene.api.extractBatch(batch, {
      histories: [{ variable: 'alt_m', at: { points: [0] }, origin: 'start' }],
    });
    expect(warnings.filter(({ code }) => code === 'reduced-telemetry').map(({ detail }) => detail)).to.have.length(2);
    const exact = await scene.api.extractBatch(batch, { derived: [{ name: 'm', expression: 'outputs.miss * 2' }] });
    expect(exact.warnings ?? []).to.deep.equal([]);
  });

  it('executes a program in place of the simulation, where all files of a run are, and refuses what is not one', async () => {
    const batch = await finished(2, ['a']);
    await join('b');
    const more = await scene.submit({ runs: 1 });
    await claim('b');
    await finish(more, 0, 'b', 1, { output_files: [`/out/${more}/00000000/attempt-1/plot.txt`] });
    const say = (request: ExtractionRequest) => refusal(scene.api.extractBatch(batch, request));
    expect(await say({ ...PEAK, with: { name: 'post' } })).to.match(/\/with is given beside `derived` or `histories`/);
    expect(await say({ with: { name: 'python-functions-3.11' } })).to.match(/\/code is missing/);
    expect(await say({ with: { name: 'post' }, code: 'YQ==' })).to.match(/\/code is not allowed/);
    expect(await say({ ...PEAK, code: 'YQ==' })).to.match(/\/code is given without `with`/);
    const sha256 = '0'.repeat(64);
    expect(
      await say({ with: { name: 'python-functions-3.11', code: { sha256, python: '3.11' } }, code: 'YQ==' }),
    ).to.match(/\/with\/code\/sha256 is not the SHA-256/);

    const asked: ExtractionRequest = { with: { name: 'post', version: 'v', timeout_seconds: 9 } };
    // It has no telemetry: its files alone are on the runner.
    const { batch_id: x1 } = await scene.api.extractBatch(more, asked);
    const { config } = await scene.api.submission(x1);
    expect(config.simulation).to.deep.equal({ name: 'post', version: 'v', duration_minutes: 1 });
    expect(config.compute.job_timeout_seconds).to.equal(9);
    expect(config).not.to.have.any.keys('derived', 'histories');
    expect(await claim('a')).to.deep.equal([]);
    expect(await claim('b')).to.deep.equal([0]);
    const found = await scene.api.parentFiles(jobId(x1, 0), { runner_id: 'b', attempt: 1 });
    expect(found.files).to.deep.equal([{ path: 'plot.txt' }]);
    expect(await refusal(scene.api.rerunBatch(x1, { simulation_version: '2' }))).to.match(/changes an extraction/);
    expect(await refusal(scene.api.rerunBatch(x1, { name: 'a b' }))).to.match(/\/name is not the name/);
    expect(await codeOf(scene.api.auditBatch(x1, { fraction: 1 }))).to.equal('invalid-request');
    expect(await scene.api.rerunBatch(x1, { name: 'again' })).to.include({ relation: 'extraction', total_jobs: 1 });
  });

  it('names the files of a run in pages, its telemetry first', async () => {
    await join('a');
    const batch = await scene.submit({ runs: 1 });
    await claim('a');
    const folder = `/out/${batch}/00000000/attempt-1`;
    const output_files = Array.from({ length: 501 }, (_, at) => `${folder}/${at}.txt`);
    await finish(batch, 0, 'a', 1, { ...telemetryOf(batch, 0), output_files });
    const { batch_id: x1 } = await scene.api.extractBatch(batch, { with: { name: 'post' } });
    await claim('a');
    const page = (from: number) => scene.api.parentFiles(jobId(x1, 0), { runner_id: 'a', attempt: 1, from });
    const [first, second] = [await page(0), await page(500)];
    expect(first).to.include({ next: 500 });
    expect(second).not.to.have.property('next');
    const paths = [...(first.files ?? []), ...(second.files ?? [])].map(({ path }) => path);
    expect(paths).to.deep.equal(['telemetry.parquet', ...output_files.map((it) => it.slice(folder.length + 1))]);
  });

  it('waits for the runner of the files to take the program, and says so', async () => {
    const batch = await finished(1, ['a']);
    await scene.api.register({
      id: 'a',
      instance: 'a-1',
      capabilities: {
        max_concurrent_jobs: 5,
        cpu_cores: 0,
        memory_gb: 0,
        gpu_available: false,
        supported_simulation_types: ['rocket'],
        features: ['histories', 'extraction'],
      },
    });
    await join('b');
    const { batch_id: x1 } = await scene.api.extractBatch(batch, { with: { name: 'post' } });
    expect(await claim('b')).to.deep.equal([]);
    const [finding] = (await scene.api.findings(x1)).filter(({ code }) => code === 'files-elsewhere');
    expect(finding?.message).to.match(/runner a, which does not take the simulation "post" and has the files/);
    expect(finding?.remedy).to.match(/with "post" among its simulations/);
  });

  it('neither takes nor gives results of other studies', async () => {
    const batch = await finished(2, ['a']);
    const { batch_id: x1 } = await scene.api.extractBatch(batch, PEAK);
    for (const run of await claim('a')) await complete(x1, run, 'a');
    const groups = [...scene.store.disk].filter(([key]) => key.startsWith('!key-group!'));
    expect(groups.some(([, text]) => text.includes(batch))).to.equal(true);
    expect(groups.some(([, text]) => text.includes(x1))).to.equal(false);
    expect((await scene.api.submission(x1)).policy).to.equal(undefined);
  });
});
