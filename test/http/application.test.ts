import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Context } from '../../src/http/application.ts';
import { listen } from '../support/http.ts';

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
