import { expect } from 'chai';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { checkedBasePath, withoutBase } from '../../../src/http/request/base-path.ts';
import { takenSegments } from '../../../src/http/routes/index.ts';
import type { CoordinatorApi } from '../../../src/coordinator/api.ts';
import { FakeListing, fakeCoordinator, job } from '../../support/fake-api.ts';
import { listen, rawRequest } from '../../support/http.ts';
import { openDoor } from '../../../src/http/door.ts';
import { startWeb } from '../../support/web-server.ts';

describe('http/request/base-path', () => {
  for (const [given, used] of [
    ['', ''],
    ['/', ''],
    ['/simbatch', '/simbatch'],
    ['/simbatch/', '/simbatch'],
    ['/lab/a.b-c_d~1', '/lab/a.b-c_d~1'],
  ] as const) {
    it(`${JSON.stringify(given)} is ${JSON.stringify(used)}`, () =>
      expect(checkedBasePath(given, takenSegments)).to.equal(used));
  }

  for (const given of [
    'simbatch',
    '//x',
    '/a/../b',
    '/.',
    '/a b',
    '/a?b',
    '/%41',
    'http://x/y',
    '/batches',
    '/live/x',
    '/docs',
  ])
    it(`${given} is refused with a remedy`, () =>
      expect(() => checkedBasePath(given, takenSegments)).to.throw(/base path .*e\.g\. \/simbatch/));

  for (const [url, own] of [
    ['/simbatch/jobs?x=1', '/jobs?x=1'],
    ['/simbatch/', '/'],
    ['/simbatchery/jobs', '/simbatchery/jobs'],
    ['/jobs', '/jobs'],
    ['/simbatch/simbatch/jobs', '/simbatch/jobs'],
  ] as const)
    it(`${url} is ${own}`, () => expect(withoutBase(url, '/simbatch')).to.equal(own));
});

describe('http/door', () => {
  it('answers that it lives and is not ready, below its prefix too, until a listener takes the requests', async () => {
    const door = await openDoor({ host: '127.0.0.1', port: 0, basePath: '/simbatch' });
    const statuses = async () => {
      const paths = ['/healthz', '/simbatch/healthz', '/readyz', '/simbatch/readyz', '/batches', '/live'];
      return await Promise.all(paths.map(async (it) => (await fetch(new URL(it, door.url))).status));
    };
    expect(await statuses()).to.deep.equal([200, 200, 503, 503, 503, 503]);
    const refused = await fetch(`${door.url}/jobs`, { method: 'POST', body: 'x'.repeat(1_000_000) });
    expect(refused.headers.get('retry-after')).to.match(/^\d+$/);
    expect(((await refused.json()) as { code: string }).code).to.equal('unavailable');
    const server = await listen({ door, basePath: '/simbatch' });
    expect(server.url).to.equal(door.url);
    expect((await statuses()).slice(0, 4)).to.deep.equal([200, 200, 200, 200]);
    await server.close(0);
  });

  it('closes its connections when the data cannot be read', async () => {
    const door = await openDoor({ host: '127.0.0.1', port: 0 });
    door.close();
    expect(await fetch(`${door.url}/healthz`).catch((error: unknown) => error)).to.be.instanceOf(Error);
  });
});

describe('http below a base path', () => {
  it('redirects the prefix alone to the dashboard, and names it in addresses of its answers', async () => {
    const web = await startWeb({ basePath: '/lab/simbatch' });
    const at = (path: string) => rawRequest(new URL(path, web.url).href, 'GET', {});
    expect((await at('/lab/simbatch')).headers['location']).to.equal('/lab/simbatch/');
    expect((await at('/lab/simbatch?a=b')).headers['location']).to.equal('/lab/simbatch/?a=b');
    expect((await at('/lab/simbatch/docs')).headers['location']).to.equal('/lab/simbatch/docs/');
    expect((await at('/lab/simbatch/')).body)
      .to.include('<title>simbatch</title>')
      .and.not.include('="/');
    const { servers } = JSON.parse((await at('/lab/simbatch/openapi.json')).body) as { servers: { url: string }[] };
    expect(servers.map(({ url }) => url)).to.deep.equal(['/lab/simbatch']);
    expect((await at('/lab/other')).status).to.equal(404);
    await web.close();
  });

  it('names it in the address of the next page, whichever way the request came', async () => {
    const jobs: CoordinatorApi['jobs'] = async (_filter, page) => new FakeListing(5, (index) => job(index), page);
    const server = await listen({ basePath: '/simbatch', coordinator: fakeCoordinator({ jobs }) });
    const root = new URL(server.url).origin;
    for (const base of [server.url, root]) {
      let next: string | undefined = `${base}/jobs?limit=2`;
      let pages = 0;
      for (; next !== undefined; pages += 1) {
        const link: string | null = (await fetch(next)).headers.get('link');
        if (link !== null) expect(link).to.match(/^<\/simbatch\/jobs\?/);
        next = link === null ? undefined : new URL(/^<([^>]+)>/.exec(link)![1]!, root).href;
      }
      expect(pages).to.equal(3);
    }
    await server.close(0);
  });

  it('opens the live feed with and without it', async () => {
    const web = await startWeb({ basePath: '/simbatch' });
    for (const path of ['/simbatch/live', '/live']) {
      const socket = new WebSocket(new URL(path, web.url).href.replace('http', 'ws'), 'simbatch');
      await once(socket, 'open');
      socket.close();
      await once(socket, 'close');
    }
    await web.close();
  });
});
