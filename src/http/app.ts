/**
 * The Koa application, assembled from the table of routes. What every request goes through stands in `createApp`, top to
 * bottom; what one route adds to it, in `serve`.
 */
import { Router } from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import { SimbatchError } from '../domain/errors.ts';
import type { CoordinatorApi } from '../coordinator/api.ts';
import { requireRunner, type Access } from './security/auth.ts';
import { bodyReaders, digestOf, type BodyLimits, type BodyReader } from './request/body.ts';
import { makeCursor } from './request/cursor.ts';
import { etagOf, matchesTag } from './response/etag.ts';
import { handlers, type Call, type Handler, type ListAnswer, type RawAnswer, type Service } from './handlers.ts';
import { apiDescription } from './openapi.ts';
import { stopwatch } from '../base/clock.ts';
import { rejectCrossOrigin, type OriginRules } from './security/origin.ts';
import { answerProblem, problemFor, TooManyRequests } from './response/problem.ts';
import { readQuery, type Query } from './request/query.ts';
import {
  actingRunner,
  listingName,
  preferredType,
  readBody,
  readId,
  readIdempotencyKey,
  readPage,
} from './request/request.ts';
import { pathParameter, type Route } from './route.ts';
import { routes } from './routes.ts';
import { writerFor } from './response/serialize.ts';
import type { SessionRevalidation } from './security/session-revalidation.ts';
import { servingPages } from './response/static.ts';
import { sendPage, sendRaw, sendWhole } from './response/stream.ts';
import { prepare } from './request/validate.ts';

/** Where the application writes what its operator should know; pino fits. */
export interface HttpLog {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export interface AppOptions {
  coordinator: CoordinatorApi;
  log: HttpLog;
  limits: BodyLimits & { runsPerBatch: number };
  origins: OriginRules;
  service: Service;
  /** Called with every answered request: what was asked for (`none`: nothing there is), the status, and how long it took. */
  answered: (operation: string, status: number, secs: number) => void;
  /** Who may do what; undefined: everybody everything. */
  access: Access | undefined;
  /** Watches over who waits for an answer; there is one where there is access to lose. */
  standing: SessionRevalidation | undefined;
  /** A name for the next request that brings none; unique in this coordinator's life and after. */
  newRequestId: () => string;
  /** Where the built dashboard lies; undefined: none is served. */
  webRoot?: string | undefined;
  /** Fires when the server stops: those who wait are answered with what there is. */
  stopping: AbortSignal;
}

/** The application; it listens nowhere yet. */
export function createApp(options: AppOptions): Koa {
  const app = new Koa();
  app.on('error', (error: Error) => connectionError(options.log, error));
  app.use(naming(options));
  app.use(answeringErrors(options));
  app.use(refusingForeigners(options.origins));
  for (const answering of routing(options)) app.use(answering);
  if (options.webRoot !== undefined) app.use(servingPages(options.webRoot));
  app.use(nothingHere);
  return app;
}

/**
 * Every answer carries the request's id: the client's own if it sent a decent one. Here and in `sendJson` headers are set on
 * Node's own object: Koa's way to it takes as long as the rest of what is done here, and every request comes by.
 */
function naming({ newRequestId, log, answered }: AppOptions): Middleware {
  return async (ctx, next) => {
    const startedMs = stopwatch();
    const given = ctx.req.headers['x-request-id'];
    const isDecent = typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given);
    const requestId = isDecent ? given : newRequestId();
    ctx.state['requestId'] = requestId;
    ctx.res.setHeader('X-Request-Id', requestId);
    ctx.res.setHeader('X-Content-Type-Options', 'nosniff');
    await next();
    const { operation = 'none', tokenId } = ctx.state as { operation?: string; tokenId?: string };
    const tookMs = stopwatch() - startedMs;
    answered(operation, ctx.status, tookMs / 1000);
    const { method, path, status } = ctx;
    log.debug({ requestId, method, path, status, tookMs: Math.round(tookMs), tokenId }, 'request');
  };
}

/** The one funnel of errors. */
function answeringErrors({ log, stopping }: AppOptions): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const problem = problemFor(error, ctx.path.slice(0, 200));
      if (problem.status === 500) {
        log.error(
          { err: error, requestId: ctx.state['requestId'] as string, method: ctx.method, path: ctx.path },
          'fault',
        );
      }
      answerProblem(ctx, problem, error instanceof TooManyRequests ? error.retryAfterSecs : undefined);
      // What is left of a refused body is not worth reading.
      if (problem.status === 413) ctx.set('Connection', 'close');
    }
    if (stopping.aborted) ctx.set('Connection', 'close');
  };
}

function refusingForeigners(rules: OriginRules): Middleware {
  return (ctx, next) => {
    const { headers, method } = ctx.req;
    rejectCrossOrigin(
      {
        method: method ?? 'GET',
        host: headers.host,
        origin: headers.origin,
        fetchSite: headers['sec-fetch-site'],
      },
      rules,
    );
    return next();
  };
}

