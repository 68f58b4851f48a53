/** Requests to a Kubernetes API server: plain HTTPS and JSON, a deadline and a bounded answer for each. */
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import type { Clock } from '../../../base/clock.ts';
import { EngineUnreachable, oneLine } from '../../engine.ts';
import { ExecCredentials, type Credential } from './exec-credential.ts';
import { readConnection, type Connection, type Sources } from './kubeconfig.ts';

const CALL_MS = 30_000;
/** A page of a list is smaller. */
const MAX_BYTES = 64 * 1024 * 1024;
const PAGE = 250;

export interface ApiAnswer {
  status: number;
  /** The resource, or a `Status` with the reason. */
  body: ApiObject;
  /** The clock of the server at the answer; undefined where it does not say. */
  serverMs: number | undefined;
}

/** A resource in JSON. Members are checked where they are read. */
export type ApiObject = Record<string, unknown>;

export type Query = Readonly<Record<string, string>>;

export class KubernetesApi {
  readonly #sources: Sources;
  readonly #clock: Clock;
  #connection: Promise<Connection> | undefined;
  #exec: ExecCredentials | undefined;
  #agent: { key: string; agent: http.Agent } | undefined;

  constructor(sources: Sources, clock: Clock) {
    this.#sources = sources;
    this.#clock = clock;
  }

  /**
   * One request; an error status is an answer.
   * @throws EngineUnreachable without an answer, or when the server is busy; EngineRefused for a wrong kubeconfig
   */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<ApiAnswer> {
    const { body, query = {}, type = 'application/json' } = options;
    let answer = await this.#send(method, path, { body, query, type });
    if (answer.status === 401 && this.#exec !== undefined) {
      this.#exec.forget();
      answer = await this.#send(method, path, { body, query, type });
    }
    const { status } = answer;
    if (status === 401 || status === 408 || status === 429 || status >= 500) {
      // The files may have been replaced.
      if (status === 401) this.#connection = undefined;
      throw new EngineUnreachable(`the Kubernetes API answers ${String(status)}: ${reasonOf(answer)}`);
    }
    return answer;
  }

  /** All items of a list, page by page. @throws EngineUnreachable also for an error status */
  async list(path: string, query: Query): Promise<{ items: ApiObject[]; serverMs: number | undefined }> {
    const items: ApiObject[] = [];
    let next: string | undefined;
    for (;;) {
      const page: Query = { ...query, limit: String(PAGE), ...(next === undefined ? {} : { continue: next }) };
      const answer = await this.request('GET', path, { query: page });
      if (answer.status !== 200) {
        throw new EngineUnreachable(`the Kubernetes API answers ${String(answer.status)}: ${reasonOf(answer)}`);
      }
      items.push(...((answer.body['items'] ?? []) as ApiObject[]));
      next = (answer.body['metadata'] as { continue?: string } | undefined)?.continue;
      if (next === undefined || next === '') return { items, serverMs: answer.serverMs };
    }
  }

