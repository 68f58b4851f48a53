/** The router of the application, made from the table of routes. */
import { Router } from '@koa/router';
import type { Middleware } from './application.ts';
import type { Route } from './route.ts';

/** Returns middleware that serves the first route that takes the request, with the handlers that `serving` makes. */
export function routing(routes: readonly Route[], serving: (route: Route) => Middleware): Middleware {
  const router = new Router({ strict: true, sensitive: true });
  // Koa's router tries its routes one after the other, and runners use theirs all the time.
  const isOfRunners = ({ scope }: Route): boolean => scope === 'runner';
  for (const route of [...routes.filter(isOfRunners), ...routes.filter((it) => !isOfRunners(it))]) {
    const pattern = route.path.replace(/\{path\}$/, '*path').replaceAll(/\{(\w+)\}/g, ':$1');
    router.register(pattern, [route.method], serving(route) as never);
  }
  return router.routes() as unknown as Middleware;
}
