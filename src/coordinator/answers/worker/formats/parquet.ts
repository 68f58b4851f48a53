/** Tables of runs as Parquet: a row group for each chunk, Snappy, statistics, units in the schema that Arrow readers use. */
import { Buffer } from 'node:buffer';
import type { RowGroup, SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { ColumnType } from '../../../../contract/types.ts';
import { STUDY_KEY } from '../../../../analysis/table/described-study.ts';
import { textOf } from '../../../../domain/outputs.ts';
import { arrowSchema, arrowSchemaMessage } from './arrow.ts';
import type { Cells, Chunk } from '../../../../analysis/export/chunk.ts';
import type { Column } from '../../../../analysis/export/columns.ts';
import type { TableEncoder } from './table-encoder.ts';

type PhysicalType = Pick<SchemaElement, 'type' | 'converted_type' | 'logical_type'>;

const TEXT: PhysicalType = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } };
const TYPES: Readonly<Record<ColumnType, PhysicalType>> = {
  integer: { type: 'INT32' },
  number: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  text: TEXT,
  mixed: TEXT,
};

/** A row group that was written: its columns, in the order of its chunks. */
interface Group {
  rows: number;
  columns: readonly Column[];
}

/**
 * A Parquet file in pieces. Its columns are named at its end, so that a later group may have others than an earlier one; each group then
 * needs a chunk for each column, and the first chunk of a column that changed its type is left unused.
 */
export class ParquetFile {
  readonly #writer = new ByteWriter();
  readonly #parquet = new ParquetWriter({
    writer: this.#writer,
    schema: schemaOf([]),
    codec: 'SNAPPY',
    createdBy: 'simbatch',
  });
  readonly #groups: Group[] = [];

  /** Adds a row group of at least one row; returns the bytes since the last ones. */
  add({ columns, cells, rows }: Chunk): Uint8Array {
    this.#write(columns, cells, rows);
    this.#groups.push({ rows, columns });
    return this.flushed();
  }

  /**
   * The columns that a group lacks, or has with another type of the format. `isEmpty`: they have no value in its rows. All groups must
   * have all columns before the file ends.
   */
  lacks(group: number, columns: readonly Column[]): { columns: Column[]; isEmpty: boolean; rows: number } {
    const { rows, columns: own } = this.#groups[group]!;
    if (own === columns) return { columns: [], isEmpty: true, rows };
    const places = placesOf(own);
    const typeOf = (it: Column | undefined): unknown => it && TYPES[it.type];
    const lacking = columns.filter((it) => typeOf(own[places.get(it.name) ?? -1]) !== TYPES[it.type]);
    const chunks = this.#parquet.row_groups[group]!.columns;
    const isEmpty = lacking.every(({ name }) => {
      const before = chunks[places.get(name) ?? -1];
      return before === undefined || before.meta_data?.statistics?.null_count === BigInt(rows);
    });
    return { columns: lacking, isEmpty, rows };
  }

  /** Adds these columns to a group, and puts them in the place of those with the same names. */
  amend(group: number, { columns, cells }: Pick<Chunk, 'columns' | 'cells'>): Uint8Array {
    const { rows, columns: own } = this.#groups[group]!;
    this.#write(columns, cells, rows);
    const { row_groups: groups } = this.#parquet;
    const added = groups.pop()!.columns;
    const names = new Set(columns.map((it) => it.name));
    const isKept = (_: unknown, at: number): boolean => !names.has(own[at]!.name);
    groups[group]!.columns = [...groups[group]!.columns.filter(isKept), ...added];
    this.#groups[group] = { rows, columns: [...own.filter(isKept), ...columns] };
    return this.flushed();
  }

  /** Ends the file; all groups must have these columns. `described`: the study as JSON, from which answers are computed. */
  end(columns: readonly Column[], described: string | undefined): Uint8Array {
    const parquet = this.#parquet;
    parquet.schema = schemaOf(columns);
    // Readers that know Arrow take the fields' metadata from it (pyarrow, polars, DuckDB's `parquet_kv_metadata`).
    parquet.kvMetadata = [
      { key: 'ARROW:schema', value: Buffer.from(arrowSchemaMessage(arrowSchema(columns))).toString('base64') },
      ...(described === undefined ? [] : [{ key: STUDY_KEY, value: described }]),
    ];
    parquet.num_rows = 0n;
    for (const [at, { rows, columns: own }] of this.#groups.entries()) {
      parquet.num_rows += BigInt(rows);
      if (own !== columns) parquet.row_groups[at] = ordered(parquet.row_groups[at]!, own, columns);
    }
    // Asynchronous only for writers that are.
    void parquet.finish();
    return this.flushed();
  }

  #write(columns: readonly Column[], cells: readonly Cells[], rows: number): void {
    const columnData = columns.map(({ name }, at) => ({ name, ...dataOf(cells[at]!, rows) }));
    this.#parquet.schema = schemaOf(columns);
    void this.#parquet.write({ columnData, rowGroupSize: rows });
  }

  /** The bytes since the last ones, in memory of their own. */
  flushed(): Uint8Array {
    const bytes = this.#writer.getBytes().slice();
    // `offset` counts the bytes of the file, for the footer; `index` is the position in this buffer.
    this.#writer.index = 0;
    return bytes;
  }
}

