/**
 * The deadlines of all active actors, soonest first: a binary heap with lazy deletion. Postponing a deadline (a heartbeat)
 * costs nothing; an outdated entry is discarded or moved when it reaches the top.
 */
import type { Deadline } from '../../../../machines/deadline.ts';
import type { Address, DueDeadline } from '../../../../machines/protocol.ts';

interface HeapEntry {
  actor: TimedActor;
  atMs: number;
}

/** An actor with its place in the queue: a table of addresses would be searched at every change of every job. */
export interface TimedActor {
  readonly address: Address;
  /** The deadline of the actor, if it has one. Only the queue sets it. */
  deadline: Deadline | undefined;
  /** The valid heap entry of the actor, at or before its deadline; its other entries are outdated. Only the queue sets it. */
  deadlineEntry: HeapEntry | undefined;
}

/** A smaller heap is not compacted. */
const TIDY_FROM = 1_000;

export class DeadlineQueue {
  readonly #heap: HeapEntry[] = [];
  /** The actors with a deadline. */
  #actors = 0;

  /** Sets or removes the actor's deadline. */
  set(actor: TimedActor, deadline: Deadline | undefined): void {
    const { deadlineEntry: entry } = actor;
    if (deadline === undefined) {
      if (entry === undefined) return;
      this.#remove(actor);
      this.#tidy();
      return;
    }
    // An entry at or before the new time suffices: the actor is queued again when the entry reaches the top.
    if (entry !== undefined && entry.atMs <= deadline.atMs) actor.deadline = deadline;
    else this.#enqueue(actor, deadline);
  }

  /** The number of heap entries, outdated ones included; for tests. */
  get size(): number {
    return this.#heap.length;
  }

  #remove(actor: TimedActor): void {
    actor.deadline = undefined;
    actor.deadlineEntry = undefined;
    this.#actors -= 1;
  }

  /**
   * Removes outdated entries once they are most of the heap: entries of jobs that end early would otherwise stay until their
   * time limit. Amortized constant cost per outdated entry.
   */
  #tidy(): void {
    if (this.#heap.length < 2 * this.#actors + TIDY_FROM) return;
    const valid = this.#heap.filter((it) => it.actor.deadlineEntry === it);
    this.#heap.length = 0;
    for (const entry of valid) this.#push(entry);
  }

  #enqueue(actor: TimedActor, deadline: Deadline): void {
    if (actor.deadlineEntry === undefined) this.#actors += 1;
    const entry = { actor, atMs: deadline.atMs };
    actor.deadline = deadline;
    actor.deadlineEntry = entry;
    this.#push(entry);
  }

  /** Removes and returns all expired deadlines, soonest first. */
  due(now: number): DueDeadline[] {
    const due: DueDeadline[] = [];
    for (let first = this.#heap[0]; first !== undefined && first.atMs <= now; first = this.#heap[0]) {
      this.#pop();
      const { actor } = first;
      const { deadline } = actor;
      if (actor.deadlineEntry !== first || deadline === undefined) continue;
      if (deadline.atMs > now) {
        this.#enqueue(actor, deadline);
        continue;
      }
      this.#remove(actor);
      due.push({ address: actor.address, kind: deadline.kind });
    }
    return due;
  }

  #push(entry: HeapEntry): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as HeapEntry;
      if (above.atMs <= entry.atMs) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && (heap[child + 1] as HeapEntry).atMs < (heap[child] as HeapEntry).atMs) child += 1;
      if ((heap[child] as HeapEntry).atMs >= last.atMs) break;
      heap[at] = heap[child] as HeapEntry;
      at = child;
    }
    heap[at] = last;
  }
}
