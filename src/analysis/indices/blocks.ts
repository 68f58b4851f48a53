/** The complete blocks of Saltelli's design: the values of an output by row of the block. */
import type { SaltelliDesign } from '../../domain/sampling/designs/saltelli.ts';
import { type RunTable, runIdOf } from '../table/run-table.ts';

export interface Blocks {
  /** Rows of A and of B, a value for each complete block. */
  readonly a: Float64Array;
  readonly b: Float64Array;
  /** By input: rows of A with this input from B. */
  readonly ab: readonly Float64Array[];
  /** By input: rows of B with this input from A; empty without second order. */
  readonly ba: readonly Float64Array[];
  /** Blocks of the design that are not complete. */
  readonly missing: number;
}

/**
 * Sorts the values of a column into blocks. `values`: by row of the table, NaN where there is none. `runs`: those of the design; an
 * extension in the table may have added more. Memory follows the rows of the table, however many runs the design has.
 */
export function blocksOf(table: RunTable, values: Float64Array, design: SaltelliDesign, runs: number): Blocks {
  const { inputs, hasSecondOrder, rows } = design;
  const starts: number[] = [];
  for (let row = 0; row + rows <= table.rows; row++) {
    const isFirst = runIdOf(table, row) % rows === 0;
    // Rows are in the order of run ids, each once.
    const isWhole = isFirst && runIdOf(table, row + rows - 1) === runIdOf(table, row) + rows - 1;
    if (isWhole && values.subarray(row, row + rows).every(Number.isFinite)) starts.push(row);
  }
  const highest = table.rows === 0 ? 0 : runIdOf(table, table.rows - 1) + 1;
  const column = (place: number): Float64Array => Float64Array.from(starts, (start) => values[start + place]!);
  return {
    a: column(0),
    b: column(rows - 1),
    ab: inputs.map((_, place) => column(1 + place)),
    ba: hasSecondOrder ? inputs.map((_, place) => column(1 + inputs.length + place)) : [],
    missing: Math.ceil(Math.max(runs, highest) / rows) - starts.length,
  };
}

/** Every value of the complete blocks. */
export const columnsOf = ({ a, b, ab, ba }: Blocks): Float64Array[] => [a, b, ...ab, ...ba];

/** The mean of some columns together, and the sum of the squared distances from it. */
export function momentsOf(columns: readonly Float64Array[]): { count: number; mean: number; squares: number } {
  const count = columns.reduce((sum, it) => sum + it.length, 0);
  const mean = sumOf(columns, (value) => value) / count;
  return { count, mean, squares: sumOf(columns, (value) => (value - mean) ** 2) };
}

/** The same blocks with every value less the mean and in units of the standard deviation of all of them, as SALib does it. */
export function standardised(blocks: Blocks): Blocks {
  const { count, mean, squares } = momentsOf(columnsOf(blocks));
  const sd = Math.sqrt(squares / count);
  const scaled = (values: Float64Array): Float64Array => values.map((value) => (sd > 0 ? (value - mean) / sd : 0));
  const { a, b, ab, ba, missing } = blocks;
  return { a: scaled(a), b: scaled(b), ab: ab.map(scaled), ba: ba.map(scaled), missing };
}

function sumOf(columns: readonly Float64Array[], of: (value: number) => number): number {
  let sum = 0;
  for (const column of columns) for (const value of column) sum += of(value);
  return sum;
}
