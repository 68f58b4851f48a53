/**
 * A part of the coordinator with a life of its own, and the list of all parts. A part is restored, takes the facts of committed groups and
 * ticks, and is closed. `coordinator.ts` decides the order.
 */
import type { Fact } from '../../machines/protocol.ts';

/** One part; a part without a member takes no interest in it. */
export interface Part {
  /** Takes over the state on disk after a start, when the parts before it have. */
  restore?(): void | Promise<void>;
  /** Takes the facts of a group that is on disk. An error is a fault; the parts after it do not get these facts. */
  committed?(facts: readonly Fact[]): void;
  /** Called each second. The promise resolves when its changes are on disk. */
  tick?(now: number): void | Promise<void>;
  /** Ends its work, before the parts that are ahead of it in the list. No turn is accepted any more. */
  close?(): void | Promise<void>;
}

type Listener = Part & Required<Pick<Part, 'committed'>>;

export class PartList {
  readonly #parts: readonly Part[];
  /** The parts that take facts: groups are committed thousands of times in a second. */
  readonly #listeners: readonly Listener[];

  constructor(parts: readonly Part[]) {
    this.#parts = parts;
    this.#listeners = parts.filter((it): it is Listener => it.committed !== undefined);
  }

  async restore(): Promise<void> {
    for (const part of this.#parts) await part.restore?.();
  }

  committed(facts: readonly Fact[]): void {
    for (const part of this.#listeners) part.committed(facts);
  }

  /** Begins the ticks of all parts, in their order, and waits for all of them. */
  async tick(now: number): Promise<void> {
    const running: Promise<void>[] = [];
    for (const part of this.#parts) {
      const done = part.tick?.(now);
      if (done instanceof Promise) running.push(done);
    }
    await Promise.all(running);
  }

  async close(): Promise<void> {
    for (const part of this.#parts.toReversed()) await part.close?.();
  }
}
