/**
 * Queues whose engine could start nothing, since parts of it give no answer and the others are full. They submit nothing until that has changed: a part
 * answers, or an allocation has ended. In memory alone: a restarted launcher tries once.
 */
import type { Silence } from '../engine.ts';

/** It is tried again after this time in any case. */
const LONGEST_MS = 600_000;

interface Full {
  why: string;
  state: string;
  untilMs: number;
}

export class FullQueues {
  readonly #queues = new Map<string, Full>();

  /** `live`: the queues of the live allocations. */
  note(queue: string, why: string, at: { silent: readonly Silence[]; live: readonly string[]; now: number }): void {
    this.#queues.set(queue, { why, state: stateOf(queue, at), untilMs: at.now + LONGEST_MS });
  }

  /** Why the queue submits nothing now; undefined: it may. */
  blockOf(queue: string, at: { silent: readonly Silence[]; live: readonly string[]; now: number }): string | undefined {
    const full = this.#queues.get(queue);
    if (full === undefined) return undefined;
    if (full.state === stateOf(queue, at) && at.now < full.untilMs) return full.why;
    this.#queues.delete(queue);
    return undefined;
  }
}

const stateOf = (queue: string, { silent, live }: { silent: readonly Silence[]; live: readonly string[] }): string =>
  [
    String(live.filter((it) => it === queue).length),
    ...silent.filter((it) => it.queue === queue).map((it) => it.place ?? ''),
  ].join(' ');
