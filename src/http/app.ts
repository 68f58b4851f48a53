/**
 * The Koa application, made from the table of routes. `createApp` lists the steps of every request from top to bottom;
 * `serve` adds the steps of one route.
 */
import { batchIdOf } from '../domain/ids.ts';
import { parseByteRange } from '../domain/files/byte-range.ts';
import type { CoordinatorApi } from '../coordinator/api.ts';
import type { Answer } from '../coordinator/answers/answers.ts';
import type { Access, Principal } from './security/auth.ts';
import type { Action, Audit } from './security/audit/audit.ts';
import { requireOwn } from './security/permissions.ts';
import { Application, type Context, type Middleware } from './application.ts';
import { bodyReaders, digestOf, readRawBody, type BodyReader, type Room } from './request/body.ts';
import { BodyBudget } from './request/body-budget.ts';
import type { HttpLimits } from './limits.ts';
import { makeCursor } from './request/cursor.ts';
import { isClientGone } from '../base/async/sent-pieces.ts';
import { matchesTag } from '../base/entity-tag.ts';
import { apiDescription } from './openapi.ts';
import { stopwatch, type Clock } from '../base/clock.ts';
import { rejectCrossOrigin, type OriginRules } from './security/origin.ts';
import { answerError } from './response/problem.ts';
import { abandonedSignal, type Stop } from './request/abandoned.ts';
import { nameAnswer, sendJson, sendStatus, sendTagged, type RequestState } from './response/json.ts';
import { sendLater } from './response/late.ts';
import { readQuery } from './request/query.ts';
import {
  listingName,
  preferredType,
  readBody,
  readFilePath,
  readId,
  readIdempotencyKey,
  readPage,
  readParameters,
  requireOwnRunner,
} from './request/request.ts';
import { LateAnswer, StatusAnswer, type FileAnswer, type ListAnswer, type RawAnswer } from './answers.ts';
import {
  hasFilePath,
  pathParameter,
  type Call,
  type PathParameter,
  type Query,
  type Route,
  type Service,
} from './route.ts';
import { routes } from './routes/index.ts';
import { routing } from './routing.ts';
import { toJson } from './response/serialize.ts';
import type { SessionRevalidation } from './security/session-revalidation.ts';
import { sendComputed } from './response/computed.ts';
import { nothingHere } from './nothing-here.ts';
import { sendFile } from './response/file.ts';
import { SlowReader } from './response/slow-reader.ts';
import { answerBeforeRest, isSending } from './response/refused-body.ts';
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
  limits: HttpLimits;
  origins: OriginRules;
  service: Service;
  /** Called for every answered request with operation (`none`: unknown address), status and duration. */
  answered: (operation: string, status: number, secs: number) => void;
  /** Authorization; undefined: every request is allowed. */
  access: Access | undefined;
  /** The audit log of actions; undefined: none is kept. */
  audit: Audit | undefined;
  /** Revalidates requests that wait for their answer; present with `access`. */
  sessions: SessionRevalidation | undefined;
  /** Returns an id for a request without one; unique across restarts. */
  newRequestId: () => string;
  /** Folder of the built dashboard; undefined: no dashboard is served. */
  webRoot?: string | undefined;
  clock: Pick<Clock, 'after' | 'monotonicMs'>;
  /** Fires when the server stops: waiting requests are answered with the current state. */
  stopping: AbortSignal;
}

/** Returns the application; it does not listen yet. */
export function createApp(options: AppOptions): Application {
  const app = new Application();
  app.on('error', (error: Error) => connectionError(options.log, error));
  app.use(answering(options));
  app.use(routing(routes, servingOf(options)));
  app.use(namingAnswer);
  if (options.webRoot !== undefined) app.use(servingPages(options.webRoot, options.service.basePath));
  app.use(nothingHere);
  return app;
}

/**
 * Names the request, refuses a request that a foreign page may have caused, turns every error into a problem document, and reports the
 * answer. One function for all of it: each middleware costs an asynchronous call for every request.
 */
