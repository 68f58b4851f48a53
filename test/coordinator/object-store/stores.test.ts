/** Uploads of files of runs to a real S3 interface, that of OpenStack Swift. */
import { AwsClient } from 'aws4fetch';
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from '../../support/pool.ts';
import { startSwift, swiftFault, type Swift } from '../../support/swift.ts';
import { BUCKET, readWhole, STORAGE, storeOf, untilUploaded, uploadsAndReads } from './uploads.suite.ts';

describe('coordinator/object-store: uploads to Swift', function () {
  this.timeout(120_000);
  let folder: string | undefined;
  let swift: Swift | undefined;
  let pool: Pool | undefined;
  before(async function () {
    const fault = swiftFault();
    if (fault !== undefined) {
      if (process.env['SIMBATCH_REQUIRE_ALL'] === '1') throw new Error(fault);
      this.skip();
    }
    folder = mkdtempSync(join(tmpdir(), 'simbatch-swift-'));
    swift = await startSwift(folder);
  });
  after(() => {
    swift?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    await pool?.close();
    pool = undefined;
  });

  async function open(): Promise<Pool> {
    if (swift === undefined) throw new Error('Swift does not run');
    const client = new AwsClient({ ...swift.credentials, region: 'us-east-1', service: 's3', retries: 0 });
    const bucket = `${swift.endpoint}/${BUCKET}`;
    const made = await client.fetch(bucket, { method: 'PUT' });
    expect(made.status, await made.text()).to.be.oneOf([200, 409]);
    pool = await Pool.open({ objectStore: storeOf(swift) });
    return pool;
  }

  it('sends files in parts, reads them in ranges, and refuses changed addresses', async () => {
    await uploadsAndReads(await open());
  });

  it('continues after the runner was killed, and reports a full bucket', async () => {
    const mine = await open();
    const first = mine.site.start(mine.url);
    const batchId = await mine.submit('files', { LARGE_BYTES: String(20 << 20) }, STORAGE);
    const job = await mine.until(batchId, ['Completed']);
    await first.end('SIGKILL');
    mine.site.start(mine.url);
    expect((await untilUploaded(mine.client, job)).upload).to.deep.equal({ files: 5, failed: [] });
    expect((await readWhole(mine.client, job, 'large.bin')).length).to.equal(20 << 20);

    // The quota of a container is set by Swift's own interface.
    const base = swift?.endpoint ?? '';
    const login = await fetch(`${base}/auth/v1.0`, {
      headers: { 'x-storage-user': 'test:tester', 'x-storage-pass': 'testing' },
    });
    const address = `${login.headers.get('x-storage-url') ?? ''}/${BUCKET}`;
    const headers = { 'x-auth-token': login.headers.get('x-auth-token') ?? '', 'x-container-meta-quota-bytes': '1' };
    expect((await fetch(address, { method: 'POST', headers })).status).to.equal(204);
    const full = await mine.until(await mine.submit('files', {}, STORAGE), ['Completed']);
    const { upload, status } = await untilUploaded(mine.client, full);
    expect(status).to.equal('Completed');
    expect(upload?.failed.join()).to.match(/large\.bin: the object store refuses it/);
    await fetch(address, { method: 'POST', headers: { ...headers, 'x-container-meta-quota-bytes': '' } });
  });
});
