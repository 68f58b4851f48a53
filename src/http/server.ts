/** The Node server around the application: listening, time limits, orderly end. */
import { createServer, maxHeaderSize, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { Server as TlsServer } from 'node:tls';
import { SimbatchError } from '../domain/errors.ts';
import type { CoordinatorApi } from '../coordinator/api.ts';
import type { Coordinator } from '../coordinator/lifecycle.ts';
import { DEFAULT_OPTIONS, type CoordinatorOptions } from '../coordinator/options.ts';
import type { Clock } from '../base/clock.ts';
import { createApp, type HttpLog } from './app.ts';
import { withUsable, type CertificatePair } from './security/certificate.ts';
import { attachLive } from './live/sockets.ts';
import type { AllocationTokens } from './security/allocation-tokens.ts';
import type { Audit } from './security/audit/audit.ts';
import type { Access } from './security/auth.ts';
import { Metrics } from './metrics.ts';
import { DEFAULT_LIMITS, limitsResponse, type HttpLimits } from './limits.ts';
import { isLoopbackAddress } from './security/origin.ts';
import { PROBLEM_TYPE, problemOf } from './response/problem.ts';
import type { Service } from './route.ts';
import { SessionRevalidation } from './security/session-revalidation.ts';

export interface HttpOptions {
  coordinator: CoordinatorApi;
  /** An address or a name, e.g. `127.0.0.1`. */
  host: string;
  /** 0 takes any free port. */
  port: number;
  log: HttpLog;
  clock: Pick<Clock, 'after' | 'monotonicMs' | 'random'>;
  limits?: Partial<HttpLimits>;
  /** The coordinator's options, for `/limits`; absent: its defaults. */
  settings?: Partial<CoordinatorOptions>;
  /** Host names of the coordinator besides loopback. */
  allowedHosts?: readonly string[];
  /** Folder of the built dashboard; absent: no dashboard is served. */
  webRoot?: string;
  /** The coordinator whose live feed is served (`/live`, `/inspect`); absent: no feed. */
  live?: Coordinator;
  /** Authorization; absent: every request is allowed. */
  access?: Access;
  /** The audit log; absent: none is kept. */
  audit?: Audit;
  /** Makes tokens for launchers; absent: none are needed. */
  allocationTokens?: AllocationTokens;
  /** Metrics for `/metrics`; absent: its own. */
  metrics?: Metrics;
  /** The certificate; with it the server speaks only HTTPS. */
  tls?: CertificatePair;
}

export interface HttpServer {
  url: string;
  port: number;
  /** For other users of the port (WebSocket upgrades). */
  server: Server;
  /**
   * Uses another certificate for new connections; open ones keep theirs. Throws `invalid-configuration` for an unusable
   * certificate or a server without HTTPS, and keeps the present one.
   */
  renewCertificate(pair: CertificatePair): void;
  /**
   * Stops accepting requests, answers long polls, lets running requests end, and closes the rest after `graceMs`. Resolves
   * when the last connection is closed.
   */
  close(graceMs: number): Promise<void>;
}

/** Starts to listen. Throws `invalid-configuration` with the cause when the address is not available. */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const { coordinator, host, log, clock, allowedHosts = [] } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const metrics = options.metrics ?? new Metrics();
  const stopping = new AbortController();
  const origins = { allowedHosts, anyAddress: host !== 'localhost' && !isLoopbackAddress(host) };
  const standing = options.access && new SessionRevalidation(options.access, clock);
  const app = createApp({
    coordinator,
    log,
    limits,
    origins,
    webRoot: options.webRoot,
    access: options.access,
    audit: options.audit,
    sessions: standing,
    service: {
      metrics: () => metrics.text(),
      limits: () => limitsResponse(limits, { ...DEFAULT_OPTIONS, ...options.settings }),
      allocationTokens: options.allocationTokens ?? NO_TOKENS,
    },
    answered: (...request) => metrics.request(...request),
    newRequestId: requestIds(clock),
    clock,
    stopping: stopping.signal,
  });
  const answer = app.callback();
  const server = serverFor((request, response) => void answer(request, response), limits, options.tls);
  server.on('clientError', refuseRaw);
  server.timeout = limits.stallTimeoutMs;
  const endLive =
    options.live &&
    attachLive(server, {
      coordinator: options.live,
      origins,
      clock,
      access: options.access,
      sessions: standing,
    });
  await listening(server, host, options.port);
  const { port } = server.address() as AddressInfo;
  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    server,
    renewCertificate: (pair) => renew(server, pair),
    close: (graceMs) => {
      endLive?.();
      return closed(server, stopping, clock, graceMs);
    },
  };
}

/** The tokens of a coordinator without authorization: none is made. */
const NO_TOKENS: Service['allocationTokens'] = {
  make: async ({ allocations }) => ({ tokens: allocations.map(({ allocation }) => ({ allocation, token: null })) }),
  revoke: async () => ({ revoked: 0 }),
  requireOwn: () => {},
  ownerOf: () => undefined,
};

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

/** `a1b2c3d4-1`, `a1b2c3d4-2`, ...: the first part makes them unique across restarts. */
function requestIds(clock: Pick<Clock, 'random'>): () => string {
  const prefix = Buffer.from(clock.random(4)).toString('hex');
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}

const HEADERS_TOO_LARGE = `The address and headers have more than ${maxHeaderSize} bytes; send fewer or shorter parameters.`;

/** Answers a malformed or late request and closes the connection; the application never sees it. */
function refuseRaw(error: NodeJS.ErrnoException, socket: Duplex): void {
  // After a failed handshake no answer can be sent.
  if (!socket.writable || error.code === 'ECONNRESET' || /^(ERR_SSL|ERR_TLS|EPROTO)/.test(error.code ?? '')) {
    socket.destroy();
    return;
  }
  const [statusLine, problem] =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? ['408 Request Timeout', problemOf('request-timeout', 'The request did not arrive in full in time.')]
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? ['431 Request Header Fields Too Large', problemOf('headers-too-large', HEADERS_TOO_LARGE)]
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
  clock: Pick<Clock, 'after'>,
  graceMs: number,
): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    const cancelTimer = clock.after(graceMs, () => server.closeAllConnections());
    server.close(() => {
      cancelTimer();
      resolve();
    });
    stopping.abort();
    server.closeIdleConnections();
  });
}
