/**
 * Divides the event loop between requests and long work (streams, exports, sweeps). Long work runs in slices, one slice in
 * an iteration of the loop for all of it together, so that input, timers and signals never wait for more than one slice.
 *
 * While requests wait for their commit, slices are short, and after 1 ms of them the requests have the loop for twice as long. A request
 * waits for the loop several times (its turn, the end of its write), and would wait for a whole slice each time. Twice as
 * long and no longer: requests get up to two thirds of the loop, and long work never less than a third, less the lateness of a timer.
 */
import type { Clock } from './clock.ts';

/** The time for which long work may hold the event loop. */
export const SLICE_MS = 5;
/** Length of a slice while requests wait. */
export const SHORT_SLICE_MS = 1;
/** The time that requests have after slices, in lengths of these slices. */
export const REQUESTS_WEIGHT = 2;
/** The time after which `mapped` yields a part: its consumer works on the part within the same slice. */
const PART_MS = 2;

/** One for each event loop. Work that waits for a slice gets it in the order of asking. */
export class EventLoopShare {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'soon' | 'after'>;
  readonly #waiting: (() => void)[] = [];
  #sliceStartedMs = -Infinity;
  #sliceMs = SLICE_MS;
  #isScheduled = false;
  /** True from the start of a slice until its work has left the loop. */
  #isRunning = false;
  #requestsWait = false;
  /** True when requests have waited since the start of the present slice. */
  #requestsWaited = false;
  /** The length of the slices since the last reservation. */
  #heldMs = 0;
  /** Time until which slices leave the loop to waiting requests. */
  #reservedUntilMs = -Infinity;
  /** Cancels the end of the reservation; present while a slice waits for it. */
  #cancelReservation: (() => void) | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs' | 'soon' | 'after'>) {
    this.#clock = clock;
  }

  /** Reports that requests wait for their commit, or that all of them have been answered. */
  requestsWait(areWaiting: boolean): void {
    this.#requestsWait = areWaiting;
    if (areWaiting) this.#requestsWaited = true;
    else if (this.#cancelReservation !== undefined) this.#endReservation();
  }

  /** Returns undefined while the present slice lasts, else a promise that resolves at the start of the caller's slice. */
  slice(): Promise<void> | undefined {
    if (this.#waiting.length === 0 && !this.#isOver(this.#clock.monotonicMs())) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#schedule();
    });
  }

  #isOver(nowMs: number): boolean {
    return nowMs - this.#sliceStartedMs >= this.#sliceMs;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#cancelReservation !== undefined) return;
    this.#isScheduled = true;
    this.#clock.soon(() => {
      this.#isScheduled = false;
      this.#next();
    });
    // Runs after the work of the slice, in the same iteration of the loop.
    this.#clock.soon(() => this.#reserve());
  }

  #next(): void {
    const nowMs = this.#clock.monotonicMs();
    const leftMs = this.#reservedUntilMs - nowMs;
    if (this.#requestsWait && leftMs > 0) {
      this.#cancelReservation = this.#clock.after(leftMs, () => this.#endReservation());
      return;
    }
    this.#sliceMs = this.#requestsWaited ? SHORT_SLICE_MS : SLICE_MS;
    this.#requestsWaited = this.#requestsWait;
    this.#sliceStartedMs = nowMs;
    this.#isRunning = true;
    this.#waiting.shift()?.();
    // The others get their slices in later iterations: input is read in between.
    if (this.#waiting.length > 0) this.#schedule();
  }

  /** Reserves the loop for requests, in proportion to the slices since the reservation before. */
  #reserve(): void {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    const nowMs = this.#clock.monotonicMs();
    // A slice that lasted longer waited for a processor, as the requests did.
    this.#heldMs += Math.min(nowMs - this.#sliceStartedMs, SLICE_MS);
    if (this.#heldMs < SHORT_SLICE_MS) return;
    this.#reservedUntilMs = nowMs + this.#heldMs * REQUESTS_WEIGHT;
    this.#heldMs = 0;
  }

  #endReservation(): void {
    this.#cancelReservation?.();
    this.#cancelReservation = undefined;
    this.#reservedUntilMs = -Infinity;
    this.#schedule();
  }

  /** Passes the items on, each within a slice. */
  async *paced<T>(source: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T> {
    for await (const item of source) {
      const later = this.slice();
      if (later !== undefined) await later;
      yield item;
    }
  }

  /** Passes on `map` of each item, in parts that end with the slice at the latest. No part is empty. */
  async *mapped<T, R>(items: Iterable<T>, map: (item: T) => R): AsyncGenerator<R[]> {
    let part: R[] = [];
    let partStartedMs = 0;
    for (const item of items) {
      const nowMs = this.#clock.monotonicMs();
      if (part.length > 0 && (nowMs - partStartedMs >= PART_MS || this.#isOver(nowMs))) {
        yield part;
        part = [];
      }
      if (part.length === 0) {
        const later = this.slice();
        if (later !== undefined) await later;
        partStartedMs = this.#clock.monotonicMs();
      }
      part.push(map(item));
    }
    if (part.length > 0) yield part;
  }
}

/**
 * `JSON.stringify(value)` for an object whose large members are arrays: their items are written in slices. A member that
 * JSON leaves out (undefined) is left out.
 */
export async function stringifyInSlices(share: EventLoopShare, value: object): Promise<string> {
  const members: string[] = [];
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    let text: string | undefined;
    if (Array.isArray(member)) {
      const parts: string[] = [];
      for await (const part of share.mapped(member, (item) => JSON.stringify(item) ?? 'null'))
        parts.push(part.join(','));
      text = `[${parts.join(',')}]`;
    } else {
      text = JSON.stringify(member);
    }
    if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${members.join(',')}}`;
}
