/** The token of this page, stored for this tab's session only. */
import { createStore } from '@xstate/store';
import { useStore } from './use-store.ts';

const KEY = 'simbatch-token';

/** `isAsked`: the coordinator refuses this page until a token is entered, which reloads it. */
const store = createStore({ context: { isAsked: false }, on: { refused: () => ({ isAsked: true }) } });

export const token = (): string => window.sessionStorage.getItem(KEY) ?? '';

/** Returns the headers of a request. */
export function credentials(): Record<string, string> {
  return token() === '' ? {} : { authorization: `Bearer ${token()}` };
}

/** Returns the protocols of a WebSocket, which carry the token: browsers allow no other header. */
export function protocols(): string[] {
  return token() === '' ? ['simbatch'] : ['simbatch', `simbatch.bearer.${token()}`];
}

export const isTokenAsked = (): boolean => store.getSnapshot().context.isAsked;

/** Records that the coordinator refused the request's credential. */
export function askForToken(): void {
  store.trigger.refused();
}

/** Reloads the page without the token. */
export function leave(): void {
  window.sessionStorage.removeItem(KEY);
  window.location.reload();
}

/** Reloads the page with the token. */
export function enterWith(value: string): void {
  window.sessionStorage.setItem(KEY, value.trim());
  window.location.reload();
}

export const useIsTokenAsked = (): boolean => useStore(store, (it) => it.isAsked);
