/** Tests of the choice of a route: the small routers must choose as one router of all routes does. */
import { Router } from '@koa/router';
import { expect } from 'chai';
import type { Context, Middleware } from 'koa';
import type { Route } from '../../src/http/routes/route.ts';
import { routes } from '../../src/http/routes/index.ts';
import { routing } from '../../src/http/routing.ts';

/** Every address of a route, with each word that ends an address of another route as its parameters. */
function addresses(): string[] {
  const words = new Set(['xyz', 'a%2Fb', ...routes.map((it) => it.path.split('/').at(-1)!)]);
  const values = [...words].filter((it) => !it.includes('{'));
  const filled = routes.flatMap(({ path }) => values.map((word) => path.replaceAll(/\{\w+\}/g, word)));
  return [...new Set([...filled, ...filled.map((it) => `${it}/`), ...filled.map((it) => `${it}/more`), '/', '//'])];
}

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
  it('chooses the route that one router of all routes chooses', async () => {
    const router = new Router({ strict: true, sensitive: true });
    for (const route of [...routes].sort((a, b) => Number(b.scope === 'runner') - Number(a.scope === 'runner'))) {
      const path = route.path.replace(/\{path\}$/, '*path').replaceAll(/\{(\w+)\}/g, ':$1');
      router.register(path, [route.method], handler(route) as never);
    }
    const both = [router.routes() as unknown as Middleware, routing(routes, handler)];
    const chosen = new Set<string>();
    for (const path of addresses()) {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
        const [expected, actual] = await Promise.all(both.map((middleware) => choiceOf(middleware, method, path)));
        expect(actual, `${method} ${path}`).to.equal(expected);
        chosen.add(actual!);
      }
    }
    expect([...chosen]).to.include.members(routes.map((it) => it.operationId));
  });
});
