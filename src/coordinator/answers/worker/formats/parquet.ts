/** Tables of runs as Parquet: a row group for each chunk, Snappy, statistics, units in the schema that Arrow readers use. */
import { Buffer } from 'node:buffer';
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { ColumnType } from '../../../../contract/types.ts';
import { STUDY_KEY } from '../../../../analysis/table/described-study.ts';
import { textOf } from '../../../../domain/runs/outputs.ts';
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

/** `described`: the study as JSON, from which answers are computed without the coordinator. */
export function parquetEncoder(columns: readonly Column[], described?: string): TableEncoder {
  const schema: SchemaElement[] = [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name, type, isRequired }): SchemaElement => ({
      name,
      ...TYPES[type],
      repetition_type: isRequired === true ? 'REQUIRED' : 'OPTIONAL',
    })),
  ];
  const writer = new ByteWriter();
  // Readers that know Arrow take the fields' metadata from it (pyarrow, polars, DuckDB's `parquet_kv_metadata`).
  const kvMetadata = [
    { key: 'ARROW:schema', value: Buffer.from(arrowSchemaMessage(arrowSchema(columns))).toString('base64') },
    ...(described === undefined ? [] : [{ key: STUDY_KEY, value: described }]),
  ];
  const parquet = new ParquetWriter({ writer, schema, codec: 'SNAPPY', createdBy: 'simbatch', kvMetadata });
  const flushed = (): Uint8Array => {
    const bytes = writer.getBytes().slice();
    // `offset` counts the bytes of the file, for the footer; `index` is the position in this buffer.
    writer.index = 0;
    return bytes;
  };
  return {
    begin: flushed,
    write: (chunk) => {
      if (chunk.rows > 0) writeGroup(parquet, columns, chunk);
      return flushed();
    },
    end: () => {
      // Asynchronous only for writers that are.
      void parquet.finish();
      return flushed();
    },
  };
}

function writeGroup(parquet: ParquetWriter, columns: readonly Column[], { cells, rows }: Chunk): void {
  const columnData = columns.map(({ name, isRequired, isRaw, isUnordered }, at) => ({
    name,
    ...dataOf(cells[at]!, rows, isRequired),
    ...(isRaw === true ? ({ codec: 'UNCOMPRESSED' } as const) : {}),
    ...(isRaw === true || isUnordered === true ? { statistics: false } : {}),
  }));
  // Raw columns are numbers and their groups small: one page each, without an estimate of each value's size.
  const isRaw = columns.at(-1)?.isRaw === true;
  void parquet.write({ columnData, rowGroupSize: rows, ...(isRaw ? { pageSize: 0 } : {}) });
}

type Data = { data: Int32Array | Float64Array | unknown[]; encoding?: 'PLAIN' };

/** Typed arrays where no value is missing: they are written in a third of the time. A number of a required column may be NaN. */
function dataOf(cells: Cells, rows: number, isRequired: true | undefined): Data {
  switch (cells.type) {
    case 'text':
      return { data: cells.values.slice(0, rows) };
    case 'mixed':
      return { data: cells.values.slice(0, rows).map(textOf) };
    case 'integer':
      return { data: new Int32Array(cells.values.subarray(0, rows)), encoding: 'PLAIN' };
    case 'number':
      return {
        data:
          (isRequired === true ? undefined : withNulls(cells.values, rows, (value) => value)) ??
          cells.values.subarray(0, rows),
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
