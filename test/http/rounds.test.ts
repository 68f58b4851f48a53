/** Rounds over HTTP, with a real store: statuses, hostile bodies, the largest bodies, and the table with rounds. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { Client } from '../../src/client/client.ts';
import { openCoordinator, type Coordinator } from '../../src/coordinator/coordinator.ts';
import { openStore } from '../../src/coordinator/kernel/storage/open-store.ts';
import { verifyStore } from '../../src/coordinator/repair/verify.ts';
import { listen, post, type TestServer } from '../support/http.ts';
import { adaptiveStudy } from '../support/rounds.ts';

describe('http/routes/rounds', () => {
  let folder: string;
  let coordinator: Coordinator;
  let server: TestServer;
  let client: Client;
  let batch: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-rounds-'));
    coordinator = await openCoordinator(await openStore(folder), systemClock);
    server = await listen({ coordinator });
    client = new Client({ endpoint: server.url });
  });
  beforeEach(async () => {
    batch = (await client.submit(adaptiveStudy({ runs: 1_000_000 }))).batch_id;
  });
  after(async () => {
    coordinator.releaseWaiting();
    await server.close(1_000);
    await coordinator.close();
    expect((await verifyStore(folder)).faults).to.deep.equal([]);
    await rm(folder, { recursive: true });
  });

  const send = async (body: string) => {
    const response = await post(`${server.url}/batches/${batch}/rounds`, body);
    return { status: response.status, body: (await response.json()) as any };
  };

  it('answers 201 for a round and 200 for a repeat, and 202 with counts while runs are open', async () => {
    const body = JSON.stringify({ key: 'a/b %', rows: [{ r: 1, x: 2 }] });
    expect(await send(body)).to.deep.include({ status: 201 });
    const again = await send(body);
    expect([again.status, again.body.repeated]).to.deep.equal([200, true]);
    const open = await fetch(`${server.url}/batches/${batch}/rounds/0/results`);
    expect([open.status, open.headers.get('retry-after')]).to.deep.equal([202, '1']);
    expect(await open.json()).to.deep.include({ counts: { open: 1 }, complete: false });
    expect(await client.rounds.byKey(batch, 'a/b %')).to.include({ round: 0, key: 'a/b %' });
    await client.cancelBatch(batch);
    expect(await client.rounds.results(batch, 0, 30)).to.deep.include({ complete: true, counts: { cancelled: 1 } });
    expect((await fetch(`${server.url}/batches/${batch}/rounds/x`)).status).to.equal(404);
  });

  const cases: [string, string, number, string | undefined][] = [
    ['1e999', '{"key":"a","rows":[{"r":1,"x":1e999}]}', 400, '/rows/0/x'],
    ['a member given twice', '{"key":"a","rows":[{"r":1,"x":1,"x":2}]}', 400, '/rows/0/x'],
    ['digits that a double loses', '{"key":"a","rows":[{"r":1,"x":12345678901234567}]}', 400, '/rows/0/x'],
    ['NaN', '{"key":"a","rows":[{"r":1,"x":NaN}]}', 400, undefined],
    ['no JSON', '{"key":"a"', 400, undefined],
    ['__proto__', '{"key":"a","columns":{"r":[1],"x":[1],"__proto__":[1]}}', 422, '/columns/__proto__'],
  ];
  const padding = ' '.repeat(300_000);
  for (const [title, body, status, pointer] of cases) {
    for (const long of [false, true]) {
      it(`refuses ${title}${long ? ' in a long body' : ''}`, async () => {
        const answer = await send(long ? body.replace('{', `{${padding}`) : body);
        expect([answer.status, answer.body.errors?.[0]?.pointer], JSON.stringify(answer.body)).to.deep.equal([
          status,
          pointer,
        ]);
      });
    }
  }

  it('names the row of a fault far inside a long body', async () => {
    const rows = Array.from({ length: 9_000 }, (_, at) => `{"r":1,"x":${at === 8_000 ? '1e999' : '1.2345678901234'}}`);
    const answer = await send(`{"key":"a","rows":[${rows.join(',')}]}`);
    expect(answer.body.errors).to.deep.equal([
      { pointer: '/rows/8000/x', detail: 'is 1e999, which is beyond the range of a double' },
    ]);
    expect((await send(`{"key":"a","rows":[${rows.join(',')},]}`)).status, 'a comma too many').to.equal(400);
    expect((await send(`{"key":"a","rows":[${rows.join(',')}]} x`)).status, 'text after it').to.equal(400);
    expect((await send(`{"key":"a","key":"b","rows":[${rows.join(',')}]}`)).body.errors).to.have.length(1);
  });

  it('refuses more than 8 MiB', async () => {
    expect((await send(`{"key":"a","note":"${'n'.repeat(9_000_000)}","rows":[]}`)).status).to.equal(413);
  });

  it('takes 10,000 rows, and has them in the table with their round and draw', async () => {
    const numbers = Array.from({ length: 10_000 }, (_, at) => at / 1_000);
    const columns = { r: numbers, x: numbers.map((it) => -it) };
    expect(await client.rounds.append(batch, { key: 'a', columns })).to.include({ run_ids: '0-9999' });
    const draws = numbers.map((_, at) => (at === 5 ? 3 : null));
    await client.rounds.append(batch, { key: 'b', columns, draws });
    const where = encodeURIComponent('round = 1 and parameters.r = 0.005');
    const columnsWanted = 'run_id,round,draw,parameters.r,parameters.x';
    const page = await fetch(
      `${server.url}/batches/${batch}/table?columns=${columnsWanted}&where=${where}&format=json`,
    );
    const text = await page.text();
    expect(JSON.parse(text).rows, text).to.deep.equal([
      { run_id: 10_005, round: 1, draw: 3, 'parameters.r': 0.005, 'parameters.x': -0.005 },
    ]);
    expect(await client.rounds.check(batch)).to.deep.include({ rounds: 2, runs: 20_000, verdict: 'identical' });
    expect(await client.rounds.list(batch, { from: 1 })).to.have.length(1);
  });
});
