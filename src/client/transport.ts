/**
 * One HTTP exchange with the coordinator: address, credential, time limit, exact JSON. Every failure is one of two error
 * classes. The operations are in `./client.ts`; nothing here retries.
 */
import { SimbatchError } from '../domain/errors.ts';
import { failureOf, readBody, withDeadline } from '../base/async/deadline.ts';
import { stringifyExact } from '../base/json/json-writing.ts';
import type { Fault, Problem } from '../contract/types.ts';
import { parseExact } from '../base/json/exact-json.ts';

/** The coordinator refused a request. `code` is the problem's code (docs/api.md lists all codes). */
export class ApiError extends Error {
  /** The HTTP status, e.g. 409. */
  readonly status: number;
  /** kebab-case; `unexpected-answer` when the server is not a coordinator. */
  readonly code: string;
  /** Every fault of the request, each with its JSON Pointer; empty when the problem does not concern the body. */
  readonly faults: readonly Fault[];
  readonly problem: Problem | undefined;
  /** Value of `Retry-After` in seconds; undefined without this header. */
  readonly retryAfterSecs: number | undefined;

  constructor(status: number, code: string, message: string, problem?: Problem, retryAfterSecs?: number) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.faults = problem?.errors ?? [];
    this.problem = problem;
    this.retryAfterSecs = retryAfterSecs;
  }

  /** Whether the same request may succeed later: the coordinator was busy, stopping or failed internally. */
  get transient(): boolean {
    return this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

/** No answer arrived. `message` names the endpoint and the cause; whether the request took effect is unknown. */
export class UnreachableError extends Error {
  readonly endpoint: string;

  constructor(endpoint: string, why: string, cause?: unknown) {
    super(`cannot reach the coordinator at ${endpoint}: ${why}`, cause === undefined ? undefined : { cause });
    this.name = 'UnreachableError';
    this.endpoint = endpoint;
  }
}

export type QueryValue = string | number | readonly (string | number)[] | undefined;

export interface Exchange {
  method: 'GET' | 'POST' | 'DELETE';
  /** Path segments, escaped here. */
  path: readonly string[];
  query?: Record<string, QueryValue>;
  body?: unknown;
  /** A body that is not JSON. */
  bytes?: Uint8Array;
  headers?: Record<string, string>;
  /** Aborts the exchange; the signal's reason is thrown unchanged. */
  signal?: AbortSignal;
  /** Milliseconds on top of the client's time limit, for a long poll. */
  extraMs?: number;
}

export interface Answer<T> {
  body: T;
  status: number;
  headers: Headers;
}

/** An answer whose body is yet to be read. */
export interface OpenAnswer extends Omit<Answer<never>, 'body'> {
  content: AsyncIterable<Uint8Array>;
  /** Ends the exchange. */
  close: () => void;
}

export interface TransportOptions {
  endpoint: string;
  token?: string;
  timeoutMs?: number;
  fetch?: typeof fetch;
  /** In place of `fetch` where the answer is read at once: `httpFetch`, whose answers have been read. */
  ask?: typeof fetch;
}

const CAUSES: Record<string, string> = {
  ECONNREFUSED: 'connection refused (is it running?)',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name cannot be resolved at the moment',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_SOCKET: 'the connection was closed before the answer',
  EPIPE: 'the connection was closed before the answer',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed; name a file with it in NODE_EXTRA_CA_CERTS',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is of an unknown authority; name its file in NODE_EXTRA_CA_CERTS',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is of an unknown authority; name its file in NODE_EXTRA_CA_CERTS',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is of an unknown authority; name its file in NODE_EXTRA_CA_CERTS',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name; use the name in it as the endpoint',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak HTTPS; use http://',
};

export class Transport {
  readonly endpoint: string;
  readonly #token: string | undefined;
  readonly #timeoutMs: number;
  readonly #fetch: typeof fetch;
  readonly #ask: typeof fetch;

  /** @throws SimbatchError `invalid-configuration` when the endpoint is not an http(s) address. */
  constructor(options: TransportOptions) {
    this.endpoint = checkedEndpoint(options.endpoint);
    this.#token = options.token === '' ? undefined : options.token;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#fetch = options.fetch ?? fetch;
    this.#ask = options.ask ?? this.#fetch;
  }

  /** @throws ApiError, UnreachableError, or the reason of `exchange.signal`. */
  async send<T>(exchange: Exchange): Promise<Answer<T>> {
    const limitMs = this.#timeoutMs + (exchange.extraMs ?? 0);
    const address = this.#address(exchange);
    const body = bodyOf(exchange);
    let response: Response, text: string;
    let isLate = false;
    try {
      [response, text] = await withDeadline(limitMs, exchange.signal, async (signal) => {
        signal.addEventListener('abort', () => (isLate = exchange.signal?.aborted !== true));
        const answer = await this.#ask(address, {
          method: exchange.method,
          headers: this.#headers(exchange),
          // A redirect would send the credential to another host.
          redirect: 'error',
          signal,
          ...body,
        });
        return [answer, answer.body ? new TextDecoder().decode(await readBody(answer, signal)) : await answer.text()];
      });
    } catch (error) {
      exchange.signal?.throwIfAborted();
      const why = isLate ? `no answer within ${String(limitMs / 1000)} s` : explain(error);
      throw new UnreachableError(this.endpoint, why, error);
    }
    if (response.ok)
      return { body: this.#parsed(response, text) as T, status: response.status, headers: response.headers };
    throw refusal(this.endpoint, response, text);
  }

  /**
   * Yields the body of an answer in chunks as they arrive; the time limit covers only the response headers.
   * @throws ApiError, UnreachableError; the latter also while it is read
   */
  async *stream(exchange: Exchange): AsyncGenerator<Uint8Array> {
    yield* (await this.open(exchange)).content;
  }

  /**
   * Returns an answer whose body is yielded in chunks as they arrive; it must be iterated, or `close` called. The time limit
   * covers only the response headers.
   * @throws ApiError, UnreachableError; the latter also while the body is read
   */
  async open(exchange: Exchange): Promise<OpenAnswer> {
    const late = new AbortController();
    const limitMs = this.#timeoutMs + (exchange.extraMs ?? 0);
    const limit = AbortSignal.timeout(limitMs);
    const giveUp = () => late.abort(new Error(`no answer within ${String(limitMs / 1000)} s`));
    limit.addEventListener('abort', giveUp, { once: true });
    const signal = exchange.signal === undefined ? late.signal : AbortSignal.any([late.signal, exchange.signal]);
    try {
      let response = await this.#fetch(this.#address(exchange), {
        method: exchange.method,
        headers: this.#headers(exchange),
        redirect: 'manual',
        signal,
      });
      const elsewhere = response.status === 302 ? response.headers.get('location') : null;
      if (elsewhere !== null) {
        // The credential is for the coordinator alone and not sent; the address has one of its own.
        const { range } = exchange.headers ?? {};
        const headers: Record<string, string> = range === undefined ? {} : { range };
        response = await this.#fetch(elsewhere, { headers, redirect: 'error', signal });
      }
      limit.removeEventListener('abort', giveUp);
      if (!response.ok) throw refusal(this.endpoint, response, await response.text());
      const content = this.#content(response, exchange, late);
      return { status: response.status, headers: response.headers, content, close: () => late.abort() };
    } catch (error) {
      late.abort();
      throw this.#broken(error, exchange);
    } finally {
      limit.removeEventListener('abort', giveUp);
    }
  }

  async *#content(response: Response, exchange: Exchange, late: AbortController): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of response.body ?? []) yield piece as Uint8Array;
    } catch (error) {
      throw this.#broken(error, exchange);
    } finally {
      // A consumer that stops early must not keep the connection open.
      late.abort();
    }
  }

  #broken(error: unknown, exchange: Exchange): unknown {
    if (exchange.signal?.aborted === true) return exchange.signal.reason;
    if (error instanceof ApiError || error instanceof SimbatchError) return error;
    return new UnreachableError(this.endpoint, explain(error), error);
  }

  #address(exchange: Exchange): string {
    const path = exchange.path.map((segment) => {
      // A URL parser would resolve these segments, and the request would address another resource.
      if (segment === '.' || segment === '..' || segment === '') {
        throw new SimbatchError('not-found', `${JSON.stringify(segment)} cannot be an identifier`);
      }
      return encodeURIComponent(segment);
    });
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(exchange.query ?? {})) {
      for (const one of Array.isArray(value) ? value : value === undefined ? [] : [value]) {
        query.append(name, String(one));
      }
    }
    const search = query.size === 0 ? '' : `?${query.toString()}`;
    return `${this.endpoint}/${path.join('/')}${search}`;
  }

  #headers(exchange: Exchange): Record<string, string> {
    return {
      accept: 'application/json, application/problem+json',
      ...(exchange.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(exchange.bytes === undefined ? {} : { 'content-type': 'application/octet-stream' }),
      ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
      ...exchange.headers,
    };
  }

  #parsed(response: Response, text: string): unknown {
    try {
      return parseExact(text);
    } catch {
      throw new ApiError(
        response.status,
        'unexpected-answer',
        `${this.endpoint} did not answer in JSON; check that this is the address of a simbatch coordinator`,
      );
    }
  }
}