/** What the routes have in common. */
interface Serving extends AppOptions {
  /**
   * Those to be told when the server stops. A set and one listener: ten thousand listeners of a signal are looked through
   * one by one whenever another comes or goes.
   */
  waiting: Set<() => void>;
}

function routing(app: AppOptions): Middleware[] {
  const options: Serving = { ...app, waiting: new Set() };
  options.stopping.addEventListener('abort', () => options.waiting.forEach((abandon) => abandon()), { once: true });
  const readers = bodyReaders(options.limits);
  // A router tries a path against all of its routes: what runners ask for all day comes first, and among few.
  const [ofRunners, others] = [new Router(ROUTING), new Router(ROUTING)];
  for (const route of routes) {
    if (route.body !== undefined) prepare(route.body.schema);
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    const reader = route.body && readers[route.body.limit];
    const router = route.scope === 'runner' ? ofRunners : others;
    router[METHODS[route.method]](path, (ctx: Context) => serve(ctx, route, reader, options));
  }
  return [ofRunners.routes(), others.routes()] as unknown as Middleware[];
}

const ROUTING = { strict: true, sensitive: true } as const;

const METHODS = { GET: 'get', POST: 'post', DELETE: 'delete' } as const;

/** One request of one route: read and check what it brings, ask the coordinator, send the answer. */
async function serve(ctx: Context, route: Route, reader: BodyReader | undefined, options: Serving): Promise<void> {
  // Before anything else is read: what is wrong with a request is told to those who may make it.
  ctx.state['operation'] = route.operationId;
  const principal = options.access?.authorize(ctx.req, route.scope);
  ctx.state['tokenId'] = principal?.tokenId;
  const id = readId(ctx, pathParameter(route));
  const query = readQuery(ctx.querystring, route.query ?? {});
  const listing = route.answer === 'list' ? listingName(ctx.path, query) : '';
  const { text, value } = await readBody(ctx, route, reader, options.limits.runsPerBatch);
  if (principal !== undefined && route.scope === 'runner') requireRunner(principal, actingRunner(route, id, value));
  const call: Call = {
    id,
    query,
    page: readPage(listing, query),
    body: value,
    bodyDigest: () => digestOf(text),
    idempotencyKey: route.headers?.['Idempotency-Key'] === undefined ? undefined : readIdempotencyKey(ctx),
    abandoned: () =>
      abandonedSignal(ctx, options, (end) => principal && options.standing?.hold(principal, route.scope, end)),
    preferred: (types) => preferredType(ctx, types),
    description: apiDescription,
    service: options.service,
  };
  const handler: Handler = handlers[route.handler];
  const answer = await handler(options.coordinator, call);
  if (route.answer === 'list') await sendList(ctx, answer as ListAnswer, query, listing);
  else if (route.answer === 'raw') sendRaw(ctx, route, answer as RawAnswer);
  else sendJson(ctx, writerFor(route.response)(answer), route.answer === 'single');
}

async function sendList(ctx: Context, answer: ListAnswer, query: Query, listing: string): Promise<void> {
  if (query['limit'] === undefined) return sendWhole(ctx, answer);
  await sendPage(ctx, answer, (position) => {
    const parameters = ctx.querystring.split('&').filter((part) => part !== '' && !part.startsWith('cursor='));
    return `${ctx.path}?${[...parameters, `cursor=${makeCursor(listing, position)}`].join('&')}`;
  });
}

function sendJson(ctx: Context, body: string, tagged: boolean): void {
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
  if (tagged) {
    const etag = etagOf(body);
    ctx.res.setHeader('ETag', etag);
    ctx.res.setHeader('Cache-Control', 'no-cache');
    if (matchesTag(ctx.get('If-None-Match'), etag)) {
      ctx.status = 304;
      return;
    }
  } else {
    ctx.res.setHeader('Cache-Control', 'no-store');
  }
  ctx.body = body;
}

/**
 * Fires when the client has gone before it was answered, when the server stops, and when the client may not ask any more:
 * then the reason is the refusal. `hold` has it watched over, and gives what ends that.
 */
function abandonedSignal(
  ctx: Context,
  { stopping, waiting }: Serving,
  hold: (end: (refusal: SimbatchError) => void) => (() => void) | undefined,
): AbortSignal {
  const abandoned = new AbortController();
  // A reason of its own for each would be an exception with its stack.
  const abandon = () => abandoned.abort('gone');
  if (stopping.aborted || ctx.res.destroyed) abandon();
  waiting.add(abandon);
  const release = hold((refusal) => abandoned.abort(refusal));
  ctx.res.once('close', () => {
    waiting.delete(abandon);
    release?.();
    if (!ctx.res.writableFinished) abandon();
  });
  return abandoned.signal;
}

/** Reached when no route took the request: the address is unknown, or it does not take the method. */
const nothingHere: Middleware = (ctx) => {
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
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** A client that left is its own business; anything else that breaks an answer is ours. */
function connectionError(log: HttpLog, error: Error): void {
  const { code } = error as { code?: string };
  const left = code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET' || code === 'EPIPE';
  if (left) log.debug({ code }, 'a client left before its answer was complete');
  else log.error({ err: error }, 'an answer broke off');
}
