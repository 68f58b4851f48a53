/**
 * WebSockets of the live feed: admission, limits on messages and on unsent data, orderly end. `/live` carries topics,
 * `/inspect` the Stately inspection format.
 */
import type { IncomingMessage, Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { SimbatchError } from '../../domain/errors.ts';
import { CLOSE_FORBIDDEN, CLOSE_UNAUTHENTICATED } from '../../contract/live/close-codes.ts';
import type { Coordinator } from '../../coordinator/lifecycle.ts';
import { Feed, MAX_TOPICS_PER_VIEWER, type Viewer } from '../../coordinator/feed/feed.ts';
import type { Clock } from '../../base/clock.ts';
import { ANONYMOUS, type Access, type Principal } from '../security/auth.ts';
import { withoutBase } from '../request/base-path.ts';
import { rejectCrossOrigin, type OriginRules } from '../security/origin.ts';
import type { SessionRevalidation } from '../security/session-revalidation.ts';
import { InspectionStream } from './inspection.ts';
import { readPosition, readRequest } from './messages.ts';

export interface LiveOptions {
  coordinator: Coordinator;
  origins: OriginRules;
  clock: Pick<Clock, 'after'>;
  /** Authorization; undefined: every viewer is admitted. */
  access: Access | undefined;
  sessions: SessionRevalidation | undefined;
  /** The prefix of addresses, see `request/base-path.ts`. */
  basePath: string;
}

/** A viewer with more unsent data than this gets a full message later instead of every delta. */
const BACKLOG_BYTES = 1024 * 1024;
const MAX_MESSAGE_BYTES = 4 * 1024;
const PROTOCOL = 'simbatch';
const MAX_VIEWERS = 200;
/** A viewer without traffic, not even a pong, for twice this time is disconnected. */
const PING_MS = 30_000;
/** A viewer that does not answer the close frame within this time is disconnected. */
const CLOSE_MS = 500;
/** RFC 6455 section 5.5: a control frame has 125 bytes, two of them for the code. Less, since a cut may split a character. */
const MAX_REASON_BYTES = 120;

/** Serves `/live` and `/inspect` on the server. Returns a function that ends it. */
export function attachLive(server: Server, options: LiveOptions): () => void {
  const feed = new Feed(options.coordinator);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    // A page offers this protocol and a second one with its token (see `auth.ts`); the second one is never selected.
    handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false),
  });
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const path = withoutBase(request.url ?? '', options.basePath).split('?', 1)[0];
    const serve = SERVED[path as keyof typeof SERVED] as Serve | undefined;
    const admission = serve === undefined ? '404 Not Found' : admissionOf(request, options, sockets.clients.size);
    if (serve === undefined || typeof admission === 'string') {
      socket.end(`HTTP/1.1 ${admission as string}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    // The server's limit on connections without traffic is for requests; here the pings detect a dead peer.
    if (socket instanceof Socket) socket.setTimeout(0);
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      keepAlive(webSocket, options.clock);
      const release = options.sessions?.watch(admission, 'read', (error) =>
        closeRevoked(webSocket, error, options.clock),
      );
      webSocket.on('close', () => release?.());
      serve(webSocket, feed, options.coordinator);
    });
  };
  server.on('upgrade', upgrade);
  return () => {
    server.off('upgrade', upgrade);
    for (const webSocket of sockets.clients) webSocket.close(1001, 'the coordinator is stopping');
    // A viewer that does not answer the close must not delay the end.
    options.clock.after(CLOSE_MS, () => sockets.clients.forEach((it) => it.terminate()));
    feed.close();
  };
}

type Serve = (webSocket: WebSocket, feed: Feed, coordinator: Coordinator) => void;
const SERVED: Record<'/live' | '/inspect', Serve> = { '/live': serveLive, '/inspect': serveInspection };

/** Returns the principal of a connection, or the status line of a refusal. */
function admissionOf(request: IncomingMessage, options: LiveOptions, viewers: number): Principal | string {
  const { host, origin } = request.headers;
  try {
    // A handshake is a GET, but a foreign page could read the data that follows: it is checked like a change.
    rejectCrossOrigin({ method: 'POST', host, origin, fetchSite: undefined }, options.origins);
    const principal = options.access?.authorize(request, 'read') ?? ANONYMOUS;
    return viewers >= MAX_VIEWERS ? '503 Service Unavailable' : principal;
  } catch (error) {
    const code = error instanceof SimbatchError ? error.code : 'internal';
    return code === 'foreign-origin' || code === 'forbidden' ? '403 Forbidden' : '401 Unauthorized';
  }
}

/** Ends the connection of a viewer that lost its authorization. Nothing is sent after the close frame, answered or not. */
function closeRevoked(webSocket: WebSocket, { code, message }: SimbatchError, clock: Pick<Clock, 'after'>): void {
  const reason = Buffer.from(message).subarray(0, MAX_REASON_BYTES).toString();
  webSocket.close(code === 'forbidden' ? CLOSE_FORBIDDEN : CLOSE_UNAUTHENTICATED, reason);
  const cancelTimer = clock.after(CLOSE_MS, () => webSocket.terminate());
  webSocket.on('close', cancelTimer);
}

function keepAlive(webSocket: WebSocket, clock: Pick<Clock, 'after'>): void {
  let isAlive = true;
  let cancelTimer = (): void => {};
  webSocket.on('pong', () => (isAlive = true));
  const check = (): void => {
    if (!isAlive) return webSocket.terminate();
    isAlive = false;
    webSocket.ping();
    cancelTimer = clock.after(PING_MS, check);
  };
  cancelTimer = clock.after(PING_MS, check);
  webSocket.on('close', () => cancelTimer());
  // A broken connection closes itself; an error event without a listener would end the process.
  webSocket.on('error', () => webSocket.terminate());
}

function serveLive(webSocket: WebSocket, feed: Feed): void {
  const topics = new Map<string, Promise<(() => void) | undefined>>();
  const viewer: Viewer = {
    send: (text) => webSocket.send(text),
    isCongested: () => webSocket.bufferedAmount > BACKLOG_BYTES,
  };
  const refuse = (topic: string | undefined, code: string, detail: string): void =>
    webSocket.send(JSON.stringify({ type: 'error', topic, code, detail }));
  const leave = (topic: string): void => {
    void topics.get(topic)?.then((end) => end?.());
    topics.delete(topic);
  };
  webSocket.on('message', (data) => {
    const request = readRequest((data as Buffer).toString('utf8'));
    if (typeof request === 'string') return refuse(undefined, 'malformed-body', request);
    if (request.type === 'ping') return webSocket.send('{"type":"pong"}');
    const { topic } = request;
    if (request.type === 'unsubscribe') return leave(topic);
    if (topics.has(topic)) return undefined;
    if (topics.size >= MAX_TOPICS_PER_VIEWER) {
      return refuse(topic, 'invalid-request', `no more than ${MAX_TOPICS_PER_VIEWER} topics at once`);
    }
    const subscribed = feed.subscribe(topic, viewer, readPosition(request.from)).catch((error: unknown) => {
      topics.delete(topic);
      const known = error instanceof SimbatchError;
      refuse(topic, known ? error.code : 'internal', known ? error.message : 'the coordinator met a fault of its own');
      return undefined;
    });
    topics.set(topic, subscribed);
    return undefined;
  });
  webSocket.on('close', () => {
    for (const topic of topics.keys()) leave(topic);
  });
}

function serveInspection(webSocket: WebSocket, _feed: Feed, coordinator: Coordinator): void {
  const stream = new InspectionStream();
  for (const text of stream.opening(coordinator.supervisor(), coordinator.parts.clock.now())) webSocket.send(text);
  const unwatch = coordinator.watch((commit) => {
    // Messages that a slow viewer cannot take are dropped: each message is complete in itself.
    if (webSocket.bufferedAmount > BACKLOG_BYTES) return;
    for (const text of stream.messages(commit)) webSocket.send(text);
  });
  webSocket.on('close', unwatch);
}
