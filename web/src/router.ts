/** Where one is: everything that matters to a page stands in the address behind `#`, so that it can be kept and shared. */
import { useSyncExternalStore } from 'react';

export interface Route {
  /** The parts of the path, decoded: `['batches', '<id>']`. */
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

/** An address typed by hand may hold anything. */
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

/** The current route; the same object as long as the address is the same. */
export function useRoute(): Route {
  const address = useSyncExternalStore(subscribe, read);
  if (known.address !== address) known = { address, route: parse(address) };
  return known.route;
}

/** The address of a page; members of the query that are empty are left out. */
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
