/** The state of a queue: failures in a row, the delay after them, and pauses. Pure. */
import { formatDuration } from '../../domain/durations.ts';
import type { BackoffConfig } from '../settings.ts';

export interface QueueState {
  /** Failures since the last allocation that became ready. */
  failures: number;
  lastFailure: { reason: string; atMs: number } | undefined;
  /** No allocation is submitted before. */
  delayedUntilMs: number;
  paused: { reason: string; atMs: number } | undefined;
}

export const INITIAL_QUEUE: QueueState = {
  failures: 0,
  lastFailure: undefined,
  delayedUntilMs: 0,
  paused: undefined,
};

/**
 * The state after a failure of an allocation that was planned at `plannedAtMs`. Allocations that were submitted before the last failure
 * are the same failure: a hundred of one round do not pause the queue.
 */
export function afterFailure(
  state: QueueState,
  { firstMs, maxMs, pauseAfter }: BackoffConfig,
  { reason, plannedAtMs, now }: { reason: string; plannedAtMs: number; now: number },
): QueueState {
  const lastFailure = { reason, atMs: now };
  if (state.lastFailure !== undefined && state.failures > 0 && plannedAtMs < state.lastFailure.atMs) {
    return { ...state, lastFailure: { reason, atMs: state.lastFailure.atMs } };
  }
  const failures = state.failures + 1;
  const delayMs = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 50));
  const paused =
    failures >= pauseAfter
      ? { reason: `${String(failures)} allocations in a row failed, the last one: ${reason}`, atMs: now }
      : undefined;
  return { failures, lastFailure, delayedUntilMs: now + delayMs, paused: state.paused ?? paused };
}

/** The state after an allocation has become ready: the configuration works. */
export const afterReady = (state: QueueState): QueueState =>
  state.failures === 0 ? state : { ...state, failures: 0, delayedUntilMs: 0 };

export const afterPause = (state: QueueState, reason: string, now: number): QueueState => ({
  ...state,
  paused: { reason, atMs: now },
});

export const afterResume = (state: QueueState): QueueState => ({
  ...state,
  failures: 0,
  delayedUntilMs: 0,
  paused: undefined,
});

/** Why the last allocations of the queue failed, as a clause; undefined once one was of use. */
export function failingOf({ failures, lastFailure }: QueueState): string | undefined {
  if (failures === 0) return undefined;
  const count = failures === 1 ? 'the last allocation' : `the last ${String(failures)} allocations`;
  return `${count} failed (${lastFailure?.reason ?? 'unknown'})`;
}

/** Why the queue submits nothing now, as the end of a sentence; undefined when it may. */
export function blockOf(state: QueueState, now: number): string | undefined {
  const { delayedUntilMs, paused } = state;
  if (paused !== undefined) return `it is paused: ${paused.reason}`;
  if (now >= delayedUntilMs) return undefined;
  return `${failingOf(state) ?? 'it waits'}; the next attempt is in ${formatDuration(delayedUntilMs - now)}`;
}
