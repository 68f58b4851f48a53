/** Light or dark theme: the system's, until chosen here. */
import { createStore } from '@xstate/store';
import { useStore } from './data/use-store.ts';

export type Choice = 'system' | 'light' | 'dark';

const KEY = 'simbatch-theme';
const system = window.matchMedia('(prefers-color-scheme: dark)');

interface Theme {
  choice: Choice;
  isSystemDark: boolean;
}

function stored(): Choice {
  const value = window.localStorage.getItem(KEY);
  return value === 'light' || value === 'dark' ? value : 'system';
}

const initial: Theme = { choice: stored(), isSystemDark: system.matches };
const store = createStore({
  context: initial,
  on: {
    chosen: (theme, { choice }: { choice: Choice }) => ({ ...theme, choice }),
    systemChanged: (theme, { isDark }: { isDark: boolean }) => ({ ...theme, isSystemDark: isDark }),
  },
});

const shown = ({ choice, isSystemDark }: Theme): 'light' | 'dark' =>
  choice === 'system' ? (isSystemDark ? 'dark' : 'light') : choice;

export function choose(choice: Choice): void {
  window.localStorage.setItem(KEY, choice);
  store.trigger.chosen({ choice });
}

export const useChoice = (): Choice => useStore(store, (it) => it.choice);
export const useShownTheme = (): 'light' | 'dark' => useStore(store, shown);

/** Returns a colour of the theme, for drawing on a canvas. */
export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function apply(): void {
  document.documentElement.dataset['theme'] = shown(store.getSnapshot().context);
}

// Subscribed before any component: the colours of the document change before a plot reads them.
store.subscribe(apply);
system.addEventListener('change', ({ matches }) => store.trigger.systemChanged({ isDark: matches }));
apply();
