/**
 * The port of a coordinator: it is open before the data are, so that probes and clients learn that a long recovery continues. Until a
 * listener takes the requests, `/healthz` is answered, and every other address with 503.
 */
import { createServer, maxHeaderSize, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { Server as TlsServer } from 'node:tls';
import { SimbatchError } from '../domain/errors.ts';
import { DEFAULT_LIMITS, type HttpLimits } from './limits.ts';
import { belowBase } from './request/base-path.ts';
import { PROBLEM_TYPE, problemOf } from './response/problem.ts';
import { withUsable, type CertificatePair } from './security/certificate.ts';

export interface DoorOptions {
  /** An address or a name, e.g. `127.0.0.1`. */
  host: string;
  /** 0 takes any free port. */
  port: number;
  limits?: Partial<HttpLimits>;
  /** The certificate; with it the server speaks only HTTPS. */
  tls?: CertificatePair;
  /** The prefix of all addresses, see `request/base-path.ts`; absent: none. */
  basePath?: string;
}

export interface Door {
  url: string;
  port: number;
  server: Server;
  /** Gives the requests from now on to this listener. */
  take(answer: RequestListener): void;
  /** Closes it with all its connections, where no listener took the requests. */
  close(): void;
  /** See `HttpServer`. */
  renewCertificate(pair: CertificatePair): void;
}

/** Starts to listen. Throws `invalid-configuration` with the cause when the address is not available. */
export async function openDoor({ host, port, tls, ...options }: DoorOptions): Promise<Door> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { basePath = '' } = options;
  let answer: RequestListener = notReady;
  const server = serverFor(
    belowBase(basePath, (request, response) => answer(request, response)),
    limits,
    tls,
  );
  server.on('clientError', refuseRaw);
  server.timeout = limits.stallTimeoutMs;
  await listening(server, host, port);
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${actual}${basePath}`,
    port: actual,
    server,
    take: (listener) => (answer = listener),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
    renewCertificate: (pair) => renew(server, pair),
  };
}

const NOT_READY = problemOf(
  'unavailable',
  'The coordinator is not ready: it reads and checks its data after a start; repeat the request in some seconds.',
);
/** Seconds after which a client asks again. */
const RETRY_SECS = 2;

/** Answers while the data are read: alive, and not ready. */
const notReady: RequestListener = (request, response) => {
  const isAlive = isProbe(request);
  const headers = isAlive
    ? { 'content-type': 'application/json; charset=utf-8' }
    : { 'content-type': PROBLEM_TYPE, 'retry-after': String(RETRY_SECS) };
  const body = JSON.stringify(isAlive ? { status: 'ok' } : NOT_READY);
  // The connection is closed: the rest of a body is not read.
  response.writeHead(isAlive ? 200 : 503, { ...headers, connection: 'close' });
  response.end(request.method === 'HEAD' ? undefined : body);
};

const isProbe = ({ url = '/', method = 'GET' }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') && url.split('?', 1)[0] === '/healthz';

function serverFor(answer: RequestListener, limits: HttpLimits, tls: DoorOptions['tls']): Server {
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
