/** Operations of one name run one after the other, in the order of asking; those of other names do not wait for them. */
export class Lanes {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Returns the result of the operation; an error of an earlier one does not concern it. */
  async run<T>(name: string, operation: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const mine = (async () => {
      await before?.catch(() => {});
      return await operation();
    })();
    this.#last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(name) === mine) this.#last.delete(name);
    }
  }
}