function bodyOf({ body, bytes }: Exchange): { body?: string | Uint8Array<ArrayBuffer> } {
  if (bytes !== undefined) return { body: bytes as Uint8Array<ArrayBuffer> };
  return body === undefined ? {} : { body: stringifyExact(body) };
}

/**
 * Returns the fault of an endpoint as the end of a sentence with its remedy; undefined for a valid one. With `isSecret`
 * the address contains a credential and must not be shown.
 */
export function endpointFault(endpoint: string): { why: string; isSecret: boolean } | undefined {
  // An invalid address may contain a credential too.
  const fault = (why: string) => ({ why: `${why}, e.g. http://127.0.0.1:7070`, isSecret: endpoint.includes('@') });
  if (!URL.canParse(endpoint)) return fault('is not an address; give one');
  const url = new URL(endpoint);
  if (url.username !== '' || url.password !== '') {
    const why = 'must not carry a user name or password; the credential is given by SIMBATCH_TOKEN';
    return { why, isSecret: true };
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return fault('must begin with http:// or https://');
  if (url.search !== '' || url.hash !== '') return fault('must not have a query or a fragment; give the base address');
  return undefined;
}

function checkedEndpoint(endpoint: string): string {
  const fault = endpointFault(endpoint);
  if (fault !== undefined) {
    const named = fault.isSecret ? 'the endpoint' : `endpoint ${JSON.stringify(endpoint)}`;
    throw new SimbatchError('invalid-configuration', `${named} ${fault.why}`);
  }
  return new URL(endpoint).href.replace(/\/+$/, '');
}

function explain(error: unknown): string {
  const { cause } = failureOf(error);
  if (!(cause instanceof Error)) return String(cause);
  const code = (cause as NodeJS.ErrnoException).code;
  if (code !== undefined && CAUSES[code] !== undefined) return CAUSES[code];
  return (cause.message === '' ? (code ?? cause.name) : cause.message).split('\n', 1)[0] ?? cause.name;
}

function refusal(endpoint: string, response: Response, text: string): ApiError {
  const after = retryAfter(response.headers.get('retry-after'));
  let problem: unknown;
  try {
    problem = JSON.parse(text);
  } catch {
    problem = undefined;
  }
  if (isProblem(problem)) return new ApiError(response.status, problem.code, problem.detail, problem, after);
  const message = `${endpoint} answered ${String(response.status)} without a problem document; check that it is a simbatch coordinator`;
  return new ApiError(response.status, 'unexpected-answer', message, undefined, after);
}

function isProblem(value: unknown): value is Problem {
  if (typeof value !== 'object' || value === null || !('code' in value) || !('detail' in value)) return false;
  return typeof value.code === 'string' && typeof value.detail === 'string';
}

/** Seconds only; a date in `Retry-After` would need two agreeing clocks. */
function retryAfter(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) : undefined;
}
