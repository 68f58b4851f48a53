/**
 * The telemetry file: one Parquet file per job that grows by row groups and can be read after each footer. Wide, as
 * data frames want it: `timestamp_ns` and a nullable double per variable.
 *
 * A footer is written after the row groups it describes, and the next row groups after that footer: nothing on disk is
 * ever overwritten, so a crash in the middle of a write costs that write and nothing before it. Readers follow the
 * last footer and the offsets in it; older footers are a few unreferenced bytes.
 *
 * A variable that appears late has no chunks in earlier row groups, and Parquet wants one for each. The footer's
 * writer adds them, all null and a few bytes each, at the end of the file: chunks are found by offset.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import { parquetMetadata, type ColumnChunk, type CompressionCodec, type RowGroup, type SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type lz4 from 'lz4-napi';
import type { Compression } from '../../contract/types.ts';
import { packageVersion } from '../../base/package.ts';
import type { Rows } from './rows.ts';
import { TIMESTAMP_COLUMN } from './variables.ts';

interface Codec {
  codec: CompressionCodec;
  /** Absent: none, or the writer's own. */
  compress?: (input: Uint8Array) => Uint8Array;
}

const load = createRequire(import.meta.url);

/** A native package, which the first file that needs it loads. */
const lz4Codec = (): typeof lz4 => load('lz4-napi') as typeof lz4;

/** Snappy is the writer's own. LZ4 is the raw block: the binding puts four bytes of length before it, Parquet wants none. */
const CODECS: Readonly<Record<Compression, Codec>> = {
  none: { codec: 'UNCOMPRESSED' },
  gzip: { codec: 'GZIP', compress: (input) => gzipSync(input) },
  snappy: { codec: 'SNAPPY' },
  lz4: { codec: 'LZ4_RAW', compress: (input) => lz4Codec().compressSync(Buffer.from(input)).subarray(4) },
};

/** Nulls have no bytes to compress, and readers disagree on what LZ4 makes of nothing. A codec belongs to a chunk. */
const NULLS_CODEC: Codec = CODECS.none;

const MAGIC_BYTES = 4;
const TIME_ELEMENT: SchemaElement = { name: TIMESTAMP_COLUMN, type: 'INT64', repetition_type: 'REQUIRED' };
const CREATED_BY = `simbatch version ${packageVersion}`;

function variableElement(name: string): SchemaElement {
  return { name, type: 'DOUBLE', repetition_type: 'OPTIONAL' };
}

/** One encoded column of one row group; the offsets in `chunk` count from the start of `bytes`. */
export interface EncodedColumn {
  name: string;
  bytes: Uint8Array;
  chunk: ColumnChunk;
}

type ColumnData = BigInt64Array | Float64Array | (number | null)[];

function encode(element: SchemaElement, data: ColumnData, { codec, compress }: Codec): EncodedColumn {
  const writer = new ByteWriter();
  const schema = [{ name: 'root', num_children: 1 }, element];
  const compressors = compress === undefined ? {} : { [codec]: compress };
  const parquet = new ParquetWriter({ writer, schema, codec, compressors, statistics: false });
  const encoding = element.type === 'INT64' ? 'DELTA_BINARY_PACKED' : 'PLAIN';
  const source = { name: element.name, data, encoding, offsetIndex: false } as const;
  // A writer in memory answers at once.
  void parquet.write({ columnData: [source], rowGroupSize: data.length, pageSize: Infinity });
  const chunk = parquet.row_groups[0]?.columns[0];
  if (chunk === undefined) throw new Error(`column ${element.name} has no rows`);
  return { name: element.name, bytes: writer.getBytes().subarray(MAGIC_BYTES), chunk: moved(chunk, -MAGIC_BYTES) };
}

function withStatistics(column: EncodedColumn, values: BigInt64Array | Float64Array, nulls: number): EncodedColumn {
  const statistics = { ...range(values), null_count: BigInt(nulls) };
  if (column.chunk.meta_data !== undefined) column.chunk.meta_data.statistics = statistics;
  return column;
}