function answering({ newRequestId, log, answered, origins, stopping, clock, audit }: AppOptions): Middleware {
  const open = routes.filter((it) => it.scope === 'open').map((it) => it.path);
  return async (ctx, next) => {
    const startedMs = stopwatch();
    const { headers, method = 'GET' } = ctx.req;
    const { path } = ctx;
    const given = headers['x-request-id'];
    const isDecent = typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given);
    const requestId = isDecent ? given : newRequestId();
    const state = ctx.state as RequestState;
    state.requestId = requestId;
    try {
      // Load balancers ask by address, some without a Host header; the answer contains nothing to protect.
      if (!open.includes(path)) {
        const { host, origin, 'sec-fetch-site': fetchSite } = headers;
        rejectCrossOrigin({ method, host, origin, fetchSite }, origins);
      }
      await next();
    } catch (error) {
      nameAnswer(ctx);
      answerError(ctx, error, log);
      const { statusCode: status } = ctx.res;
      if (status === 401 || status === 403)
        audit?.refused({ status, operation: state.operation, from: ctx.req.socket.remoteAddress, why: whyOf(error) });
      if (state.isBodyRead !== true && isSending(ctx.req)) answerBeforeRest(ctx, clock);
    }
    const { sentLater } = state;
    if (sentLater !== undefined) void sentLater.then(report);
    else {
      if (stopping.aborted && !ctx.res.headersSent) ctx.set('Connection', 'close');
      report();
    }
    function report(): void {
      const { operation = 'none', tokenId, actor } = state;
      const { statusCode: status } = ctx.res;
      const tookMs = stopwatch() - startedMs;
      answered(operation, status, tookMs / 1000);
      log.debug({ requestId, method, path, status, tookMs: Math.round(tookMs), tokenId, actor }, 'request');
    }
  };
}

/** The longest reason of a refusal in the audit log. */
const WHY_CHARS = 300;
const whyOf = (error: unknown): string => (error as Error).message.slice(0, WHY_CHARS);

const namingAnswer: Middleware = (ctx, next) => {
  nameAnswer(ctx);
  return next();
};

/** The parts that all routes share. */
interface Serving extends AppOptions, Stop {
  bodies: BodyBudget;
}

/** Returns the function that makes the handler of a route. */
function servingOf(app: AppOptions): (route: Route) => Middleware {
  const { bodiesBytes: bytes, bodyWaitMs: waitMs } = app.limits;
  const bodies = new BodyBudget({ bytes, waitMs, clock: app.clock });
  const options: Serving = { ...app, waiting: new Set(), bodies };
  options.stopping.addEventListener('abort', () => options.waiting.forEach((abandon) => abandon()), { once: true });
  const readers = bodyReaders(options.limits);
  return (route) => {
    if (route.body !== undefined) prepare(route.body.schema);
    const served: ServedRoute = {
      route,
      reader: route.body && readers[route.body.limit],
      parameter: pathParameter(route),
      hasFilePath: hasFilePath(route),
      isListing: route.query?.['cursor'] !== undefined,
    };
    return (ctx) => serve(ctx, served, options);
  };
}

/** A route and all that follows from it alone. */
interface ServedRoute {
  route: Route;
  reader: BodyReader | undefined;
  parameter: PathParameter | undefined;
  hasFilePath: boolean;
  isListing: boolean;
}

const NO_BYTES = new Uint8Array(0);
const NO_QUERY = {};

