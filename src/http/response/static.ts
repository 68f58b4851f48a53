/**
 * Static files: the dashboard and the API page, with their security headers. Nothing is rendered here, and no address of
 * the API is taken: the dashboard keeps its own addresses after `#`.
 */
import { send } from '@koa/send';
import helmet from 'helmet';
import type { Context, Middleware } from '../application.ts';

/** Scripts, styles and connections of this origin only; images also inline, since the styles of the API page have them. */
const POLICY = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  workerSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", 'data:'],
  fontSrc: ["'self'"],
  connectSrc: ["'self'"],
  manifestSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
};

// Over plain HTTP, HSTS and upgrade-insecure-requests would only break the page.
const guard = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: POLICY },
  strictTransportSecurity: false,
  crossOriginOpenerPolicy: { policy: 'same-origin' },
  referrerPolicy: { policy: 'no-referrer' },
});

const YEAR_MS = 365 * 24 * 3_600_000;

/** Serves the files below `root` (the built dashboard) at `/`, and the API page at `/docs`. `basePath` is before the addresses of redirects. */
export function servingPages(root: string, basePath: string): Middleware {
  return async (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    const file = fileOf(ctx.path);
    if (file === undefined) return next();
    if (ctx.path === '/docs') return ctx.redirect(`${basePath}/docs/`);
    await guarded(ctx);
    // The name of an asset contains a hash of its content; all other files are revalidated each time.
    const immutable = ctx.path.startsWith('/assets/');
    ctx.set('Cache-Control', immutable ? `public, max-age=${YEAR_MS / 1000}, immutable` : 'no-cache');
    const sent = await send(ctx, file, {
      root,
      maxAge: immutable ? YEAR_MS : 0,
      immutable,
      gzip: true,
      brotli: false,
    }).catch(absent);
    if (sent === undefined) {
      ctx.remove('Cache-Control');
      return next();
    }
    return undefined;
  };
}

/** Returns the file of a path, or undefined for a path outside the dashboard. */
function fileOf(path: string): string | undefined {
  if (path === '/' || path === '/index.html') return '/index.html';
  if (path === '/docs' || path === '/docs/') return '/docs/index.html';
  if (/^\/(assets|docs)\/[A-Za-z0-9_.-]+$/.test(path) || path === '/icon.svg') return path;
  return undefined;
}

function guarded(ctx: Context): Promise<void> {
  return new Promise((resolve, reject) => {
    guard(ctx.req, ctx.res, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
  });
}

/** A missing file is an ordinary 404; any other error is a fault. */
function absent(error: { status?: number }): undefined {
  if (error.status === 404) return undefined;
  throw error;
}
