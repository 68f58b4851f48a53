/** `httpFetch`: connections that the other side closes while they are idle. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import { clientOf, httpFetch } from '../../src/client/http-fetch.ts';

describe('client/http-fetch', () => {
  const servers: Server[] = [];
  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    servers.push(server);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** A server that breaks a connection at its second request. */
  async function serveOnce(): Promise<{ endpoint: string; requests: () => number }> {
    const known = new Set<Socket>();
    let requests = 0;
    const endpoint = await serve((request, response) => {
      requests += 1;
      if (known.has(request.socket)) return void request.socket.destroy();
      known.add(request.socket);
      request.resume().once('end', () => response.setHeader('content-type', 'application/json').end('{"items":[]}'));
    });
    return { endpoint, requests: () => requests };
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
      const { endpoint, requests } = await serveOnce();
      const client = clientOf({ endpoint });
      await client.runners();
      await ask(client);
      expect(requests()).to.equal(expected);
    });
  }

  it('names what a server without TLS lacks', async () => {
    const endpoint = (await serve((_, response) => response.end())).replace('http', 'https');
    const error = await clientOf({ endpoint })
      .runners()
      .catch((it: Error) => it);
    expect(error).to.have.property(
      'message',
      `cannot reach the coordinator at ${endpoint}: it does not speak HTTPS; use http://`,
    );
  });

  it('sends all again for a runner', async () => {
    const { endpoint, requests } = await serveOnce();
    const ask = httpFetch(() => true);
    for (let request = 0; request < 2; request += 1)
      expect((await ask(endpoint, { method: 'POST', headers: {}, body: '{}' })).status).to.equal(200);
    expect(requests()).to.equal(3);
  });
});
