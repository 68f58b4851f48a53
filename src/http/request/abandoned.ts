/** The signal of a request that waits: it aborts when there is no reason to wait any more. */
import type { ServerResponse } from 'node:http';
import { Abandonment } from '../../base/abandonment.ts';
import type { SimbatchError } from '../../domain/errors.ts';

export interface Stop {
  /** Fires when the server stops: waiting requests are answered with the current state. */
  stopping: AbortSignal;
  /**
   * Callbacks for the stop of the server. One listener and a set: removing one of ten thousand listeners of a signal is a
   * linear search.
   */
  waiting: Set<() => void>;
}

/**
 * Aborts when the client disconnects, when the server stops, and when the client loses its authorization; in the last case
 * the reason is the refusal. `hold` registers it for revalidation and returns a function that ends that.
 */
export function abandonedSignal(
  res: ServerResponse,
  { stopping, waiting }: Stop,
  hold: (end: (refusal: SimbatchError) => void) => (() => void) | undefined,
): Abandonment {
  const abandoned = new Abandonment();
  const abandon = () => abandoned.abort('gone');
  if (stopping.aborted || res.destroyed) abandon();
  waiting.add(abandon);
  const release = hold((refusal) => abandoned.abort(refusal));
  // `close` is emitted once.
  res.on('close', () => {
    waiting.delete(abandon);
    release?.();
    if (!res.writableFinished) abandon();
  });
  return abandoned;
}
