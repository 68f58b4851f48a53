/**
 * The one door to what is not a function of its arguments: clock, timers, random bytes. Everything else in the coordinator
 * is handed a World, so that it runs under a simulated clock as well.
 */
import { randomBytes } from 'node:crypto';

export interface World {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `action` once after `delayMs`; the function returned calls it off. Does not keep the process alive. */
  after(delayMs: number, action: () => void): () => void;
  /** Calls `action` as soon as what is running now has returned and waiting input was read. */
  soon(action: () => void): void;
  random(bytes: number): Uint8Array;
}

export const realWorld: World = {
  now: () => Date.now(),
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
