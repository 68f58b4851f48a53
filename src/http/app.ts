/**
 * The Koa application, assembled from the table of routes. What every request goes through stands in `createApp`, top to
 * bottom; what one route adds to it, in `serve`.
 */
import { Router } from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import { isBatchId, isJobId } from '../domain/ids.ts';
import { SimbatchError } from '../domain/errors.ts';
import type { ClaimResponse as ClaimAnswer, Job as JobAnswer } from '../domain/types.ts';
import type { CoordinatorApi } from '../system/api.ts';
import { confine, type Access } from './auth.ts';
import { bodyReaders, digestOf, type BodyLimits, type BodyReader } from './body.ts';
import { makeCursor, readCursor } from './cursor.ts';
import { etagOf, matchesTag } from './etag.ts';
import { handlers, type Call, type Handler, type ListAnswer, type RawAnswer, type Service } from './handlers.ts';
import { apiDescription } from './openapi.ts';
import { stopwatch } from '../system/world.ts';
import { refuseForeign, type OriginRules } from './origin.ts';
import { answerProblem, problemFor, TooManyRequests } from './problem.ts';
import { readQuery, type Query } from './query.ts';
import { PATH_PARAMETERS, pathParameter, type PathParameter, type Route } from './route.ts';
import { routes } from './routes.ts';
import { RUNNER_ID_PATTERN } from './schemas/scalars.ts';
import { Job } from './schemas/jobs.ts';
import { ClaimResponse } from './schemas/runners.ts';
import { claimToJson, jobToJson, toJson } from './serialize.ts';
import { servingPages } from './static.ts';
import { sendPage, sendRaw, sendWhole } from './stream.ts';
import { prepare, schemaFaults, studyFaults } from './validate.ts';

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
  app.use(routing(options));
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
    refuseForeign(
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

function routing(app: AppOptions): Middleware {
  const options: Serving = { ...app, waiting: new Set() };
  options.stopping.addEventListener('abort', () => options.waiting.forEach((abandon) => abandon()), { once: true });
  const router = new Router({ strict: true, sensitive: true });
  const readers = bodyReaders(options.limits);
  for (const route of routes) {
    if (route.body !== undefined) prepare(route.body.schema);
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    const reader = route.body && readers[route.body.limit];
    router[METHODS[route.method]](path, (ctx: Context) => serve(ctx, route, reader, options));
  }
  return router.routes() as unknown as Middleware;
}

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
  if (principal !== undefined && route.scope === 'runner') confine(principal, actingRunner(route, id, value));
  const call: Call = {
    id,
    query,
    page: readPage(listing, query),
    body: value,
    bodyDigest: () => digestOf(text),
    idempotencyKey: route.headers?.['Idempotency-Key'] === undefined ? undefined : readIdempotencyKey(ctx),
    abandoned: () => abandonedSignal(ctx, options),
    preferred: (types) => preferredType(ctx, types),
    description: apiDescription,
    service: options.service,
  };
  const handler: Handler = handlers[route.handler];
  const answer = await handler(options.coordinator, call);
  if (route.answer === 'list') await sendList(ctx, answer as ListAnswer, query, listing);
  else if (route.answer === 'raw') sendRaw(ctx, route, answer as RawAnswer);
  else sendJson(ctx, jsonOf(route, answer), route.answer === 'single');
}

/** The runner a request of the runner protocol speaks for: in its path, or in its body. */
function actingRunner(route: Route, id: string, body: unknown): string | undefined {
  if (pathParameter(route) === 'runner_id') return id;
  const { id: own, runner_id: named } = body as { id?: string; runner_id?: string };
  return route.path === '/runners' ? own : named;
}

