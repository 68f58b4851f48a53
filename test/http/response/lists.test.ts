import { expect } from 'chai';
import * as fc from 'fast-check';
import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeCursor, readCursor } from '../../../src/http/request/cursor.ts';
import { BATCH_ID, FakeListing, batch, fakeCoordinator, job, result } from '../../support/fake-api.ts';
import { listen, rawRequest, type TestServer } from '../../support/http.ts';

const TOTAL = 100_000;

describe('http/response/stream: lists', () => {
  let server: TestServer;
  const listings: FakeListing<unknown>[] = [];
  const kept = <T>(listing: FakeListing<T>): FakeListing<T> => {
    listings.push(listing);
    return listing;
  };
  const last = () => listings.at(-1)!;
  before(async () => {
    const coordinator = fakeCoordinator({
      jobs: async (filter, page) =>
        kept(new FakeListing(TOTAL, (index) => job(index, filter.run_id ? 2n ** 62n : 1), page)),
      batches: async () => {
        const broken = kept(
          new FakeListing(1_000, (index) => {
            if (index > 500) throw new Error('the store broke');
            return batch;
          }),
        );
        return broken;
      },
      batchResults: async (_id, page) => ({ batch, results: kept(new FakeListing(5, () => result, page)) }),
    });
    server = await listen({ coordinator });
  });
  after(() => server.close(0));

  it('are streamed whole without a limit', async () => {
    const response = await fetch(`${server.url}/jobs`);
    expect(response.headers.get('x-total-count')).to.equal(String(TOTAL));
    const jobs = (await response.json()) as { run_config: { run_id: number } }[];
    expect(jobs.map((each) => each.run_config.run_id)).to.deep.equal(
      Array.from({ length: TOTAL }, (_, index) => index),
    );
    expect(last().freed).to.equal(true);
  });

  it('keep every digit of their seeds, and names such as __proto__', async () => {
    const text = await (await fetch(`${server.url}/jobs?run_id=1&limit=2`)).text();
    expect(text).to.contain('"seed":4611686018427387904}').and.to.contain('"__proto__":0.5');
    expect(JSON.parse(text)).to.have.length(2);
  });

  it('are read no faster than the client reads, and released when it disconnects', async () => {
    const { port } = server.server.address() as AddressInfo;
    await new Promise<void>((resolve, reject) => {
      const request = get({ host: '127.0.0.1', port, path: '/jobs' }, (response) => {
        response.once('readable', () => {
          response.read(1);
          // Time in which a server without back-pressure would run ahead.
          setTimeout(() => {
            const made = last().chunksMade;
            expect(made, 'chunks of 1000 made while the client does not read').to.be.below(400);
            expect(last().freed).to.equal(false);
            response.destroy();
            resolve();
          }, 200);
        });
      });
      request.on('error', reject);
    });
    for (let tries = 0; tries < 100 && !last().freed; tries++) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(last().freed).to.equal(true);
  });

  it('cut the connection when the coordinator fails in the middle', async () => {
    const response = await fetch(`${server.url}/batches`);
    expect(response.status).to.equal(200);
    const failure = await response.text().catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error);
    expect(server.received.some(({ message }) => message === 'an answer broke off')).to.equal(true);
  });

  it('are answered with a problem when they fail before the first item', async () => {
    const other = await listen({
      coordinator: fakeCoordinator({
        jobs: async () =>
          new FakeListing<never>(3, () => {
            throw new Error('the store broke');
          }),
      }),
    });
    const response = await fetch(`${other.url}/jobs`);
    expect(response.status).to.equal(500);
    expect(((await response.json()) as any).code).to.equal('internal');
    await other.close(0);
  });

  it('release their resources after HEAD', async () => {
    const answer = await rawRequest(`${server.url}/jobs`, 'HEAD', {});
    expect(answer).to.include({ status: 200, body: '' });
    expect(last()).to.include({ chunksMade: 1, freed: true });
  });

  it('are paged with a limit, each page with the address of the next', async () => {
    const ids: number[] = [];
    let address: string | undefined = '/jobs?limit=40000&status=Pending';
    const refused = await fetch(server.url + address);
    expect(refused.status).to.equal(400);
    address = '/jobs?limit=9000&status=Pending';
    let pages = 0;
    while (address !== undefined) {
      const response: Response = await fetch(server.url + address);
      ids.push(...((await response.json()) as any[]).map((each) => each.run_config.run_id as number));
      pages += 1;
      const link: string | null = response.headers.get('link');
      address = link === null ? undefined : /^<([^>]+)>; rel="next"$/.exec(link)![1];
    }
    expect(pages).to.equal(12);
    expect(ids).to.deep.equal(Array.from({ length: TOTAL }, (_, index) => index));
  });

  it('of results include the batch, whole and in pages', async () => {
    const whole: any = await (await fetch(`${server.url}/batches/${BATCH_ID}/results`)).json();
    const page = await fetch(`${server.url}/batches/${BATCH_ID}/results?limit=2`);
    expect(whole.batch).to.deep.equal(batch);
    expect(whole.results).to.have.length(5);
    expect(((await page.json()) as any).results).to.have.length(2);
    expect(page.headers.get('link')).to.match(/results\?limit=2&cursor=/);
  });

  it('reject a cursor of another filter, an altered one and an invented one', async () => {
    const page = await fetch(`${server.url}/jobs?limit=1&status=Pending`);
    const cursor = /cursor=([\w-]+)/.exec(page.headers.get('link')!)![1]!;
    const of = async (query: string) => (await fetch(`${server.url}/jobs?${query}`)).status;
    expect(await of(`limit=1&status=Pending&cursor=${cursor}`)).to.equal(200);
    expect(await of(`status=Pending&limit=2&cursor=${cursor}`)).to.equal(200);
    expect(await of(`limit=1&cursor=${cursor}`)).to.equal(400);
    expect(await of(`limit=1&status=Failed&cursor=${cursor}`)).to.equal(400);
    expect(await of(`limit=1&status=Pending&cursor=${cursor}A`)).to.equal(400);
    expect(await of(`limit=1&status=Pending&cursor=${cursor.slice(1)}`)).to.equal(400);
  });
});

describe('http/request/cursor', () => {
  it('return their position for their own list only', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (list, other, position) => {
        expect(readCursor(list, makeCursor(list, position))).to.equal(position);
        if (other !== list) expect(() => readCursor(other, makeCursor(list, position))).to.throw(/cursor/);
      }),
    );
  });

  it('are rejected when they were not issued', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => readCursor('/jobs', text)).to.throw(/cursor/);
      }),
    );
  });
});
