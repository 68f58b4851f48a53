/** The coordinator's side of checkpoints: complete sets alone, restarts between any two steps, stale attempts, removal. */
import { expect } from 'chai';
import { jobId } from '../../../../src/domain/ids.ts';
import { FakeS3, KEY } from '../../../support/fake-s3.ts';
import { codeOf, Scene } from '../../../support/scene.ts';
import { send as sendFile, sha256Of } from '../../../support/upload.ts';
import { STORAGE, storeOf } from '../../../e2e/object-store/uploads.suite.ts';

const fileOf = (path: string, content: string) => ({ path, bytes: content.length, sha256: sha256Of(content) });

describe('coordinator/files/checkpoints: records of checkpoints', () => {
  let s3: FakeS3;
  let scene: Scene;
  let batchId: string;
  let job: string;
  beforeEach(async () => {
    s3 = await FakeS3.start();
    scene = await Scene.open({ objectStore: storeOf({ endpoint: s3.url, credentials: KEY }) });
    await scene.register('a');
    batchId = await scene.submit({ runs: 1, ...STORAGE });
    job = jobId(batchId, 0);
    await scene.running(batchId, 0, 'a');
  });
  afterEach(async () => {
    await scene.api.close();
    await s3.stop();
  });

  const as = (runner_id: string, attempt: number) => ({ runner_id, attempt });
  const keysOf = () => [...s3.objects.keys()].map((it) => it.replace(/^.*\/checkpoint\//, ''));

  /** Sends files that the store lacks; returns the request that completes the upload. */
  async function send(who: { runner_id: string; attempt: number }, contents: Record<string, string>) {
    const files = Object.entries(contents).map(([path, content]) => fileOf(path, content));
    const begun = await scene.api.beginCheckpoint(job, { ...who, files });
    const sent = [];
    for (const file of begun.files) {
      const content = contents[file.path] ?? '';
      sent.push({ ...fileOf(file.path, content), ...(await sendFile(file, content)) });
    }
    return { ...who, number: begun.number, files: sent };
  }

  const read = async (who: { runner_id: string; attempt: number }) => {
    const { checkpoint } = await scene.api.openCheckpoint(job, who);
    if (checkpoint === undefined) return undefined;
    const contents: Record<string, string> = {};
    for (const { path, url, sha256 } of checkpoint.files) {
      contents[path] = await (await fetch(url)).text();
      expect(sha256Of(contents[path] ?? '')).to.equal(sha256);
    }
    return { attempt: checkpoint.attempt, contents };
  };

  /** The run is handed back, and claimed by another runner. */
  async function passOn(to: string): Promise<void> {
    await scene.api.signOff('a', { instance: scene.instance('a') });
    await scene.register(to);
    expect(await scene.claim(to)).to.deep.equal([0]);
  }

  const prune = () => scene.api.parts.checkpointRemovals.idle();

  it('name a set that is complete, whatever is restarted before', async () => {
    const first = await send(as('a', 1), { 'state.json': 'one', 'grid/x': 'grid' });
    await scene.restart();
    await scene.register('a', { instance: 'a-1', holding: [{ job_id: job, attempt: 1 }] });
    expect(await read(as('a', 1))).to.equal(undefined);
    expect(await scene.api.completeCheckpoint(job, first)).to.deep.equal({ attempt: 1 });
    // Repeated after a lost answer.
    expect(await scene.api.completeCheckpoint(job, first)).to.deep.equal({ attempt: 1 });
    const second = await send(as('a', 1), { 'state.json': 'two', 'grid/x': 'grid' });
    expect(second.files.map(({ path, etags }) => [path, etags.length])).to.deep.equal([
      ['state.json', 1],
      ['grid/x', 0],
    ]);
    await scene.restart();
    await scene.register('a', { instance: 'a-1', holding: [{ job_id: job, attempt: 1 }] });
    expect((await read(as('a', 1)))?.contents).to.deep.equal({ 'state.json': 'one', 'grid/x': 'grid' });
    await scene.api.completeCheckpoint(job, second);
    await prune();
    expect(keysOf()).to.have.members(['1/grid/x', '2/state.json']);
    await scene.restart();
    await scene.register('a', { instance: 'a-1', holding: [{ job_id: job, attempt: 1 }] });
    await passOn('b');
    expect(await read(as('b', 2))).to.deep.equal({ attempt: 1, contents: { 'state.json': 'two', 'grid/x': 'grid' } });
  });

  it('refuse every other attempt than the current one with stale-attempt', async () => {
    const late = await send(as('a', 1), { s: 'late' });
    await passOn('b');
    for (const who of [as('a', 1), as('b', 1), as('a', 2)]) {
      expect(await codeOf(scene.api.openCheckpoint(job, who))).to.equal('stale-attempt');
      expect(await codeOf(scene.api.beginCheckpoint(job, { ...who, files: [] }))).to.equal('stale-attempt');
      expect(await codeOf(scene.api.completeCheckpoint(job, { ...late, ...who }))).to.equal('stale-attempt');
    }
    expect(await read(as('b', 2))).to.equal(undefined);
    const own = await send(as('b', 2), { s: 'own' });
    expect(await codeOf(scene.api.completeCheckpoint(job, { ...own, number: 7 }))).to.equal('stale-attempt');
    await scene.api.completeCheckpoint(job, own);
    await prune();
    expect(keysOf()).to.deep.equal(['2/s']);
    await scene.start(batchId, 0, 'b', 2);
    await scene.complete(batchId, 0, 'b', 2);
    expect(await codeOf(scene.api.beginCheckpoint(job, { ...as('b', 2), files: [] }))).to.equal('stale-attempt');
  });

  it('refuse a file that the store does not have as it was sent, and a file that was not sent', async () => {
    const good = await send(as('a', 1), { s: 'good' });
    await scene.api.completeCheckpoint(job, good);
    const bad = await send(as('a', 1), { s: 'bad' });
    for (const { parts } of s3.uploads.values()) parts.set(1, Buffer.from('torn'));
    expect(await codeOf(scene.api.completeCheckpoint(job, bad))).to.equal('uploads-unavailable');
    const unsent = { ...bad, files: [{ ...fileOf('t', 'never sent'), etags: [] }] };
    expect(await codeOf(scene.api.completeCheckpoint(job, unsent))).to.equal('uploads-unavailable');
    for (const files of [[fileOf('../s', '')], [fileOf('s', '1'), fileOf('s', '2')]])
      expect(await codeOf(scene.api.beginCheckpoint(job, { ...as('a', 1), files }))).to.equal('invalid-request');
    await scene.api.completeCheckpoint(job, { ...bad, files: [], failed: 'it was torn' });
    await prune();
    expect(keysOf()).to.deep.equal(['1/s']);
    expect((await read(as('a', 1)))?.contents).to.deep.equal({ s: 'good' });
  });

  it('refuse the completion of an upload that is given up meanwhile, and keep the checkpoint before', async () => {
    await scene.api.completeCheckpoint(job, await send(as('a', 1), { s: 'good' }));
    const late = await send(as('a', 1), { s: 'late' });
    // The store answers the completion of the file only after the runner has lost its patience.
    let answer = (): void => {};
    const asked = new Promise<void>((resolve) => {
      s3.delayCompletion = () => {
        resolve();
        return new Promise<void>((continued) => (answer = continued));
      };
    });
    const completion = codeOf(scene.api.completeCheckpoint(job, late));
    await asked;
    await scene.api.completeCheckpoint(job, { ...late, files: [], failed: 'no answer within 30 s' });
    answer();
    expect(await completion).to.equal('uploads-unavailable');
    s3.delayCompletion = undefined;
    await prune();
    expect(keysOf()).to.deep.equal(['1/s']);
    expect((await read(as('a', 1)))?.contents).to.deep.equal({ s: 'good' });
    await scene.api.completeCheckpoint(job, await send(as('a', 1), { s: 'next' }));
    expect((await read(as('a', 1)))?.contents).to.deep.equal({ s: 'next' });
  });

  it('keep a checkpoint whose completion was answered too late for its runner', async () => {
    const first = await send(as('a', 1), { s: 'state' });
    await scene.api.completeCheckpoint(job, first);
    await scene.api.completeCheckpoint(job, { ...first, files: [], failed: 'no answer within 30 s' });
    await prune();
    expect((await read(as('a', 1)))?.contents).to.deep.equal({ s: 'state' });
    expect(await scene.api.completeCheckpoint(job, first)).to.deep.equal({ attempt: 1 });
  });

  it('let the runner of the current attempt send another one where two completions cross', async () => {
    const [one, two] = [await send(as('a', 1), { s: 'one' }), await send(as('a', 1), { s: 'two' })];
    const codes = await Promise.all([one, two].map((it) => codeOf(scene.api.completeCheckpoint(job, it))));
    expect(codes).to.have.members(['ok', 'uploads-unavailable']);
    await scene.api.completeCheckpoint(job, await send(as('a', 1), { s: 'three' }));
    expect((await read(as('a', 1)))?.contents).to.deep.equal({ s: 'three' });
  });

  it('and their files are removed when the run has ended, and what is sent after that when no address is valid any more', async () => {
    await scene.api.completeCheckpoint(job, await send(as('a', 1), { s: 'state' }));
    const begun = await scene.api.beginCheckpoint(job, { ...as('a', 1), files: [fileOf('s', 'slow')] });
    await scene.complete(batchId, 0, 'a');
    await scene.world.advance(1_000);
    await prune();
    expect(keysOf()).to.deep.equal([]);
    // A runner that was asleep.
    const { url = '', headers = {} } = begun.files[0]?.parts[0] ?? {};
    expect((await fetch(url, { method: 'PUT', headers, body: 'slow' })).status).to.equal(404);
    expect([keysOf(), s3.uploads.size]).to.deep.equal([[], 0]);
    expect(scene.store.disk.has(`!checkpoint!${job}`)).to.equal(true);
    await scene.restart();
    await scene.api.deleteBatch(batchId);
    await scene.world.advance(2 * 3_600_000);
    await prune();
    expect([keysOf(), scene.store.disk.has(`!checkpoint!${job}`)]).to.deep.equal([[], false]);
  });

  it('stay for a while when the store fails, which stops nothing', async () => {
    await scene.api.completeCheckpoint(job, await send(as('a', 1), { s: 'state' }));
    s3.fault = (method) => (method === 'DELETE' ? 503 : undefined);
    await scene.complete(batchId, 0, 'a');
    await scene.world.advance(1_000);
    await prune();
    expect(keysOf()).to.deep.equal(['1/s']);
    expect(await scene.status(batchId)).to.match(/^Completed/);
    expect(scene.faults).to.deep.equal([]);
    s3.fault = () => undefined;
    await scene.world.advance(61_000);
    await prune();
    expect(keysOf()).to.deep.equal([]);
  });
});
