/**
 * Rows that wait to be written, column by column. A row has a time and some of the variables, so a column remembers
 * which rows it has values for: a thousand variables of which each sample has one cost no more than their values.
 */
import type { Sample } from './sample.ts';

const FIRST_CAPACITY = 64;

/** The values of one variable: `values[i]` is in row `rows[i]`; rows ascend. Only the first `count` are valid. */
export class Column {
  rows = new Uint32Array(FIRST_CAPACITY);
  values = new Float64Array(FIRST_CAPACITY);
  count = 0;
  /** Number of rows that are in the journal. */
  journaled = 0;

  /** Sets the value of `row`, which is the last row of this column or a later one. */
  set(row: number, value: number): boolean {
    if (this.count > 0 && this.rows[this.count - 1] === row) {
      this.values[this.count - 1] = value;
      return false;
    }
    if (this.count === this.rows.length) {
      this.rows = grown(this.rows, new Uint32Array(this.count * 2));
      this.values = grown(this.values, new Float64Array(this.count * 2));
    }
    this.rows[this.count] = row;
    this.values[this.count] = value;
    this.count += 1;
    return true;
  }

  has(row: number): boolean {
    return this.count > 0 && this.rows[this.count - 1] === row;
  }
}

export class Rows {
  /** Columns in the order of their first values. */
  readonly columns = new Map<string, Column>();
  count = 0;
  /** Number of values in all columns. */
  values = 0;
  /** How many rows are in the journal. */
  journaled = 0;
  #times = new BigInt64Array(FIRST_CAPACITY);
  #halves = new Int32Array(this.#times.buffer);

  get times(): BigInt64Array {
    return this.#times.subarray(0, this.count);
  }

  /**
   * Takes the stored variables of a sample. A sample with the time of the row before and none of its variables joins
   * that row: sending each variable by itself gives the same table as sending them together.
   */
  add(sample: Sample, columnNames: readonly string[]): void {
    let row = this.count;
    for (let index = 0; index < sample.count; index += 1) {
      const column = sample.variables[index]?.column ?? -1;
      const name = columnNames[column];
      if (column < 0 || name === undefined) continue;
      if (row === this.count)
        row = this.#joins(sample, columnNames) ? this.count - 1 : this.#push(sample.high, sample.low);
      if (this.column(name).set(row, sample.values[index] ?? NaN)) this.values += 1;
    }
  }

  /** Appends a row without values; `column(name).set` and `values` are then the caller's. */
  pushTime(timestampNs: bigint): number {
    return this.#push(Number(timestampNs >> 32n), Number(timestampNs & 0xffffffffn));
  }

  column(name: string): Column {
    let column = this.columns.get(name);
    if (column === undefined) this.columns.set(name, (column = new Column()));
    return column;
  }

  #push(high: number, low: number): number {
    if (this.count === this.#times.length) {
      this.#times = grown(this.#times, new BigInt64Array(this.count * 2));
      this.#halves = new Int32Array(this.#times.buffer);
    }
    // Two halves, little end first as on every machine Node runs on: making a BigInt per sample would cost ten times this.
    this.#halves[this.count * 2] = low;
    this.#halves[this.count * 2 + 1] = high;
    this.count += 1;
    return this.count - 1;
  }

  #joins(sample: Sample, columnNames: readonly string[]): boolean {
    const last = this.count - 1;
    // A row in the journal is closed: its frame is written.
    if (last < this.journaled) return false;
    if (this.#halves[last * 2] !== (sample.low | 0) || this.#halves[last * 2 + 1] !== sample.high) return false;
    for (let index = 0; index < sample.count; index += 1) {
      const name = columnNames[sample.variables[index]?.column ?? -1];
      if (name !== undefined && this.columns.get(name)?.has(last) === true) return false;
    }
    return true;
  }
}

function grown<A extends Uint32Array | Float64Array | BigInt64Array>(from: A, into: A): A {
  if (from instanceof BigInt64Array) {
    if (into instanceof BigInt64Array) into.set(from);
  } else if (!(into instanceof BigInt64Array)) into.set(from);
  return into;
}