const schemaOf = (columns: readonly Column[]): SchemaElement[] => [
  { name: 'root', num_children: columns.length },
  ...columns.map(({ name, type, isRequired }): SchemaElement => ({
    name,
    ...TYPES[type],
    repetition_type: isRequired === true ? 'REQUIRED' : 'OPTIONAL',
  })),
];

const placesOf = (columns: readonly Column[]): Map<string, number> =>
  new Map(columns.map(({ name }, at) => [name, at]));

/** A group whose chunks are those of `own`, with the chunks in the order of `columns`. */
function ordered(group: RowGroup, own: readonly Column[], columns: readonly Column[]): RowGroup {
  const places = placesOf(own);
  const chunks = columns.map(({ name }) => group.columns[places.get(name)!]!);
  let [uncompressed, compressed] = [0n, 0n];
  for (const { meta_data: data } of chunks) {
    uncompressed += data!.total_uncompressed_size;
    compressed += data!.total_compressed_size;
  }
  return { ...group, columns: chunks, total_byte_size: uncompressed, total_compressed_size: compressed };
}

/** A file whose columns are known from its beginning. `described`: the study as JSON, from which answers are computed. */
export function parquetEncoder(columns: readonly Column[], described?: string): TableEncoder {
  const file = new ParquetFile();
  return {
    begin: () => file.flushed(),
    write: (chunk) => (chunk.rows > 0 ? file.add(chunk) : file.flushed()),
    end: () => file.end(columns, described),
  };
}

type Data = { data: Int32Array | Float64Array | unknown[]; encoding?: 'PLAIN' };

/** Typed arrays where no value is missing: they are written in a third of the time. */
function dataOf(cells: Cells, rows: number): Data {
  switch (cells.type) {
    case 'text':
      return { data: cells.values.slice(0, rows) };
    case 'mixed':
      return { data: cells.values.slice(0, rows).map(textOf) };
    case 'integer':
      return { data: Int32Array.from(cells.values.subarray(0, rows)), encoding: 'PLAIN' };
    case 'number':
      return {
        data: withNulls(cells.values, rows, (value) => value) ?? cells.values.slice(0, rows),
        encoding: 'PLAIN',
      };
    case 'time':
      return { data: listOf(cells.values, rows, BigInt), encoding: 'PLAIN' };
    case 'boolean':
      return { data: listOf(cells.values, rows, (value) => value === 1) };
  }
}

/** Undefined where no value is missing. */
function withNulls<T>(values: Float64Array, rows: number, value: (number: number) => T): (T | null)[] | undefined {
  for (let row = 0; row < rows; row++) if (Number.isNaN(values[row]!)) return listOf(values, rows, value);
  return undefined;
}

function listOf<T>(values: Float64Array, rows: number, value: (number: number) => T): (T | null)[] {
  const list: (T | null)[] = [];
  for (let row = 0; row < rows; row++) list.push(Number.isNaN(values[row]!) ? null : value(values[row]!));
  return list;
}
