/** Sends one JSON value. */
import type { Context } from 'koa';
import { etagOf, matchesTag } from './etag.ts';

/** `tagged`: with an entity tag, and without a body for a client that has this version. */
export function sendJson(ctx: Context, body: string, tagged: boolean): void {
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
