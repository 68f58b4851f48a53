/**
 * When what is kept for a time may be deleted: once an hour. A clock that is wrong must not delete what is younger: when it is far ahead of the last
 * known instant, an operator has an hour to set it right. A clock that was set back deletes later.
 */

/** The interval between sweeps, and the wait of the first one after a leap of the clock. */
export const SWEEP_MS = 3_600_000;
/** A clock that is further ahead of the last known instant has leapt, or the program was off. */
export const LEAP_MS = 86_400_000;

/** A clock that is more than a day ahead of the last known instant, in ms since the epoch. */
export interface ClockLeap {
  knownMs: number;
  nowMs: number;
  /** When deletion begins. */
  untilMs: number;
}

export class SweepTimes {
  #atMs: number;
  #leap: ClockLeap | undefined;

  /**
   * @param knownMs the last instant that is known from before the start; Infinity: nothing is known, and there is nothing to delete.
   * @param nowMs the start.
   */
  constructor(knownMs: number, nowMs: number) {
    const hasLeapt = nowMs - knownMs > LEAP_MS;
    this.#atMs = hasLeapt ? nowMs + SWEEP_MS : nowMs;
    if (hasLeapt) this.#leap = { knownMs, nowMs, untilMs: this.#atMs };
  }

  /** The leap for which nothing is deleted; undefined once a sweep has begun. */
  get leap(): ClockLeap | undefined {
    return this.#leap;
  }

  /** Whether a sweep begins now; the next one is due an hour later. The caller notes the instant on the disk before it deletes. */
  begin(nowMs: number): boolean {
    if (nowMs < this.#atMs) return false;
    this.#atMs = nowMs + SWEEP_MS;
    this.#leap = undefined;
    return true;
  }
}

/** The sentence of a log about a leap. `place`: what knows the last instant; `program`: what is to be stopped. */
export function leapWarning({ knownMs, nowMs, untilMs }: ClockLeap, place: string, program: string): string {
  const days = ((nowMs - knownMs) / 86_400_000).toFixed(1);
  const [now, until] = [nowMs, untilMs].map((it) => new Date(it).toISOString());
  return (
    `the clock shows ${String(now)}, ${days} days after the last instant that ${place} knows: nothing is deleted before ${String(until)}; ` +
    `if the clock is wrong, stop the ${program} and set it (a ${program} that was off for so long needs nothing)`
  );
}
