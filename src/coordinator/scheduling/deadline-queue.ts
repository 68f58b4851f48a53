/**
 * The deadlines of all active actors, soonest first: a binary heap with lazy deletion. Postponing a deadline (a heartbeat)
 * costs nothing; an outdated entry is discarded or moved when it reaches the top.
 */
import type { Address, Deadline, DueDeadline } from '../../../machines/protocol.ts';

interface HeapEntry {
  address: Address;
  atMs: number;
}

interface CurrentDeadline {
  deadline: Deadline;
  /** The valid heap entry of the actor, at or before its deadline; its other entries are outdated. */
  entry: HeapEntry;
}

/** A smaller heap is not compacted. */
const TIDY_FROM = 1_000;

export class DeadlineQueue {
  readonly #current = new Map<Address, CurrentDeadline>();
  readonly #heap: HeapEntry[] = [];

  /** Sets or removes the actor's deadline. */
  set(address: Address, deadline: Deadline | undefined): void {
    if (deadline === undefined) {
      if (this.#current.delete(address)) this.#tidy();
      return;
    }
    const known = this.#current.get(address);
    // An entry at or before the new time suffices: the actor is queued again when the entry reaches the top.
    if (known !== undefined && known.entry.atMs <= deadline.atMs) known.deadline = deadline;
    else this.#enqueue(address, deadline);
  }

  has(address: Address): boolean {
    return this.#current.has(address);
  }

  /** The number of heap entries, outdated ones included; for tests. */
  get size(): number {
    return this.#heap.length;
  }

  /**
   * Removes outdated entries once they are most of the heap: entries of jobs that end early would otherwise stay until their
   * time limit. Amortized constant cost per outdated entry.
   */
  #tidy(): void {
    if (this.#heap.length < 2 * this.#current.size + TIDY_FROM) return;
    this.#heap.length = 0;
    for (const { entry } of this.#current.values()) this.#push(entry);
  }

  #enqueue(address: Address, deadline: Deadline): void {
    const entry = { address, atMs: deadline.atMs };
    this.#current.set(address, { deadline, entry: entry });
    this.#push(entry);
  }

  /** Removes and returns all expired deadlines, soonest first. */
  due(now: number): DueDeadline[] {
    const due: DueDeadline[] = [];
    for (let first = this.#heap[0]; first !== undefined && first.atMs <= now; first = this.#heap[0]) {
      this.#pop();
      const current = this.#current.get(first.address);
      if (current?.entry !== first) continue;
      if (current.deadline.atMs > now) {
        this.#enqueue(first.address, current.deadline);
        continue;
      }
      this.#current.delete(first.address);
      due.push({ address: first.address, kind: current.deadline.kind });
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
