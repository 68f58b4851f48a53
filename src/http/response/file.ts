/** Sends a file of a run, or a range of it. Nothing in it is ever executed by a browser: it is a download, without scripts. */
import { Readable } from 'node:stream';
import type { Context } from '../application.ts';
import { mediaTypeOf } from '../../domain/files/file-path.ts';
import type { FileRedirect } from '../../coordinator/files/place.ts';
import type { FileAnswer } from '../answers.ts';
import type { Clock } from '../../base/clock.ts';
import { matchesTag } from '../../base/entity-tag.ts';
import { inPieces } from './slow-reader.ts';

/** Sends a file no faster than the client reads. A fault in the middle cuts the connection, as does a client that takes it too slowly. */
export function sendFile(
  ctx: Context,
  { reading, path, isRedirected }: FileAnswer,
  clock: Pick<Clock, 'after' | 'monotonicMs'>,
): void {
  if ('url' in reading) {
    sendAddress(ctx, reading, isRedirected);
    return;
  }
  const { size, part, version, modifiedMs, content, close } = reading;
  const tag = `"${version.replaceAll(/[^\x21\x23-\x7e]/g, '_')}"`;
  const { start, end } = part ?? { start: 0, end: size };
  ctx.status = part === undefined ? 200 : 206;
  ctx.set('Accept-Ranges', 'bytes');
  ctx.set('ETag', tag);
  ctx.set('Cache-Control', 'no-cache');
  if (modifiedMs !== undefined) ctx.set('Last-Modified', new Date(modifiedMs).toUTCString());
  ctx.set('Content-Disposition', `attachment; filename*=UTF-8''${fileNameOf(path)}`);
  ctx.set('Content-Security-Policy', "default-src 'none'; sandbox");
  if (part !== undefined) ctx.set('Content-Range', `bytes ${String(start)}-${String(end - 1)}/${String(size)}`);
  if (part === undefined && matchesTag(ctx.get('If-None-Match'), tag)) {
    close();
    ctx.status = 304;
    return;
  }
  if (ctx.method === 'HEAD') ctx.body = '';
  else {
    const pieces = inPieces(content, clock, (why) => source.destroy(why));
    const source = Readable.from(pieces, { objectMode: false, highWaterMark: 65_536 });
    ctx.body = source;
  }
  // Koa resets both with the body.
  ctx.set('Content-Type', mediaTypeOf(path));
  ctx.length = end - start;
}

/** The address is a credential for a while: no cache may keep it. */
function sendAddress(ctx: Context, { url, expiresAtMs }: FileRedirect, isRedirected: boolean): void {
  ctx.set('Cache-Control', 'no-store');
  if (isRedirected) {
    ctx.status = 302;
    ctx.set('Location', url);
    ctx.body = '';
    return;
  }
  ctx.body = JSON.stringify({ url, expires_at: new Date(expiresAtMs).toISOString() });
  ctx.set('Content-Type', 'application/json; charset=utf-8');
}

/** RFC 8187: the last part of the path, percent-encoded. */
function fileNameOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return encodeURIComponent(name.toWellFormed()).replaceAll(/['()*]/g, (it) => `%${it.charCodeAt(0).toString(16)}`);
}
