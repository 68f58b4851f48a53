/** Listening: the Node server around the application, its time limits, and its orderly end. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { Server as TlsServer } from 'node:tls';
import { SimbatchError } from '../domain/errors.ts';
import type { CoordinatorApi } from '../coordinator/api.ts';
import type { Coordinator } from '../coordinator/coordinator.ts';
import { DEFAULT_OPTIONS, type CoordinatorOptions } from '../coordinator/core.ts';
import type { Clock } from '../base/clock.ts';
import { createApp, type HttpLog } from './app.ts';
import { withUsable, type CertificatePair } from './security/certificate.ts';
import { attachLive } from './live/sockets.ts';
import type { Access } from './security/auth.ts';
import { Metrics } from './metrics.ts';
import { DEFAULT_LIMITS, limitsResponse, type HttpLimits } from './limits.ts';
import { isLoopbackAddress } from './security/origin.ts';
import { PROBLEM_TYPE, problemOf } from './response/problem.ts';
import { SessionRevalidation } from './security/session-revalidation.ts';

export interface HttpOptions {
  coordinator: CoordinatorApi;
  /** An address or a name, e.g. `127.0.0.1`. */
  host: string;
  /** 0 takes any free one. */
  port: number;
  log: HttpLog;
  world: Pick<Clock, 'after' | 'random'>;
  limits?: Partial<HttpLimits>;
  /** What the coordinator was set to, to be told at `/limits`; absent: its defaults. */
  settings?: Partial<CoordinatorOptions>;
  /** Host names besides loopback under which the coordinator is reached. */
  allowedHosts?: readonly string[];
  /** Where the built dashboard lies; absent: none is served. */
  webRoot?: string;
  /** What the live feed (`/live`, `/inspect`) tells of; absent: there is none. */
  live?: Coordinator;
  /** Who may do what; absent: everybody everything. */
  access?: Access;
  /** What is counted, for `/metrics`; absent: its own. */
  metrics?: Metrics;
  /** Speaks HTTPS, and nothing else. */
  tls?: CertificatePair;
}

export interface HttpServer {
  url: string;
  port: number;
  /** For what shares the port (WebSocket upgrades). */
  server: Server;
  /**
   * Shows another certificate to those who connect from now on; open connections stay as they are. Throws
   * `invalid-configuration` when it cannot be used, or where HTTPS is not spoken, and goes on as before.
   */
  renewCertificate(pair: CertificatePair): void;
  /**
   * Stops taking requests, answers those who wait for work, lets running requests end, and cuts what is left after
   * `graceMs`. Resolves when the last connection is closed.
   */
  close(graceMs: number): Promise<void>;
}

/** Starts to listen. Throws `invalid-configuration` with one clear sentence when the address cannot be had. */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const { coordinator, host, log, world, allowedHosts = [] } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const metrics = options.metrics ?? new Metrics();
  const stopping = new AbortController();
  const origins = { allowedHosts, anyAddress: host !== 'localhost' && !isLoopbackAddress(host) };
  const standing = options.access && new SessionRevalidation(options.access, world);
  const app = createApp({
    coordinator,
    log,
    limits,
    origins,
    webRoot: options.webRoot,
    access: options.access,
    standing,
    service: {
      metrics: () => metrics.text(),
      limits: () => limitsResponse(limits, { ...DEFAULT_OPTIONS, ...options.settings }),
    },
    answered: (...request) => metrics.request(...request),
    newRequestId: requestIds(world),
    stopping: stopping.signal,
  });
  const answer = app.callback();
  const server = serverFor((request, response) => void answer(request, response), limits, options.tls);
  server.on('clientError', refuseRaw);
  server.timeout = limits.stallTimeoutMs;
  const endLive =
    options.live && attachLive(server, { coordinator: options.live, origins, world, access: options.access, standing });
  await listening(server, host, options.port);
  const { port } = server.address() as AddressInfo;
  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    server,
    renewCertificate: (pair) => renew(server, pair),
    close: (graceMs) => {
      endLive?.();
      return closed(server, stopping, world, graceMs);
    },
  };
}

function serverFor(answer: RequestListener, limits: HttpLimits, tls: HttpOptions['tls']): Server {
  const settings = {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    connectionsCheckingInterval: Math.min(5_000, limits.headersTimeoutMs),
  };
  if (tls === undefined) return createServer(settings, answer);
  return withUsable(tls, (pair) =>
    createTlsServer({ ...settings, ...pair, handshakeTimeout: limits.headersTimeoutMs }, answer),
  );
}

function renew(server: Server, pair: CertificatePair): void {
  if (!(server instanceof TlsServer)) {
    throw new SimbatchError('invalid-configuration', 'This server was started without a certificate.');
  }
  withUsable(pair, () => server.setSecureContext(pair));
}

/** `a1b2c3d4-1`, `a1b2c3d4-2`, ...: told apart across restarts by their first part. */
function requestIds(world: Pick<Clock, 'random'>): () => string {
  const prefix = Buffer.from(world.random(4)).toString('hex');
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}

/** Answers what is not even a request, or did not arrive in time, and closes. There is no application to ask yet. */
function refuseRaw(error: NodeJS.ErrnoException, socket: Duplex): void {
  // A handshake that failed leaves nothing to answer through.
  if (!socket.writable || error.code === 'ECONNRESET' || /^(ERR_SSL|ERR_TLS|EPROTO)/.test(error.code ?? '')) {
    socket.destroy();
    return;
  }
  const [statusLine, problem] =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? ['408 Request Timeout', problemOf('request-timeout', 'The request did not arrive in full in time.')]
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? ['431 Request Header Fields Too Large', undefined]
        : ['400 Bad Request', undefined];
  const body = problem === undefined ? '' : JSON.stringify(problem);
  const type = problem === undefined ? '' : `Content-Type: ${PROBLEM_TYPE}\r\n`;
  const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  socket.end(`HTTP/1.1 ${statusLine}\r\nConnection: close\r\n${type}${length}\r\n${body}`);
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)));
    server.listen(port, host, resolve);
  });
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): SimbatchError {
  const reasons: Record<string, string> = {
    EADDRINUSE: `another program listens on ${host}:${port}; choose another --port, or stop that program`,
    EACCES: `port ${port} may not be used by this user; choose a --port above 1023`,
    EADDRNOTAVAIL: `this machine has no address ${host}; choose another --host`,
    ENOTFOUND: `the name ${host} has no address; choose another --host`,
  };
  const reason = reasons[error.code ?? ''] ?? error.message;
  return new SimbatchError('invalid-configuration', `Cannot listen: ${reason}.`, { cause: error });
}

function closed(
  server: Server,
  stopping: AbortController,
  world: Pick<Clock, 'after'>,
  graceMs: number,
): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    const callOff = world.after(graceMs, () => server.closeAllConnections());
    server.close(() => {
      callOff();
      resolve();
    });
    stopping.abort();
    server.closeIdleConnections();
  });
}
