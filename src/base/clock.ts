/**
 * The one door to what is not a function of its arguments: clock, timers, random bytes. Everything else in the coordinator
 * is handed a World, so that it runs under a simulated clock as well.
 */
import { randomBytes } from 'node:crypto';

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `action` once after `delayMs`; the function returned calls it off. Does not keep the process alive. */
  after(delayMs: number, action: () => void): () => void;
  /** Calls `action` as soon as what is running now has returned and waiting input was read. */
  soon(action: () => void): void;
  random(bytes: number): Uint8Array;
}

/**
 * A clock that follows the wall clock and never jumps: leases and time limits are measured with it, and a wall clock that is
 * set, or stands still while the machine sleeps, must not end them all at once nor stretch them by hours. It runs at the
 * pace of a monotonic clock, and catches up with the wall clock by at most a tenth of the time that passes.
 */
export function steadyClock(wallMs: () => number, monotonicMs: () => number): () => number {
  let timeMs = wallMs();
  let lastMs = monotonicMs();
  return () => {
    const nowMs = monotonicMs();
    const passedMs = nowMs - lastMs;
    lastMs = nowMs;
    const behindMs = wallMs() - (timeMs + passedMs);
    timeMs += passedMs + Math.max(-passedMs / 10, Math.min(passedMs / 10, behindMs));
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

/** Milliseconds since some moment, finer than `now` and never stepping back. To measure how long things take, nothing else. */
export const stopwatch = (): number => performance.now();
