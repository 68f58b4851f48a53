/** Light or dark theme: the system's, until chosen here. */
import { useSyncExternalStore } from 'react';

export type Choice = 'system' | 'light' | 'dark';

const KEY = 'simbatch-theme';
const system = window.matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

function stored(): Choice {
  const value = window.localStorage.getItem(KEY);
  return value === 'light' || value === 'dark' ? value : 'system';
}

let choice = stored();

export function shownTheme(): 'light' | 'dark' {
  return choice === 'system' ? (system.matches ? 'dark' : 'light') : choice;
}

function apply(): void {
  document.documentElement.dataset['theme'] = shownTheme();
  for (const listener of listeners) listener();
}

export function choose(next: Choice): void {
  choice = next;
  window.localStorage.setItem(KEY, next);
  apply();
}

const subscribe = (changed: () => void): (() => void) => {
  listeners.add(changed);
  return () => listeners.delete(changed);
};

export const useChoice = (): Choice => useSyncExternalStore(subscribe, () => choice);
export const useShownTheme = (): 'light' | 'dark' => useSyncExternalStore(subscribe, shownTheme);

/** Returns a colour of the theme, for drawing on a canvas. */
export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

system.addEventListener('change', apply);
apply();
