/** How often plots of a running study are drawn again. */
import { startTransition, useEffect, useState } from 'react';
import type { RunTable } from './run-table.ts';

/** Changes of the table (0.4 s apart) between two drawings; more of a large study, whose plots change slowly. */
const CHANGES_PER_DRAWING = 5;
const CHANGES_PER_LARGE_DRAWING = 15;
const LARGE = 50_000;
/** After this time without a change the last ones are drawn, however few they are. */
const QUIET_MS = 1_000;

const versionOf = ({ store }: RunTable): number => store.getSnapshot().context.version;

/**
 * The version of the table that is drawn. The page is rendered when it changes, not at each change of the table, and then in pieces, so that
 * other changes of the page come between them.
 */
export function useAge(table: RunTable): number {
  const [drawn, setDrawn] = useState({ table, age: versionOf(table) });
  if (drawn.table !== table) setDrawn({ table, age: versionOf(table) });
  useEffect(() => {
    let last = drawn.age;
    let timer = 0;
    const draw = (): void => {
      last = versionOf(table);
      startTransition(() => setDrawn({ table, age: last }));
    };
    const changed = (): void => {
      window.clearTimeout(timer);
      const perDrawing = table.size > LARGE ? CHANGES_PER_LARGE_DRAWING : CHANGES_PER_DRAWING;
      const version = versionOf(table);
      if (version !== last) timer = window.setTimeout(draw, version - last >= perDrawing ? 0 : QUIET_MS);
    };
    const subscription = table.store.subscribe(changed);
    // A change between the render and the effect.
    changed();
    return () => {
      window.clearTimeout(timer);
      subscription.unsubscribe();
    };
  }, [table]);
  return drawn.age;
}
