import { expect } from 'chai';
import { IncomingMessage, ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import Koa from 'koa';
import { Application, type Context } from '../../src/http/application.ts';
import { listen } from '../support/http.ts';

/** The members of a context that Koa reads from its request. */
const MEMBERS = ['method', 'path', 'querystring', 'search', 'url', 'originalUrl', 'href', 'host', 'status'] as const;

function contextOf(app: Koa, url: string) {
  const req = new IncomingMessage(new Socket());
  Object.assign(req, { url, method: 'PUT', headers: { host: 'localhost:8080' } });
  return app.createContext(req, new ServerResponse(req));
}

describe('http/application', () => {
  it('answers without the listeners that Koa adds to each response and its socket', async () => {
    const server = await listen();
    const responses: ServerResponse[] = [];
    server.server.on('request', (_request, response: ServerResponse) => responses.push(response));
    const answer = await fetch(`${server.url}/healthz`);
    expect(answer.status).to.equal(200);
    await answer.text();
    expect(responses).to.have.length(1);
    // The table of on-finished, which a Koa has that does not call `handleRequest`.
    expect(responses[0]).not.to.have.property('__onFinished');
    await server.close(0);
  });

  it('reads of a request what Koa reads', () => {
    const [own, koa] = [new Application(), new Koa()];
    const urls = [
      '/',
      '/jobs',
      '/jobs?',
      '/jobs?limit=2&x=%20',
      '/a#b',
      '/a?b#c',
      '//a/b',
      '*',
      'http://host/a?b',
      '/é',
      '/%7B',
    ];
    for (const url of urls) {
      const [actual, expected] = [contextOf(own, url), contextOf(koa, url)];
      for (const member of MEMBERS) expect(actual[member], `${member} of ${url}`).to.equal(expected[member]);
      expect(actual.request.ctx).to.equal(actual);
      expect(actual.response.request).to.equal(actual.request);
      expect(actual.toJSON()).to.deep.equal(expected.toJSON());
      actual.url = '/other?place';
      expect([actual.path, actual.querystring]).to.deep.equal(['/other', 'place']);
    }
  });

  it('takes no object as a body, by its type', () => {
    const answer = (ctx: Context): void => {
      // @ts-expect-error an object is not text, bytes or a stream
      ctx.body = { detail: 'not ready' };
    };
    expect(answer).to.be.a('function');
  });

  it('answers requests that were sent without waiting, in their order', async () => {
    const server = await listen();
    const ids = ['first', 'second', 'third', 'fourth'];
    const socket = connect(server.port, '127.0.0.1');
    const paths = ['/limits', '/nothing', '/batches', '/limits'];
    socket.write(
      paths.map((path, at) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: ${ids[at]}\r\n\r\n`).join(''),
    );
    let text = '';
    for await (const piece of socket as AsyncIterable<Buffer>) {
      text += piece.toString('latin1');
      if (text.split('X-Request-Id: ').length > ids.length && text.endsWith('}')) break;
    }
    const answers = [...text.matchAll(/HTTP\/1\.1 (\d+) [\s\S]*?X-Request-Id: (\w+)/g)].map(
      (it) => `${it[1]} ${it[2]}`,
    );
    expect(answers).to.deep.equal(['200 first', '404 second', '200 third', '200 fourth']);
    await server.close(0);
  });
});
