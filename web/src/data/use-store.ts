/** React hook for stores of @xstate/store. */
import { useSyncExternalStore } from 'react';

interface ReadableStore<C> {
  getSnapshot(): { context: C };
  subscribe(observer: () => void): { unsubscribe(): void };
}

/** Returns the selected part of a store's context, and renders again when it changes (compared with `Object.is`). */
export function useStore<C, T>(store: ReadableStore<C>, select: (context: C) => T): T {
  return useSyncExternalStore(
    (changed) => {
      const subscription = store.subscribe(changed);
      return () => subscription.unsubscribe();
    },
    () => select(store.getSnapshot().context),
  );
}
