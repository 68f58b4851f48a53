/** The routing of the application, made from the table of routes. */
import { Router } from '@koa/router';
import type { Middleware } from './application.ts';
import type { Route } from './route.ts';

/**
 * Returns middleware that serves the route that takes the request, with the handlers that `serving` makes. Koa's router tries all of its
 * routes for each request, also after the right route, so each method of each first segment has a router of its own.
 */
export function routing(routes: readonly Route[], serving: (route: Route) => Middleware): Middleware {
  const routers = new Map<string, Router>();
  for (const route of routes) {
    const section = sectionOf(route.method, route.path);
    const router = routers.get(section) ?? new Router({ strict: true, sensitive: true });
    routers.set(section, router);
    const pattern = route.path.replace(/\{path\}$/, '*path').replaceAll(/\{(\w+)\}/g, ':$1');
    router.register(pattern, [route.method], serving(route) as never);
  }
  const sections = new Map([...routers].map(([section, it]) => [section, it.routes() as unknown as Middleware]));
  return (ctx, next) => sections.get(sectionOf(ctx.method, ctx.path))?.(ctx, next) ?? next();
}

/** The method and the first segment of a path. A request for the head alone is one for the whole. */
function sectionOf(method: string, path: string): string {
  const end = path.indexOf('/', 1);
  return `${method === 'HEAD' ? 'GET' : method} ${end < 0 ? path : path.slice(0, end)}`;
}
