/** The HTTP server of a bridge: bodies, sizes and connections. `protocol.ts` has the answers. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { lossyFault } from '../../base/json/json-loss.ts';
import { isAllowedHost, type OriginRules } from '../../http/security/origin.ts';
import { answer, errorAnswer, METHODS, ProtocolError, type Model } from './protocol.ts';

/** A vector of 10,000 numbers takes 250 kB. */
const MAX_BYTES = 4_194_304;

/** Returns a server that is not listening yet; `hosts` are the names by which its clients may call it. */
export function bridgeServer(model: Model, hosts: OriginRules): Server {
  return createServer((request, response) => {
    void respond(model, hosts, request, response);
  });
}

async function respond(
  model: Model,
  hosts: OriginRules,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    rejectWebPages(request, hosts);
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

/** A page must not start runs. Pages of a browser name their origin, and one whose name was bound to this address (DNS rebinding) names itself as host. */
function rejectWebPages({ headers: { origin, host = '' } }: IncomingMessage, hosts: OriginRules): void {
  if (origin !== undefined) throw new ProtocolError(403, 'Forbidden', 'requests of web pages are not answered');
  if (isAllowedHost(host, hosts)) return;
  const given = JSON.stringify(host.slice(0, 100));
  throw new ProtocolError(
    403,
    'Forbidden',
    `the Host header is ${given}, which is not a name of this bridge; use its address, or start it with --allowed-host`,
  );
}

async function answerTo(model: Model, request: IncomingMessage, signal: AbortSignal): Promise<object> {
  const { method = '', url = '' } = request;
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
