/** A listening server around a coordinator, for tests; always on loopback and a free port. */
import { request } from 'node:http';
import { startHttp, type HttpOptions, type HttpServer } from '../../src/http/server.ts';
import { systemClock } from '../../src/base/clock.ts';
import { fakeCoordinator } from './fake-api.ts';

export interface LogLine {
  level: string;
  facts: Record<string, unknown>;
  message: string;
}

export interface TestServer extends HttpServer {
  received: LogLine[];
}

export async function listen(options: Partial<HttpOptions> = {}): Promise<TestServer> {
  const received: LogLine[] = [];
  const record = (level: string) => (facts: object, message: string) => {
    received.push({ level, facts: facts as Record<string, unknown>, message });
  };
  const server = await startHttp({
    coordinator: fakeCoordinator(),
    host: '127.0.0.1',
    port: 0,
    log: { debug: record('debug'), info: record('info'), error: record('error') },
    clock: systemClock,
    ...options,
  });
  return { ...server, received };
}

/** Sends a value as JSON, or a text unchanged, by POST unless another method is given. */
export function post(
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<Response> {
  return fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Sends a request with headers that fetch forbids (`Host`, `Origin`), or a method that it forbids. */
export function rawRequest(
  url: string,
  method: string,
  headers: Record<string, string>,
  body = '',
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