  async #send(method: string, path: string, { body, query, type }: Required<RequestOptions>): Promise<ApiAnswer> {
    this.#connection ??= readConnection(this.#sources);
    const connection = await this.#connection.catch((error: unknown) => {
      this.#connection = undefined;
      throw error;
    });
    const credential = await this.#credential(connection);
    const text = body === undefined ? undefined : JSON.stringify(body);
    const { server } = connection.cluster;
    const search = new URLSearchParams(query).toString();
    const options: https.RequestOptions = {
      method,
      agent: this.#agentFor(connection, credential),
      host: server.hostname.replace(/^\[|\]$/g, ''),
      port: server.port === '' ? (server.protocol === 'https:' ? 443 : 80) : server.port,
      path: `${server.pathname.replace(/\/$/, '')}${path}${search === '' ? '' : `?${search}`}`,
      headers: {
        accept: 'application/json',
        'user-agent': 'simbatch-launcher',
        ...(credential.token === undefined ? {} : { authorization: `Bearer ${credential.token}` }),
        // Without a length Node sends the body of a DELETE unframed, and spoils the connection.
        ...(text === undefined ? {} : { 'content-type': type, 'content-length': String(Buffer.byteLength(text)) }),
      },
    };
    return this.#exchange(server.protocol === 'https:' ? https.request(options) : http.request(options), text);
  }

  #exchange(request: http.ClientRequest, text: string | undefined): Promise<ApiAnswer> {
    return new Promise((resolve, reject) => {
      const fail = (why: string): void => {
        cancel();
        request.destroy();
        reject(new EngineUnreachable(`the Kubernetes API cannot be reached: ${why}`));
      };
      const cancel = this.#clock.after(CALL_MS, () => fail(`no answer within ${String(CALL_MS / 1_000)} s`), {
        keepAlive: true,
      });
      request.once('error', (error: Error) => fail(error.message));
      request.once('response', (response) => {
        const pieces: Buffer[] = [];
        let bytes = 0;
        response.on('data', (piece: Buffer) => {
          bytes += piece.length;
          if (bytes > MAX_BYTES) fail(`an answer of more than ${String(MAX_BYTES)} bytes`);
          else pieces.push(piece);
        });
        response.once('error', (error: Error) => fail(error.message));
        response.once('end', () => {
          cancel();
          const serverMs = Date.parse(response.headers.date ?? '');
          resolve({
            status: response.statusCode ?? 0,
            body: parsed(Buffer.concat(pieces).toString('utf8')),
            serverMs: Number.isNaN(serverMs) ? undefined : serverMs,
          });
        });
      });
      request.end(text);
    });
  }

  async #credential({ identity }: Connection): Promise<Credential> {
    const { token, tokenFile, certificate, exec } = identity;
    if (exec !== undefined) {
      this.#exec ??= new ExecCredentials(exec, this.#clock, this.#sources.env);
      return this.#exec.get();
    }
    if (tokenFile !== undefined) {
      try {
        return { token: (await readFile(tokenFile, 'utf8')).trim() };
      } catch (error) {
        throw new EngineUnreachable(`the token file ${tokenFile} cannot be read`, { cause: error });
      }
    }
    return { ...(token === undefined ? {} : { token }), ...(certificate === undefined ? {} : { certificate }) };
  }

  /** Connections are kept, and replaced with the certificate of the client. */
  #agentFor({ cluster }: Connection, { certificate }: Credential): http.Agent {
    const key = certificate?.cert.toString('latin1') ?? '';
    if (this.#agent?.key === key) return this.#agent.agent;
    this.#agent?.agent.destroy();
    const agent =
      cluster.server.protocol === 'https:'
        ? new https.Agent({
            keepAlive: true,
            ...(cluster.ca === undefined ? {} : { ca: cluster.ca }),
            ...(cluster.serverName === undefined ? {} : { servername: cluster.serverName }),
            ...certificate,
          })
        : new http.Agent({ keepAlive: true });
    this.#agent = { key, agent };
    return agent;
  }
}

export interface RequestOptions {
  body?: unknown;
  query?: Query;
  /** Content type of the body. */
  type?: string;
}

/** The server's own words, with a remedy for a missing right. */
export function reasonOf({ body, status }: Pick<ApiAnswer, 'body' | 'status'>): string {
  const { message } = body;
  if (typeof message !== 'string' || message === '') return `status ${String(status)}`;
  const lacksRight = status === 403 && / cannot \w+ resource /.test(message);
  return oneLine(lacksRight ? `${message}; give the launcher the role of deploy/kubernetes/rbac.yaml` : message);
}

function parsed(text: string): ApiObject {
  try {
    const value: unknown = text === '' ? {} : JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as ApiObject;
  } catch {
    // A proxy answers in HTML.
  }
  return { message: text };
}
