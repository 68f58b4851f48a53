/**
 * Deadlines for operations that cannot be cancelled. A file system that does not answer keeps an operation, and one of the
 * few threads of the process, for as long as it likes; the runner stops waiting, and remembers that it is still pending.
 */
import type { Clock } from '../base/clock.ts';

/** An operation did not settle within its deadline; it may still take effect later. */
export class DeadlineError extends Error {}

export class Waits {
  readonly clock: Clock;
  readonly #parent: Waits | undefined;
  readonly #pending = new Set<Promise<unknown>>();
  readonly #overdue = new Map<Promise<unknown>, string>();

  constructor(clock: Clock, parent?: Waits) {
    this.clock = clock;
    this.#parent = parent;
  }

  /** Counts its operations by itself, and in this object as well. */
  child(): Waits {
    return new Waits(this.clock, this);
  }

  /** How many operations have not settled. */
  get pending(): number {
    return this.#pending.size;
  }

  /** The operations that are past their deadline and have not settled. */
  get overdue(): readonly string[] {
    return [...new Set(this.#overdue.values())];
  }

  /** Resolves once no operation is pending. */
  async idle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  /**
   * Settles as `operation` does, at the latest after `ms`.
   * @param what the operation, for people: the subject of `... did not finish within 30 s`.
   * @throws DeadlineError
   */
  within<T>(ms: number, what: string, operation: Promise<T>): Promise<T> {
    this.#begin(operation);
    return new Promise((resolve, reject) => {
      const cancel = this.clock.after(ms, () => {
        this.#markOverdue(operation, what);
        reject(new DeadlineError(`${what} did not finish within ${String(ms / 1000)} s`));
      });
      // One reaction for all: a short run has a dozen of these waits.
      const settled = (): void => {
        cancel();
        this.#end(operation);
      };
      operation.then(
        (value) => {
          settled();
          resolve(value);
        },
        (error: Error) => {
          settled();
          reject(error);
        },
      );
    });
  }

  #begin(operation: Promise<unknown>): void {
    if (this.#parent !== undefined) this.#parent.#begin(operation);
    this.#pending.add(operation);
  }

  #end(operation: Promise<unknown>): void {
    if (this.#parent !== undefined) this.#parent.#end(operation);
    this.#pending.delete(operation);
    this.#overdue.delete(operation);
  }

  #markOverdue(operation: Promise<unknown>, what: string): void {
    if (this.#parent !== undefined) this.#parent.#markOverdue(operation, what);
    this.#overdue.set(operation, what);
  }
}
