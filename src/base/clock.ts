/**
 * The only access to time, timers and random bytes. All other modules take a Clock as an argument, so that they run
 * under a simulated clock too.
 */
import { randomBytes } from 'node:crypto';

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `action` once after `delayMs`; the returned function cancels it. Does not keep the process alive. */
  after(delayMs: number, action: () => void): () => void;
  /** Calls `action` after the running code has returned and pending input was read. */
  soon(action: () => void): void;
  random(bytes: number): Uint8Array;
}

/**
 * A clock that follows the wall clock and never jumps. Leases and time limits are measured with it: a wall clock that is set,
 * or that stops while the machine sleeps, must not end them all at once or extend them by hours. It runs at the
 * pace of a monotonic clock, and catches up with the wall clock by at most a tenth of the time that passes.
 */
export function steadyClock(wallMs: () => number, monotonicMs: () => number): () => number {
  let timeMs = wallMs();
  let lastMs = monotonicMs();
  return () => {
    const nowMs = monotonicMs();
    const passedMs = nowMs - lastMs;
    lastMs = nowMs;
    const lagMs = wallMs() - (timeMs + passedMs);
    timeMs += passedMs + Math.max(-passedMs / 10, Math.min(passedMs / 10, lagMs));
    return Math.floor(timeMs);
  };
}

export const systemClock: Clock = {
  now: steadyClock(
    () => Date.now(),
    () => performance.now(),
  ),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
  soon(action) {
    setImmediate(action);
  },
  random: (bytes) => randomBytes(bytes),
};

/** Milliseconds since some moment, finer than `now` and never stepping back. For measuring durations only. */
export const stopwatch = (): number => performance.now();
