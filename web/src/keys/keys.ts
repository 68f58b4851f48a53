/** Keys of every page. They are off while a field has the focus or a dialog is open. */
import { useEffect, useRef } from 'react';

interface Actions {
  palette: () => void;
  help: () => void;
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));

/** Follows the link of the run, or else of the tab, before or after. */
function follow(step: -1 | 1): void {
  const run = document.querySelector<HTMLAnchorElement>(`a[rel=${step === -1 ? 'prev' : 'next'}]`);
  if (run !== null) return run.click();
  const tabs = [...document.querySelectorAll<HTMLAnchorElement>('nav.tabs > a')];
  const at = tabs.findIndex((it) => it.getAttribute('aria-current') === 'page');
  tabs[at + step]?.click();
}

/** Moves the focus between the first links of the rows of a table. */
function moveRow(step: -1 | 1): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('main tbody tr')].flatMap(
    (it) => it.querySelector<HTMLAnchorElement>('a[href]') ?? [],
  );
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  links[at === -1 ? 0 : at + step]?.focus();
}

export function useKeys(actions: Actions): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isPalette = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
      if (isPalette && document.querySelector('dialog[open]') === null) {
        event.preventDefault();
        latest.current.palette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      if (event.key === '?') latest.current.help();
      else if (event.key === '[' || event.key === ']') follow(event.key === '[' ? -1 : 1);
      else if (event.key === 'j' || event.key === 'k') moveRow(event.key === 'j' ? 1 : -1);
      else if (event.key === 'f') {
        const field = document.querySelector<HTMLInputElement>('main [data-filter], main input[type=search]');
        if (field === null) return;
        event.preventDefault();
        field.focus();
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
