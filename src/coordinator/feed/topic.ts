/** What one may watch, and what a topic has to be able to do. No sockets here, and no timers. */
import type { Commit } from '../coordinator.ts';

/**
 * One thing to watch. A delta holds states, never differences, so that hearing it twice, or a snapshot that already knows
 * it, does no harm.
 */
export interface Topic {
  /** The least time between two deltas, in ms. */
  readonly everyMs: number;
  /** Everything as it is on disk now. @throws SimbatchError when there is no such thing */
  snapshot(): Promise<unknown>;
  /** Notes what a group of changes means here. True when there is something to tell. */
  hear(commit: Commit): boolean;
  /** What was noted since the last call, or undefined. */
  delta(): unknown;
  /** True when the last delta did not hold everything that was noted. */
  readonly isUnfinished?: boolean;
}

/** The latest of a list that must not grow. */
export function keepLast(list: unknown[], limit: number): void {
  if (list.length > limit) list.splice(0, list.length - limit);
}
