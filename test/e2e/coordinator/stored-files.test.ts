/** Files in an object store that the coordinator reads for its clients, over HTTP. */
import { expect } from 'chai';
import type { Problem } from '../../../src/contract/types.ts';
import { MAX_OBJECT_READINGS } from '../../../src/coordinator/files/object-store/object-store.ts';
import { FakeS3, KEY } from '../../support/fake-s3.ts';
import { Pool } from '../../support/pool.ts';
import { STORAGE, storeOf, untilUploaded } from '../object-store/uploads.suite.ts';

describe('coordinator/files: files in an object store', () => {
  let s3: FakeS3;
  let pool: Pool;
  let job: string;
  before(async () => {
    s3 = await FakeS3.start();
    pool = await Pool.open({ objectStore: storeOf({ endpoint: s3.url, credentials: KEY }) });
    const runner = pool.site.start(pool.url);
    const ended = await pool.until(await pool.submit('files', {}, STORAGE), ['Completed']);
    await untilUploaded(pool.client, ended);
    await runner.end('SIGTERM');
    job = ended.id;
  });
  after(async () => {
    await pool.close();
    await s3.stop();
  });
  afterEach(() => {
    s3.fault = () => undefined;
  });

  const get = (path: string, headers: Record<string, string> = {}, query = 'through=coordinator'): Promise<Response> =>
    fetch(`${pool.url}/jobs/${job}/files/${encodeURIComponent(path)}?${query}`, { headers, redirect: 'manual' });

  it('are sent as those of runners are: HEAD, ranges, entity tags, and nothing that a browser executes', async () => {
    const page = await get('page.html');
    expect([page.status, await page.text()]).to.deep.equal([200, '<script>alert(1)</script>']);
    expect(page.headers.get('content-type')).to.equal('application/octet-stream');
    expect(page.headers.get('content-disposition')).to.match(/^attachment/);
    expect(page.headers.get('content-security-policy')).to.equal("default-src 'none'; sandbox");
    expect(page.headers.get('x-content-type-options')).to.equal('nosniff');
    const part = await get('page.html', { range: 'bytes=1-6' });
    const range = part.headers.get('content-range');
    expect([part.status, range, await part.text()]).to.deep.equal([206, 'bytes 1-6/25', 'script']);
    expect(await (await get('page.html', { range: 'bytes=-9' })).text()).to.equal('</script>');
    const beyond = await get('page.html', { range: 'bytes=25-' });
    expect([beyond.status, ((await beyond.json()) as Problem).code]).to.deep.equal([416, 'range-not-satisfiable']);
    const head = await fetch(`${pool.url}/jobs/${job}/files/large.bin?through=coordinator`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).to.deep.equal([200, '3500000']);
    expect((await (await get('large.bin')).arrayBuffer()).byteLength).to.equal(3_500_000);
    expect((await (await get('empty.txt')).arrayBuffer()).byteLength).to.equal(0);
    const table = await get('deep/er/grün % #1.csv');
    expect([table.headers.get('content-type'), await table.text()]).to.deep.equal([
      'text/csv; charset=utf-8',
      'a,b\n1,2\n',
    ]);
    const tag = page.headers.get('etag') ?? '';
    // Each leaves the object unread, and frees its place.
    for (let count = 0; count <= MAX_OBJECT_READINGS; count++)
      expect((await get('page.html', { 'if-none-match': tag })).status).to.equal(304);
  });

  it('are redirects without the parameter, and both parameters are refused', async () => {
    expect((await get('page.html', {}, '')).status).to.equal(302);
    const both = await get('page.html', {}, 'through=coordinator&redirect=false');
    const { code, detail } = (await both.json()) as Problem;
    expect([both.status, code]).to.deep.equal([400, 'malformed-query']);
    expect(detail).to.include('redirect and through exclude each other');
    expect((await get('page.html', {}, 'through=runner')).status).to.equal(400);
  });

  it('are a problem with a remedy when the store fails or has lost them', async () => {
    s3.fault = () => 503;
    const failed = await get('page.html');
    const { code, detail } = (await failed.json()) as Problem;
    expect([failed.status, code]).to.deep.equal([502, 'object-store-failed']);
    expect(detail).to.include('(503)').and.include('--s3-');
    s3.fault = (_method, path) => (path.endsWith('page.html') ? 404 : undefined);
    const lost = await get('page.html');
    expect([lost.status, ((await lost.json()) as Problem).code]).to.deep.equal([404, 'unknown-file']);
  });
});
