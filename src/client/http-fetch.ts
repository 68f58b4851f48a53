/**
 * The part of `fetch` that the client's transport uses, over `node:http`. A runner makes several small requests per job, and each
 * costs a fifth of the CPU time this way (bench/runner.ts); a command that loads no `fetch` ends in two thirds of the time.
 * Follows no redirect, decodes no compression.
 */
import http from 'node:http';
import https from 'node:https';
import { Client } from './client.ts';
import type { TransportOptions } from './transport.ts';

interface Order {
  method: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  signal?: AbortSignal;
}

/** A client whose answers that are read at once come without `fetch`; those in pieces come with it. */
export const clientOf = (options: TransportOptions): Client => new Client({ ask: httpFetch(mayRepeat), ...options });

const mayRepeat = ({ method, headers }: Order): boolean => method === 'GET' || 'idempotency-key' in headers;

/**
 * Returns a `fetch` for bodies of text or bytes and textual answers; it keeps its connections open and uses them again.
 * @param repeats whether a request may be sent a second time where the first had no answer; any other has a connection of its own
 */
export function httpFetch(repeats: (order: Order) => boolean): typeof fetch {
  // By the proxies of the environment where Node's own requests go by them.
  const { proxyEnv } = (http.globalAgent as http.Agent & { options: { proxyEnv?: unknown } }).options;
  const agentsOf = (options: http.AgentOptions & { proxyEnv: unknown }) => ({
    'http:': new http.Agent(options),
    'https:': new https.Agent(options),
  });
  const kept = agentsOf({ keepAlive: true, proxyEnv });
  const ask = async (address: string, order: Order): Promise<Response> => {
    const url = new URL(address);
    const request = url.protocol === 'https:' ? https.request : http.request;
    const sendBy = (agents: typeof kept): Promise<Response> => {
      const agent = agents[url.protocol as keyof typeof agents];
      return send(() => request(url, { method: order.method, headers: headersOf(order), agent }), order);
    };
    try {
      return await sendBy(repeats(order) ? kept : agentsOf({ proxyEnv }));
    } catch (error) {
      // The other side closed an idle connection at the moment it was used: nothing was answered.
      if (!(error instanceof StaleConnection)) throw error;
      return await sendBy(agentsOf({ proxyEnv }));
    }
  };
  // Only the members that `client/transport.ts` uses are implemented.
  return ask as unknown as typeof fetch;
}

class StaleConnection extends Error {}

function headersOf({ headers, body }: Order): Record<string, string> {
  return body === undefined ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) };
}

function send(open: () => http.ClientRequest, { body, signal }: Order): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const request = open();
    const onAbort = (): void => {
      request.destroy(new Error('cancelled'));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    const settle = (): void => signal?.removeEventListener('abort', onAbort);
    const fail = (error: NodeJS.ErrnoException): void => {
      settle();
      // The code that `fetch` gives for a server without TLS.
      if (error.code === 'EPROTO' && error.message.includes('wrong version'))
        error.code = 'ERR_SSL_WRONG_VERSION_NUMBER';
      const isStale = request.reusedSocket && error.code === 'ECONNRESET' && signal?.aborted !== true;
      reject(isStale ? new StaleConnection() : error);
    };
    request.once('error', fail);
    request.once('response', (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => (text += part));
      answer.once('error', fail);
      answer.once('end', () => {
        settle();
        resolve(responseOf(answer, text));
      });
    });
    request.end(body);
  });
}

function responseOf(answer: http.IncomingMessage, text: string): Response {
  const status = answer.statusCode ?? 0;
  const get = (name: string): string | null => {
    const value = answer.headers[name];
    return value === undefined ? null : String(value);
  };
  const read = { ok: status >= 200 && status < 300, status, headers: { get }, text: async () => text };
  return read as unknown as Response;
}
