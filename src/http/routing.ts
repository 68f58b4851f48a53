/**
 * Finds the route of a request. Koa's router tries its routes one after the other, so they are divided by the shape of their addresses: a
 * request is tried against those of its own shape, and then given to the router.
 */
import { Router } from '@koa/router';
import type { Context, Middleware } from './application.ts';
import type { Route } from './routes/route.ts';

/** Returns middleware that serves the first route that takes the request, with the handlers that `serving` makes. */
export function routing(routes: readonly Route[], serving: (route: Route) => Middleware): Middleware {
  // Runners use their routes all the time.
  const isOfRunners = ({ scope }: Route): boolean => scope === 'runner';
  const ordered = [...routes.filter(isOfRunners), ...routes.filter((it) => !isOfRunners(it))];
  const router = new Router(ROUTING);
  const served = ordered.map((route): ServedLayer => {
    const handler = serving(route);
    return { route, handler, layer: register(router, route, handler) };
  });
  const shapes = shapesOf(served);
  const all = router.routes() as unknown as Middleware;
  return (ctx, next) => {
    const { path, method } = ctx;
    for (const { layer, handler } of layersOf(shapes, path)) {
      if (!layer.methods.includes(method)) continue;
      const captures = layer.captures(path);
      if (captures.length === 0) continue;
      (ctx as Routed).params = parametersOf(layer, path, captures);
      return handler(ctx, next);
    }
    // An address without a parameter, an unknown one, or a method that is not allowed.
    return all(ctx, next);
  };
}

type Layer = Router['stack'][number];
type Routed = Context & { params: Record<string, string> };

interface ServedLayer {
  route: Route;
  handler: Middleware;
  layer: Layer;
}

/** The addresses with the same first segment and the same last one, which is a word. */
interface Shape {
  first: string;
  last: string;
  /** Every route that takes such addresses. */
  layers: ServedLayer[];
}

const ROUTING = { strict: true, sensitive: true } as const;

function register(router: Router, { method, path }: Route, handler: Middleware): Layer {
  const pattern = path.replace(/\{path\}$/, '*path').replaceAll(/\{(\w+)\}/g, ':$1');
  return router.register(pattern, [method], handler as never) as Layer;
}

/** The parameters in the path, decoded. A text without `%` is its own decoding. */
function parametersOf(layer: Layer, path: string, captures: string[]): Record<string, string> {
  if (path.includes('%')) return layer.params(path, captures);
  const parameters: Record<string, string> = {};
  for (let at = 0; at < captures.length; at += 1) parameters[layer.paramNames[at]!.name] = captures[at]!;
  return parameters;
}

const NO_LAYERS: ServedLayer[] = [];

function layersOf(shapes: ReadonlyMap<number, Shape[]>, path: string): readonly ServedLayer[] {
  for (const { first, last, layers } of shapes.get(hashOf(path)) ?? []) {
    if (path.startsWith(first) && path.endsWith(last)) return layers;
  }
  return NO_LAYERS;
}

/** Returns the shapes of all routes with a parameter that end in a word, by their hashes. */
function shapesOf(served: readonly ServedLayer[]): Map<number, Shape[]> {
  const shapes = new Map<number, Shape[]>();
  for (const { path } of served.map((it) => it.route)) {
    if (!path.includes('{') || endsInParameter(path)) continue;
    const alike = shapes.get(hashOf(path)) ?? [];
    shapes.set(hashOf(path), alike);
    const [first, last] = [firstOf(path), lastOf(path)];
    if (alike.some((it) => it.first === first && it.last === last)) continue;
    alike.push({ first, last, layers: served.filter((it) => mayTake(it.route.path, path)) });
  }
  return shapes;
}

/** Returns a number that is the same for all addresses of a shape, and mostly another one for those of another shape. */
function hashOf(path: string): number {
  let at = path.length - 1;
  while (at > 0 && path.charCodeAt(at) !== SLASH) at -= 1;
  return (path.length - at) * 64 + (path.charCodeAt(at + 1) & 63);
}

const SLASH = 47;

const firstOf = (path: string): string => path.slice(0, path.indexOf('/', 1) + 1);
const lastOf = (path: string): string => path.slice(path.lastIndexOf('/'));

const endsInParameter = (path: string): boolean => path.endsWith('}');

/** Whether a route may take addresses of the shape of a path that ends in a word. */
const mayTake = (path: string, other: string): boolean =>
  firstOf(path) === firstOf(other) && (endsInParameter(path) || lastOf(path) === lastOf(other));
