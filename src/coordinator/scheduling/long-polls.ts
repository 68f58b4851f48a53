/**
 * The long polls: claims that wait for work. First come, first served; one per runner, since a new claim of a runner replaces
 * its earlier one.
 */
import type { Clock } from '../../base/clock.ts';

export interface PendingPoll<T> {
  runnerId: string;
  instance: string;
  maxJobs: number;
  /** How many runs may wait on the runner. */
  ahead: number;
  /** Answers the claim with the value. */
  answer(value: T): void;
}

interface QueuedPoll<T> extends PendingPoll<T> {
  cancelTimer(): void;
}

export class LongPolls<T> {
  readonly #clock: Clock;
  readonly #polls = new Map<string, QueuedPoll<T>>();
  /** Runner -> time of its latest request for work, in ms; none once its client has disconnected. */
  readonly #requestedAtMs = new Map<string, number>();
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#polls.size;
  }

  /** The waiting polls, oldest first. */
  pending(): Iterable<PendingPoll<T>> {
    return this.#polls.values();
  }

  /** Records that the runner has asked for work, or has registered to do so. */
  noteRequest(runnerId: string): void {
    this.#requestedAtMs.set(runnerId, this.#clock.now());
  }

  /** Forgets the requests of a runner that has left. */
  forget(runnerId: string): void {
    this.#requestedAtMs.delete(runnerId);
  }

  /** True when the runner waits for work, or asked for it less than `withinMs` ago. */
  requestsWork(runnerId: string, withinMs: number): boolean {
    if (this.#polls.has(runnerId)) return true;
    const atMs = this.#requestedAtMs.get(runnerId);
    return atMs !== undefined && this.#clock.now() < atMs + withinMs;
  }

  /**
   * Waits until `answer` is called for this runner. Resolves to `nothing` after `waitMs`, when the runner polls again, or when
   * the client has disconnected.
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
      const giveUp = (): void => poll.answer(nothing);
      const onAbandoned = (): void => {
        this.forget(question.runnerId);
        giveUp();
      };
      const poll: QueuedPoll<T> = {
        ...question,
        cancelTimer: this.#clock.after(waitMs, giveUp),
        answer: (value) => {
          if (this.#polls.get(question.runnerId) === poll) this.#polls.delete(question.runnerId);
          poll.cancelTimer();
          abandoned?.removeEventListener('abort', onAbandoned);
          resolve(value);
        },
      };
      abandoned?.addEventListener('abort', onAbandoned, { once: true });
      this.#polls.set(question.runnerId, poll);
    });
  }

  /** Removes and returns the runner's poll, to answer it with work. The caller must call its `answer` in every case. */
  take(runnerId: string): PendingPoll<T> | undefined {
    const poll = this.#polls.get(runnerId);
    if (poll === undefined) return undefined;
    this.#polls.delete(runnerId);
    poll.cancelTimer();
    return poll;
  }

  dismiss(runnerId: string, nothing: T): void {
    this.#polls.get(runnerId)?.answer(nothing);
  }

  /** Answers all waiting polls, and from now on every new poll at once. */
  close(nothing: T): void {
    this.#isClosed = true;
    // A Map may lose the entry that is being visited.
    for (const poll of this.#polls.values()) poll.answer(nothing);
  }
}
