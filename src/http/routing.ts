/**
 * Finds the route of a request. A router tries its routes one after the other, so the routes are divided among small routers by the
 * shape of their addresses, and a request is tried against those of its own shape alone.
 */
import { Router } from '@koa/router';
import type { Middleware } from 'koa';
import { hasFilePath, type Route } from './routes/route.ts';

/** Returns middleware that serves the first route that takes the request, with the handlers that `serving` makes. */
export function routing(routes: readonly Route[], serving: (route: Route) => Middleware): Middleware {
  // Runners use their routes all the time.
  const isOfRunners = ({ scope }: Route): boolean => scope === 'runner';
  const ordered = [...routes.filter(isOfRunners), ...routes.filter((it) => !isOfRunners(it))];
  const handlers = new Map(ordered.map((route) => [route, serving(route)]));
  const routerOf = (some: readonly Route[]): Middleware => middlewareOf(some, handlers);
  const byShape = new Map<string, Middleware>();
  for (const { path } of ordered) {
    const shape = shapeOf(path);
    if (byShape.has(shape) || endsInParameter(path)) continue;
    const alike = ordered.filter((it) => mayTake(it.path, path));
    byShape.set(shape, routerOf(alike));
  }
  const all = routerOf(ordered);
  return (ctx, next) => (byShape.get(shapeOf(ctx.path)) ?? all)(ctx, next);
}

const ROUTING = { strict: true, sensitive: true } as const;

const METHODS = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const;

function middlewareOf(some: readonly Route[], handlers: ReadonlyMap<Route, Middleware>): Middleware {
  const router = new Router(ROUTING);
  for (const route of some) {
    const path = route.path.replace(/\{path\}$/, '*path').replaceAll(/\{(\w+)\}/g, ':$1');
    router[METHODS[route.method]](path, handlers.get(route)!);
  }
  return router.routes() as unknown as Middleware;
}

/** The number of segments of a path, with the first and the last one. */
function shapeOf(path: string): string {
  let slashes = 0;
  for (let at = 0; at < path.length; at += 1) if (path.charCodeAt(at) === SLASH) slashes += 1;
  const afterFirst = path.indexOf('/', 1);
  const first = afterFirst < 0 ? path : path.slice(0, afterFirst);
  return `${slashes}${first}${path.slice(path.lastIndexOf('/'))}`;
}

const SLASH = 47;

const endsInParameter = (path: string): boolean => path.endsWith('}');

/** Whether a route takes addresses that another route of this path, which ends in a word, takes too. */
function mayTake(path: string, other: string): boolean {
  if (!endsInParameter(path)) return shapeOf(path) === shapeOf(other);
  const [segments, others] = [path.split('/'), other.split('/')];
  const isLong = hasFilePath({ path }) ? others.length >= segments.length : others.length === segments.length;
  return isLong && segments[1] === others[1];
}
