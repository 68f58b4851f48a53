/**
 * A proxy between the clients and the coordinator of a selftest. It sees each message, so that a kill can be placed before it,
 * after it, or between a change on the disk and its reply.
 */
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';

export type Operation = 'submit' | 'register' | 'claim' | 'reports' | 'other';
/** `request`: not yet forwarded. `forwarded`: sent to the coordinator. `reply`: not yet returned. */
export type Stage = 'request' | 'forwarded' | 'reply';

export interface Moment {
  stage: Stage;
  operation: Operation;
  /** The runner that sent the request, if one did. */
  runnerId: string | undefined;
  request: string;
  /** The answer's status and text, at stage `reply`. */
  reply?: { status: number; text: string };
}

/** Decides whether a message is passed on; a dropped one ends its connection. */
export type Observer = (moment: Moment) => Promise<'pass' | 'drop'>;

const RUNNER_PATH = /^\/runners\/([^/]+)\/(claims|reports)$/;

export class Wire {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Address of the coordinator; undefined while there is none, and then connections are refused. */
  target: URL | undefined;
  observe: Observer = async () => 'pass';

  constructor() {
    this.#server = createServer((incoming, outgoing) => {
      this.#exchange(incoming, outgoing).catch(() => incoming.socket.destroy());
    });
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => socket.destroy());
    });
  }

  /** Listens on a free port of the loopback interface and returns the address. */
  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #exchange(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await textOf(incoming);
    const path = new URL(incoming.url ?? '/', 'http://relative.invalid').pathname;
    const moment = { ...identify(incoming.method, path, body), request: body };
    if ((await this.observe({ ...moment, stage: 'request' })) === 'drop') return void incoming.socket.destroy();
    const { target } = this;
    if (target === undefined) return void incoming.socket.destroy();
    // Replies to a request without `accept-encoding` are not compressed, so that the observer can read them.
    const { 'accept-encoding': _encoding, ...asked } = incoming.headers;
    const forwarded = httpRequest(new URL(incoming.url ?? '/', target), {
      method: incoming.method,
      headers: asked,
      agent: false,
    });
    const answered = once(forwarded, 'response') as Promise<[IncomingMessage]>;
    outgoing.on('close', () => forwarded.destroy());
    forwarded.end(body, () => void this.observe({ ...moment, stage: 'forwarded' }));
    const [answer] = await answered;
    const text = await textOf(answer);
    const reply = { status: answer.statusCode ?? 0, text };
    if ((await this.observe({ ...moment, stage: 'reply', reply })) === 'drop') return void incoming.socket.destroy();
    const { 'transfer-encoding': _transfer, connection: _connection, ...headers } = answer.headers;
    outgoing.writeHead(reply.status, { ...headers, 'content-length': Buffer.byteLength(text) });
    outgoing.end(text);
  }
}

/** @throws the error of a connection that ended early */
async function textOf(message: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of message.setEncoding('utf8')) text += part as string;
  return text;
}

function identify(
  method: string | undefined,
  path: string,
  body: string,
): { operation: Operation; runnerId: string | undefined } {
  if (method !== 'POST') return { operation: 'other', runnerId: undefined };
  if (path === '/jobs') return { operation: 'submit', runnerId: undefined };
  if (path === '/runners') return { operation: 'register', runnerId: (JSON.parse(body) as { id: string }).id };
  const [, runnerId, last] = RUNNER_PATH.exec(path) ?? [];
  return { operation: last === 'claims' ? 'claim' : last === 'reports' ? 'reports' : 'other', runnerId };
}
