/** The answer to a request that no route takes: the address is unknown, or the method is not allowed there. */
import type { Middleware } from './application.ts';
import { SimbatchError } from '../domain/errors.ts';
import { routes } from './routes/index.ts';

/** Reached when no route matched: the address is unknown, or the method is not allowed. */
export const nothingHere: Middleware = (ctx) => {
  const path = ctx.path;
  const here = ROUTE_PATHS.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
  if (here.length === 0) {
    throw new SimbatchError(
      'not-found',
      `There is nothing at ${path.slice(0, 200)}; /openapi.json lists what there is.`,
    );
  }
  const allowed = [...new Set(here.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))].join(', ');
  ctx.set('Allow', allowed);
  throw new SimbatchError('method-not-allowed', `${path.slice(0, 200)} takes ${allowed} and not ${ctx.method}.`);
};

const ROUTE_PATHS = routes.map(({ method, path }) => ({
  method,
  pattern: new RegExp(
    `^${path
      .replaceAll('.', '\\.')
      .replace('{path}', '.+')
      .replaceAll(/\{\w+\}/g, '[^/]+')}$`,
  ),
}));
