/** The token of this page, stored for this tab's session only. */
import { useSyncExternalStore } from 'react';

const KEY = 'simbatch-token';
const listeners = new Set<() => void>();
let isAsked = false;

export const token = (): string => window.sessionStorage.getItem(KEY) ?? '';

/** Returns the headers of a request. */
export function credentials(): Record<string, string> {
  return token() === '' ? {} : { authorization: `Bearer ${token()}` };
}

/** Returns the protocols of a WebSocket, which carry the token: browsers allow no other header. */
export function protocols(): string[] {
  return token() === '' ? ['simbatch'] : ['simbatch', `simbatch.bearer.${token()}`];
}

/** Whether the coordinator refuses this page until a token is entered, which reloads it. */
export const isTokenAsked = (): boolean => isAsked;

/** Records that the coordinator refused the request's credential. */
export function askForToken(): void {
  if (isAsked) return;
  isAsked = true;
  for (const listener of listeners) listener();
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

export function useIsTokenAsked(): boolean {
  return useSyncExternalStore(
    (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    isTokenAsked,
  );
}
