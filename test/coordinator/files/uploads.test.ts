/** Uploads are bound to their declaration, and what a result names never changes, whatever a runner asks, sends or repeats. */
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { jobId } from '../../../src/domain/ids.ts';
import { partBytesOf, partCountOf } from '../../../src/domain/files/upload-parts.ts';
import { LIMITS } from '../../../src/contract/limits.ts';
import type { ObjectStore } from '../../../src/coordinator/files/object-store/object-store.ts';
import type { SignedUpload, UploadCompleteRequest } from '../../../src/contract/types.ts';
import { openCoordinator } from '../../../src/coordinator/coordinator.ts';
import { FakeS3, KEY } from '../../support/fake-s3.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { codeOf, Scene } from '../../support/scene.ts';
import { declared, put, send, sha256Of } from '../../support/upload.ts';
import { STORAGE, storeOf } from '../../e2e/object-store/uploads.suite.ts';

const LARGE = Buffer.alloc(LIMITS.uploadPartBytes + 5, 'large');
const CONTENTS: Readonly<Record<string, string | Buffer>> = {
  'f.txt': 'hello',
  'empty.txt': '',
  'large.bin': LARGE,
  'a/b': 'a folder',
  'a\\b': 'a name',
};

describe('coordinator/files/uploads', () => {
  let s3: FakeS3;
  let store: ObjectStore;
  let scene: Scene;
  let job: string;
  let batchId: string;
  /** Records, as they were written. */
  const written: string[] = [];
  beforeEach(async () => {
    s3 = await FakeS3.start();
    store = storeOf({ endpoint: s3.url, credentials: KEY });
    scene = await Scene.open({
      objectStore: store,
      beforeWrite: (changes) => {
        for (const [key, value] of changes) written.push(`${key} ${value ?? ''}`);
        return Promise.resolve();
      },
    });
    written.length = 0;
    await scene.register('a');
    batchId = await scene.submit({ runs: 1, ...STORAGE });
    job = jobId(batchId, 0);
    await scene.running(batchId, 0, 'a');
    const output_files = Object.keys(CONTENTS).map((it) => `/out/attempt-1/${it}`);
    await scene.api.complete(job, {
      runner_id: 'a',
      attempt: 1,
      result: { execution_time_secs: 1, output_files, metadata: {} },
    });
  });
  afterEach(async () => {
    await scene.api.close();
    await s3.stop();
  });

  const who = { runner_id: 'a', attempt: 1 };
  const contentOf = (path: string): string | Buffer => CONTENTS[path] ?? '';
  const begin = async (path = 'f.txt', content = contentOf(path), more: object = {}): Promise<SignedUpload> => {
    const { files } = await scene.api.beginUpload(job, { ...who, files: [{ ...declared(path, content), ...more }] });
    const [file] = files;
    if (file === undefined) throw new Error('nothing was signed');
    return file;
  };
  const complete = (files: UploadCompleteRequest['files']) =>
    scene.api.completeUpload(job, { ...who, files, failed: [] });
  const refusal = (files: UploadCompleteRequest['files']): Promise<string> =>
    complete(files).then(
      () => 'accepted',
      (error: Error) => error.message,
    );
  const objectKey = (path: string): string => `sims/team a/x/${batchId}/0/attempt-1/${path}`;
  const objectOf = (path: string): string | undefined => s3.objects.get(objectKey(path))?.toString();
  const named = async (): Promise<string[]> =>
    (await scene.api.jobResult(job)).output_files.filter((it) => it.startsWith('s3://'));
  const only = (file: SignedUpload) => file.parts[0] ?? { url: '', headers: {} };

  it('names files of all sizes once the store has them: empty, small, in several parts', async () => {
    for (const path of ['large.bin', 'f.txt', 'empty.txt']) {
      await complete([await send(await begin(path), contentOf(path))]);
      expect(sha256Of(s3.objects.get(objectKey(path)) ?? '')).to.equal(sha256Of(contentOf(path)));
    }
    expect(await named()).to.have.length(3);
    expect(s3.uploads.size).to.equal(0);
  });

  it('keeps a file with a backslash in its name apart from the file in a folder', async () => {
    await complete([await send(await begin('a/b'), contentOf('a/b'))]);
    expect((await named()).map((it) => it.split('/attempt-1/')[1])).to.deep.equal(['a/b']);
    await complete([await send(await begin('a\\b'), contentOf('a\\b'))]);
    expect((await named()).map((it) => it.split('/attempt-1/')[1])).to.deep.equal(['a/b', 'a\\b']);
    expect([objectOf('a/b'), objectOf('a\\b')]).to.deep.equal(['a folder', 'a name']);
    const list = await scene.api.jobFiles(job, undefined, new AbortController().signal);
    expect(list.files.filter(({ place }) => place === 'object-store').map(({ path }) => path)).to.deep.equal([
      'a/b',
      'a\\b',
    ]);
  });

  it('signs length and digest: the store refuses every other content, with and without the right headers', async () => {
    const part = only(await begin());
    const answers = [];
    for (const [headers, body] of [
      [part.headers, 'HELLO'],
      [{ ...part.headers, 'content-length': '500' }, 'x'.repeat(500)],
      [{ ...part.headers, 'x-amz-content-sha256': sha256Of('HELLO') }, 'HELLO'],
      [{ ...part.headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }, 'HELLO'],
      [{}, 'hello'],
    ] as const)
      answers.push((await put({ url: part.url, headers }, body)).status);
    expect(answers).to.deep.equal([400, 403, 403, 403, 403]);
    expect((await put({ ...part, url: part.url.replace('partNumber=1', 'partNumber=2') }, 'hello')).status).to.equal(
      403,
    );
    expect((await put(part, 'hello')).status).to.equal(200);
    s3.aheadMs = 16 * 60_000;
    expect((await put(part, 'hello')).status).to.equal(403);
  });

  it('refuses a file that was never sent, an empty list of tags, and too few of them', async () => {
    const { path, upload_id = '' } = await begin();
    expect(await refusal([{ path, upload_id, etags: [] }])).to.equal(
      'the file "f.txt" has 1 parts, and entity tags of 0; send every part, and name the tag of each in `etags`',
    );
    expect(await refusal([{ path, upload_id, etags: ['5d41402abc4b2a76b9719d911017c592'] }])).to.match(/InvalidPart/);
    expect(await refusal([{ path, etags: [] }])).to.match(/no `upload_id`, and the result does not name it/);
    const large = await begin('large.bin');
    const sent = await send(large, LARGE);
    expect(await refusal([{ ...sent, etags: sent.etags.slice(0, 1) }])).to.match(/has 2 parts, and entity tags of 1/);
    expect(await refusal([{ ...sent, etags: sent.etags.toReversed() }])).to.match(/InvalidPart/);
    expect(await named()).to.deep.equal([]);
    expect([...s3.objects.keys()]).to.deep.equal([]);
    await complete([sent]);
    expect(await named()).to.have.length(1);
  });

  it('refuses after a lost answer an object that is not the declared one: truncated, or of another content', async () => {
    const sent = await send(await begin(), 'hello');
    const [upload] = [...s3.uploads.values()];
    s3.uploads.clear();
    for (const [object, sha256] of [
      ['hell', sha256Of('hello')],
      ['HELLO', sha256Of('HELLO')],
    ] as const) {
      s3.plant(objectKey('f.txt'), Buffer.from(object), { 'x-amz-meta-sha256': sha256 });
      expect(await refusal([sent])).to.match(/NoSuchUpload/);
    }
    expect(await named()).to.deep.equal([]);
    s3.plant(objectKey('f.txt'), Buffer.from('hello'), upload?.meta ?? {});
    await complete([sent]);
    expect(await named()).to.have.length(1);
  });

  for (const keepsUploads of [false, true])
    it(`a PUT after the completion changes nothing, in a store that ${keepsUploads ? 'keeps' : 'forgets'} completed uploads`, async () => {
      s3.keepsUploads = keepsUploads;
      const file = await begin();
      await complete([await send(file, 'hello')]);
      const statuses = [(await put(only(file), 'TAMPE')).status, (await put(only(file), 'hello')).status];
      expect(statuses).to.deep.equal(keepsUploads ? [400, 200] : [400, 404]);
      expect(objectOf('f.txt')).to.equal('hello');
    });

  it('signs nothing for a file that the result names, and completes no second upload of it', async () => {
    const [one, two] = [await begin(), await begin('f.txt', 'TAMPERED')];
    // The first was aborted when the second began.
    expect((await put(only(one), 'hello')).status).to.equal(404);
    const sent = await send(two, 'TAMPERED');
    await complete([sent]);
    expect(await begin('f.txt', 'again')).to.deep.include({ path: 'f.txt', parts: [] });
    expect(await begin('f.txt', 'again')).not.to.have.property('upload_id');
    const before = s3.requests.length;
    await complete([sent]);
    await complete([{ path: 'f.txt', etags: [] }]);
    expect(s3.requests.slice(before)).to.deep.equal([]);
    expect(objectOf('f.txt')).to.equal('TAMPERED');
  });

  it('completes one of two uploads of a file that cross, and leaves it as it is then', async () => {
    const one = await send(await begin(), 'hello');
    // As if both had begun before either looked for uploads to abort.
    const kept = [...s3.uploads];
    const two = await send(await begin('f.txt', 'TAMPERED'), 'TAMPERED');
    for (const [id, upload] of kept) s3.uploads.set(id, upload);
    await Promise.all([complete([one]), complete([two])]);
    expect(objectOf('f.txt')).to.equal('hello');
    await complete([two]);
    expect(objectOf('f.txt')).to.equal('hello');
  });

  it('takes the upload_id of a file for this file and this content alone', async () => {
    const file = await begin();
    const { upload_id = '' } = file;
    const again = await begin('f.txt', 'hello', { upload_id });
    expect(again.upload_id).to.equal(upload_id);
    expect((await put(only(again), 'hello')).status).to.equal(200);
    const wrong = (path: string, content: string, id: string): Promise<string> =>
      begin(path, content, { upload_id: id }).then(
        () => 'accepted',
        (error: Error) => error.message,
      );
    expect(await wrong('f.txt', 'HELLO', upload_id)).to.match(
      /was declared with another content when its upload began/,
    );
    expect(await wrong('f.txt', 'hello!', upload_id)).to.match(/was declared with another content/);
    expect(await wrong('empty.txt', '', upload_id)).to.match(/has no upload of this `upload_id`/);
    const [content = '', seal = ''] = upload_id.split('.');
    const [id] = JSON.parse(Buffer.from(content, 'base64url').toString()) as [string];
    const forged = Buffer.from(JSON.stringify([id, 6, sha256Of('HELLO!'), sha256Of(sha256Of('HELLO!'))]));
    for (const other of [`${forged.toString('base64url')}.${seal}`, content, '.', `${content}.${seal.slice(2)}`])
      expect(await wrong('f.txt', 'HELLO!', other)).to.match(/has no upload of this `upload_id`/);
    const etags = [createHash('md5').update('hello').digest('hex')];
    expect(await refusal([{ path: 'large.bin', upload_id, etags }])).to.match(/has no upload of this `upload_id`/);
    const large = await begin('large.bin');
    const { parts = [] } = declared('large.bin', LARGE);
    const others = { upload_id: large.upload_id, parts: parts.toReversed() };
    expect(await begin('large.bin', LARGE, others).then(String, (it: Error) => it.message)).to.match(
      /was declared with another content/,
    );
    // Valid after a restart: nothing of it is in memory.
    await scene.restart();
    await complete([{ path: 'f.txt', upload_id, etags }]);
    expect(await named()).to.have.length(1);
  });

  it('refuses parts that are not those of the size, and a size beyond the limit, naming the file', async () => {
    const beginning = (file: object): Promise<string> =>
      begin('f.txt', 'hello', file).then(String, (it: Error) => it.message);
    const size = 3 * LIMITS.uploadPartBytes;
    expect(await beginning({ size })).to.equal(
      'the file "f.txt" has 3 parts of 8388608 bytes, and the digests of 0; declare that of each part in `parts`',
    );
    expect(await beginning({ size, parts: ['0'.repeat(64)] })).to.match(/and the digests of 1;/);
    expect(await beginning({ parts: ['0'.repeat(64), '0'.repeat(64)] })).to.match(/has 1 parts of .* the digests of 2/);
    expect(await beginning({ size: LIMITS.uploadBytes + 1 })).to.match(/at most 134217728000 can be uploaded/);
    const limits = [
      0,
      1,
      8 << 20,
      (8 << 20) + 1,
      1000 * (8 << 20),
      1000 * (8 << 20) + 1,
      5 * 2 ** 30,
      LIMITS.uploadBytes,
    ];
    expect(limits.map((it) => [partCountOf(it), partBytesOf(it) >> 20])).to.deep.equal([
      [1, 8],
      [1, 8],
      [1, 8],
      [2, 8],
      [1000, 8],
      [501, 16],
      [640, 8],
      [1000, 128],
    ]);
  });

  it('is repeated after a dead store, with nothing named before', async () => {
    s3.fault = () => 503;
    expect(await codeOf(begin())).to.equal('uploads-unavailable');
    s3.fault = () => undefined;
    const sent = await send(await begin(), 'hello');
    s3.fault = (method) => (method === 'HEAD' || method === 'POST' ? 503 : undefined);
    expect(await codeOf(complete([sent]))).to.equal('uploads-unavailable');
    expect(await named()).to.deep.equal([]);
    s3.fault = () => undefined;
    await complete([sent]);
    expect(await named()).to.have.length(1);
  });

  it('looks at the attempt again when the store has answered: a study that was deleted meanwhile gets no record', async () => {
    const sent = await send(await begin(), 'hello');
    // The store answers at once, so that the records of the study are still there.
    let answer = (): void => {};
    const asked = new Promise<void>((resolve) => {
      store.complete = () => {
        resolve();
        return new Promise<void>((continued) => (answer = continued));
      };
    });
    const completion = codeOf(complete([sent]));
    await asked;
    await scene.api.deleteBatch(batchId);
    const resultOf = (): string | undefined => scene.store.disk.get(`!result!${job}`);
    expect(resultOf()).to.include(`"waiting":${Object.keys(CONTENTS).length}`);
    answer();
    expect(await completion).to.equal('unknown-job');
    expect(written.filter((it) => it.includes('"files":1'))).to.deep.equal([]);
  });

  it('takes the reasons of a runner that sends nothing, also where no coordinator serves the bucket any more', async () => {
    const { store: disk, world } = scene;
    const plain = await openCoordinator(new MemoryStore(disk.disk), world, {});
    const nothing = { ...who, files: [], failed: [{ path: 'f.txt', detail: 'it was removed' }], left: 2 };
    const result = await plain.completeUpload(job, nothing);
    expect(result.upload).to.deep.equal({ files: 0, failed: ['f.txt: it was removed'], waiting: 2 });
    const begun = plain.beginUpload(job, { ...who, files: [declared('f.txt', 'hello')] });
    expect(await codeOf(begun)).to.equal('uploads-unavailable');
    await plain.close();
  });
});
