/** The order of a table's rows: the keys of the selected rows, collected chunk by chunk, and the permutation that sorts them. */
import { ascendingOrder } from '../numeric/order.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { numberOf, textOf } from '../../domain/runs/outputs.ts';
import type { Cells } from './chunk.ts';
import { type Column, columnNamed } from './columns.ts';

/** A column to sort by. */
export interface SortKey {
  column: Column;
  isDescending: boolean;
}

const MAX_KEYS = 8;
/** 36 bytes a row while it is sorted by one column: 360 MB. */
export const MAX_SORTED_ROWS = 10_000_000;
/** The distinct texts of the columns to sort by, in UTF-16 code units. */
const MAX_TEXT = 32 * 1024 * 1024;

/**
 * Reads `-outputs.miss_m`, `run_id`, ...: a minus means descending.
 * @throws SimbatchError `malformed-query` for an unknown or repeated column and for more than eight.
 */
export function readSort(sort: readonly string[], columns: readonly Column[]): SortKey[] {
  if (sort.length > MAX_KEYS) {
    const why = `it has ${sort.length} columns, and at most ${MAX_KEYS} are possible`;
    throw new SimbatchError('malformed-query', `sort not understood: ${why}; give fewer`);
  }
  const byName = new Map(columns.map((it) => [it.name, it]));
  const keys = sort.map((text) => {
    const isDescending = text.startsWith('-') && !byName.has(text);
    return { column: columnNamed(byName, isDescending ? text.slice(1) : text), isDescending };
  });
  const repeated = keys.find(({ column }, at) => keys.findIndex((it) => it.column === column) < at);
  if (repeated !== undefined) {
    const why = `it names "${repeated.column.name}" twice`;
    throw new SimbatchError('malformed-query', `sort not understood: ${why}; name each column once`);
  }
  return keys;
}

/** Collects the keys of rows. Memory: 8 bytes a row and key, and each distinct text once. */
export class RowOrder {
  readonly #keys: readonly SortKey[];
  readonly #columns: KeyColumn[];
  #rows = 0;

  /** `comparesAsNumbers`: of a mixed column, see `readCondition`. */
  constructor(keys: readonly SortKey[], comparesAsNumbers: (column: Column) => boolean) {
    this.#keys = keys;
    const texts = { left: MAX_TEXT };
    this.#columns = keys.map(({ column }) => new KeyColumn(column, comparesAsNumbers(column), texts));
  }

  /** Adds a row of a chunk; `cells` are those of the keys' columns. */
  add(cells: readonly Cells[], row: number): void {
    if (this.#rows >= MAX_SORTED_ROWS) {
      const why = `more than ${MAX_SORTED_ROWS} runs are selected`;
      throw new SimbatchError('malformed-query', `the runs cannot be sorted: ${why}; select fewer with \`where\``);
    }
    this.#rows++;
    for (let at = 0; at < cells.length; at++) this.#columns[at]!.add(cells[at]!, row);
  }

  /** The added rows in order: missing values last, equal rows in the order in which they were added. */
  sorted(): Uint32Array<ArrayBuffer> {
    let order: Uint32Array<ArrayBuffer> | undefined;
    // A stable sort by each key, the least significant first.
    for (let at = this.#keys.length - 1; at >= 0; at--) {
      const values = this.#columns[at]!.values();
      const sign = this.#keys[at]!.isDescending ? -1 : 1;
      const previous = order;
      const arranged = new Float64Array(this.#rows);
      for (let row = 0; row < this.#rows; row++) arranged[row] = sign * values[previous?.[row] ?? row]!;
      const next = ascendingOrder(arranged);
      if (previous !== undefined) for (let row = 0; row < next.length; row++) next[row] = previous[next[row]!]!;
      order = next;
    }
    return order ?? Uint32Array.from({ length: this.#rows }, (_, row) => row);
  }
}

/** The values of one key as numbers: texts by a code, which `values` replaces by their rank. */
class KeyColumn {
  readonly #name: string;
  readonly #asNumbers: boolean;
  readonly #texts: { left: number };
  readonly #codes = new Map<string, number>();
  #values = new Float64Array(1024);
  #rows = 0;

  constructor({ name }: Column, asNumbers: boolean, texts: { left: number }) {
    this.#name = name;
    this.#asNumbers = asNumbers;
    this.#texts = texts;
  }

  add(cells: Cells, row: number): void {
    if (this.#rows === this.#values.length) {
      const larger = new Float64Array(this.#rows * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#rows++] = this.#key(cells, row);
  }

  #key(cells: Cells, row: number): number {
    if (cells.type === 'text') return this.#code(cells.values[row]!);
    if (cells.type !== 'mixed') return cells.values[row]!;
    return this.#asNumbers ? (numberOf(cells.values[row]) ?? Number.NaN) : this.#code(textOf(cells.values[row]));
  }

  #code(text: string | null): number {
    if (text === null) return Number.NaN;
    const known = this.#codes.get(text);
    if (known !== undefined) return known;
    this.#texts.left -= text.length;
    if (this.#texts.left < 0) {
      const why = `the distinct texts of "${this.#name}" are too long to be sorted`;
      throw new SimbatchError('malformed-query', `the runs cannot be sorted: ${why}; select fewer with \`where\``);
    }
    const code = this.#codes.size;
    this.#codes.set(text, code);
    return code;
  }

  values(): Float64Array {
    const values = this.#values.subarray(0, this.#rows);
    if (this.#codes.size === 0) return values;
    const texts = [...this.#codes.keys()].sort((a, b) => (a < b ? -1 : 1));
    const ranks = new Float64Array(texts.length);
    for (const [rank, text] of texts.entries()) ranks[this.#codes.get(text)!] = rank;
    return values.map((code) => (Number.isNaN(code) ? code : ranks[code]!));
  }
}
