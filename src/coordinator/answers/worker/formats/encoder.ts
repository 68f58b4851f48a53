/** The formats of a table of runs. */
import type { TableFormat } from '../../../../contract/types.ts';
import { arrowEncoder } from './arrow.ts';
import { chunkCapacity } from '../../../../analysis/export/chunk.ts';
import type { Column } from '../../../../analysis/export/columns.ts';
import { parquetEncoder } from './parquet.ts';
import type { TableEncoder } from './table-encoder.ts';
import { csvEncoder, jsonEncoder, ndjsonEncoder } from './text.ts';

/** Values of a row group: a group has memory for all of them, and a file with few groups is smaller and faster to read. */
const GROUP_VALUES = 200_000;

interface Format {
  encoder: (columns: readonly Column[], described?: string) => TableEncoder;
  /** Number of values of a chunk, in formats of columns. */
  values?: number;
}

const FORMATS: Readonly<Record<TableFormat, Format>> = {
  json: { encoder: jsonEncoder },
  ndjson: { encoder: ndjsonEncoder },
  csv: { encoder: csvEncoder },
  parquet: { encoder: parquetEncoder, values: GROUP_VALUES },
  arrow: { encoder: arrowEncoder, values: GROUP_VALUES },
};

/** `described`: the study for formats that hold a description. An encoder, and the capacity of its chunks. */
export function tableEncoder(
  format: TableFormat,
  columns: readonly Column[],
  described?: string,
): { encoder: TableEncoder; capacity: number } {
  const { encoder, values } = FORMATS[format];
  return { encoder: encoder(columns, described), capacity: chunkCapacity(columns.length, values) };
}
