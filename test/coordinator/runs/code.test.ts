/** The code of runs at the coordinator: stated, recorded, counted, pinned, doubted, and the same after a crash. */
import { expect } from 'chai';
import type { CodeIdentity, Report } from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { Scene } from '../../support/scene.ts';

const digest = (letter: string): string => letter.repeat(64);
const code = (letter: string): CodeIdentity => ({ kind: 'entrypoint', digest: digest(letter) });
const engines = (letter: string) => [{ name: '*', code: code(letter) }];
const RESULT = { execution_time_secs: 1, output_files: [], metadata: {}, telemetry_data: null };

describe('coordinator/runs: code', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  const claim = async (id: string, letter: string): Promise<number[]> => {
    const request = { instance: scene.instance(id), max_jobs: 10, wait_seconds: 0, engines: engines(letter) };
    return (await scene.api.claim(id, request)).assignments.map(({ job }) => job.run_config.run_id);
  };
  const report = async (id: string, one: Report): Promise<string> => {
    const [it] = await scene.api.reports(id, { instance: scene.instance(id), reports: [one] });
    if (it === undefined) throw new Error('no judgement');
    return 'refusal' in it ? it.refusal.code : it.status;
  };
  const start = (id: string, batch: string, run: number, letter?: string, attempt = 1): Promise<string> =>
    report(id, {
      type: 'start',
      job_id: jobId(batch, run),
      attempt,
      ...(letter === undefined ? {} : { code: code(letter) }),
    });
  const complete = (id: string, batch: string, run: number, more: object = {}, attempt = 1): Promise<string> =>
    report(id, { type: 'complete', job_id: jobId(batch, run), attempt, result: { ...RESULT, ...more } });

  it('records the code of attempts and results, counts the versions, and keeps all of it through a crash', async () => {
    await scene.register('r1', { slots: 3, engines: engines('a') });
    expect((await scene.api.runner('r1')).engines).to.deep.equal(engines('a'));
    const batch = await scene.submit({ runs: 3 });
    await claim('r1', 'b');
    expect((await scene.api.runner('r1')).engines).to.deep.equal(engines('b'));
    for (const [run, letter] of [
      [0, 'a'],
      [1, 'b'],
      [2, undefined],
    ] as const)
      await start('r1', batch, run, letter);
    for (const run of [0, 1, 2]) expect(await complete('r1', batch, run)).to.equal('Completed');
    await scene.restart();
    expect(await scene.api.codeVersions(batch)).to.deep.equal([
      { ...code('a'), runs: 1, first_run_id: 0, runners: ['r1'] },
      { ...code('b'), runs: 1, first_run_id: 1, runners: ['r1'] },
      { digest: null, kind: 'unknown', runs: 1, first_run_id: null, runners: [] },
    ]);
    const results = await Promise.all([0, 1, 2].map((run) => scene.api.jobResult(jobId(batch, run))));
    expect(results.map((it) => it.code)).to.deep.equal(['a'.repeat(12), 'b'.repeat(12), undefined]);
    expect((await scene.api.jobHistory(jobId(batch, 1))).attempts[0]?.code).to.equal('b'.repeat(12));
    // The exact repeat of a report is answered as the first one.
    expect(await complete('r1', batch, 1)).to.equal('Completed');
  });

  it('refuses the start of another code than the pinned one, and gives the runner no further run', async () => {
    for (const [id, letter] of [
      ['r1', 'a'],
      ['r2', 'a'],
      ['r3', 'b'],
    ] as const)
      await scene.register(id, { engines: engines(letter) });
    const batch = await scene.submit({ runs: 5, policy: { code: 'pin' } });
    expect(await claim('r1', 'a')).to.deep.equal([0]);
    expect(await claim('r2', 'a')).to.deep.equal([1]);
    expect(await start('r1', batch, 0, 'a')).to.equal('Running');
    // Its file was replaced after its claim.
    expect(await start('r2', batch, 1, 'b')).to.equal('code-differs');
    expect((await scene.api.job(jobId(batch, 1))).status).to.equal('Pending');
    expect((await scene.api.jobHistory(jobId(batch, 1))).attempts).to.have.length(1);
    expect(await claim('r2', 'b')).to.deep.equal([]);
    expect(await claim('r3', 'b')).to.deep.equal([]);
    expect(await claim('r3', 'a')).to.deep.equal([1]);
    expect(await start('r3', batch, 1, undefined, 2)).to.equal('code-differs');
    const found = (await scene.api.findings(batch)).find((it) => it.code === 'code-differs');
    expect(found).to.deep.include({ severity: 'warning', runners: ['r2'] });
  });

  it('keeps the pinned code of a study in its extension', async () => {
    await scene.register('r1', { engines: engines('a') });
    const batch = await scene.submit({ runs: 1, seed: 1, policy: { code: 'pin' } });
    await claim('r1', 'a');
    await start('r1', batch, 0, 'a');
    await complete('r1', batch, 0);
    const { batch_id: further } = await scene.api.extendBatch(batch, { runs: 3 });
    expect(await claim('r1', 'b')).to.deep.equal([]);
    expect(await claim('r1', 'a')).to.deep.equal([1]);
    expect(await start('r1', further, 1, 'a')).to.equal('Running');
  });

  it('takes the code from a run that may have loaded another version, and executes it again where it is pinned', async () => {
    await scene.register('r1', { slots: 2, engines: engines('a') });
    const free = await scene.submit({ runs: 1 });
    const pinned = await scene.submit({ runs: 1, policy: { code: 'pin' } });
    await claim('r1', 'a');
    for (const batch of [free, pinned]) await start('r1', batch, 0, 'a');
    expect(await complete('r1', free, 0, { code_changed: true })).to.equal('Completed');
    expect(await complete('r1', pinned, 0, { code_changed: true })).to.equal('Pending');
    expect(await complete('r1', pinned, 0, { code_changed: true })).to.equal('Pending');
    expect(await scene.api.jobResult(jobId(free, 0))).not.to.have.any.keys('code', 'code_changed');
    expect((await scene.api.codeVersions(free)).map(({ kind, runs }) => [kind, runs])).to.deep.equal([
      ['entrypoint', 0],
      ['unknown', 1],
    ]);
    const [attempt] = (await scene.api.jobHistory(jobId(pinned, 0))).attempts;
    expect(attempt).to.include({ outcome: 'released', reason: 'code-changed' });
  });
});
