/** The HTTP server of a bridge: bodies, sizes and connections. `protocol.ts` has the answers. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { lossyFault } from '../../base/json/json-loss.ts';
import { answer, errorAnswer, METHODS, ProtocolError, type Model } from './protocol.ts';

/** A vector of 10,000 numbers takes 250 kB. */
const MAX_BYTES = 4_194_304;

/** Returns a server that is not listening yet. */
export function bridgeServer(model: Model): Server {
  return createServer((request, response) => {
    void respond(model, request, response);
  });
}

async function respond(model: Model, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    const body = await answerTo(model, request, gone.signal);
    send(request, response, 200, body);
  } catch (error) {
    if (gone.signal.aborted) return;
    const { status, body } = errorAnswer(error);
    // The rest of a body that is too large is not read.
    if (status === 413) response.setHeader('connection', 'close');
    send(request, response, status, body);
  }
}

function send({ method }: IncomingMessage, response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(method === 'HEAD' ? undefined : text);
}

async function answerTo(model: Model, request: IncomingMessage, signal: AbortSignal): Promise<object> {
  const { method = '', url = '', headers } = request;
  // Pages of a browser name their origin; the clients of the protocol do not. A page must not start runs.
  if (headers.origin !== undefined) throw new ProtocolError(403, 'Forbidden', 'requests of web pages are not answered');
  const path = url.split('?', 1)[0]!;
  const allowed = METHODS[path];
  if (allowed === undefined)
    throw new ProtocolError(
      404,
      'NotFound',
      `there is no ${path.slice(0, 100)}; the paths are ${Object.keys(METHODS).join(', ')}`,
    );
  if (method !== allowed && !(method === 'HEAD' && allowed === 'GET'))
    throw new ProtocolError(405, 'MethodNotAllowed', `${path} takes ${allowed}`);
  return answer(model, path, allowed === 'GET' ? undefined : parse(await read(request)), signal);
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_BYTES) throw new ProtocolError(413, 'InvalidInput', `the body is larger than ${MAX_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

function parse(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ProtocolError(400, 'InvalidInput', 'the body is not valid JSON, which has neither NaN nor Infinity');
  }
  const loss = lossyFault(text, value, { numbers: true, infinite: true });
  if (loss !== undefined) throw new ProtocolError(400, 'InvalidInput', `${loss.pointer} ${loss.detail}`);
  return value;
}
