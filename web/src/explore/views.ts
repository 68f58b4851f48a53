/** Named views of a study's plots, kept in this browser. */
import { createStore } from '@xstate/store';
import { useStore } from '../data/use-store.ts';

export interface View {
  name: string;
  /** The query of the address. */
  query: string;
}

const MOST = 50;
const keyOf = (batchId: string): string => `simbatch-views-${batchId}`;
const NONE: readonly View[] = [];

function stored(batchId: string): readonly View[] {
  try {
    const found = JSON.parse(window.localStorage.getItem(keyOf(batchId)) ?? '[]') as View[];
    return Array.isArray(found)
      ? found.filter((it) => typeof it.name === 'string' && typeof it.query === 'string')
      : NONE;
  } catch {
    return NONE;
  }
}

const EMPTY: Readonly<Record<string, readonly View[]>> = {};

const store = createStore({
  context: EMPTY,
  on: { changed: (context, { id, views }: { id: string; views: readonly View[] }) => ({ ...context, [id]: views }) },
});

function viewsOf(batchId: string): readonly View[] {
  const known = store.getSnapshot().context[batchId];
  if (known !== undefined) return known;
  const views = stored(batchId);
  store.trigger.changed({ id: batchId, views });
  return views;
}

function write(batchId: string, views: readonly View[]): void {
  window.localStorage.setItem(keyOf(batchId), JSON.stringify(views));
  store.trigger.changed({ id: batchId, views });
}

/** Replaces a view of the same name. */
export function keepView(batchId: string, name: string, query: string): void {
  const others = viewsOf(batchId).filter((it) => it.name !== name);
  write(batchId, [...others, { name, query }].slice(-MOST));
}

export function removeView(batchId: string, name: string): void {
  write(
    batchId,
    viewsOf(batchId).filter((it) => it.name !== name),
  );
}

export function useViews(batchId: string): readonly View[] {
  viewsOf(batchId);
  return useStore(store, (it) => it[batchId] ?? NONE);
}
