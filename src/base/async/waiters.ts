/** Requests that wait for something to happen, each for a limited time. */
import type { Abandoned } from '../abandonment.ts';
import type { Clock } from '../clock.ts';

/**
 * Resolves when `end` is called, after `ms`, or when the client has disconnected.
 * @param begin takes `end`; what it returns is called once the wait is over.
 */
export function untilEnded(
  clock: Pick<Clock, 'after'>,
  ms: number,
  abandoned: Abandoned | undefined,
  begin: (end: () => void) => () => void,
): Promise<void> {
  if (ms <= 0 || abandoned?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      cancelTimer();
      abandoned?.removeEventListener('abort', end);
      over();
      resolve();
    };
    const cancelTimer = clock.after(ms, end);
    abandoned?.addEventListener('abort', end);
    const over = begin(end);
  });
}

/** Requests by the name of what they wait for. */
export class Waiters {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** True while no request waits. */
  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  has(name: string): boolean {
    return this.#waiting.has(name);
  }

  /** Resolves at the next `release` of the name, after `ms`, or when the client has disconnected. */
  wait(name: string, ms: number, abandoned?: Abandoned): Promise<void> {
    return untilEnded(this.#clock, ms, abandoned, (end) => {
      const waiting = this.#waiting.get(name) ?? new Set();
      this.#waiting.set(name, waiting.add(end));
      return () => {
        waiting.delete(end);
        if (waiting.size === 0) this.#waiting.delete(name);
      };
    });
  }

  /** Ends the waits for the name. */
  release(name: string): void {
    // A Set may lose the entry that is being visited.
    for (const end of this.#waiting.get(name) ?? []) end();
  }

  /** Ends all waits. */
  close(): void {
    for (const name of this.#waiting.keys()) this.release(name);
  }
}
