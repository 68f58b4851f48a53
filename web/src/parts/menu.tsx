/** A button that opens a short list of buttons; Escape and a click elsewhere close it. */
import { useEffect, useRef, type ReactNode } from 'react';

/** `stays`: a click inside does not close it, as for a list of choices. */
export function Menu({ label, children, stays = false }: { label: ReactNode; children: ReactNode; stays?: boolean }) {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event): void => {
      const element = menu.current;
      if (element === null || !element.open) return;
      if (event instanceof KeyboardEvent ? event.key === 'Escape' : !element.contains(event.target as Node))
        element.open = false;
    };
    document.addEventListener('pointerdown', close);
    document.addEventListener('keydown', close);
    return () => {
      document.removeEventListener('pointerdown', close);
      document.removeEventListener('keydown', close);
    };
  }, []);
  return (
    <details
      ref={menu}
      className="menu"
      onToggle={({ currentTarget }) => {
        const list = currentTarget.lastElementChild as HTMLElement;
        list.classList.remove('from-left');
        // Where there is no room to the left of the button, the list begins at its left edge.
        list.classList.toggle('from-left', list.getBoundingClientRect().left < 0);
      }}
    >
      <summary className="button">
        {label} <span aria-hidden="true">▾</span>
      </summary>
      <div className="menu-list" onClick={() => !stays && menu.current !== null && (menu.current.open = false)}>
        {children}
      </div>
    </details>
  );
}
