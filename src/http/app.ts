/**
 * The Koa application, made from the table of routes. `createApp` lists the steps of every request from top to bottom;
 * `serve` adds the steps of one route.
 */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Router } from '@koa/router';
import type Koa from 'koa';
import type { Context, Middleware } from 'koa';
import { parseByteRange } from '../domain/byte-range.ts';
import type { CoordinatorApi } from '../coordinator/api.ts';
import type { Answer } from '../coordinator/answers/answers.ts';
import type { Access } from './security/auth.ts';
import { Application } from './application.ts';
import { bodyReaders, digestOf, readRawBody, type BodyLimits, type BodyReader } from './request/body.ts';
import { makeCursor } from './request/cursor.ts';
import { matchesTag } from './response/etag.ts';
import { apiDescription } from './openapi.ts';
import { stopwatch, type Clock } from '../base/clock.ts';
import { rejectCrossOrigin, type OriginRules } from './security/origin.ts';
import { answerError } from './response/problem.ts';
import { abandonedSignal, type Stop } from './request/abandoned.ts';
import { sendJson } from './response/json.ts';
import { laterSending, sendLater } from './response/late.ts';
import { readQuery, type Query } from './request/query.ts';
import {
  listingName,
  preferredType,
  readBody,
  readFilePath,
  readId,
  readIdempotencyKey,
  readPage,
  requireOwnRunner,
} from './request/request.ts';
import { LateAnswer, type FileAnswer, type ListAnswer, type RawAnswer } from './routes/answers.ts';
import { hasFilePath, pathParameter, type Call, type Route, type Service } from './routes/route.ts';
import { routes } from './routes/index.ts';
import { writerFor } from './response/serialize.ts';
import type { SessionRevalidation } from './security/session-revalidation.ts';
import { sendComputed } from './response/computed.ts';
import { nothingHere } from './response/nothing-here.ts';
import { sendFile } from './response/file.ts';
import { servingPages } from './response/static.ts';
import { sendPage, sendRaw, sendWhole } from './response/stream.ts';
import { prepare } from '../contract/validation/validate.ts';

/** The operator's log; a pino logger fits. */
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
  /** Called for every answered request with operation (`none`: unknown address), status and duration. */
  answered: (operation: string, status: number, secs: number) => void;
  /** Authorization; undefined: every request is allowed. */
  access: Access | undefined;
  /** Revalidates requests that wait for their answer; present with `access`. */
  sessions: SessionRevalidation | undefined;
  /** Returns an id for a request without one; unique across restarts. */
  newRequestId: () => string;
  /** Folder of the built dashboard; undefined: no dashboard is served. */
  webRoot?: string | undefined;
  /** Calls an action after a time; returns a function that cancels it. */
  after: Clock['after'];
  /** Fires when the server stops: waiting requests are answered with the current state. */
  stopping: AbortSignal;
}

/** Returns the application; it does not listen yet. */
export function createApp(options: AppOptions): Koa {
  const app = new Application();
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
 * Every answer carries the request's id: the client's own if it is well formed. Here and in `sendJson` headers are set on
 * Node's own response: Koa's setter takes as long as the rest of this middleware, and every request runs it.
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
    const report = (): void => {
      const { operation = 'none', tokenId } = ctx.state as { operation?: string; tokenId?: string };
      const tookMs = stopwatch() - startedMs;
      answered(operation, ctx.status, tookMs / 1000);
      const { method, path, status } = ctx;
      log.debug({ requestId, method, path, status, tookMs: Math.round(tookMs), tokenId }, 'request');
    };
    const sentLater = laterSending(ctx);
    if (sentLater === undefined) report();
    else void sentLater.then(report);
  };
}

/** Turns every error into a problem document. */
function answeringErrors({ log, stopping, after }: AppOptions): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      answerError(ctx, error, log);
      if (isSending(ctx.req)) answerBeforeRest(ctx, after);
    }
    if (stopping.aborted) ctx.set('Connection', 'close');
  };
}

/**
 * Sends the answer at once, and ends it when the rest of the refused body has been read and discarded. A connection that is
 * closed while its client still sends is reset, and the client never sees the answer. A connection that sends for longer is closed.
 */
function answerBeforeRest(ctx: Context, after: AppOptions['after']): void {
  const { req } = ctx;
  const text = ctx.body as string;
  const discarded = new Promise<void>((resolve) => {
    const cancel = after(DISCARD_MS, resolve);
    for (const event of ['end', 'close', 'error']) req.once(event, () => resolve(cancel()));
    req.unpipe();
    req.resume();
  });
  async function* pieces(): AsyncGenerator<string> {
    yield text;
    await discarded;
  }
  ctx.body = Readable.from(pieces(), { objectMode: false });
  ctx.length = Buffer.byteLength(text);
}

/** Whether the client may still be sending a body. */
const isSending = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0');

/** The time for which the rest of a refused body is read. */
const DISCARD_MS = 10_000;

