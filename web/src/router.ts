/** Routing: the state of a page is in the address after `#`, so that it can be bookmarked and shared. */
import { useSyncExternalStore } from 'react';

export interface Route {
  /** Decoded parts of the path: `['batches', '<id>']`. */
  path: string[];
  query: URLSearchParams;
}

function read(): string {
  return window.location.hash.slice(1) || '/batches';
}

function parse(address: string): Route {
  const at = address.indexOf('?');
  const path = at === -1 ? address : address.slice(0, at);
  return {
    path: path.split('/').filter(Boolean).map(decoded),
    query: new URLSearchParams(at === -1 ? '' : address.slice(at + 1)),
  };
}

/** Decodes a part of an address, which may be malformed. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const subscribe = (changed: () => void): (() => void) => {
  window.addEventListener('hashchange', changed);
  return () => window.removeEventListener('hashchange', changed);
};

let known = { address: '', route: parse('/') };

/** Returns the current route; the same object as long as the address does not change. */
export function useRoute(): Route {
  const address = useSyncExternalStore(subscribe, read);
  if (known.address !== address) known = { address, route: parse(address) };
  return known.route;
}

/** Returns the address of a page; empty members of the query are omitted. */
export function hrefOf(path: readonly string[], query: Record<string, string | undefined> = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') parameters.set(name, value);
  const text = parameters.toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** Changes members of the query of the current page, without a new entry in the history. */
export function changeQuery(changes: Record<string, string | undefined>): void {
  const { path, query } = parse(read());
  const next = { ...Object.fromEntries(query), ...changes };
  window.history.replaceState(null, '', hrefOf(path, next));
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}

export function go(href: string): void {
  window.location.hash = href;
}
