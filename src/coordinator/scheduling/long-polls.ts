/**
 * The long polls: runners that asked for work when there was none. First come, first served; one per runner, since a runner
 * that asks again has given its earlier question up.
 */
import type { Clock } from '../../base/clock.ts';

export interface PendingPoll<T> {
  runnerId: string;
  instance: string;
  maxJobs: number;
  /** Ends the waiting; the value is the answer. */
  answer(value: T): void;
}

interface QueuedPoll<T> extends PendingPoll<T> {
  cancelTimer(): void;
}

export class LongPolls<T> {
  readonly #world: Clock;
  readonly #places = new Map<string, QueuedPoll<T>>();
  #isClosed = false;

  constructor(world: Clock) {
    this.#world = world;
  }

  get size(): number {
    return this.#places.size;
  }

  /** In the order in which they came. */
  waiters(): Iterable<PendingPoll<T>> {
    return this.#places.values();
  }

  /**
   * Waits until `answer` is called for this runner, or else for `waitMs`, until the runner asks again, or until the asker
   * has gone: then the answer is `nothing`.
   */
  wait(
    question: Omit<PendingPoll<T>, 'answer'>,
    waitMs: number,
    nothing: T,
    abandoned: AbortSignal | undefined,
  ): Promise<T> {
    this.dismiss(question.runnerId, nothing);
    if (abandoned?.aborted === true || this.#isClosed) return Promise.resolve(nothing);
    return new Promise((resolve) => {
      const giveUp = (): void => place.answer(nothing);
      const place: QueuedPoll<T> = {
        ...question,
        cancelTimer: this.#world.after(waitMs, giveUp),
        answer: (value) => {
          if (this.#places.get(question.runnerId) === place) this.#places.delete(question.runnerId);
          place.cancelTimer();
          abandoned?.removeEventListener('abort', giveUp);
          resolve(value);
        },
      };
      abandoned?.addEventListener('abort', giveUp, { once: true });
      this.#places.set(question.runnerId, place);
    });
  }

  /** Takes the waiter out of the queue: work was found for it. The caller must call its `answer`, whatever happens. */
  take(runnerId: string): PendingPoll<T> | undefined {
    const place = this.#places.get(runnerId);
    if (place === undefined) return undefined;
    this.#places.delete(runnerId);
    place.cancelTimer();
    return place;
  }

  dismiss(runnerId: string, nothing: T): void {
    this.#places.get(runnerId)?.answer(nothing);
  }

  /** Answers all who wait, and from now on everybody at once. */
  close(nothing: T): void {
    this.#isClosed = true;
    // A Map may lose the entry that is being visited.
    for (const place of this.#places.values()) place.answer(nothing);
  }
}