/** The least and the greatest value as the format wants them: NaN left out, a zero as -0 below and +0 above. */
function range(values: BigInt64Array | Float64Array): { min_value?: number | bigint; max_value?: number | bigint } {
  let least: number | bigint | undefined;
  let greatest: number | bigint | undefined;
  for (const value of values) {
    if (least === undefined || greatest === undefined) {
      if (!Number.isNaN(value)) least = greatest = value;
    } else if (value < least) least = value;
    else if (value > greatest) greatest = value;
  }
  if (least === undefined || greatest === undefined) return {};
  return { min_value: least === 0 ? -0 : least, max_value: greatest === 0 ? 0 : greatest };
}

/** The columns of a row group, encoded one by one: the caller may look at something else between two. */
export function* encodeRows(rows: Rows, compression: Compression): Generator<EncodedColumn> {
  const codec = CODECS[compression];
  const nulls = Array.from<undefined, null>({ length: rows.count }, () => null);
  yield withStatistics(encode(TIME_ELEMENT, rows.times, codec), rows.times, 0);
  for (const [name, column] of rows.columns) {
    const values = column.values.subarray(0, column.count);
    const missing = rows.count - column.count;
    let data: ColumnData = values;
    if (missing > 0) {
      const sparse: (number | null)[] = nulls.slice();
      for (let index = 0; index < column.count; index += 1) sparse[column.rows[index] ?? 0] = values[index] ?? null;
      data = sparse;
    }
    yield withStatistics(encode(variableElement(name), data, codec), values, missing);
  }
}

function moved(chunk: ColumnChunk, by: number): ColumnChunk {
  const meta = chunk.meta_data;
  if (meta === undefined) throw new Error('a column chunk without metadata');
  const { dictionary_page_offset: dictionary, ...rest } = meta;
  return {
    file_offset: chunk.file_offset + BigInt(by),
    meta_data: {
      ...rest,
      data_page_offset: meta.data_page_offset + BigInt(by),
      ...(dictionary === undefined ? {} : { dictionary_page_offset: dictionary + BigInt(by) }),
    },
  };
}

interface Group {
  rows: number;
  chunks: Map<string, ColumnChunk>;
}

export class TelemetryFile {
  readonly path: string;
  /** Rows in all row groups, with a footer or not. */
  rows = 0;
  /** Number of chunks in all row groups. */
  chunks = 0;
  /** Bytes written, footers included. */
  bytes = 0;
  /** Bytes up to the end of the last footer; 0 before the first. */
  footedBytes = 0;
  readonly #handle: FileHandle;
  readonly #columns = new Set<string>();
  readonly #groups: Group[] = [];

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  /** Makes a new, empty file. Fails with EEXIST when the name is taken, also by a link. */
  static async create(path: string): Promise<TelemetryFile> {
    return new TelemetryFile(path, await open(path, 'wx+', 0o644));
  }

