import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
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
});
