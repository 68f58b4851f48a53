/** Named views of a study's plots, kept with the study by the coordinator: every viewer has the same. */
import { createStore } from '@xstate/store';
import { useEffect } from 'react';
import type { StudyView, ViewList } from '../../../src/contract/types.ts';
import { put, remove, request, type Answer } from '../data/api.ts';
import { useStore } from '../data/use-store.ts';

interface Views {
  views: readonly StudyView[];
  /** The reason why the latest request failed; undefined when it did not. */
  error: string | undefined;
}

const NONE: Views = { views: [], error: undefined };
const EMPTY: Readonly<Record<string, Views>> = {};

const store = createStore({
  context: EMPTY,
  on: {
    answered: (context, { id, views }: { id: string; views: readonly StudyView[] }) => ({
      ...context,
      [id]: { views, error: undefined },
    }),
    failed: (context, { id, error }: { id: string; error: string }) => ({
      ...context,
      [id]: { views: context[id]?.views ?? [], error },
    }),
  },
});

const pathOf = (batchId: string): string => `/batches/${encodeURIComponent(batchId)}/views`;

async function ask(id: string, asked: Promise<Answer<ViewList>>): Promise<void> {
  try {
    store.trigger.answered({ id, views: (await asked).data.views });
  } catch (error) {
    store.trigger.failed({ id, error: (error as Error).message });
  }
}

/** Keeps a view, in place of one of the same name. */
export const keepView = (batchId: string, name: string, query: string): Promise<void> =>
  ask(batchId, put<ViewList>(pathOf(batchId), { name, query }));

export const removeView = (batchId: string, name: string): Promise<void> =>
  ask(batchId, remove<ViewList>(`${pathOf(batchId)}?name=${encodeURIComponent(name)}`));

/** The views of a study, read when the page opens and whenever its window is entered. */
export function useViews(batchId: string): Views {
  useEffect(() => {
    const read = (): void => void ask(batchId, request<ViewList>(pathOf(batchId)));
    read();
    window.addEventListener('focus', read);
    return () => window.removeEventListener('focus', read);
  }, [batchId]);
  return useStore(store, (it) => it[batchId] ?? NONE);
}
