/**
 * Answers in JSON, and the headers of every answer. The frequent ones are sent in one call: Koa's setters of headers, status and
 * body take longer than the rest of a small request.
 */
import type { ServerResponse } from 'node:http';
import type { StatusAnswer } from '../answers.ts';
import type { Context } from '../application.ts';
import { entityTag, matchesTag } from '../../base/entity-tag.ts';

/** The state of a request in Koa's context. */
export interface RequestState {
  /** The client's own id if it is well formed. */
  requestId: string;
  operation?: string;
  tokenId?: string | undefined;
  /** The name of the client. */
  actor?: string | undefined;
  /** Every byte of the body has been read; Node may not have seen its end. */
  isBodyRead?: boolean;
  /** Resolves when the answer has been sent, for a request whose answer comes after its middlewares have ended. */
  sentLater?: Promise<void>;
}

const TYPE = 'application/json; charset=utf-8';

/** Sets the headers of every answer. */
export function nameAnswer(ctx: Context): void {
  ctx.res.setHeader('X-Request-Id', (ctx.state as RequestState).requestId);
  ctx.res.setHeader('X-Content-Type-Options', 'nosniff');
}

/** Sends a body at once, without Koa: status 200, no entity tag. `isLast`: the connection is closed after it. */
export function sendJson(ctx: Context, body: string, isLast: boolean): void {
  const length = Buffer.byteLength(body);
  const headers = [
    'X-Request-Id',
    (ctx.state as RequestState).requestId,
    'X-Content-Type-Options',
    'nosniff',
    'Content-Type',
    TYPE,
    'Cache-Control',
    'no-store',
    'Content-Length',
    String(length),
  ];
  if (isLast) headers.push('Connection', 'close');
  ctx.respond = false;
  ctx.res.writeHead(200, headers);
  // ASCII has the same bytes in both encodings, and Latin-1 is copied where UTF-8 is converted.
  endWith(ctx.res, body, length === body.length ? 'latin1' : 'utf8');
}

/** Ends an answer with a text. Node's `end` adds an empty write to that of the text, and the two need more than one alone. */
function endWith(res: ServerResponse, text: string, encoding: 'latin1' | 'utf8'): void {
  const { socket } = res;
  // An answer that waits for the one before it has no socket yet.
  if (socket === null) {
    res.end(text, encoding);
    return;
  }
  socket.cork();
  res.write(text, encoding);
  socket.uncork();
  res.end();
}

/** Prepares an answer with another status than 200; with 202 the client asks again after a second. */
export function sendStatus(ctx: Context, { status, value }: StatusAnswer): void {
  ctx.status = status;
  ctx.set('Content-Type', TYPE);
  ctx.set('Cache-Control', 'no-store');
  if (status === 202) ctx.set('Retry-After', '1');
  ctx.body = JSON.stringify(value);
}

/** Prepares an answer with an entity tag; its client may have it already. */
export function sendTagged(ctx: Context, body: string): void {
  const etag = entityTag(body);
  ctx.res.setHeader('Content-Type', TYPE);
  ctx.res.setHeader('ETag', etag);
  ctx.res.setHeader('Cache-Control', 'no-cache');
  if (matchesTag(ctx.get('If-None-Match'), etag)) ctx.status = 304;
  else ctx.body = body;
}
