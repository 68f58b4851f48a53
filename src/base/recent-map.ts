/** A map with a limit on its entries: the least recently used one is dropped. */
export class RecentMap<K, V> {
  readonly #capacity: number;
  /** A Map is in insertion order: the first entry is the least recently used. */
  readonly #entries = new Map<K, V>();
  /** The last entry: it needs no move. */
  #newest: K | undefined;

  /** `capacity`: the most entries, at least 1. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Returns the value of a key, which is now the most recently used. */
  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined || key === this.#newest) return value;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    this.#newest = key;
    return value;
  }

  /** Returns the value of a key without using it. */
  peek(key: K): V | undefined {
    return this.#entries.get(key);
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    this.#newest = key;
    if (this.#entries.size > this.#capacity) this.#entries.delete(this.#entries.keys().next().value as K);
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }
}
