/**
 * The long polls: claims that wait for work. First come, first served; one per runner, since a new claim of a runner replaces
 * its earlier one.
 */
import type { Abandoned } from '../../base/abandonment.ts';
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

/** A claim that has waited longer states code that may have been replaced meanwhile. */
const FRESH_MS = 1000;

type Question<T> = Omit<PendingPoll<T>, 'answer'>;

/** One poll. A class, because V8 gives each object that is spread and extended a hidden class of its own. */
class QueuedPoll<T> implements PendingPoll<T> {
  readonly runnerId: string;
  readonly instance: string;
  readonly maxJobs: number;
  readonly ahead: number;
  readonly #polls: Map<string, QueuedPoll<T>>;
  readonly #resolve: (value: T) => void;
  readonly #abandoned: Abandoned | undefined;
  readonly #onAbandoned: () => void;
  readonly #cancelTimer: () => void;

  constructor(
    { runnerId, instance, maxJobs, ahead }: Question<T>,
    parts: {
      polls: Map<string, QueuedPoll<T>>;
      resolve: (value: T) => void;
      abandoned: Abandoned | undefined;
      onAbandoned: () => void;
      cancelTimer: () => void;
    },
  ) {
    this.runnerId = runnerId;
    this.instance = instance;
    this.maxJobs = maxJobs;
    this.ahead = ahead;
    this.#polls = parts.polls;
    this.#resolve = parts.resolve;
    this.#abandoned = parts.abandoned;
    this.#onAbandoned = parts.onAbandoned;
    this.#cancelTimer = parts.cancelTimer;
    this.#abandoned?.addEventListener('abort', this.#onAbandoned, { once: true });
    this.#polls.set(runnerId, this);
  }

  answer(value: T): void {
    this.remove();
    this.#abandoned?.removeEventListener('abort', this.#onAbandoned);
    this.#resolve(value);
  }

  /** Takes the poll out of the waiting ones; a later poll of the runner stays. */
  remove(): void {
    if (this.#polls.get(this.runnerId) === this) this.#polls.delete(this.runnerId);
    this.#cancelTimer();
  }
}

export class LongPolls<T> {
  readonly #clock: Clock;
  readonly #polls = new Map<string, QueuedPoll<T>>();
  /** Runner -> time of its latest request for work, in ms; none once its client has disconnected. */
  readonly #requestedAtMs = new Map<string, number>();
  /** Runner -> time of the latest answer without work, in ms: its next claim states its code as of a later time. */
  readonly #emptyAtMs = new Map<string, number>();
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
    this.#emptyAtMs.delete(runnerId);
  }

  /** Records that a claim of the runner was answered without work. */
  noteEmptyAnswer(runnerId: string): void {
    this.#emptyAtMs.set(runnerId, this.#clock.now());
  }

  /**
   * True when the runner looked at its code after `sinceMs`, and its present claim is at most a second old. The look before a claim that follows an
   * answer without work begins after that answer; no later claim states an earlier look.
   */
  hasLooked(runnerId: string, sinceMs: number): boolean {
    const emptyAtMs = this.#emptyAtMs.get(runnerId);
    const atMs = this.#requestedAtMs.get(runnerId);
    if (emptyAtMs === undefined || atMs === undefined) return false;
    return emptyAtMs >= sinceMs && this.#clock.now() <= atMs + FRESH_MS;
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
  wait(question: Question<T>, waitMs: number, nothing: T, abandoned: Abandoned | undefined): Promise<T> {
    this.dismiss(question.runnerId, nothing);
    if (abandoned?.aborted === true || this.#isClosed) return Promise.resolve(nothing);
    return new Promise((resolve) => {
      const giveUp = (): void => poll.answer(nothing);
      const poll = new QueuedPoll<T>(question, {
        polls: this.#polls,
        resolve,
        abandoned,
        onAbandoned: () => {
          this.forget(poll.runnerId);
          giveUp();
        },
        cancelTimer: this.#clock.after(waitMs, giveUp),
      });
    });
  }

  /** Removes and returns the runner's poll, to answer it with work. The caller must call its `answer` in every case. */
  take(runnerId: string): PendingPoll<T> | undefined {
    const poll = this.#polls.get(runnerId);
    poll?.remove();
    return poll;
  }

  /** True while the poll has no answer, and has not been taken for one. */
  waits(poll: PendingPoll<T>): boolean {
    return this.#polls.get(poll.runnerId) === poll;
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
