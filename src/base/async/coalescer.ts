/** Gathers items while a batch is being sent and sends them together next: one round trip or one disk sync for many. */

/** Sends batches one at a time, in the order of arrival. */
export class Coalescer<T> {
  readonly #send: (batch: readonly T[]) => Promise<void>;
  readonly #batchLength: (waiting: readonly T[]) => number;
  readonly #waiting: T[] = [];
  #isSending = false;

  /**
   * @param send sends one batch; must not reject, and reports the result of each item itself.
   * @param batchLength how many of the waiting items go into the next batch, at least 1; default: all.
   */
  constructor(
    send: (batch: readonly T[]) => Promise<void>,
    batchLength: (waiting: readonly T[]) => number = (waiting) => waiting.length,
  ) {
    this.#send = send;
    this.#batchLength = batchLength;
  }

  /** Items added in one turn of the event loop go together. */
  add(item: T): void {
    this.#waiting.push(item);
    if (!this.#isSending) void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    try {
      await Promise.resolve();
      while (this.#waiting.length > 0) await this.#send(this.#waiting.splice(0, this.#batchLength(this.#waiting)));
    } finally {
      this.#isSending = false;
    }
  }
}