function refusingForeigners(rules: OriginRules): Middleware {
  const open = new Set(routes.filter((it) => it.scope === 'open').map((it) => it.path));
  return (ctx, next) => {
    const { headers, method } = ctx.req;
    // Load balancers ask by address, some without a Host header; the answer contains nothing to protect.
    if (open.has(ctx.path)) return next();
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

/** The parts that all routes share. */
interface Serving extends AppOptions, Stop {}

function routing(app: AppOptions): Middleware[] {
  const options: Serving = { ...app, waiting: new Set() };
  options.stopping.addEventListener('abort', () => options.waiting.forEach((abandon) => abandon()), { once: true });
  const readers = bodyReaders(options.limits);
  // A router tries the routes in order: those that runners use all the time come first, in a router of their own.
  const [ofRunners, others] = [new Router(ROUTING), new Router(ROUTING)];
  for (const route of routes) {
    if (route.body !== undefined) prepare(route.body.schema);
    const path = route.path.replace(/\{path\}$/, '*path').replaceAll(/\{(\w+)\}/g, ':$1');
    const reader = route.body && readers[route.body.limit];
    const router = route.scope === 'runner' ? ofRunners : others;
    router[METHODS[route.method]](path, (ctx: Context) => serve(ctx, route, reader, options));
  }
  return [ofRunners.routes(), others.routes()] as unknown as Middleware[];
}

const NO_BYTES = new Uint8Array(0);

const ROUTING = { strict: true, sensitive: true } as const;

const METHODS = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const;

/** Serves one request of a route: read and validate, call the coordinator, send the answer. */
async function serve(ctx: Context, route: Route, reader: BodyReader | undefined, options: Serving): Promise<void> {
  // Authorization comes first: only an authorized client learns the faults of its request.
  ctx.state['operation'] = route.operationId;
  const principal = options.access?.authorize(ctx.req, route.scope);
  ctx.state['tokenId'] = principal?.tokenId;
  const id = readId(ctx, pathParameter(route));
  const query = readQuery(ctx.querystring, route.query ?? {});
  const listing = route.query?.['cursor'] === undefined ? '' : listingName(ctx.path, query);
  const { text, value } = await readBody(ctx, route, reader, options.limits.runsPerBatch);
  const bytes = route.bodyBytes === undefined ? NO_BYTES : await readRawBody(ctx, route.bodyBytes);
  requireOwnRunner(principal, route, id, value);
  const call: Call = {
    id,
    filePath: hasFilePath(route) ? readFilePath(ctx) : '',
    range: parseByteRange(ctx.req.headers.range),
    isHead: ctx.method === 'HEAD',
    query,
    page: readPage(listing, query),
    body: value,
    bytes,
    idempotency: () => {
      const idempotencyKey = readIdempotencyKey(ctx);
      return idempotencyKey === undefined ? {} : { idempotencyKey, bodyDigest: requestDigest(route, ctx.path, text) };
    },
    abandoned: () =>
      abandonedSignal(ctx.res, options, (end) => principal && options.sessions?.watch(principal, route.scope, end)),
    isKnown: (tag) => matchesTag(ctx.get('If-None-Match'), tag),
    preferred: (types) => preferredType(ctx, types),
    description: apiDescription,
    service: options.service,
  };
  const answer = await route.handle(options.coordinator, call);
  if (answer instanceof LateAnswer) return sendLater(ctx, answer, writerFor(route.response), options);
  const nextAddress = (position: string): string => addressOfPage(ctx, makeCursor(listing, position));
  if (route.answer === 'list') await sendList(ctx, answer as ListAnswer, query, nextAddress);
  else if (route.answer === 'computed') sendComputed(ctx, answer as Answer);
  else if (route.answer === 'file') sendFile(ctx, answer as FileAnswer);
  else if (route.answer === 'raw') sendRaw(ctx, route, answer as RawAnswer, nextAddress);
  else sendJson(ctx, writerFor(route.response)(answer), route.answer === 'single');
}

/** The digest of a request by its body; one of a certain batch by its path too. */
const requestDigest = (route: Route, path: string, text: string): string =>
  digestOf(pathParameter(route) === undefined ? text : `${path}\n${text}`);

async function sendList(
  ctx: Context,
  answer: ListAnswer,
  query: Query,
  nextAddress: (position: string) => string,
): Promise<void> {
  if (query['limit'] === undefined) return sendWhole(ctx, answer);
  await sendPage(ctx, answer, nextAddress);
}

/** The address of this request with another cursor. */
function addressOfPage(ctx: Context, cursor: string): string {
  const parameters = ctx.querystring.split('&').filter((part) => part !== '' && !part.startsWith('cursor='));
  return `${ctx.path}?${[...parameters, `cursor=${cursor}`].join('&')}`;
}

/** Logs an interrupted answer: a client that disconnected at debug level, any other error as a fault. */
function connectionError(log: HttpLog, error: Error): void {
  const { code } = error as { code?: string };
  const left = code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET' || code === 'EPIPE';
  if (left) log.debug({ code }, 'a client disconnected before its answer was complete');
  else log.error({ err: error }, 'an answer broke off');
}
