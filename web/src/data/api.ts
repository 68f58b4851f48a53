/** Requests of the pages to the public API, with refusals as errors. */
import { useEffect, useState } from 'react';
import type { Fault, Problem } from '../../../src/contract/types.ts';
import { BASE_PATH } from './place.ts';
import { askForToken, credentials } from './token.ts';
import { parseExact } from '../../../src/base/json/exact-json.ts';

/** The code of a request without an answer. */
const UNREACHABLE = 'unreachable';
const RETRY_MS = 2_000;

/** A failed request, with a message for the viewer of the page. */
export class RequestError extends Error {
  readonly code: string;
  readonly faults: readonly Fault[];
  /** When the same request may succeed; undefined where it would be refused again. */
  readonly retryMs: number | undefined;

  constructor(message: string, code: string, faults: readonly Fault[] = [], retryMs?: number) {
    super(message);
    this.code = code;
    this.faults = faults;
    this.retryMs = retryMs;
  }
}

export interface Answer<T> {
  data: T;
  headers: Headers;
}

/** @throws RequestError when there is no answer, or the request is refused */
export async function request<T>(path: string, init: RequestInit = {}): Promise<Answer<T>> {
  const response = await accepted(path, init);
  return { data: parseExact(await response.text()) as T, headers: response.headers };
}

/** The response to a request that was accepted, with its body unread. @throws RequestError as `request` */
export async function accepted(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`${BASE_PATH}${path}`, {
      ...init,
      headers: { ...credentials(), ...(init.headers as Record<string, string>) },
    });
  } catch (cause) {
    if (init.signal?.aborted === true) throw cause;
    const message = 'The coordinator does not answer. Is `simbatch serve` still running?';
    throw new RequestError(message, UNREACHABLE, [], RETRY_MS);
  }
  if (!response.ok) throw refusal(response, await response.text());
  return response;
}

function refusal(response: Response, text: string): RequestError {
  if (response.status === 401) askForToken();
  const retryAfter = response.headers.get('retry-after');
  const retryMs = retryAfter === null ? undefined : 1_000 * Number(retryAfter) || RETRY_MS;
  try {
    const { detail, code, errors } = JSON.parse(text) as Problem;
    return new RequestError(detail, code, errors, retryMs);
  } catch {
    const message = `The coordinator answered ${response.status} ${response.statusText}.`;
    return new RequestError(message, 'unknown', [], retryMs);
  }
}

export function post<T>(path: string, body?: string, headers: Record<string, string> = {}): Promise<Answer<T>> {
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  return request<T>(path, {
    method: 'POST',
    headers: { ...type, ...headers },
    ...(body === undefined ? {} : { body }),
  });
}

export function put<T>(path: string, body: object): Promise<Answer<T>> {
  const headers = { 'content-type': 'application/json' };
  return request<T>(path, { method: 'PUT', headers, body: JSON.stringify(body) });
}

export function remove<T>(path: string): Promise<Answer<T>> {
  return request<T>(path, { method: 'DELETE' });
}

export interface Loaded<T> {
  data: T | undefined;
  error: Error | undefined;
}

/**
 * Loads an address, and again when it (or `again`) changes, and until the coordinator answers or refuses for good; keeps the data of the same address until
 * then, also where a later request fails. `load` must be the same function in every render.
 */
export function useLoaded<T>(
  path: string | undefined,
  again: unknown,
  load: (path: string, signal: AbortSignal) => Promise<T>,
): Loaded<T> {
  const [state, setState] = useState<Loaded<T> & { path: string | undefined }>({
    data: undefined,
    error: undefined,
    path,
  });
  useEffect(() => {
    if (path === undefined) return undefined;
    const abort = new AbortController();
    const attempt = (): void =>
      void load(path, abort.signal).then(
        (data) => abort.signal.aborted || setState({ data, error: undefined, path }),
        (error: Error) => {
          if (abort.signal.aborted) return;
          setState((before) => ({ data: before.path === path ? before.data : undefined, error, path }));
          if (error instanceof RequestError && error.retryMs !== undefined)
            window.setTimeout(() => abort.signal.aborted || attempt(), error.retryMs);
        },
      );
    attempt();
    return () => abort.abort();
  }, [path, again, load]);
  return state.path === path ? state : { data: undefined, error: undefined };
}

const read = async <T>(path: string, signal: AbortSignal): Promise<T> => (await request<T>(path, { signal })).data;

/** The answer to `GET` of an address, see `useLoaded`. */
export const useRequest = <T>(path: string | undefined, again: unknown = 0): Loaded<T> =>
  useLoaded<T>(path, again, read);
