/**
 * The deadlines of all live actors, soonest first. A binary heap that forgives: an actor whose deadline moved away (a
 * heartbeat) costs nothing, its old place is found out when it comes up.
 */
import type { Address, Deadline, DueDeadline } from '../../../machines/protocol.ts';

interface HeapEntry {
  address: Address;
  atMs: number;
}

interface Current {
  deadline: Deadline;
  /** Its one place in the heap that counts, at or before its time; other places of the same actor are left over. */
  place: HeapEntry;
}

/** A heap of fewer places than this is not worth tidying. */
const TIDY_FROM = 1_000;

export class DeadlineQueue {
  readonly #current = new Map<Address, Current>();
  readonly #heap: HeapEntry[] = [];

  /** The actor's deadline as of now, or none. */
  set(address: Address, deadline: Deadline | undefined): void {
    if (deadline === undefined) {
      if (this.#current.delete(address)) this.#tidy();
      return;
    }
    const known = this.#current.get(address);
    // A place at or before the new time is enough: when it comes up, the actor is placed anew.
    if (known !== undefined && known.place.atMs <= deadline.atMs) known.deadline = deadline;
    else this.#place(address, deadline);
  }

  has(address: Address): boolean {
    return this.#current.has(address);
  }

  /** Places in the heap, left over ones included; for tests. */
  get size(): number {
    return this.#heap.length;
  }

  /**
   * Throws away what was left over once it is most of the heap: jobs that end soon after they began would otherwise be kept
   * for as long as they might have taken. Costs a place's worth of work for each place left over.
   */
  #tidy(): void {
    if (this.#heap.length < 2 * this.#current.size + TIDY_FROM) return;
    this.#heap.length = 0;
    for (const { place } of this.#current.values()) this.#push(place);
  }

  #place(address: Address, deadline: Deadline): void {
    const place = { address, atMs: deadline.atMs };
    this.#current.set(address, { deadline, place });
    this.#push(place);
  }

  /** All that is due, soonest first. What is told here is not told again unless it is set again. */
  due(now: number): DueDeadline[] {
    const due: DueDeadline[] = [];
    for (let first = this.#heap[0]; first !== undefined && first.atMs <= now; first = this.#heap[0]) {
      this.#pop();
      const current = this.#current.get(first.address);
      if (current?.place !== first) continue;
      if (current.deadline.atMs > now) {
        this.#place(first.address, current.deadline);
        continue;
      }
      this.#current.delete(first.address);
      due.push({ address: first.address, kind: current.deadline.kind });
    }
    return due;
  }

  #push(place: HeapEntry): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(place);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as HeapEntry;
      if (above.atMs <= place.atMs) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = place;
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
