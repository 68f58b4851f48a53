/** The table of a batch over HTTP: formats, pages with their links, entity tags, refusals. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import type { StudyTable } from '../../../src/contract/types.ts';
import { openCoordinator, type Coordinator } from '../../../src/coordinator/coordinator.ts';
import { openStore } from '../../../src/coordinator/kernel/storage/open-store.ts';
import { listen, type TestServer } from '../../support/http.ts';
import { study } from '../../support/studies.ts';

const RUNS = 25;

describe('http: the table of a batch', () => {
  let folder: string;
  let coordinator: Coordinator;
  let server: TestServer;
  let path: string;
  let batchId: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-http-table-'));
    coordinator = await openCoordinator(await openStore(folder), systemClock);
    server = await listen({ coordinator });
    batchId = (await coordinator.submit(study({ runs: RUNS }))).batch_id;
    path = `/batches/${batchId}/table`;
  });
  after(async () => {
    coordinator.releaseWaiting();
    await server.close(1_000);
    await coordinator.close();
    await rm(folder, { recursive: true });
  });

  const get = (query = '', headers: Record<string, string> = {}): Promise<Response> =>
    fetch(server.url + path + query, { headers });
  const table = async (query: string): Promise<StudyTable> => (await get(query)).json() as Promise<StudyTable>;

  it('comes in the format of the query, else of the Accept header, else as JSON', async () => {
    const types: [string, Record<string, string>, string][] = [
      ['', {}, 'application/json'],
      ['', { accept: 'text/csv' }, 'text/csv; charset=utf-8; header=present'],
      ['', { accept: 'application/vnd.apache.parquet' }, 'application/vnd.apache.parquet'],
      [
        '',
        { accept: 'application/vnd.apache.arrow.stream, application/json;q=0.1' },
        'application/vnd.apache.arrow.stream',
      ],
      ['?format=ndjson', { accept: 'text/csv' }, 'application/x-ndjson'],
    ];
    for (const [query, headers, type] of types) {
      const response = await get(query, headers);
      expect(response.status).to.equal(200);
      expect(response.headers.get('content-type'), query + JSON.stringify(headers)).to.equal(type);
      expect((await response.arrayBuffer()).byteLength).to.be.greaterThan(0);
    }
    const lines = (await (await get('?format=csv&columns=run_id,status')).text()).split('\r\n');
    expect([lines[0], lines[1], lines.length]).to.deep.equal(['run_id,status', '0,Pending', RUNS + 2]);
  });

  it('comes in pages that the Link header continues', async () => {
    for (const query of ['limit=10', 'limit=10&sort=-run_id', 'limit=10&where=run_id%20>%203']) {
      const found: unknown[] = [];
      let next: string | undefined = `${path}?${query}`;
      let total: string | null = null;
      while (next !== undefined) {
        const response: Response = await fetch(server.url + next);
        found.push(...((await response.json()) as StudyTable).rows.map((it) => it['run_id']));
        total = response.headers.get('x-total-count');
        next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
      }
      const runs = Array.from({ length: RUNS }, (_, run) => run);
      const wanted = query.includes('sort') ? runs.toReversed() : query.includes('where') ? runs.slice(4) : runs;
      expect(found).to.deep.equal(wanted);
      expect(total).to.equal(String(wanted.length));
    }
  });

  it('refuses a cursor of another table, or without a limit, and an unknown column, with the reason', async () => {
    const link = (await get('?limit=10')).headers.get('link')!;
    const cursor = /cursor=([^>&]+)/.exec(link)![1]!;
    const refused: [string, string][] = [
      [`?limit=10&sort=run_id&cursor=${cursor}`, 'does not belong to this list'],
      [`?cursor=${cursor}`, '`cursor` has no meaning without `limit`'],
      ['?columns=run_idd', 'did you mean "run_id"?'],
      ['?where=run_id%20%3E', 'where not understood at character 9'],
      ['?format=xlsx', 'allowed are json, ndjson, csv, parquet, arrow'],
      ['?limit=10001', 'from 1 to 10000'],
    ];
    for (const [query, expected] of refused) {
      const response = await get(query);
      const { code, detail } = (await response.json()) as { code: string; detail: string };
      expect([response.status, code]).to.deep.equal([400, 'malformed-query']);
      expect(detail, query).to.include(expected);
    }
  });

  it('answers HEAD without reading the runs to their end', async () => {
    const response = await fetch(server.url + path, { method: 'HEAD' });
    expect([response.status, await response.text()]).to.deep.equal([200, '']);
  });

  it('has no entity tag while the batch is open, and 304 for its tag afterwards', async () => {
    const open = await get();
    expect([open.headers.get('etag'), open.headers.get('cache-control')]).to.deep.equal([null, 'no-store']);
    await open.arrayBuffer();
    await coordinator.cancelBatch(batchId);
    const over = await get('?format=csv');
    const tag = over.headers.get('etag')!;
    expect(over.headers.get('cache-control')).to.equal('no-cache');
    await over.arrayBuffer();
    const again = await get('?format=csv', { 'if-none-match': tag });
    expect([again.status, again.headers.get('etag'), await again.text()]).to.deep.equal([304, tag, '']);
    const other = await get('?format=ndjson', { 'if-none-match': tag });
    expect(other.status).to.equal(200);
    await other.arrayBuffer();
    expect((await table('?where=status%20=%20Cancelled&columns=run_id&limit=1')).matched).to.equal(RUNS);
  });
});
