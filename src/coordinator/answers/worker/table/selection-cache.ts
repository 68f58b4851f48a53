/** The selections of tables in the memory of the analysis worker, so that the next page needs no second reading of the study. */
import type { Selection } from './selection.ts';

/** All selections together; one of 10^6 runs has 6 MB. */
const MAX_BYTES = 64 * 1024 * 1024;

export class SelectionCache {
  /** Selections, the last used at the end. */
  readonly #selections = new Map<string, Selection>();
  #bytes = 0;

  /** The selection of this key. `isFinal`: the studies are over, so that it is kept. */
  async of(key: string, isFinal: boolean, make: () => Promise<Selection>): Promise<Selection> {
    const known = this.#selections.get(key);
    if (known !== undefined) {
      this.#selections.delete(key);
      this.#selections.set(key, known);
      return known;
    }
    const made = await make();
    if (isFinal && !this.#selections.has(key)) this.#keep(key, made);
    return made;
  }

  #keep(key: string, selection: Selection): void {
    this.#selections.set(key, selection);
    this.#bytes += bytesOf(selection);
    for (const [oldest, it] of this.#selections) {
      if (this.#bytes <= MAX_BYTES) return;
      this.#selections.delete(oldest);
      this.#bytes -= bytesOf(it);
    }
  }
}

const bytesOf = ({ members, runs }: Selection): number => members.byteLength + runs.byteLength;
