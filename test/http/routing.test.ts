/** Tests of the choice of a route. */
import { expect } from 'chai';
import type { Context, Middleware } from '../../src/http/application.ts';
import type { Route } from '../../src/http/route.ts';
import { routes } from '../../src/http/routes/index.ts';
import { routing } from '../../src/http/routing.ts';

const handler = (route: Route) => (ctx: Context) => {
  ctx.body = route.operationId;
};

/** The operation that the middleware serves; `none` without one. */
async function choiceOf(middleware: Middleware, method: string, path: string): Promise<string> {
  const ctx = { method, path, host: 'localhost', request: {}, body: 'none' };
  await middleware(ctx as never, async () => {});
  return ctx.body;
}

describe('http/routing', () => {
  const middleware = routing(routes, handler);

  it('gives each address to its own route, and an address with a slash more to none', async () => {
    for (const { method, path, operationId } of routes) {
      const address = path.replaceAll(/\{\w+\}/g, 'a%2Fb');
      expect(await choiceOf(middleware, method, address), `${method} ${address}`).to.equal(operationId);
      if (path.endsWith('{path}')) continue;
      expect(await choiceOf(middleware, method, `${address}/`), `${method} ${address}/`).to.equal('none');
    }
  });

  it('takes a path of several segments where the route ends in a path', async () => {
    const ofPaths = routes.filter((it) => it.path.endsWith('{path}'));
    expect(ofPaths).not.to.have.length(0);
    for (const { method, path, operationId } of ofPaths) {
      const address = path.replace('{path}', 'a/b/c.txt').replaceAll(/\{\w+\}/g, 'x');
      expect(await choiceOf(middleware, method, address), address).to.equal(operationId);
    }
  });

  it('serves a request for the head as one for the whole, and gives a method that no route has to the next', async () => {
    for (const { method, path, operationId } of routes) {
      const address = path.replaceAll(/\{\w+\}/g, 'x');
      if (method === 'GET') expect(await choiceOf(middleware, 'HEAD', address), address).to.equal(operationId);
      for (const other of ['PATCH', 'OPTIONS'])
        expect(await choiceOf(middleware, other, address), address).to.equal('none');
    }
    for (const unknown of ['/', '/nothing', '//jobs', '/Jobs/x', '/jobs/x/nothing'])
      expect(await choiceOf(middleware, 'GET', unknown), unknown).to.equal('none');
  });
});
