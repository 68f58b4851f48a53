/** Tables of runs as Parquet: a row group for each chunk, Snappy, statistics, units in the schema that Arrow readers use. */
import { Buffer } from 'node:buffer';
import type { ColumnChunk, SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { ColumnType } from '../../../../contract/types.ts';
import { STUDY_KEY } from '../../../../analysis/table/described-study.ts';
import { arrowSchema, arrowSchemaMessage } from './arrow.ts';
import type { Chunk } from '../../../../analysis/export/chunk.ts';
import type { Column } from '../../../../analysis/export/columns.ts';
import { ColumnWriter } from './parquet-columns.ts';
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
  const columnWriter = new ColumnWriter(writer, schema[0]!);
  const flushed = (): Uint8Array => {
    const bytes = writer.getBytes().slice();
    // `offset` counts the bytes of the file, for the footer; `index` is the position in this buffer.
    writer.index = 0;
    return bytes;
  };
  return {
    begin: flushed,
    write: (chunk) => {
      if (chunk.rows > 0) writeGroup(parquet, writer, columnWriter, chunk);
      return flushed();
    },
    end: () => {
      // Asynchronous only for writers that are.
      void parquet.finish();
      return flushed();
    },
  };
}

/** Adds a row group to the file. */
function writeGroup(
  parquet: ParquetWriter,
  writer: ByteWriter,
  columnWriter: ColumnWriter,
  { cells, rows }: Chunk,
): void {
  const start = writer.offset;
  const [, ...elements] = parquet.schema;
  const columns: ColumnChunk[] = [];
  let uncompressed = 0n;
  for (const [at, element] of elements.entries()) {
    const written = columnWriter.write(element, cells[at]!, rows);
    columns.push(written.chunk);
    uncompressed += written.chunk.meta_data!.total_uncompressed_size;
    if (written.offsetIndex !== undefined) parquet.pendingIndexes.push(written);
  }
  parquet.num_rows += BigInt(rows);
  parquet.row_groups.push({
    columns,
    total_byte_size: uncompressed,
    num_rows: BigInt(rows),
    total_compressed_size: BigInt(writer.offset - start),
  });
}
