/** A table in a file, whatever its format. */

/** Some consecutive rows: the values of every column, `undefined` or null where a row has none. */
export interface RowBatch {
  count: number;
  columns: ReadonlyMap<string, ArrayLike<unknown>>;
}

export interface RowsFile {
  /** The columns in the order of the file. */
  names: readonly string[];
  /** The text that the file holds under a key; undefined where it has none, as CSV always. */
  described(key: string): string | undefined;
  /** Reads these columns, or all, from the first row to the last. May be called again. */
  batches(columns?: readonly string[]): AsyncIterable<RowBatch>;
}
