/** Uploads that no runner continues are aborted, and no others: whatever the clock says, and whichever programs use the bucket. */
import { expect } from 'chai';
import { jobId } from '../../../src/domain/ids.ts';
import { AbandonedUploads } from '../../../src/coordinator/files/object-store/abandoned-uploads.ts';
import type { ObjectStore } from '../../../src/coordinator/files/object-store/object-store.ts';
import type { SignedUpload } from '../../../src/contract/types.ts';
import { SWEEP_MS } from '../../../src/domain/retention/sweep-times.ts';
import { FakeS3, KEY } from '../../support/fake-s3.ts';
import { Scene } from '../../support/scene.ts';
import { declared, send } from '../../support/upload.ts';
import { STORAGE, storeOf } from '../../e2e/object-store/uploads.suite.ts';

const DAY_MS = 86_400_000;
const who = { runner_id: 'a', attempt: 1 };

describe('coordinator/files/abandoned-uploads', () => {
  let s3: FakeS3;
  let store: ObjectStore;
  let scene: Scene;
  let job: string;
  let batchId: string;
  beforeEach(async () => {
    s3 = await FakeS3.start();
    store = storeOf({ endpoint: s3.url, credentials: KEY });
    scene = await Scene.open({ objectStore: store });
    await pass(0);
    await scene.register('a');
    batchId = await scene.submit({ runs: 1, ...STORAGE });
    job = jobId(batchId, 0);
    await scene.running(batchId, 0, 'a');
    const output_files = ['/out/attempt-1/f.txt', '/out/attempt-1/g.txt'];
    await scene.api.complete(job, { ...who, result: { execution_time_secs: 1, output_files, metadata: {} } });
  });
  afterEach(async () => {
    await scene.api.close();
    await s3.stop();
  });

  /** The time passes, and the sweeps that are due have ended. */
  const pass = async (ms: number): Promise<void> => {
    await scene.world.advance(ms);
    await scene.api.tick();
    await scene.api.parts.purges.idle();
  };
  const begin = async (path = 'f.txt', more: object = {}): Promise<SignedUpload> => {
    const { files } = await scene.api.beginUpload(job, { ...who, files: [{ ...declared(path, 'hello'), ...more }] });
    return files[0]!;
  };
  const open = (): string[] => [...s3.uploads.values()].map(({ key }) => key.slice(key.lastIndexOf('/') + 1));
  /** An upload as another program, or another version, would have begun it. */
  const plant = (key: string): void => {
    const id = `upload-${String(1_000 + s3.uploads.size)}`;
    s3.uploads.set(id, { key: `sims/${key}`, parts: new Map(), meta: {} });
  };
  const place = (): string => `team a/x/${batchId}/0/attempt-1`;

  it('are aborted when two sweeps have found them, and no address was signed between these', async () => {
    await send(await begin(), 'hello');
    await pass(SWEEP_MS);
    expect(open(), 'an address was signed since the sweep before').to.deep.equal(['f.txt']);
    await begin('g.txt');
    await pass(SWEEP_MS);
    expect(open()).to.deep.equal(['g.txt']);
    await pass(SWEEP_MS);
    expect(open()).to.deep.equal([]);
    // A runner that comes back begins anew, and nothing of its file is lost.
    const sent = await send(await begin(), 'hello');
    await scene.api.completeUpload(job, { ...who, files: [sent], failed: [] });
    expect(s3.objects.get(`sims/${place()}/f.txt`)?.toString()).to.equal('hello');
  });

  it('stay while their runner has its addresses signed again, however long it sends', async () => {
    const { upload_id } = await begin();
    for (let hours = 0; hours < 6; hours++) {
      await pass(SWEEP_MS);
      await begin('f.txt', { upload_id });
    }
    const sent = await send(await begin('f.txt', { upload_id }), 'hello');
    await scene.api.completeUpload(job, { ...who, files: [sent], failed: [] });
    expect(s3.objects.size).to.equal(1);
  });

  it('are found again after a restart, and outlive a clock that leapt by the time that two sweeps take', async () => {
    await begin();
    await pass(SWEEP_MS);
    scene.world.setClock(scene.world.now() + 60 * DAY_MS);
    await scene.restart();
    await pass(1_000);
    expect(open(), 'at the start').to.deep.equal(['f.txt']);
    await pass(SWEEP_MS);
    expect(open(), 'at the first sweep').to.deep.equal(['f.txt']);
    await pass(SWEEP_MS);
    expect(open()).to.deep.equal([]);
  });

  it('stay while an address may be valid, when the clock of a running coordinator makes sweeps follow each other at once', async () => {
    await pass(SWEEP_MS);
    await begin();
    for (let n = 0; n < 4; n++) {
      scene.world.setClock(scene.world.now() + 2 * SWEEP_MS);
      await pass(200_000);
    }
    expect(open()).to.deep.equal(['f.txt']);
    await pass(3 * SWEEP_MS);
    expect(open()).to.deep.equal([]);
  });

  describe('in one sweep after the other', () => {
    let swept: [string, number, string?][];
    let uploads: AbandonedUploads;
    let ended = (): void => {};
    beforeEach(() => {
      // The coordinator's own sweeps come after a purge that does not end: they would abort uploads beside these.
      scene.api.parts.purges.run(() => new Promise((resolve) => (ended = resolve)));
      swept = [];
      uploads = new AbandonedUploads(scene.api.parts, (bucket, aborted, error) => {
        swept.push(error === undefined ? [bucket, aborted] : [bucket, aborted, (error as Error).message]);
      });
    });
    afterEach(() => ended());
    const sweep = async (afterMs = SWEEP_MS): Promise<void> => {
      await scene.world.advance(afterMs);
      await uploads.sweep();
    };

    it('are those of files of this coordinator: all others in the bucket stay', async () => {
      const others = [
        'backup/dump.tar',
        `${place().replace(batchId, '01900000-0000-8000-8000-000000000000')}/f.txt`,
        `elsewhere/${batchId}/0/attempt-1/f.txt`,
        `${batchId}/0/attempt-1/f.txt`,
        `team a/x/${batchId}/0/checkpoint/1/f.txt`,
        `team a/x/${batchId}/0/attempt-1`,
        `team a/x/${batchId}/0/attempt-1x/f.txt`,
      ];
      for (const key of [...others, `${place()}/f.txt`, `team a/x/${batchId}/0/attempt-3/a/b`]) plant(key);
      for (let n = 0; n < 3; n++) await sweep();
      expect([...s3.uploads.values()].map(({ key }) => key)).to.deep.equal(others.map((it) => `sims/${it}`));
      expect(swept).to.deep.equal([['sims', 2]]);
    });

    it('are found on every page of the list, also when their runner begins anew', async () => {
      s3.uploadsPerPage = 3;
      for (let n = 0; n < 10; n++) plant(`${place()}/f.txt`);
      await sweep();
      await sweep();
      expect([s3.uploads.size, swept]).to.deep.equal([0, [['sims', 10]]]);
      for (let n = 0; n < 10; n++) plant(`${place()}/f.txt`);
      await begin();
      expect(s3.uploads.size).to.equal(1);
    });

    it('stay when their runner asks for addresses during the sweep', async () => {
      const { upload_id } = await begin();
      await sweep();
      const lists = (): number => s3.requests.filter((it) => it === 'GET /sims?uploads').length;
      const before = lists();
      let release = (): void => {};
      const held = store.lanes.run(job, () => new Promise<void>((resolve) => (release = resolve)));
      const signed = begin('f.txt', { upload_id });
      const sweeping = sweep();
      while (lists() === before) await new Promise((resolve) => setTimeout(resolve, 5));
      release();
      await Promise.all([held, signed, sweeping]);
      expect(open()).to.deep.equal(['f.txt']);
    });

    it('are looked for again after a store that failed, which is reported', async () => {
      for (let n = 0; n < 3; n++) plant(`${place()}/f${String(n)}`);
      await sweep();
      s3.fault = (method) => (method === 'DELETE' ? 503 : undefined);
      await sweep();
      expect(swept).to.deep.equal([['sims', 0, 'the object store refuses: InternalError: it is InternalError (503)']]);
      s3.fault = (method) => (method === 'GET' ? 503 : undefined);
      await sweep();
      s3.fault = () => undefined;
      await sweep();
      expect(s3.uploads.size, 'found for the first time since').to.equal(3);
      await sweep();
      expect(s3.uploads.size).to.equal(0);
    });
  });
});
