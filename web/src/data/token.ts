/** The credential of this page, where the coordinator asks for one: kept for this tab's session only. */
import { useSyncExternalStore } from 'react';

const KEY = 'simbatch-token';
const listeners = new Set<() => void>();
let isAsked = false;

export const token = (): string => window.sessionStorage.getItem(KEY) ?? '';

/** What a request has to bring. */
export function credentials(): Record<string, string> {
  return token() === '' ? {} : { authorization: `Bearer ${token()}` };
}

/** What a WebSocket has to ask for: browsers let it bring no other header. */
export function protocols(): string[] {
  return token() === '' ? ['simbatch'] : ['simbatch', `simbatch.bearer.${token()}`];
}

/** Nothing will be taken from this page before a token is entered, which starts it anew. */
export const isTokenAsked = (): boolean => isAsked;

/** The coordinator did not take what was brought, if anything. */
export function askForToken(): void {
  if (isAsked) return;
  isAsked = true;
  for (const listener of listeners) listener();
}

/** Starts the page anew without the token. */
export function leave(): void {
  window.sessionStorage.removeItem(KEY);
  window.location.reload();
}

/** Starts the page anew with the token. */
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
