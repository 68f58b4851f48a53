/** Some rows of a table as columns: what encoders write and conditions are evaluated on. */
import type { Column } from './columns.ts';

/** Numbers, NaN where missing: integers, booleans as 0 and 1, times in ms since the epoch. */
export interface NumberCells {
  type: 'integer' | 'number' | 'boolean' | 'time';
  values: Float64Array;
  /** Of numbers that are kept as text; these are NaN in `values`. */
  digits?: Digits;
}

/** Numbers of a column as ASCII text, in the shortest digits that read back the same. */
export class Digits {
  /** Where a number of a row begins in `bytes`, and how long it is; 0 where the row has none. */
  readonly starts: Uint32Array;
  readonly lengths: Uint8Array;
  readonly #pool: DigitPool;

  constructor(capacity: number, pool: DigitPool) {
    this.starts = new Uint32Array(capacity);
    this.lengths = new Uint8Array(capacity);
    this.#pool = pool;
  }

  get bytes(): Uint8Array {
    return this.#pool.bytes;
  }

  /** Takes the number in these bytes; a double has at most 25 characters. */
  set(row: number, bytes: Uint8Array, start: number, end: number): void {
    this.starts[row] = this.#pool.add(bytes, start, end);
    this.lengths[row] = end - start;
  }
}

/** The texts of all numbers of a chunk. */
class DigitPool {
  bytes = new Uint8Array(1024);
  #length = 0;

  clear(): void {
    this.#length = 0;
  }

  /** Returns the place of a copy. */
  add(bytes: Uint8Array, start: number, end: number): number {
    const place = this.#length;
    this.#length += end - start;
    if (this.#length > this.bytes.length) {
      const larger = new Uint8Array(this.#length * 2);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    for (let from = start, to = place; from < end; from++, to++) this.bytes[to] = bytes[from]!;
    return place;
  }
}

export interface TextCells {
  type: 'text';
  values: (string | null)[];
}

/** JSON values of any type. */
export interface MixedCells {
  type: 'mixed';
  values: unknown[];
}

export type Cells = NumberCells | TextCells | MixedCells;

/** `cells` in the order of the columns; each has room for `capacity` rows, of which `rows` are in use. */
export class Chunk {
  readonly columns: readonly Column[];
  readonly cells: readonly Cells[];
  readonly capacity: number;
  readonly #digits = new DigitPool();
  rows = 0;

  /** `keepsDigits`: numbers of outputs may be given as text. */
  constructor(columns: readonly Column[], capacity: number, { keepsDigits = false } = {}) {
    this.columns = columns;
    this.capacity = capacity;
    this.cells = columns.map(({ type, source }): Cells => {
      if (type === 'text') return { type, values: Array.from({ length: capacity }, () => null) };
      if (type === 'mixed') return { type, values: Array.from({ length: capacity }, () => null) };
      const values = new Float64Array(capacity).fill(Number.NaN);
      if (!keepsDigits || source !== 'output' || type !== 'number') return { type, values };
      return { type, values, digits: new Digits(capacity, this.#digits) };
    });
  }

  /** Removes all rows. */
  clear(): void {
    for (const cells of this.cells) {
      if (cells.type === 'text' || cells.type === 'mixed') cells.values.fill(null, 0, this.rows);
      else {
        cells.values.fill(Number.NaN, 0, this.rows);
        cells.digits?.lengths.fill(0, 0, this.rows);
      }
    }
    this.#digits.clear();
    this.rows = 0;
  }

  /** Adds a row without values; returns its place. */
  add(): number {
    return this.rows++;
  }
}

/** Rows of a chunk with about this many values. */
const VALUES = 20_000;

/** The capacity of chunks for text: few enough rows for constant memory whatever the number of columns. */
export const chunkCapacity = (columns: number, values = VALUES): number =>
  Math.max(1, Math.min(20_000, Math.floor(values / Math.max(1, columns))));
