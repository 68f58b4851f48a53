/**
 * The rows that are in no readable row group yet, on disk: what a crash must not cost. A Parquet file cannot take a few
 * rows every second (each row group carries a kilobyte of footer, and small ones read slowly), so an interval's rows go
 * here first, and into the Parquet file when they fill a row group. A journal is a header that says how far
 * the Parquet file was good, and frames that carry a checksum: a torn last one is recognised and left out.
 */
import { mkdir, open, readFile, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { COMPRESSIONS } from '../../contract/enums.ts';
import type { Compression } from '../../contract/types.ts';
import { Rows } from './rows.ts';

export const JOURNAL_NAME = 'telemetry.journal';
const FORMAT = 1;
const FRAME_HEAD_BYTES = 8;

/** Dependencies of the journal. */
export interface JournalHeader {
  /** Name of the Parquet file, in the same directory. */
  file: string;
  compression: Compression;
  /** Where the Parquet file's last durable footer ends; 0 before the first. */
  footedBytes: number;
}

/** Rows in the order of the job: `firstRow` counts from the job's first. */
interface RowsFrame {
  firstRow: number;
  rows: number;
  columns: { name: string; count: number }[];
}

export class Journal {
  readonly #path: string;
  #handle: FileHandle;
  #bytes: number;

  private constructor(path: string, handle: FileHandle, bytes: number) {
    this.#path = path;
    this.#handle = handle;
    this.#bytes = bytes;
  }

  static async create(directory: string, header: JournalHeader): Promise<Journal> {
    await mkdir(directory, { recursive: true });
    const path = join(directory, JOURNAL_NAME);
    return new Journal(path, ...(await begin(path, header)));
  }

  /** Writes the rows that are not in the journal yet, durable before it returns. */
  async append(rows: Rows, rowsBefore: number): Promise<void> {
    const frame = rowsFrame(rows, rowsBefore);
    // The frame's content is fixed here: rows that arrive while it is written belong to the next one.
    rows.journaled = rows.count;
    for (const column of rows.columns.values()) column.journaled = column.count;
    await writeAt(this.#handle, frame, this.#bytes);
    this.#bytes += frame.length;
    await this.#handle.datasync();
  }

  /**
   * Starts anew on a Parquet file whose footer is durable up to `header.footedBytes`. The new journal replaces the old one
   * in one step: after a crash there is either, and both are true.
   */
  async reset(header: JournalHeader): Promise<void> {
    const [handle, bytes] = await begin(this.#path, header);
    await this.#handle.close();
    this.#handle = handle;
    this.#bytes = bytes;
  }

  /** Deletes the journal: the Parquet file holds everything. */
  async remove(): Promise<void> {
    await this.#handle.close();
    await rm(this.#path, { force: true });
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

async function begin(path: string, header: JournalHeader): Promise<[FileHandle, number]> {
  const next = `${path}.next`;
  await rm(next, { force: true });
  const handle = await open(next, 'wx', 0o644);
  const bytes = frameOf(Buffer.from(JSON.stringify({ format: FORMAT, ...header })));
  await writeAt(handle, bytes, 0);
  await handle.datasync();
  await rename(next, path);
  await syncDirectory(dirname(path));
  return [handle, bytes.length];
}

/** A name is durable when its directory is. Some file systems cannot do it; then it is as durable as they make it. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().catch(() => undefined);
  await handle.close();
}

async function writeAt(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

function frameOf(...parts: Uint8Array[]): Buffer {
  const payload = Buffer.concat(parts);
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUInt32LE(payload.length, 0);
  head.writeUInt32LE(crc32(payload), 4);
  return Buffer.concat([head, payload]);
}

function rowsFrame(rows: Rows, rowsBefore: number): Buffer {
  const columns: RowsFrame['columns'] = [];
  const parts: Uint8Array[] = [bytesOf(rows.times.subarray(rows.journaled))];
  for (const [name, column] of rows.columns) {
    if (column.count === column.journaled) continue;
    columns.push({ name, count: column.count - column.journaled });
    // Row numbers of a frame count from its first row.
    const numbers = column.rows.slice(column.journaled, column.count).map((row) => row - rows.journaled);
    parts.push(bytesOf(numbers), bytesOf(column.values.subarray(column.journaled, column.count)));
  }
  const frame: RowsFrame = { firstRow: rowsBefore + rows.journaled, rows: rows.count - rows.journaled, columns };
  const description = Buffer.from(JSON.stringify(frame));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(description.length);
  return frameOf(size, description, ...parts);
}

function bytesOf(array: BigInt64Array | Float64Array | Uint32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Some rows of the journal, still in its bytes. */
export interface JournalFrame {
  /** Counts from the job's first row. */
  firstRow: number;
  appendTo(rows: Rows): void;
}

/** Content of a journal: its header, and its rows frame by frame, up to the first torn one. */
export interface JournalContent {
  header: JournalHeader;
  frames: Iterable<JournalFrame>;
}

/** Reads a journal that a crash left; null when there is none, or none whose header can be read. */
export async function readJournal(directory: string): Promise<JournalContent | null> {
  let bytes: Buffer;
  try {
    bytes = await readFile(join(directory, JOURNAL_NAME));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  const payloads = readFrames(bytes);
  const first = payloads.next();
  if (first.done === true) return null;
  const header = readHeader(first.value);
  return header === null ? null : { header, frames: framesOf(payloads) };
}

function* framesOf(payloads: Iterable<Buffer>): Generator<JournalFrame> {
  for (const payload of payloads) {
    const size = payload.readUInt32LE(0);
    const frame: RowsFrame = JSON.parse(payload.toString('utf8', 4, 4 + size));
    yield {
      firstRow: frame.firstRow,
      appendTo: (rows) => {
        readRows(frame, payload.subarray(4 + size), rows);
      },
    };
  }
}

function* readFrames(bytes: Buffer): Generator<Buffer> {
  let at = 0;
  while (at + FRAME_HEAD_BYTES <= bytes.length) {
    const start = at + FRAME_HEAD_BYTES;
    const end = start + bytes.readUInt32LE(at);
    if (end > bytes.length) return;
    const payload = bytes.subarray(start, end);
    if (crc32(payload) !== bytes.readUInt32LE(at + 4)) return;
    yield payload;
    at = end;
  }
}

function readHeader(payload: Buffer): JournalHeader | null {
  const parsed: unknown = JSON.parse(payload.toString('utf8'));
  if (typeof parsed !== 'object' || parsed === null || !('format' in parsed) || parsed.format !== FORMAT) return null;
  if (!('file' in parsed) || typeof parsed.file !== 'string' || /[/\\]/.test(parsed.file)) return null;
  if (!('footedBytes' in parsed) || typeof parsed.footedBytes !== 'number') return null;
  const compression = COMPRESSIONS.find((known) => 'compression' in parsed && known === parsed.compression);
  return compression === undefined ? null : { file: parsed.file, compression, footedBytes: parsed.footedBytes };
}

function readRows(frame: RowsFrame, data: Buffer, rows: Rows): void {
  const firstRow = rows.count;
  let at = 0;
  for (let row = 0; row < frame.rows; row += 1, at += 8) rows.pushTime(data.readBigInt64LE(at));
  for (const { name, count } of frame.columns) {
    const column = rows.column(name);
    for (let index = 0; index < count; index += 1) {
      column.set(firstRow + data.readUInt32LE(at + index * 4), data.readDoubleLE(at + count * 4 + index * 8));
    }
    rows.values += count;
    at += count * 12;
  }
}