/** Serves one request of a route: read and validate, call the coordinator, send the answer. */
async function serve(ctx: Context, served: ServedRoute, options: Serving): Promise<void> {
  const { route, reader, parameter } = served;
  if (route.answer !== 'plain') nameAnswer(ctx);
  const state = ctx.state as RequestState;
  state.operation = route.operationId;
  // Authorization comes first: only an authorized client learns the faults of its request.
  const principal = options.access?.authorize(ctx.req, route.scope, route.changes);
  state.tokenId = principal?.tokenId;
  state.actor = principal?.client?.actor;
  const id = readId(ctx, parameter);
  const coordinator = await forClient(options.coordinator, route, principal, id);
  const query = readQuery(ctx.querystring, route.query ?? NO_QUERY);
  const listing = served.isListing ? listingName(ctx.path, query) : '';
  const client = principal?.tokenId ?? ctx.req.socket.remoteAddress ?? '';
  const room: Room = (wanted) => options.bodies.take({ client, bytes: wanted, response: ctx.res });
  const { text, value } = await readBody(ctx, route, reader, {
    maxRuns: options.limits.runsPerBatch,
    share: options.coordinator.share,
    room,
  });
  const bytes = route.bodyBytes === undefined ? NO_BYTES : await readRawBody(ctx, route.bodyBytes, room);
  requireOwnRunner(principal, route, id, value);
  const call: Call = {
    id,
    parameters: readParameters(ctx, route),
    filePath: served.hasFilePath ? readFilePath(ctx) : '',
    range: parseByteRange(ctx.req.headers.range),
    isHead: ctx.req.method === 'HEAD',
    query,
    page: readPage(listing, query),
    body: value,
    bytes,
    runnerId: principal?.runnerId,
    allocation: principal?.allocation,
    tokenId: principal?.tokenId,
    actor: principal?.client?.actor,
    scopes: principal?.client?.scopes,
    idempotency: () => {
      const idempotencyKey = readIdempotencyKey(ctx);
      return idempotencyKey === undefined ? {} : { idempotencyKey, bodyDigest: requestDigest(route, ctx.path, text) };
    },
    abandoned: () =>
      abandonedSignal(ctx.res, options, (end) => principal && options.sessions?.watch(principal, route.scope, end)),
    isKnown: (tag) => matchesTag(ctx.get('If-None-Match'), tag),
    preferred: (types) => preferredType(ctx, types),
    description: () => apiDescription(options.service.basePath),
    service: options.service,
  };
  const handle = (): unknown => route.handle(coordinator, call);
  const isAudited = options.audit !== undefined && coordinator !== options.coordinator;
  const answer = await (isAudited ? options.audit!.during(actionOf(ctx, route, call), handle) : handle());
  if (answer instanceof LateAnswer) return sendLater(ctx, answer, options);
  if (answer instanceof StatusAnswer) return sendStatus(ctx, answer);
  const nextAddress = (position: string): string =>
    `${options.service.basePath}${addressOfPage(ctx, makeCursor(listing, position))}`;
  if (route.answer === 'list') await sendList(ctx, answer as ListAnswer, query, nextAddress);
  else if (route.answer === 'computed') sendComputed(ctx, answer as Answer);
  else if (route.answer === 'file') sendFile(ctx, answer as FileAnswer, options.clock);
  else if (route.answer === 'raw') sendRaw(ctx, route, answer as RawAnswer, nextAddress);
  else if (route.answer === 'single') sendTagged(ctx, toJson(answer));
  else sendJson(ctx, toJson(answer), options.stopping.aborted);
}

/**
 * The coordinator as it acts for the client of a request.
 * @throws SimbatchError `forbidden` for a change of a study that belongs to another client
 */
async function forClient(
  coordinator: CoordinatorApi,
  route: Route,
  principal: Principal | undefined,
  id: string,
): Promise<CoordinatorApi> {
  const client = principal?.client;
  if (client === undefined || (route.scope !== 'submit' && route.scope !== 'operate')) return coordinator;
  if (route.changes !== undefined) {
    const batchId = pathParameter(route) === 'job_id' ? batchIdOf(id) : id;
    const { owner } = await coordinator.batchOwner(batchId);
    requireOwn(route, client, { batchId, owner });
  }
  return coordinator.as(client.actor);
}

/** The request as the audit log names it. */
const actionOf = ({ req, state }: Context, { operationId }: Route, { id, actor, tokenId }: Call): Action => ({
  request: (state as RequestState).requestId,
  actor,
  token: tokenId,
  operation: operationId,
  ...(id !== '' && { on: id }),
  from: req.socket.remoteAddress,
});

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

/** Logs an interrupted answer: a client that disconnected at debug level, a slow reader at info level, any other error as a fault. */
function connectionError(log: HttpLog, error: NodeJS.ErrnoException): void {
  if (isClientGone(error)) log.debug({ code: error.code }, 'a client disconnected before its answer was complete');
  else if (error instanceof SlowReader) log.info({}, `a file was not read to its end: ${error.message}`);
  else log.error({ err: error }, 'an answer broke off');
}
