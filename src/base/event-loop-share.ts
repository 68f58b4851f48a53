/**
 * Divides the event loop between requests and long work (streams, exports, sweeps). Long work runs in slices, one slice in
 * an iteration of the loop for all of it together, so that input, timers and signals never wait for more than one slice.
 */
import type { Clock } from './clock.ts';

/** The time for which long work may hold the event loop. */
export const SLICE_MS = 5;
/** The time after which `mapped` yields a part: its consumer works on the part within the same slice. */
const PART_MS = 2;

/** One for each event loop. Work that waits for a slice gets it in the order of asking. */
export class EventLoopShare {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'soon'>;
  readonly #waiting: (() => void)[] = [];
  #sliceStartedMs = -Infinity;
  #isScheduled = false;

  constructor(clock: Pick<Clock, 'monotonicMs' | 'soon'>) {
    this.#clock = clock;
  }

  /** Returns undefined while the present slice lasts, else a promise that resolves at the start of the caller's slice. */
  slice(): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#clock.monotonicMs() - this.#sliceStartedMs < SLICE_MS) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#clock.soon(() => {
      this.#isScheduled = false;
      this.#sliceStartedMs = this.#clock.monotonicMs();
      this.#waiting.shift()?.();
      // The others get their slices in later iterations: input is read in between.
      if (this.#waiting.length > 0) this.#schedule();
    });
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
      if (part.length > 0 && (nowMs - partStartedMs >= PART_MS || nowMs - this.#sliceStartedMs >= SLICE_MS)) {
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
