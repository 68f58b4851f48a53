/** `httpFetch`: connections that the other side closes while they are idle. */
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { clientOf, httpFetch } from '../../src/client/http-fetch.ts';
import { FakeCoordinator } from '../support/fake-coordinator.ts';

describe('client/http-fetch', () => {
  let coordinator: FakeCoordinator;
  beforeEach(async () => {
    coordinator = await FakeCoordinator.start();
  });
  afterEach(() => coordinator.stop());

  /** Has the coordinator break a connection at its second request. Returns the number of requests so far. */
  function breakConnections(): () => number {
    const known = new Set<Socket>();
    let requests = 0;
    coordinator.script = (request, response) => {
      requests += 1;
      if (known.has(request.socket)) return void request.socket.destroy();
      known.add(request.socket);
      response.end('{"items":[]}');
    };
    return () => requests;
  }

  const KEY = 'key';
  // request, and how many arrive with the one before it: sent twice, or over a connection of its own
  const table: [string, (client: ReturnType<typeof clientOf>) => Promise<unknown>, number][] = [
    ['a question', (client) => client.runners(), 3],
    ['a change with a key', (client) => client.extendBatch('b', { runs: 2 }, { idempotencyKey: KEY }), 3],
    ['a change without a key', (client) => client.drain('r'), 2],
  ];
  for (const [what, ask, expected] of table) {
    it(`has ${what} answered when an idle connection was closed`, async () => {
      const requests = breakConnections();
      const client = clientOf({ endpoint: coordinator.url });
      await client.runners();
      await ask(client);
      expect(requests()).to.equal(expected);
    });
  }

  it('names what a server without TLS lacks', async () => {
    const endpoint = coordinator.url.replace('http', 'https');
    const error = await clientOf({ endpoint })
      .runners()
      .catch((it: Error) => it);
    expect(error).to.have.property(
      'message',
      `cannot reach the coordinator at ${endpoint}: it does not speak HTTPS; use http://`,
    );
  });

  it('sends all again for a runner', async () => {
    const requests = breakConnections();
    const ask = httpFetch(() => true);
    for (let request = 0; request < 2; request += 1)
      expect((await ask(coordinator.url, { method: 'POST', headers: {}, body: '{}' })).status).to.equal(200);
    expect(requests()).to.equal(3);
  });
});