/** An identifier that cannot be one is answered like one that nothing has. */
function readId(ctx: Context, parameter: PathParameter | undefined): string {
  if (parameter === undefined) return '';
  const id = (ctx as unknown as { params: Record<string, string> }).params[parameter] ?? '';
  const normal = parameter === 'runner_id' ? id : id.toLowerCase();
  if (IDENTIFIES[parameter](normal)) return normal;
  const { unknown, noun } = PATH_PARAMETERS[parameter];
  throw new SimbatchError(unknown, `${JSON.stringify(id.slice(0, 100))} is not the id of a ${noun}.`);
}

const RUNNER_ID = new RegExp(RUNNER_ID_PATTERN);
const IDENTIFIES: Record<PathParameter, (id: string) => boolean> = {
  job_id: isJobId,
  batch_id: isBatchId,
  runner_id: (id) => RUNNER_ID.test(id),
};

async function readBody(ctx: Context, route: Route, reader: BodyReader | undefined, maxRuns: number) {
  if (route.body === undefined || reader === undefined) return { text: '', value: undefined };
  const { optional = false, study = false, schema } = route.body;
  const body = await reader(ctx, { optional, seeds: study });
  if (body.value === undefined) return body;
  const faults = study ? studyFaults(body.value, maxRuns) : schemaFaults(schema, body.value);
  if (faults.length > 0) {
    const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`;
    const first = faults[0]!;
    const message = `The request has ${count}; the first: ${first.pointer === '' ? 'the body' : first.pointer} ${first.detail}.`;
    throw new SimbatchError('invalid-request', message, { faults });
  }
  return body;
}

function preferredType<T extends string>(ctx: Context, types: Readonly<Record<T, string>>): T {
  const names = Object.keys(types) as T[];
  const bare = names.map((it) => types[it].split(';')[0]!);
  const chosen = ctx.accepts(bare);
  ctx.vary('Accept');
  return names[bare.indexOf(chosen === false ? '' : chosen)] ?? names[0]!;
}

function readIdempotencyKey(ctx: Context): string | undefined {
  const key = ctx.get('Idempotency-Key');
  if (key === '') return undefined;
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new SimbatchError(
    'invalid-request',
    `The Idempotency-Key is ${key.length} characters long or holds other than visible ASCII; up to 255 such are allowed.`,
  );
}

/** The list a cursor belongs to: its path and its filters, in one order. */
function listingName(path: string, query: Query): string {
  const filters = Object.entries(query).filter(([name]) => name !== 'limit' && name !== 'cursor');
  return JSON.stringify([path, ...filters.sort(([a], [b]) => (a < b ? -1 : 1))]);
}

function readPage(listing: string, query: Query): Call['page'] {
  const page: Call['page'] = {};
  const { limit, cursor } = query;
  if (typeof limit === 'number') page.limit = limit;
  if (typeof cursor === 'string') page.after = readCursor(listing, cursor);
  return page;
}

async function sendList(ctx: Context, answer: ListAnswer, query: Query, listing: string): Promise<void> {
  if (query['limit'] === undefined) return sendWhole(ctx, answer);
  await sendPage(ctx, answer, (position) => {
    const parameters = ctx.querystring.split('&').filter((part) => part !== '' && !part.startsWith('cursor='));
    return `${ctx.path}?${[...parameters, `cursor=${makeCursor(listing, position)}`].join('&')}`;
  });
}

/** What the runner protocol answers most often is put together from parts. */
function jsonOf({ response }: Route, answer: unknown): string {
  if (response === ClaimResponse) return claimToJson(answer as ClaimAnswer);
  if (response === Job) return jobToJson(answer as JobAnswer);
  return toJson(answer);
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

/** Fires when the client has gone before it was answered, and when the server stops. */
function abandonedSignal(ctx: Context, { stopping, waiting }: Serving): AbortSignal {
  const abandoned = new AbortController();
  const abandon = () => abandoned.abort();
  if (stopping.aborted || ctx.res.destroyed) abandon();
  waiting.add(abandon);
  ctx.res.once('close', () => {
    waiting.delete(abandon);
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
