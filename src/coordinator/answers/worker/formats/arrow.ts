/** Tables of runs as Arrow IPC streams (Arrow columnar format 1.5): a schema, a record batch for each chunk, an end. */
import { Buffer } from 'node:buffer';
import {
  batchType,
  bool,
  Column as ArrowColumn,
  type DataType,
  field,
  float64,
  int32,
  type Schema,
  Table,
  tableToIPC,
  timestamp,
  TimeUnit,
  utf8,
} from '@uwdata/flechette';
import type { ColumnType } from '../../../../contract/types.ts';
import { textOf } from '../../../../domain/runs/outputs.ts';
import type { Cells, Chunk } from '../../../../analysis/export/chunk.ts';
import type { Column } from '../../../../analysis/export/columns.ts';
import type { TableEncoder } from './table-encoder.ts';

const TYPES: Readonly<Record<ColumnType, () => DataType>> = {
  integer: int32,
  number: float64,
  boolean: bool,
  time: () => timestamp(TimeUnit.MILLISECOND, 'UTC'),
  text: utf8,
  mixed: utf8,
};

/** The end of a stream: a continuation marker and a length of 0. */
const END_LENGTH = 8;

export function arrowEncoder(columns: readonly Column[]): TableEncoder {
  const schema = arrowSchema(columns);
  const head = arrowSchemaMessage(schema);
  return {
    // A copy: its sender may transfer the memory.
    begin: () => head.slice(),
    write: (chunk) => {
      if (chunk.rows === 0) return new Uint8Array();
      const whole = streamOf(schema, chunk);
      // Each chunk is encoded as a stream of its own, of which its record batch is what stays.
      return whole.slice(head.length, whole.length - END_LENGTH);
    },
    end: () => Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0),
  };
}

/** The columns as an Arrow schema; units and descriptions are in the metadata of the fields. */
export function arrowSchema(columns: readonly Column[]): Schema {
  const fields = columns.map(({ name, type, units, description, isRequired }) => {
    const metadata = new Map<string, string>();
    if (units !== null) metadata.set('units', units);
    if (description !== null) metadata.set('description', description);
    return field(name, TYPES[type](), isRequired !== true, metadata.size === 0 ? null : metadata);
  });
  return { version: 4, endianness: 0, fields, metadata: null };
}

/** The schema as an encapsulated message, also what Parquet files carry in `ARROW:schema`. */
export function arrowSchemaMessage(schema: Schema): Uint8Array {
  const stream = tableToIPC(
    new Table(
      schema,
      schema.fields.map(({ type }) => new ArrowColumn([], type)),
    ),
    { format: 'stream' },
  )!;
  return stream.slice(0, stream.length - END_LENGTH);
}

function streamOf(schema: Schema, chunk: Chunk): Uint8Array {
  const children = chunk.cells.map((cells, at) => {
    const { type } = schema.fields[at]!;
    const BatchClass = batchType(type) as unknown as new (options: object) => never;
    const buffers =
      chunk.columns[at]?.isRequired === true ? wholeBuffers(cells, chunk.rows) : buffersOf(cells, chunk.rows);
    return new ArrowColumn([new BatchClass({ type, length: chunk.rows, ...buffers })]);
  });
  return tableToIPC(new Table(schema, children), { format: 'stream' })!;
}

interface Buffers {
  nullCount: number;
  validity: Uint8Array;
  offsets?: Int32Array;
  values: Uint8Array | Int32Array | Float64Array | BigInt64Array;
}

/** A number of a column without missing values may be NaN. */
function wholeBuffers(cells: Cells, rows: number): Buffers {
  if (cells.type !== 'number') return buffersOf(cells, rows);
  return { nullCount: 0, validity: new Uint8Array(), values: cells.values.subarray(0, rows) };
}

function buffersOf(cells: Cells, rows: number): Buffers {
  switch (cells.type) {
    case 'text':
      return textBuffers(rows, (row) => cells.values[row]!);
    case 'mixed':
      return textBuffers(rows, (row) => textOf(cells.values[row]));
    case 'integer':
      return { ...validityOf(cells.values, rows), values: Int32Array.from(cells.values.subarray(0, rows)) };
    case 'number':
      return { ...validityOf(cells.values, rows), values: cells.values.subarray(0, rows) };
    case 'time': {
      const values = new BigInt64Array(rows);
      for (let row = 0; row < rows; row++) {
        const ms = cells.values[row]!;
        if (!Number.isNaN(ms)) values[row] = BigInt(ms);
      }
      return { ...validityOf(cells.values, rows), values };
    }
    case 'boolean': {
      const values = new Uint8Array(Math.ceil(rows / 8));
      for (let row = 0; row < rows; row++) if (cells.values[row] === 1) values[row >> 3]! |= 1 << (row & 7);
      return { ...validityOf(cells.values, rows), values };
    }
  }
}

/** A bit for each value, 1 where there is one; no buffer where no value is missing. */
function validityOf(values: Float64Array, rows: number): { nullCount: number; validity: Uint8Array } {
  const validity = new Uint8Array(Math.ceil(rows / 8));
  let present = 0;
  for (let row = 0; row < rows; row++) {
    if (Number.isNaN(values[row]!)) continue;
    validity[row >> 3]! |= 1 << (row & 7);
    present++;
  }
  return present === rows ? { nullCount: 0, validity: new Uint8Array() } : { nullCount: rows - present, validity };
}

function textBuffers(rows: number, textAt: (row: number) => string | null): Buffers {
  const validity = new Uint8Array(Math.ceil(rows / 8));
  const offsets = new Int32Array(rows + 1);
  let bytes = Buffer.allocUnsafe(rows * 16 + 64);
  let length = 0;
  let nullCount = 0;
  for (let row = 0; row < rows; row++) {
    const text = textAt(row);
    if (text === null) nullCount++;
    else {
      validity[row >> 3]! |= 1 << (row & 7);
      // A UTF-16 code unit takes at most three bytes.
      if (length + text.length * 3 > bytes.length) bytes = grown(bytes, length, length + text.length * 3);
      length += bytes.write(text, length);
    }
    offsets[row + 1] = length;
  }
  const values = new Uint8Array(bytes.buffer, bytes.byteOffset, length);
  return { nullCount, validity: nullCount === 0 ? new Uint8Array() : validity, offsets, values };
}

function grown(bytes: Buffer<ArrayBuffer>, used: number, needed: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafe(Math.max(needed, bytes.length * 2));
  bytes.copy(larger, 0, 0, used);
  return larger;
}
