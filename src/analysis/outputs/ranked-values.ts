/** Values in the order of their arrival, with the k-th smallest so far in O(log n). */
import type { OrderedValues } from './censoring.ts';

/**
 * A Fenwick tree over the ranks of all values to come. All values are known at construction; `add` takes them one at a time.
 * Source: Fenwick, Software: Practice and Experience 24 (1994) 327.
 */
export class RankedValues implements OrderedValues {
  readonly #distinct: Float64Array;
  readonly #tree: Uint32Array;
  readonly #top: number;
  #count = 0;

  /** @param values finite numbers, in any order */
  constructor(values: Float64Array) {
    const sorted = values.slice().sort();
    let distinct = 0;
    for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[distinct++] = sorted[i]!;
    this.#distinct = sorted.subarray(0, distinct);
    this.#tree = new Uint32Array(distinct + 1);
    this.#top = distinct === 0 ? 0 : 2 ** Math.floor(Math.log2(distinct));
  }

  /** `value` is one of the constructor's. */
  add(value: number): void {
    this.#count++;
    for (let place = this.#placeOf(value); place < this.#tree.length; place += place & -place) this.#tree[place]!++;
  }

  /** The k-th smallest value so far, k from 1 to the number of values. */
  at(k: number): number {
    let place = 0;
    let rest = k;
    for (let step = this.#top; step > 0; step >>>= 1) {
      const next = place + step;
      if (next >= this.#tree.length || this.#tree[next]! >= rest) continue;
      place = next;
      rest -= this.#tree[next]!;
    }
    return this.#distinct[place]!;
  }

  get count(): number {
    return this.#count;
  }

  countUpTo(value: number): number {
    if (this.#distinct.length === 0) return 0;
    const place = this.#placeOf(value);
    let count = 0;
    for (let at = this.#distinct[place - 1]! <= value ? place : place - 1; at > 0; at -= at & -at)
      count += this.#tree[at]!;
    return count;
  }

  /** The place in the tree, from 1, of the least value that is not below `value`, or of the last one. */
  #placeOf(value: number): number {
    let [from, to] = [0, this.#distinct.length - 1];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#distinct[middle]! < value) from = middle + 1;
      else to = middle;
    }
    return from + 1;
  }
}
