/**
 * The product's only access to clocks, timers and randomness. Every module receives a `Clock`, so that tests run it under a
 * simulated one.
 */
import { randomBytes } from 'node:crypto';

export interface Clock {
  /** Milliseconds since the epoch; follows the wall clock without jumps (see `steadyClock`). */
  now(): number;
  /** Milliseconds since an arbitrary moment; never jumps. For durations. */
  monotonicMs(): number;
  /**
   * Calls `action` once after `delayMs`, which may be of any length. Returns a function that cancels the timer. The timer
   * keeps the process running only with `keepAlive`.
   */
  after(delayMs: number, action: () => void, options?: { keepAlive?: boolean }): () => void;
  /** Calls `action` every `intervalMs`, without keeping the process running. Returns a function that cancels the timer. */
  every(intervalMs: number, action: () => void): () => void;
  /** Calls `action` after the current turn of the event loop and its pending input. */
  soon(action: () => void): void;
  /** Cryptographically secure random bytes; a simulated clock draws them from its seed. */
  random(bytes: number): Uint8Array;
}

/**
 * A clock that follows the wall clock and never jumps: leases and time limits are measured with it, and a wall clock that is
 * set, or stops while the machine sleeps, must neither end them all at once nor extend them by hours. It runs at the
 * pace of a monotonic clock and catches up with the wall clock by at most a tenth of the time that passes.
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

/** Node calls a timer with a longer delay at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: steadyClock(
    () => Date.now(),
    () => performance.now(),
  ),
  monotonicMs: () => performance.now(),
  after(delayMs, action, { keepAlive = false } = {}) {
    let timer: NodeJS.Timeout;
    const wait = (leftMs: number): void => {
      const stepMs = Math.min(Math.max(leftMs, 0), LONGEST_DELAY_MS);
      timer = setTimeout(() => {
        if (leftMs > stepMs) wait(leftMs - stepMs);
        else action();
      }, stepMs);
      if (!keepAlive) timer.unref();
    };
    wait(delayMs);
    return () => clearTimeout(timer);
  },
  every(intervalMs, action) {
    const timer = setInterval(action, Math.min(intervalMs, LONGEST_DELAY_MS));
    timer.unref();
    return () => clearInterval(timer);
  },
  soon(action) {
    setImmediate(action);
  },
  random: (bytes) => randomBytes(bytes),
};

/** Resolves after `ms`, or as soon as `signal` is aborted; never rejects. Keeps the process running meanwhile. */
export function sleep(clock: Pick<Clock, 'after'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const done = (): void => {
      cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(ms, done, { keepAlive: true });
    signal?.addEventListener('abort', done, { once: true });
  });
}

/**
 * Whether `event` settles within `ms`; rejects as it does, when it does in time. Keeps the process running meanwhile. Cheaper than a
 * sleep that is cut short: an `AbortController` makes an error with a stack for each.
 */
export function settlesWithin(clock: Pick<Clock, 'after'>, ms: number, event: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => resolve(false), { keepAlive: true });
    event.then(
      () => {
        cancel();
        resolve(true);
      },
      (error: unknown) => {
        cancel();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}

/** Keeps the process running, even with nothing in flight, until the returned function is called. */
export function keepProcessAlive(): () => void {
  const timer = setInterval(() => {}, LONGEST_DELAY_MS);
  return () => clearInterval(timer);
}

/** A random number in [0, 1), of 48 bits. For spreading retries; no sample of a study uses it. */
export function randomFraction(clock: Pick<Clock, 'random'>): number {
  return Buffer.from(clock.random(6)).readUIntBE(0, 6) / 2 ** 48;
}

/** A random UUID, version 4 (RFC 9562). */
export function randomUuid(clock: Pick<Clock, 'random'>): string {
  const bytes = Buffer.from(clock.random(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Milliseconds since an arbitrary moment, never stepping back. To measure durations, nothing else. */
export const stopwatch = (): number => performance.now();
