/** The types of the outputs of a study, found in the results of its runs. */
import type { ColumnType } from '../../contract/types.ts';

/** More columns are not sent at once: a chunk of rows has memory for each. */
export const MAX_COLUMNS = 10_000;

/** The kinds of values, as bits. `other`: lists, and objects that are nested too deep for names of their own. */
const [NUMBER, BOOLEAN, TEXT, OTHER] = [1, 2, 4, 8] as const;

const TYPES: Readonly<Record<number, ColumnType>> = {
  // An output that was only null so far, or declared and never reported.
  0: 'number',
  [NUMBER]: 'number',
  [BOOLEAN]: 'boolean',
  // Booleans among numbers count as 0 and 1, as in all statistics.
  [NUMBER | BOOLEAN]: 'number',
  [TEXT]: 'text',
};

export class OutputTypes {
  readonly #kinds = new Map<string, number>();

  /** Adds the value of one run. Names beyond one more than a table may have are not kept: such a table is refused. */
  add = (name: string, value: unknown): void => {
    this.#addKinds(name, kindOf(value));
  };

  /** Names of the outputs, in the order in which the runs reported them. */
  names(): Iterable<string> {
    return this.#kinds.keys();
  }

  of(name: string): ColumnType {
    return TYPES[this.#kinds.get(name) ?? 0] ?? 'mixed';
  }

  /** True where some run has a number or a boolean: then the column of a mixed output compares as numbers. */
  hasNumbers(name: string): boolean {
    return ((this.#kinds.get(name) ?? 0) & (NUMBER | BOOLEAN)) !== 0;
  }

  addAll(other: OutputTypes): void {
    for (const [name, kinds] of other.#kinds) this.#addKinds(name, kinds);
  }

  /** Adds the kinds of values that some runs have; 0 where all are null. */
  #addKinds(name: string, added: number): void {
    const known = this.#kinds.get(name);
    const kinds = (known ?? 0) | added;
    if (kinds === known || (known === undefined && this.#kinds.size > MAX_COLUMNS)) return;
    this.#kinds.set(name, kinds);
  }
}

function kindOf(value: unknown): number {
  switch (typeof value) {
    case 'number':
      return NUMBER;
    case 'string':
      return TEXT;
    case 'boolean':
      return BOOLEAN;
    default:
      return value === null ? 0 : OTHER;
  }
}
