/**
 * Koa with less work around each request. Koa watches every response and its socket with a dozen listeners (on-finished) to log
 * a broken connection: a seventh of the memory of a waiting request. Streams report it by themselves.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import Koa, {
  type DefaultContext,
  type DefaultState,
  type ParameterizedContext,
  type Request,
  type Response,
} from 'koa';

/** The bodies of this server. Koa's own type takes any object, which Koa would turn into JSON without the exact numbers. */
export type Body = string | Uint8Array | Readable | null | undefined;
export type Context = ParameterizedContext<DefaultState, DefaultContext, Body>;
export type Middleware = Koa.Middleware<DefaultState, DefaultContext, Body>;

/** Statuses of answers without a body. */
const WITHOUT_BODY = new Set([204, 205, 304]);

export class Application extends Koa {
  readonly #contextOf = contextsOf(this);

  override createContext<State>(req: IncomingMessage, res: ServerResponse): ParameterizedContext<State> {
    return this.#contextOf(req, res) as ParameterizedContext<State>;
  }

  /** Replaces Koa's. */
  protected async handleRequest(ctx: Context, middlewares: (ctx: Context) => Promise<void>): Promise<void> {
    ctx.res.statusCode = 404;
    try {
      await middlewares(ctx);
      respond(ctx);
    } catch (error) {
      ctx.onerror(error as Error);
    }
  }
}

/** An address of which Koa's parser makes nothing but a path. */
const PATH_ALONE = /^\/[^?#\s]*$/;

/**
 * Returns the function that makes the contexts of an application. They inherit from Koa's, whose request and response are made
 * when they are first used: a frequent answer is sent without them.
 */
function contextsOf(app: Koa): (req: IncomingMessage, res: ServerResponse) => object {
  class LeanContext {
    readonly app = app;
    readonly req: IncomingMessage;
    readonly res: ServerResponse;
    readonly originalUrl: string | undefined;
    readonly state = {};
    /** Set by the router. */
    params: Record<string, string> | undefined;
    /** False: the answer is sent by other means. */
    respond: boolean | undefined;
    #parts: { request: Request; response: Response } | undefined;
    /** The address of the path below, which may be replaced. */
    #url: string | undefined;
    #path = '';

    constructor(req: IncomingMessage, res: ServerResponse) {
      this.req = req;
      this.res = res;
      this.originalUrl = req.url;
    }

    get request(): Request {
      return (this.#parts ??= this.#makeParts()).request;
    }

    get response(): Response {
      return (this.#parts ??= this.#makeParts()).response;
    }

    get method(): string {
      return this.req.method!;
    }

    get path(): string {
      const { url = '' } = this.req;
      if (url !== this.#url) {
        this.#path = PATH_ALONE.test(url) ? url : this.request.path;
        this.#url = url;
      }
      return this.#path;
    }

    get querystring(): string {
      return this.path === this.req.url ? '' : this.request.querystring;
    }

    /** As Koa's `createContext` makes them. */
    #makeParts(): { request: Request; response: Response } {
      const { req, res, originalUrl } = this;
      const [request, response] = [Object.create(app.request) as Request, Object.create(app.response) as Response];
      Object.assign(request, { app, req, res, ctx: this, response, originalUrl });
      Object.assign(response, { app, req, res, ctx: this, request });
      return { request, response };
    }
  }
  Object.setPrototypeOf(LeanContext.prototype, app.context);
  return (req, res) => new LeanContext(req, res);
}

/** Sends the body; an answer that is sent later is left alone. */
function respond(ctx: Context): void {
  if (ctx.respond !== false) sendBody(ctx);
}

/** Ends the answer with its body. */
export function sendBody(ctx: Context): void {
  const { res, body } = ctx;
  if (!ctx.writable || ctx.method === 'HEAD') res.end();
  else if (WITHOUT_BODY.has(ctx.status)) {
    // Removes the headers of a body.
    ctx.body = null;
    res.end();
  } else if (body instanceof Readable) pipeline(body, res, (error) => ctx.onerror(error as Error));
  else if (body === null || body === undefined) throw new TypeError(`an answer has no body: status ${ctx.status}`);
  else res.end(body);
}
