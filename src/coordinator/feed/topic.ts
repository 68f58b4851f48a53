/** The interface of a topic of the live feed. No sockets and no timers here. */
import type { ChangeSet } from './change-set.ts';

/**
 * One topic. A delta holds states, never differences, so that a client may receive it twice, or after a full message that
 * already includes it.
 */
export interface Topic<Data extends object = object, Delta extends object = Data> {
  /** The least time between two deltas, in ms. */
  readonly everyMs: number;
  /** Returns the full state as on disk now. @throws SimbatchError when the subject does not exist */
  snapshot(): Promise<Data>;
  /** Records the changes of a committed group. Returns true when a delta is to be sent. */
  onCommit(changes: ChangeSet): boolean;
  /** Returns the changes since the last call, or undefined. */
  delta(): Delta | undefined | Promise<Delta | undefined>;
  /** True when the last delta did not hold all recorded changes. */
  readonly hasMore?: boolean;
}

/** Truncates a list to its latest `limit` items. */
export function keepLast(list: unknown[], limit: number): void {
  if (list.length > limit) list.splice(0, list.length - limit);
}
