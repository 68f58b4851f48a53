/**
 * The WebSocket side of the live feed: who may connect, how much one may say and how much may be on its way to it, and the
 * orderly end. `/live` speaks topics, `/inspect` the Stately inspection format.
 */
import type { IncomingMessage, Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { SimbatchError } from '../../domain/errors.ts';
import { CLOSE_FORBIDDEN, CLOSE_UNAUTHENTICATED } from '../../contract/live/close-codes.ts';
import type { Coordinator } from '../../coordinator/coordinator.ts';
import { Feed, MAX_TOPICS_PER_VIEWER, type Viewer } from '../../coordinator/feed/feed.ts';
import type { Clock } from '../../base/clock.ts';
import { ANONYMOUS, type Access, type Principal } from '../security/auth.ts';
import { rejectCrossOrigin, type OriginRules } from '../security/origin.ts';
import type { SessionRevalidation } from '../security/session-revalidation.ts';
import { InspectionStream } from './inspection.ts';
import { readRequest } from './messages.ts';

export interface LiveOptions {
  coordinator: Coordinator;
  origins: OriginRules;
  world: Pick<Clock, 'after'>;
  /** Who may read; undefined: everybody. */
  access: Access | undefined;
  standing: SessionRevalidation | undefined;
}

/** More than this on its way to a viewer, and it gets a fresh snapshot later instead of every delta. */
const BEHIND_BYTES = 1024 * 1024;
const MAX_MESSAGE_BYTES = 4 * 1024;
const PROTOCOL = 'simbatch';
const MAX_VIEWERS = 200;
/** Nothing heard, not even an answer to a ping, for twice this: the viewer is gone. */
const PING_MS = 30_000;
/** A viewer that does not answer the close in this time is cut off. */
const CLOSE_MS = 500;
/** RFC 6455, 5.5: a control frame has 125 bytes, of which the code takes two. Less, as a cut may fall into a character. */
const MAX_REASON_BYTES = 120;

/** Serves `/live` and `/inspect` on the server. Returns what ends it. */
export function attachLive(server: Server, options: LiveOptions): () => void {
  const feed = new Feed(options.coordinator);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    // A page asks for this one and, beside it, for one that carries its token (see `auth.ts`), which is never the one chosen.
    handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false),
  });
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const serve = SERVED[(request.url ?? '').split('?', 1)[0] as keyof typeof SERVED] as Serve | undefined;
    const admission = serve === undefined ? '404 Not Found' : admissionOf(request, options, sockets.clients.size);
    if (serve === undefined || typeof admission === 'string') {
      socket.end(`HTTP/1.1 ${admission as string}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    // The server's limit on silent connections is for requests; silence here is ended by the pings.
    if (socket instanceof Socket) socket.setTimeout(0);
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      keepAlive(webSocket, options.world);
      const release = options.standing?.hold(admission, 'read', (error) => turnOut(webSocket, error, options.world));
      webSocket.on('close', () => release?.());
      serve(webSocket, feed, options.coordinator);
    });
  };
  server.on('upgrade', upgrade);
  return () => {
    server.off('upgrade', upgrade);
    for (const webSocket of sockets.clients) webSocket.close(1001, 'the coordinator is stopping');
    // A viewer that does not answer the close must not hold up the end.
    options.world.after(CLOSE_MS, () => sockets.clients.forEach((it) => it.terminate()));
    feed.close();
  };
}

type Serve = (webSocket: WebSocket, feed: Feed, coordinator: Coordinator) => void;
const SERVED: Record<'/live' | '/inspect', Serve> = { '/live': serveLive, '/inspect': serveInspection };

/** Whose connection it is to be, or the status line of a refusal. */
function admissionOf(request: IncomingMessage, options: LiveOptions, viewers: number): Principal | string {
  const { host, origin } = request.headers;
  try {
    // A handshake is a GET, but a page elsewhere could read what follows: it is judged like a change.
    rejectCrossOrigin({ method: 'POST', host, origin, fetchSite: undefined }, options.origins);
    const principal = options.access?.authorize(request, 'read') ?? ANONYMOUS;
    return viewers >= MAX_VIEWERS ? '503 Service Unavailable' : principal;
  } catch (error) {
    const code = error instanceof SimbatchError ? error.code : 'internal';
    return code === 'foreign-origin' || code === 'forbidden' ? '403 Forbidden' : '401 Unauthorized';
  }
}

/** Ends the connection of one who may not look any more. Nothing is sent after the close, whether it is answered or not. */
function turnOut(webSocket: WebSocket, { code, message }: SimbatchError, world: Pick<Clock, 'after'>): void {
  const reason = Buffer.from(message).subarray(0, MAX_REASON_BYTES).toString();
  webSocket.close(code === 'forbidden' ? CLOSE_FORBIDDEN : CLOSE_UNAUTHENTICATED, reason);
  const callOff = world.after(CLOSE_MS, () => webSocket.terminate());
  webSocket.on('close', callOff);
}

function keepAlive(webSocket: WebSocket, world: Pick<Clock, 'after'>): void {
  let isAlive = true;
  let callOff = (): void => {};
  webSocket.on('pong', () => (isAlive = true));
  const check = (): void => {
    if (!isAlive) return webSocket.terminate();
    isAlive = false;
    webSocket.ping();
    callOff = world.after(PING_MS, check);
  };
  callOff = world.after(PING_MS, check);
  webSocket.on('close', () => callOff());
  // A broken connection closes itself; without a listener it would end the process.
  webSocket.on('error', () => webSocket.terminate());
}

function serveLive(webSocket: WebSocket, feed: Feed): void {
  const topics = new Map<string, Promise<(() => void) | undefined>>();
  const viewer: Viewer = {
    send: (text) => webSocket.send(text),
    isCongested: () => webSocket.bufferedAmount > BEHIND_BYTES,
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
    const subscribed = feed.subscribe(topic, viewer, request.from).catch((error: unknown) => {
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
  const unwatch = coordinator.watch((commit) => {
    // What a slow viewer cannot take is left out: every message stands for itself.
    if (webSocket.bufferedAmount > BEHIND_BYTES) return;
    for (const text of stream.messages(commit)) webSocket.send(text);
  });
  webSocket.on('close', unwatch);
}