  /**
   * Opens what a crash left. When the file does not end with a footer it is cut back to `footedBytes`, where the last
   * footer that was acknowledged ends. Throws when there is none there either.
   */
  static async reopen(path: string, footedBytes: number): Promise<TelemetryFile> {
    const file = new TelemetryFile(path, await open(path, 'r+'));
    try {
      const { size } = await file.#handle.stat();
      if (!(await file.#restore(size))) {
        await file.#handle.truncate(footedBytes);
        if (footedBytes > 0 && !(await file.#restore(footedBytes)))
          throw new Error(`${path} has no footer where one was written`);
      }
      return file;
    } catch (error) {
      await file.#handle.close();
      throw error;
    }
  }

  /** Appends a row group. Not readable before the next footer. */
  async append(rows: number, columns: readonly EncodedColumn[]): Promise<void> {
    const group: Group = { rows, chunks: new Map() };
    const parts: Uint8Array[] = [];
    let at = this.bytes;
    if (at === 0) at = parts.push(Buffer.from('PAR1')) * MAGIC_BYTES;
    for (const { name, bytes, chunk } of columns) {
      group.chunks.set(name, moved(chunk, at));
      parts.push(bytes);
      at += bytes.length;
      if (name !== TIMESTAMP_COLUMN) this.#columns.add(name);
    }
    await this.#write(parts);
    this.#groups.push(group);
    this.rows += rows;
    this.chunks += columns.length;
  }

  /** Makes everything appended so far readable, and durable before it returns. */
  async writeFooter(): Promise<void> {
    await this.#fillGaps();
    const names = [TIMESTAMP_COLUMN, ...this.#columns];
    const schema = [{ name: 'root', num_children: names.length }, TIME_ELEMENT, ...names.slice(1).map(variableElement)];
    const writer = new ByteWriter();
    const footer = new ParquetWriter({ writer, schema, createdBy: CREATED_BY });
    footer.row_groups = this.#groups.map((group) => rowGroup(group, names));
    footer.num_rows = BigInt(this.rows);
    // A writer in memory answers at once.
    void footer.finish();
    await this.#write([writer.getBytes().subarray(MAGIC_BYTES)]);
    await this.#handle.datasync();
    this.footedBytes = this.bytes;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  /** Gives each row group a chunk of nulls for each column it lacks. */
  async #fillGaps(): Promise<void> {
    const nulls = new Map<number, EncodedColumn>();
    const parts: Uint8Array[] = [];
    let at = this.bytes;
    for (const group of this.#groups) {
      if (group.chunks.size === this.#columns.size + 1) continue;
      for (const name of this.#columns) {
        if (group.chunks.has(name)) continue;
        let empty = nulls.get(group.rows);
        if (empty === undefined) {
          const rows = Array.from<null>({ length: group.rows }).fill(null);
          empty = withStatistics(encode(variableElement(name), rows, NULLS_CODEC), new Float64Array(), group.rows);
          nulls.set(group.rows, empty);
        }
        const chunk = moved(empty.chunk, at);
        if (chunk.meta_data !== undefined) chunk.meta_data.path_in_schema = [name];
        group.chunks.set(name, chunk);
        parts.push(empty.bytes);
        at += empty.bytes.length;
        this.chunks += 1;
      }
    }
    if (parts.length > 0) await this.#write(parts);
  }

  async #write(parts: Uint8Array[]): Promise<void> {
    const bytes = Buffer.concat(parts);
    let written = 0;
    while (written < bytes.length) {
      const { bytesWritten } = await this.#handle.write(bytes, written, bytes.length - written, this.bytes + written);
      written += bytesWritten;
    }
    this.bytes += bytes.length;
  }

  /** Reads the footer that ends at `end`; false when there is none. */
  async #restore(end: number): Promise<boolean> {
    const tail = Buffer.alloc(8);
    if (end < 2 * MAGIC_BYTES + 4) return false;
    await this.#handle.read(tail, 0, 8, end - 8);
    const size = tail.readUInt32LE(0);
    if (tail.toString('latin1', 4) !== 'PAR1' || size > end - 12) return false;
    const footer = Buffer.alloc(size + 8);
    await this.#handle.read(footer, 0, footer.length, end - footer.length);
    try {
      const metadata = parquetMetadata(footer);
      for (const { columns, num_rows: rows } of metadata.row_groups) {
        const chunks = new Map(columns.map((chunk) => [chunk.meta_data?.path_in_schema[0] ?? '', chunk]));
        this.#groups.push({ rows: Number(rows), chunks });
        this.chunks += chunks.size;
      }
      for (const { name, type } of metadata.schema) if (type === 'DOUBLE') this.#columns.add(name);
      this.rows = Number(metadata.num_rows);
    } catch {
      this.#groups.length = 0;
      this.chunks = 0;
      return false;
    }
    this.bytes = end;
    this.footedBytes = end;
    return true;
  }
}

function rowGroup(group: Group, names: readonly string[]): RowGroup {
  let uncompressed = 0n;
  let compressed = 0n;
  const columns = names.map((name) => {
    const chunk = group.chunks.get(name);
    if (chunk?.meta_data === undefined) throw new Error(`a row group without the column ${name}`);
    uncompressed += chunk.meta_data.total_uncompressed_size;
    compressed += chunk.meta_data.total_compressed_size;
    return chunk;
  });
  return { columns, total_byte_size: uncompressed, num_rows: BigInt(group.rows), total_compressed_size: compressed };
}
