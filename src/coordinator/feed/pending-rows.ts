/** Rows of a topic that have changed and are not sent yet. A delta takes a bounded number of them. */
export class PendingRows<K, V = undefined> {
  readonly #rows = new Map<K, V>();

  get size(): number {
    return this.#rows.size;
  }

  /** Adds a row, or replaces its value. */
  set(key: K, value: V): void {
    this.#rows.set(key, value);
  }

  delete(key: K): void {
    this.#rows.delete(key);
  }

  clear(): void {
    this.#rows.clear();
  }

  /** Removes rows and returns what `rowOf` makes of them: at most `limit`, without the undefined ones. */
  take<R>(limit: number, rowOf: (key: K, value: V) => R | undefined): R[] {
    const rows: R[] = [];
    for (const [key, value] of this.#rows) {
      if (rows.length === limit) break;
      this.#rows.delete(key);
      const row = rowOf(key, value);
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }
}
