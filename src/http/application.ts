/**
 * Koa with less work around each request. Koa watches every response and its socket with a dozen listeners (on-finished) to log
 * a broken connection: a seventh of the memory of a waiting request. Streams report it by themselves.
 */
import { pipeline, Readable } from 'node:stream';
import { sinkOf } from '../base/async/sent-pieces.ts';
import Koa, { type DefaultContext, type DefaultState, type ParameterizedContext } from 'koa';

/** The bodies of this server. Koa's own type takes any object, which Koa would turn into JSON without the exact numbers. */
export type Body = string | Uint8Array | Readable | null | undefined;
export type Context = ParameterizedContext<DefaultState, DefaultContext, Body>;
export type Middleware = Koa.Middleware<DefaultState, DefaultContext, Body>;

/** Statuses of answers without a body. */
const WITHOUT_BODY = new Set([204, 205, 304]);

export class Application extends Koa {
  /** Replaces the method of Koa. */
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
  } else if (body instanceof Readable) pipeline(body, sinkOf(body, res), (error) => ctx.onerror(error as Error));
  else if (body === null || body === undefined) throw new TypeError(`an answer has no body: status ${ctx.status}`);
  else res.end(body);
}
