/** Files of ended runs that their runners have still to send: counted in every turn, kept over restarts, named by findings. */
import { expect } from 'chai';
import { jobId } from '../../../../src/domain/ids.ts';
import type { UploadCompleteRequest } from '../../../../src/contract/types.ts';
import { FakeS3, KEY } from '../../../support/fake-s3.ts';
import { codeOf, Scene } from '../../../support/scene.ts';
import { declared, send } from '../../../support/upload.ts';
import { STORAGE, storeOf } from '../../../e2e/object-store/uploads.suite.ts';

describe('coordinator/files/outbox', () => {
  let s3: FakeS3;
  let scene: Scene;
  let batchId: string;
  beforeEach(async () => {
    s3 = await FakeS3.start();
    scene = await Scene.open({ objectStore: storeOf({ endpoint: s3.url, credentials: KEY }) });
    await scene.register('a', { slots: 4, hostname: 'node3' });
    batchId = await scene.submit({ runs: 4, ...STORAGE });
  });
  afterEach(async () => {
    await scene.api.close();
    await s3.stop();
  });

  const folder = (run: number): string => `/scratch/out/${batchId}/0000000${run}/attempt-1`;
  const result = (run: number) => ({
    execution_time_secs: 1,
    output_files: ['a.csv', 'b.csv', 'telemetry.parquet'].map((it) => `${folder(run)}/${it}`),
    telemetry_data: `${folder(run)}/telemetry.parquet`,
    metadata: {},
  });
  const complete = (run: number) =>
    scene.api.complete(jobId(batchId, run), { runner_id: 'a', attempt: 1, result: result(run) });
  async function end(run: number): Promise<void> {
    await scene.running(batchId, run, 'a');
    await complete(run);
  }
  const report = (run: number, request: Partial<UploadCompleteRequest>) =>
    scene.api.completeUpload(jobId(batchId, run), { runner_id: 'a', attempt: 1, files: [], failed: [], ...request });

  /** Sends files as a runner does; returns the request that completes them. */
  async function sent(run: number, paths: readonly string[]): Promise<UploadCompleteRequest['files']> {
    const files = paths.map((path) => declared(path, 'x'));
    const signed = await scene.api.beginUpload(jobId(batchId, run), { runner_id: 'a', attempt: 1, files });
    return await Promise.all(signed.files.map((file) => send(file, 'x')));
  }
  const finding = async () => (await scene.api.findings(batchId)).find(({ code }) => code === 'files-not-sent');
  const waiting = async (run: number) => (await scene.api.jobResult(jobId(batchId, run))).upload;

  it('counts the files of a run from its end on, each once, and says nothing while the runner sends', async () => {
    await end(0);
    expect(await waiting(0)).to.deep.equal({ files: 0, failed: [], waiting: 3 });
    expect(await finding()).to.equal(undefined);
  });

  it('says that the files of a pod are lost with it, also when its runner is forgotten', async () => {
    await scene.register('pod', { slots: 1, hostname: 'main-a1', allocation: 'kubernetes/main/a1', ephemeral: true });
    await scene.running(batchId, 0, 'pod');
    await scene.api.complete(jobId(batchId, 0), { runner_id: 'pod', attempt: 1, result: result(0) });
    await scene.api.signOff('pod', { instance: scene.instance('pod') });
    const found = await finding();
    expect(found?.message).to.equal(
      `3 files of 1 run are not in the object store: on runner pod (machine main-a1) in /scratch/out/${batchId}: ` +
        'the runner was a pod (kubernetes/main/a1) that is gone, and its own disk with it: the files are lost unless this folder is on a volume',
    );
    expect(found?.remedy).to.include('--output-root DIR').and.include(`simbatch rerun ${batchId} --run-ids`);
  });

  it('names runner, machine and folder when a try has failed, and disappears when the files are sent', async () => {
    await end(0);
    await end(1);
    await report(0, { left: 3, reason: 'a.csv: status 503' });
    const found = await finding();
    expect(found?.message).to.equal(
      `6 files of 2 runs are not in the object store: on runner a (machine node3) in /scratch/out/${batchId}: a.csv: status 503`,
    );
    expect(found).to.deep.include({ count: 2, runners: ['a'], runs: [1, 0] });
    // The same again after a lost answer.
    await report(0, { left: 3, reason: 'a.csv: status 503' });
    expect(await finding()).to.deep.equal(found);
    await report(0, { files: await sent(0, ['a.csv', 'b.csv']), left: 1, reason: 'b: status 500' });
    expect((await finding())?.message).to.match(/^4 files of 2 runs .*: b: status 500$/);
    await report(0, { files: await sent(0, ['telemetry.parquet']) });
    expect(await waiting(0)).to.deep.equal({ files: 3, failed: [] });
    expect(await finding()).to.equal(undefined);
    await report(1, { files: await sent(1, ['a.csv', 'b.csv', 'telemetry.parquet']) });
    const left = await codeOf(
      scene.api.completeUpload(jobId(batchId, 1), { runner_id: 'a', attempt: 1, files: [], failed: [] }),
    );
    expect(left).to.equal('ok');
    expect([...scene.store.disk.keys()].filter((it) => it.startsWith('!outbox!'))).to.deep.equal([]);
  });

  it('stays after a restart, and when the runner signs off and is forgotten', async () => {
    await end(0);
    await scene.restart();
    await scene.register('a', { slots: 4, hostname: 'node3', ephemeral: true, replaces: 'a-1', instance: 'a-2' });
    await scene.api.signOff('a', { instance: 'a-2' });
    expect(await codeOf(scene.api.runner('a'))).to.equal('unknown-runner');
    const found = await finding();
    expect(found?.message).to.match(/^3 files of 1 run are .* runner a \(machine node3\) .*: the runner is gone$/);
    expect(found?.remedy).to.include(`simbatch files push ${batchId} --output-root /scratch/out\` on machine node3`);
    // A push needs no runner that is registered.
    await report(0, { files: await sent(0, ['a.csv', 'b.csv', 'telemetry.parquet']) });
    expect(await finding()).to.equal(undefined);
  });

  it('counts a file that is lost no longer as one to send, and names it', async () => {
    await end(0);
    await report(0, { failed: [{ path: 'a.csv', detail: 'there is no such file' }], left: 2 });
    expect(await waiting(0)).to.deep.equal({ files: 0, failed: ['a.csv: there is no such file'], waiting: 2 });
    const list = await scene.api.jobFiles(jobId(batchId, 0), undefined, new AbortController().signal);
    expect(list.notes.slice(0, 2)).to.deep.equal([
      'not uploaded: a.csv: there is no such file',
      '2 files on the runner are still to be uploaded',
    ]);
    await report(0, { files: await sent(0, ['b.csv', 'telemetry.parquet']) });
    const codes = (await scene.api.findings(batchId)).map(({ code }) => code);
    expect(codes).to.include('uploads-failed').and.not.include('files-not-sent');
  });

  it('takes the repeated outcome of a run whose files were uploaded meanwhile, and refuses another outcome', async () => {
    await end(0);
    expect(await codeOf(complete(0))).to.equal('ok');
    await report(0, { files: await sent(0, ['a.csv']), left: 2 });
    expect(await codeOf(complete(0))).to.equal('ok');
    await report(0, { files: await sent(0, ['b.csv', 'telemetry.parquet']) });
    expect(await codeOf(complete(0))).to.equal('ok');
    expect(await waiting(0)).to.deep.equal({ files: 3, failed: [] });
    const other = { ...result(0), output_files: [`${folder(0)}/c.csv`] };
    const refused = scene.api.complete(jobId(batchId, 0), { runner_id: 'a', attempt: 1, result: other });
    expect(await codeOf(refused)).to.equal('illegal-transition');
  });

  it('refuses the files of an attempt that is not the last one; nothing is counted twice', async () => {
    await end(0);
    const stale = { runner_id: 'a', attempt: 2, files: [], failed: [], left: 7 };
    expect(await codeOf(scene.api.completeUpload(jobId(batchId, 0), stale))).to.equal('stale-attempt');
    expect(await waiting(0)).to.deep.equal({ files: 0, failed: [], waiting: 3 });
  });

  it('counts nothing for studies without a bucket of the coordinator, and forgets the counts of a deleted study', async () => {
    for (let run = 0; run < 4; run++) await end(run);
    await scene.api.deleteBatch(batchId);
    await scene.api.parts.purges.idle();
    expect([...scene.store.disk.keys()].filter((it) => it.startsWith('!outbox!'))).to.deep.equal([]);
    batchId = await scene.submit({ runs: 1 });
    await end(0);
    expect(await waiting(0)).to.equal(undefined);
    expect([...scene.store.disk.keys()].filter((it) => it.startsWith('!outbox!'))).to.deep.equal([]);
  });
});
