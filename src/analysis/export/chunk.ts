/** Some rows of a table as columns: what encoders write and conditions are evaluated on. */
import type { Column } from './columns.ts';

/** Numbers, NaN where missing: integers, booleans as 0 and 1, times in ms since the epoch. */
export interface NumberCells {
  type: 'integer' | 'number' | 'boolean' | 'time';
  values: Float64Array;
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
  rows = 0;

  constructor(columns: readonly Column[], capacity: number) {
    this.columns = columns;
    this.capacity = capacity;
    this.cells = columns.map(({ type }): Cells => {
      if (type === 'text') return { type, values: Array.from({ length: capacity }, () => null) };
      if (type === 'mixed') return { type, values: Array.from({ length: capacity }, () => null) };
      return { type, values: new Float64Array(capacity).fill(Number.NaN) };
    });
  }

  /** Removes all rows. */
  clear(): void {
    for (const cells of this.cells) {
      if (cells.type === 'text' || cells.type === 'mixed') cells.values.fill(null, 0, this.rows);
      else cells.values.fill(Number.NaN, 0, this.rows);
    }
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
