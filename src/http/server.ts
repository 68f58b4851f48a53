/** The application at its port: the live feed beside it, and the orderly end. `door.ts` has the port. */
import type { Server } from 'node:http';
import type { CoordinatorApi } from '../coordinator/api.ts';
import type { Coordinator } from '../coordinator/lifecycle.ts';
import { DEFAULT_OPTIONS, type CoordinatorOptions } from '../coordinator/options.ts';
import type { Clock } from '../base/clock.ts';
import { createApp, type HttpLog } from './app.ts';
import { openDoor, type Door, type DoorOptions } from './door.ts';
import type { CertificatePair } from './security/certificate.ts';
import { attachLive } from './live/sockets.ts';
import type { AllocationTokens } from './security/allocation-tokens.ts';
import type { Audit } from './security/audit/audit.ts';
import type { Access } from './security/auth.ts';
import { Metrics } from './metrics.ts';
import { DEFAULT_LIMITS, limitsResponse } from './limits.ts';
import { isLoopbackAddress } from './security/origin.ts';
import type { Service } from './route.ts';
import { SessionRevalidation } from './security/session-revalidation.ts';

export interface HttpOptions extends DoorOptions {
  coordinator: CoordinatorApi;
  /** The port that is open already; absent: it is opened as the options say. */
  door?: Door;
  log: HttpLog;
  clock: Pick<Clock, 'after' | 'monotonicMs' | 'random'>;
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
  const { coordinator, host, log, clock, allowedHosts = [], basePath = '' } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const door = options.door ?? (await openDoor(options));
  const { server } = door;
  const metrics = options.metrics ?? new Metrics();
  const stopping = new AbortController();
  const origins = {
    allowedHosts: [host, ...allowedHosts],
    anyAddress: host !== 'localhost' && !isLoopbackAddress(host),
  };
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
      basePath,
      allocationTokens: options.allocationTokens ?? NO_TOKENS,
    },
    answered: (...request) => metrics.request(...request),
    newRequestId: requestIds(clock),
    clock,
    stopping: stopping.signal,
  });
  const answer = app.callback();
  const endLive =
    options.live &&
    attachLive(server, {
      coordinator: options.live,
      origins,
      clock,
      access: options.access,
      sessions: standing,
      basePath,
    });
  door.take((request, response) => void answer(request, response));
  return {
    url: door.url,
    port: door.port,
    server,
    renewCertificate: (pair) => door.renewCertificate(pair),
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

/** `a1b2c3d4-1`, `a1b2c3d4-2`, ...: the first part makes them unique across restarts. */
function requestIds(clock: Pick<Clock, 'random'>): () => string {
  const prefix = Buffer.from(clock.random(4)).toString('hex');
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
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
