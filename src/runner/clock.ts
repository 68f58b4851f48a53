/**
 * The runner program's only access to the clock, to timers and to chance. Everything else in `runner/` is handed a World,
 * so that tests decide what time it is.
 */
import { randomUUID } from 'node:crypto';

export interface Clock {
  /** Wall clock, milliseconds since 1970 (UTC). For what people read; may jump. */
  now(): number;
  /** Milliseconds since some moment in the past; never jumps. For durations. */
  monotonicMs(): number;
  /** Calls `action` once after `ms`, however long that is. The returned function calls it off. */
  after(ms: number, action: () => void): () => void;
  /** Calls `action` every `ms`. The returned function ends it. */
  every(ms: number, action: () => void): () => void;
  /** In [0, 1). For spreading retries; no sample of a study comes from here. */
  random(): number;
  uuid(): string;
}

/** A longer delay makes Node's timers fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

function after(ms: number, action: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (leftMs: number): void => {
    const stepMs = Math.min(Math.max(leftMs, 0), LONGEST_DELAY_MS);
    timer = setTimeout(() => {
      if (leftMs > stepMs) wait(leftMs - stepMs);
      else action();
    }, stepMs);
  };
  wait(ms);
  return () => {
    clearTimeout(timer);
  };
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after,
  every(ms, action) {
    const timer = setInterval(action, Math.min(ms, LONGEST_DELAY_MS));
    return () => {
      clearInterval(timer);
    };
  },
  random: () => Math.random(),
  uuid: () => randomUUID(),
};

/** Resolves after `ms`, or as soon as `signal` is aborted; never rejects. */
export function sleep(world: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const done = (): void => {
      callOff();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const callOff = world.after(ms, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}
