/** Uploads of files of runs to a store that misbehaves. */
import { expect } from 'chai';
import { ApiError } from '../../../src/client/client.ts';
import { ObjectStore } from '../../../src/coordinator/files/object-store/object-store.ts';
import { requireSent, signFile } from '../../../src/coordinator/files/run-place.ts';
import { batchIdOf } from '../../../src/domain/ids.ts';
import { FakeS3, KEY } from '../../support/fake-s3.ts';
import { Pool } from '../../support/pool.ts';
import { declared, send } from '../../support/upload.ts';
import {
  bindsUploads,
  BUCKET,
  readWhole,
  STORAGE,
  untilRefused,
  untilUploaded,
  uploadsAndReads,
} from './uploads.suite.ts';

describe('coordinator/files: uploads', function () {
  let s3: FakeS3;
  let pool: Pool;
  let buckets: string[];
  beforeEach(async () => {
    s3 = await FakeS3.start();
    buckets = [BUCKET];
    pool = await Pool.open({
      objectStore: new ObjectStore({ endpoint: s3.url, credentials: KEY, region: 'us-east-1', buckets }),
    });
  });
  afterEach(async () => {
    await pool.close();
    await s3.stop();
  });

  it('sends files in parts, and readers get them by signed addresses', async () => {
    await uploadsAndReads(pool);
    expect(s3.uploads.size).to.equal(0);
  });

  it('takes the declared content of each file and no other, before and after the completion', async () => {
    for (const keepsUploads of [false, true]) {
      s3.keepsUploads = keepsUploads;
      await bindsUploads(new ObjectStore({ endpoint: s3.url, credentials: KEY, region: 'us-east-1', buckets }));
    }
  });

  it('lists the files without their sizes, and says why, where the store cannot be asked', async () => {
    pool.site.start(pool.url);
    const job = await pool.until(await pool.submit('succeed', {}, STORAGE), ['Completed']);
    await untilUploaded(pool.client, job);
    s3.fault = () => 503;
    const list = await pool.client.files.list(job.id);
    expect(list.is_readable).to.equal(true);
    expect(list.notes[0]).to.match(/^the sizes of the uploaded files are not known: the object store refuses: /);
    expect(list.files.map(({ place, bytes }) => [place, bytes])).to.deep.include(['object-store', undefined]);
  });

  it('lists files of a bucket that the coordinator no longer serves as unreadable, with the remedy', async () => {
    pool.site.start(pool.url);
    const job = await pool.until(await pool.submit('succeed', {}, STORAGE), ['Completed']);
    await untilUploaded(pool.client, job);
    buckets.length = 0;
    const list = await pool.client.files.list(job.id);
    expect(list.is_readable).to.equal(false);
    expect(list.notes[0]).to.match(/^the files are in an object store that this coordinator does not read \(s3:\/\//);
    expect(list.notes[0]).to.match(/; start it with the options --s3-\*$/);
  });

  it('continues after the runner was killed in the middle, and aborts what that began', async () => {
    let puts = 0;
    s3.fault = (method) => (method === 'PUT' && ++puts > 3 ? 'hang' : undefined);
    const first = pool.site.start(pool.url);
    const batchId = await pool.submit('files', { LARGE_BYTES: String(20 << 20) }, STORAGE);
    const job = await pool.until(batchId, ['Completed']);
    while (puts <= 3) await new Promise((resolve) => setTimeout(resolve, 20));
    await first.end('SIGKILL');
    // All of its files were begun together.
    expect(s3.uploads.size).to.equal(5);
    s3.fault = () => undefined;
    pool.site.start(pool.url);
    const result = await untilUploaded(pool.client, job);
    expect(result.upload).to.deep.equal({ files: 5, failed: [] });
    expect(s3.uploads.size).to.equal(0);
    expect((await readWhole(pool.client, job, 'large.bin')).length).to.equal(20 << 20);
    const { attempts } = await pool.client.jobHistory(job.id);
    expect(attempts).to.have.length(1);
  });

  it('keeps the result, says what waits on the runner while the bucket is full, and sends it when there is room', async () => {
    s3.quota = 1_000_000;
    pool.site.start(pool.url, ['--serve-files']);
    const job = await pool.until(await pool.submit('files', {}, STORAGE), ['Completed']);
    const result = await untilRefused(pool.client, job);
    expect(result.status).to.equal('Completed');
    const reason = 'large.bin: the object store refuses it: QuotaExceeded, status 403';
    expect(result.upload).to.deep.equal({ files: 4, failed: [], waiting: 1, reason });
    expect(result.output_files.filter((it) => !it.startsWith('s3://'))).to.have.length(1);
    const list = await pool.client.files.list(job.id);
    expect(list.files.map(({ path, place }) => `${path} ${place}`)).to.include.members([
      'large.bin runner',
      'empty.txt object-store',
    ]);
    expect(list.notes[0]).to.equal(`1 file on the runner is still to be uploaded; the latest try failed: ${reason}`);
    const findings = await pool.client.findings(batchIdOf(job.id));
    const found = findings.find(({ code }) => code === 'files-not-sent');
    expect(found).to.deep.include({ severity: 'warning', count: 1, runs: [0], runners: ['r1'] });
    expect(found?.message).to.match(
      /^1 file of 1 run is not in the object store: on runner r1 \(machine .*\) in .*: large\.bin: /,
    );
    // Read from the runner, which has it.
    expect((await readWhole(pool.client, job, 'large.bin')).length).to.equal(3_500_000);
    s3.quota = Infinity;
    expect((await untilUploaded(pool.client, job)).upload).to.deep.equal({ files: 5, failed: [] });
    const codes = (await pool.client.findings(batchIdOf(job.id))).map(({ code }) => code);
    expect(codes).not.to.include('files-not-sent');
  });

  it('repeats a part that arrived damaged, and waits for a store that fails', async () => {
    s3.damages = 1;
    pool.site.start(pool.url);
    const job = await pool.until(await pool.submit('succeed', {}, STORAGE), ['Completed']);
    expect((await untilUploaded(pool.client, job)).upload?.failed).to.deep.equal([]);
    s3.fault = () => 503;
    const other = await pool.until(await pool.submit('succeed', {}, STORAGE), ['Completed']);
    const { upload, output_files } = await untilRefused(pool.client, other);
    expect(upload).to.deep.include({ files: 0, failed: [] });
    expect(upload?.reason).to.include('(503)');
    expect(output_files.some((it) => it.startsWith('s3://'))).to.equal(false);
  });

  it('completes a file in parts again after a lost answer, and refuses it where the store has another one', async () => {
    const store = new ObjectStore({ endpoint: s3.url, credentials: KEY, region: 'us-east-1', buckets });
    const place = { store, bucket: BUCKET, prefix: 'p' };
    const content = Buffer.alloc((8 << 20) + 1, 'x');
    const { upload_id = '', ...file } = await send(await signFile(place, declared('file', content)), content);
    const sent = { ...file, upload_id };
    await requireSent(place, sent);
    expect(s3.uploads.size).to.equal(0);
    await requireSent(place, sent);
    s3.objects.set(`${BUCKET}/p/file`, Buffer.from('another'));
    const refused = await requireSent(place, sent).then(String, (it: Error) => it.message);
    expect(refused).to.match(/NoSuchUpload/);
  });

  it('refuses a stale attempt and a study without a bucket of the coordinator', async () => {
    pool.site.start(pool.url);
    const job = await pool.until(await pool.submit('succeed', {}, STORAGE), ['Completed']);
    await untilUploaded(pool.client, job);
    const files = [{ path: 'metadata.json', size: 1, sha256: '0'.repeat(64) }];
    const refusal = async (runner_id: string, attempt: number, id = job.id): Promise<string> =>
      pool.client.files.beginUpload(id, { runner_id, attempt, files }).then(
        () => 'accepted',
        (error: unknown) => (error as ApiError).code,
      );
    expect(await refusal('r1', 2)).to.equal('stale-attempt');
    expect(await refusal('r2', 1)).to.equal('stale-attempt');
    const foreign = {
      config: { telemetry: { storage: { s3_bucket: 'secrets', s3_prefix: '', compression: 'none' as const } } },
    };
    const other = await pool.until(await pool.submit('succeed', {}, foreign), ['Completed']);
    expect(await refusal('r1', 1, other.id)).to.equal('uploads-unavailable');
    expect((await pool.client.jobResult(other.id)).upload).to.equal(undefined);
    expect(s3.requests.filter((it) => it.includes('secrets'))).to.deep.equal([]);
  });
});
