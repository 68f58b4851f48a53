/**
 * A server that answers every request with a fixed body: `http` with Node alone, `koa` with Koa, router and body reader. Its
 * arguments: the kind, and the number of bytes of an answer.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Router } from '@koa/router';
import Koa from 'koa';
import { koaBody } from 'koa-body';

const [, , kind = '', bytes = '0'] = process.argv;
const answer = JSON.stringify({ text: 'x'.repeat(Math.max(0, Number(bytes) - 11)) });

function bare(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer) });
    response.end(answer);
  });
}

function koa(): ReturnType<Koa['callback']> {
  // As the coordinator reads bodies.
  const readBytes = koaBody({ json: false, urlencoded: false, textTypes: ['application/json'], encoding: 'binary' });
  const router = new Router();
  router.post('/jobs/:id/complete', readBytes, (context) => {
    context.type = 'json';
    context.body = answer;
  });
  return new Koa().use(router.routes()).callback();
}

const server = createServer(kind === 'koa' ? koa() : bare);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object')
    process.stdout.write(`listening on http://127.0.0.1:${String(address.port)}\n`);
});
