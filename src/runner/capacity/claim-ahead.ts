/**
 * How many runs are claimed beyond the slots, so that the next run is there when a slot becomes free. As many as start within a
 * tenth of a second: a run that waits longer would be better off on another runner, and a long run gains nothing.
 */

/** Runs that would start within this time are claimed ahead. */
const AHEAD_MS = 100;
const MOST_PER_SLOT = 2;
const MOST_AT_LEAST = 16;
/** Of runs that share processes: a request for many costs little more than one for a few. */
const MOST_SHARED = 512;
const SHARED_AHEAD_MS = 400;
/** The weight of the latest run in the mean. */
const WEIGHT = 0.1;
/** A run that has waited this long is handed back: the runs before it take longer than those that were measured. */
export const HAND_BACK_MS = 1000;

export class ClaimAhead {
  readonly #slots: number;
  /** Mean time between two runs on one slot; undefined: not known. */
  #meanMs: number | undefined;
  /** The latest run shared its process with others. */
  #isShared = false;

  constructor(slots: number) {
    this.#slots = slots;
  }

  /** Number of runs that may wait. */
  get depth(): number {
    if (this.#meanMs === undefined) return 0;
    const most = this.#isShared ? MOST_SHARED : Math.max(MOST_AT_LEAST, MOST_PER_SLOT * this.#slots);
    const aheadMs = this.#isShared ? SHARED_AHEAD_MS : AHEAD_MS;
    return Math.min(most, Math.floor((this.#slots * aheadMs) / Math.max(this.#meanMs, 1)));
  }

  /**
   * Whether to claim runs that wait for a slot: when none does, or few do and the coordinator can give several at once.
   * @param held slots and places that it counts as taken: attempts whose outcome it does not know.
   */
  isDue(waiting: number, held: number): boolean {
    const { depth } = this;
    if (this.#isShared) return (this.#slots + depth - held) * 2 >= depth;
    return waiting === 0 || (waiting * 2 <= depth && (this.#slots + depth - held) * 2 >= depth);
  }

  /** A run has occupied its slot for this time. */
  note(ms: number, { isShared = false } = {}): void {
    this.#isShared = isShared;
    this.#meanMs = this.#meanMs === undefined ? ms : this.#meanMs + WEIGHT * (ms - this.#meanMs);
  }

  /** Runs take longer than before: none waits until another run has been measured. */
  reset(): void {
    this.#meanMs = undefined;
  }
}
