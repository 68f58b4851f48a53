/**
 * The deadlines of all live actors, soonest first. A binary heap that forgives: an actor whose deadline moved away (a
 * heartbeat) costs nothing, its old place is found out when it comes up.
 */
import type { Address, Deadline, DueDeadline } from '../../machines/protocol.ts';

interface Place {
  address: Address;
  atMs: number;
}

export class Deadlines {
  readonly #current = new Map<Address, Deadline>();
  readonly #heap: Place[] = [];

  /** The actor's deadline as of now, or none. */
  set(address: Address, deadline: Deadline | undefined): void {
    if (deadline === undefined) {
      this.#current.delete(address);
      return;
    }
    const known = this.#current.get(address);
    this.#current.set(address, deadline);
    // A place at or before the new time is enough: when it comes up, the actor is placed anew.
    if (known === undefined || deadline.atMs < known.atMs) this.#push({ address, atMs: deadline.atMs });
  }

  /** All that is due, soonest first. What is told here is not told again unless it is set again. */
  due(now: number): DueDeadline[] {
    const due: DueDeadline[] = [];
    for (let first = this.#heap[0]; first !== undefined && first.atMs <= now; first = this.#heap[0]) {
      this.#pop();
      const deadline = this.#current.get(first.address);
      if (deadline === undefined) continue;
      if (deadline.atMs > now) {
        this.#push({ address: first.address, atMs: deadline.atMs });
        continue;
      }
      this.#current.delete(first.address);
      due.push({ address: first.address, kind: deadline.kind });
    }
    return due;
  }

  #push(place: Place): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(place);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Place;
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
      if (child + 1 < heap.length && (heap[child + 1] as Place).atMs < (heap[child] as Place).atMs) child += 1;
      if ((heap[child] as Place).atMs >= last.atMs) break;
      heap[at] = heap[child] as Place;
      at = child;
    }
    heap[at] = last;
  }
}
