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
  // request, and whether it is sent again over a new connection
  const table: [string, (client: ReturnType<typeof clientOf>) => Promise<unknown>, boolean][] = [
    ['a question', (client) => client.runners(), true],
    ['a change with a key', (client) => client.extendBatch('b', { runs: 2 }, { idempotencyKey: KEY }), true],
    ['a change without a key', (client) => client.drain('r'), false],
  ];
  for (const [what, ask, isRepeated] of table) {
    it(`sends ${what} ${isRepeated ? 'again' : 'once'} when an idle connection was closed`, async () => {
      const { endpoint, requests } = await serveOnce();
      const client = clientOf({ endpoint });
      await client.runners();
      const end = await ask(client).then(
        () => 'answered',
        (error: Error) => error.message,
      );
      if (isRepeated) expect(end).to.equal('answered');
      else expect(end).to.equal(`cannot reach the coordinator at ${endpoint}: the connection was reset`);
      expect(requests()).to.equal(isRepeated ? 3 : 2);
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
