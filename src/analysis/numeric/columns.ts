/** Columns of numbers with names, and the rows in which all of them have a value. */

/** A variable over runs in run order. NaN and infinities are missing values. */
export interface NumericColumn {
  name: string;
  values: Float64Array;
}

/** The indices of the rows in which every column has a finite value, ascending. */
export function completeRows(columns: readonly Float64Array[], length: number): Uint32Array<ArrayBuffer> {
  const rows = new Uint32Array(length);
  let count = 0;
  for (let row = 0; row < length; row++) {
    if (columns.every((values) => Number.isFinite(values[row]))) rows[count++] = row;
  }
  return rows.slice(0, count);
}

/** The values of some rows, in the order of the rows. */
export function takeRows(values: Float64Array, rows: Uint32Array): Float64Array<ArrayBuffer> {
  const taken = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) taken[i] = values[rows[i]!]!;
  return taken;
}
