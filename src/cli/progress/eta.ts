/** Rate and remaining time of a study, from observed counts. The time is an argument. */

interface Sighting {
  atMs: number;
  done: number;
}

/** Counts older than this are not used. */
const WINDOW_MS = 60_000;

/** Counts of finished runs over the last minute. */
export class EtaEstimator {
  #sightings: Sighting[] = [];

  /** `done` is the number of terminal runs at `nowMs`. */
  see(nowMs: number, done: number): void {
    this.#sightings.push({ atMs: nowMs, done });
    // One observation before the window is kept, so that a slow study has a rate too.
    while (this.#sightings.length > 2 && (this.#sightings[1] as Sighting).atMs <= nowMs - WINDOW_MS)
      this.#sightings.shift();
  }

  /** Runs finished per second; undefined before two observations or while nothing finishes. */
  get perSecond(): number | undefined {
    const first = this.#sightings[0];
    const last = this.#sightings.at(-1);
    if (first === undefined || last === undefined || last.atMs <= first.atMs || last.done <= first.done)
      return undefined;
    return ((last.done - first.done) * 1000) / (last.atMs - first.atMs);
  }

  /** Returns the seconds until `total` runs are terminal at this rate; 0 when they are, undefined without a rate. */
  secondsLeft(total: number): number | undefined {
    const last = this.#sightings.at(-1);
    if (last === undefined) return undefined;
    if (last.done >= total) return 0;
    const rate = this.perSecond;
    return rate === undefined ? undefined : (total - last.done) / rate;
  }
}
