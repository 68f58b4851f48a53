/**
 * The part of `fetch` that the client's transport uses, over `node:http`: a runner makes several small requests per job, and
 * each costs a fifth of the CPU time this way (bench/runner.ts). Follows no redirect, decodes no compression.
 */
import http from 'node:http';
import https from 'node:https';

interface Order {
  method: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  signal?: AbortSignal;
}

/** Returns a `fetch` for bodies of text or bytes and textual answers; it keeps its connections open and uses them again. */
export function httpFetch(): typeof fetch {
  const agents = { 'http:': new http.Agent({ keepAlive: true }), 'https:': new https.Agent({ keepAlive: true }) };
  const ask = async (address: string, order: Order): Promise<Response> => {
    const url = new URL(address);
    const request = url.protocol === 'https:' ? https.request : http.request;
    const agent = agents[url.protocol as keyof typeof agents];
    try {
      return await send(() => request(url, { method: order.method, headers: headersOf(order), agent }), order);
    } catch (error) {
      // The other side closed an idle connection at the moment it was used: nothing was answered, and every exchange of a
      // runner may be repeated.
      if (!(error instanceof StaleConnection)) throw error;
      return await send(() => request(url, { method: order.method, headers: headersOf(order), agent: false }), order);
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
