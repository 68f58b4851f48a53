/** The place of a study in the object store is a boundary: nothing is signed, written or read outside it. */
import { expect } from 'chai';
import { Abandonment } from '../../../../src/base/abandonment.ts';
import { batchIdOf, jobId } from '../../../../src/domain/ids.ts';
import { ObjectStore } from '../../../../src/coordinator/files/object-store/object-store.ts';
import { FakeS3, KEY } from '../../../support/fake-s3.ts';
import { codeOf, Scene } from '../../../support/scene.ts';
import { declared } from '../../../support/upload.ts';

const stop = new Abandonment();

describe('coordinator/files/object-store: the boundary of a study', () => {
  let s3: FakeS3;
  let store: ObjectStore;
  let scene: Scene;
  beforeEach(async () => {
    s3 = await FakeS3.start();
    store = new ObjectStore({ endpoint: s3.url, credentials: KEY, region: 'us-east-1', buckets: ['allowed'] });
    scene = await Scene.open({ objectStore: store });
    await scene.register('a', { slots: 4 });
    s3.objects.set('private/payroll/attempt-1/secret.csv', Buffer.from('OTHER BUCKET SECRET'));
    s3.objects.set('allowed/other-study/attempt-1/x.csv', Buffer.from('OTHER STUDY SECRET'));
  });
  afterEach(async () => {
    await scene.api.close();
    await s3.stop();
  });

  /** A run that has ended and whose result names these files, as a former version stored it: no schema is asked. */
  async function ended(s3_prefix: string, output_files: string[] = [], telemetry_data?: string): Promise<string> {
    const storage = { s3_bucket: 'allowed', s3_prefix, compression: 'none' as const };
    const batchId = await scene.submit({ runs: 1, config: { telemetry: { storage } } });
    const job = jobId(batchId, 0);
    await scene.running(batchId, 0, 'a');
    const result = {
      execution_time_secs: 1,
      output_files,
      metadata: {},
      ...(telemetry_data ? { telemetry_data } : {}),
    };
    await scene.api.complete(job, { runner_id: 'a', attempt: 1, result });
    return job;
  }

  for (const prefix of ['../private', '../../x', 'a/../../private', '..', './x', 'a//b', 'a\\b'])
    it(`a stored prefix ${JSON.stringify(prefix)} leads to no address`, async () => {
      const job = await ended(prefix, ['/out/attempt-1/f.txt']);
      const files = [declared('f.txt', 'hello')];
      const refusal = await scene.api.beginUpload(job, { runner_id: 'a', attempt: 1, files }).catch(String);
      expect(refusal).to.match(/files of run .* are not uploaded: its telemetry\.storage\.s3_prefix is /);
      expect(s3.requests).to.deep.equal([]);
    });

  it('a result that names objects elsewhere gives readers neither an address nor bytes', async () => {
    const named = [
      ['s3://allowed/../private/payroll/attempt-1/secret.csv', 'secret.csv'],
      ['s3://private/payroll/attempt-1/secret.csv', 'secret.csv'],
      ['s3://allowed/other-study/attempt-1/x.csv', 'x.csv'],
    ] as const;
    for (const [address, path] of named) {
      const job = await ended('team', [address], address);
      for (const isRelayed of [false, true]) {
        const wish = { path, attempt: undefined, range: undefined, isHead: false, isRelayed };
        expect(await codeOf(scene.api.jobFile(job, wish, stop))).to.equal('artifact-not-uploaded');
      }
      const { notes } = await scene.api.jobFiles(job, undefined, stop);
      expect(notes.join()).to.include(`${address} is not read: it is not below s3://allowed/team/`);
    }
    expect(s3.requests.filter((it) => !it.startsWith('GET /allowed'))).to.deep.equal([]);
  });

  it('a result that names a file of another run or attempt of its own study is not read', async () => {
    const first = await ended('team');
    const other = `s3://allowed/team/${batchIdOf(first)}/0/attempt-2/x.csv`;
    const job = await ended('team', [other]);
    const wish = { path: 'x.csv', attempt: undefined, range: undefined, isHead: false, isRelayed: true };
    expect(await codeOf(scene.api.jobFile(job, wish, stop))).to.equal('artifact-not-uploaded');
  });

  it('an address whose path is not the path that was built is an error, in every call', async () => {
    for (const key of ['../private/x', 'a/../../private/x', 'a/./b', '..'])
      for (const call of [
        () => store.signedRead('allowed', key),
        () => store.signedGet('allowed', key, 'x'),
        () => store.signedPart('allowed', key, { uploadId: 'u', number: 1, bytes: 1, sha256: '0' }),
        () => store.begin('allowed', key, '0'),
        () => store.contentOf('allowed', key),
      ])
        expect(await call().then(String, (it: Error) => it.message)).to.match(
          /is not an address of the bucket; a folder is \. or \.\./,
        );
    expect(s3.requests).to.deep.equal([]);
    expect(await store.signedRead('allowed', 'größe/% +#?/..a')).to.match(
      /\/allowed\/gr%C3%B6%C3%9Fe\/%25%20%2B%23%3F\/\.\.a\?/,
    );
  });
});
