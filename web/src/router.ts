/** Routing: the state of a page is in the address after `#`, so that it can be bookmarked and shared. */
import { createStore } from '@xstate/store';
import { useStore } from './data/use-store.ts';

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

const store = createStore({
  context: { address: read(), route: parse(read()) },
  on: {
    navigated: (context, { address }: { address: string }) =>
      address === context.address ? context : { address, route: parse(address) },
  },
});
window.addEventListener('hashchange', () => store.trigger.navigated({ address: read() }));

/** Returns the current route; the same object as long as the address does not change. */
export const useRoute = (): Route => useStore(store, (it) => it.route);

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
  // Replacing the state fires no event.
  store.trigger.navigated({ address: read() });
}

export function go(href: string): void {
  window.location.hash = href;
}
