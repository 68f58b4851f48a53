/**
 * Puts the kept samples of one job on disk: into the journal at each interval, into the Parquet file when they fill a
 * row group, and all of it into the Parquet file at the end. Holds at most two row groups in memory: one is filled, one
 * that is being written.
 */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Compression } from '../../contract/types.ts';
import { Journal, JOURNAL_NAME, type JournalHeader } from './journal.ts';
import { MAX_COLUMN_CHUNKS, MIN_FLUSH_INTERVAL_MS, type TelemetryLimits } from './limits.ts';
import { encodeRows, TelemetryFile, type EncodedColumn } from './parquet.ts';
import { recoverTelemetry } from './recover.ts';
import { Rows } from './rows.ts';
import type { Sample } from './sample.ts';

/** The part of the runner's world that telemetry needs. */
export interface TelemetryClock {
  after(ms: number, action: () => void): () => void;
  every(ms: number, action: () => void): () => void;
}

export interface StoreOptions {
  /** The job's output directory. */
  directory: string;
  compression: Compression;
  /** `buffer_flush_interval_seconds`; 0 means MIN_FLUSH_INTERVAL_MS. */
  flushIntervalSecs: number;
  /** Names by column; may grow. */
  columnNames: readonly string[];
  limits: TelemetryLimits;
  world: TelemetryClock;
}

export interface StoreSummary {
  /** Path of the Parquet file; null when nothing was stored. */
  location: string | null;
  /** Number of rows in the file. */
  rows: number;
  /** Why not everything was stored; null when all was. */
  problem: string | null;
}

const FILE_STEM = 'telemetry';
/** Names tried when a simulation has a file of its own under the first. */
const MAX_FILE_NAMES = 100;
/** Bytes of footer per column chunk, about. */
const FOOTER_BYTES_PER_CHUNK = 90;
/** A footer names all row groups before it; it is written when this many times its size has been added. */
const FOOTER_SHARE = 16;
/** Cells encoded between two looks at anything else: a few milliseconds. */
const CELLS_PER_BREATH = 65_536;

export class TelemetryStore {
  readonly #options: StoreOptions;
  readonly #stopFlushing: () => void;
  #rows = new Rows();
  #file: TelemetryFile | undefined;
  #journal: Journal | undefined;
  /** Everything that touches the disk, one after another. */
  #queue: Promise<void> = Promise.resolve();
  #flushQueued = false;
  #sealing = false;
  #waiting: (() => void)[] = [];
  #problem: string | null = null;
  #broken = false;
  #closing: Promise<StoreSummary> | undefined;

  constructor(options: StoreOptions) {
    this.#options = options;
    const intervalMs = Math.max(options.flushIntervalSecs * 1000, MIN_FLUSH_INTERVAL_MS);
    this.#stopFlushing = options.world.every(intervalMs, () => {
      void this.flush();
    });
  }

  /** Takes a sample. The caller looks at `pressed` afterwards and waits if it is set. */
  add(sample: Sample): void {
    if (this.#problem !== null || this.#closing !== undefined) return;
    this.#rows.add(sample, this.#options.columnNames);
    if (this.#isFull && !this.#sealing) this.#seal();
  }

  /** True while a row group is being written and the next is full: nothing more should be added. */
  get pressed(): boolean {
    return this.#sealing && this.#isFull;
  }

  /** Calls back, once, when there is room. */
  whenRelieved(action: () => void): void {
    this.#waiting.push(action);
  }

  /** Makes what has been added so far survive a crash. Resolves when it does (or when the disk failed). */
  flush(): Promise<void> {
    const rows = this.#rows;
    if (this.#flushQueued || rows.count === rows.journaled) return this.#queue;
    if (rows.values >= this.#options.limits.rowGroupValuesAtFlush && !this.#sealing) this.#seal();
    else {
      this.#flushQueued = true;
      this.#enqueue(async () => {
        this.#flushQueued = false;
        const { file, journal } = await this.#opened();
        // The rows of this call are written, even if newer ones are in the buffer: the queue keeps the order of the job.
        if (rows.count > rows.journaled) await journal.append(rows, file.rows);
      });
    }
    return this.#queue;
  }

  /** Writes what is left and closes the file. Never throws; the summary says what went wrong. */
  close(): Promise<StoreSummary> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<StoreSummary> {
    this.#stopFlushing();
    this.#enqueue(() => this.#finish());
    await this.#queue;
    this.#relieve();
    if (!this.#broken) {
      const rows = this.#file?.rows ?? 0;
      return { location: rows > 0 ? (this.#file?.path ?? null) : null, rows, problem: this.#problem };
    }
    await this.#file?.close().catch(() => undefined);
    await this.#journal?.close().catch(() => undefined);
    // The part on disk before the failure can perhaps be completed now; if not, the journal stays for later.
    const recovered = await recoverTelemetry(this.#options.directory).catch(() => null);
    return { location: recovered?.location ?? null, rows: recovered?.rows ?? 0, problem: this.#problem };
  }

  async #finish(): Promise<void> {
    const rows = this.#rows;
    this.#rows = new Rows();
    if (rows.count === 0 && this.#file === undefined) return;
    const { file, journal } = await this.#opened();
    if (rows.count > 0) await file.append(rows.count, await this.#encode(rows));
    if (file.bytes > file.footedBytes) await file.writeFooter();
    // The journal is removed last: until the footer is durable it is the only readable copy.
    await journal.remove();
    await file.close();
  }

  get #isFull(): boolean {
    const { rowGroupRows, rowGroupValues } = this.#options.limits;
    return this.#rows.count >= rowGroupRows || this.#rows.values >= rowGroupValues;
  }

  #seal(): void {
    const rows = this.#rows;
    this.#rows = new Rows();
    this.#sealing = true;
    this.#enqueue(() => this.#writeGroup(rows));
    this.#enqueue(async () => {
      this.#sealing = false;
      if (this.#isFull) this.#seal();
      this.#relieve();
    });
  }

  async #writeGroup(rows: Rows): Promise<void> {
    const { file, journal } = await this.#opened();
    const columns = await this.#encode(rows);
    const bytes = columns.reduce((sum, column) => sum + column.bytes.length, file.bytes - file.footedBytes);
    const footerBytes = (file.chunks + columns.length) * FOOTER_BYTES_PER_CHUNK;
    const footer = bytes >= footerBytes * FOOTER_SHARE;
    // A row group without a footer cannot be read after a crash; its rows then come from the journal.
    if (!footer && rows.journaled < rows.count) await journal.append(rows, file.rows);
    await file.append(rows.count, columns);
    if (footer) {
      await file.writeFooter();
      await journal.reset(this.#header(file));
    }
    this.#judgeSize(file);
  }

  #judgeSize(file: TelemetryFile): void {
    const { maxFileBytes } = this.#options.limits;
    if (file.bytes < maxFileBytes && file.chunks < MAX_COLUMN_CHUNKS) return;
    const reached = file.bytes < maxFileBytes ? `${MAX_COLUMN_CHUNKS} column chunks` : `${maxFileBytes} bytes`;
    this.#problem = `telemetry was stored up to row ${file.rows}: the file reached its limit of ${reached}`;
    this.#rows = new Rows();
  }

  async #encode(rows: Rows): Promise<EncodedColumn[]> {
    const columns: EncodedColumn[] = [];
    let cells = 0;
    for (const column of encodeRows(rows, this.#options.compression)) {
      columns.push(column);
      cells += rows.count;
      if (cells < CELLS_PER_BREATH) continue;
      cells = 0;
      await new Promise<void>((resolve) => void this.#options.world.after(0, resolve));
    }
    return columns;
  }

  async #opened(): Promise<{ file: TelemetryFile; journal: Journal }> {
    if (this.#file === undefined || this.#journal === undefined) {
      const { directory, compression } = this.#options;
      // An earlier attempt in the same directory may have left one; its rows are not to be lost to ours.
      if (await exists(join(directory, JOURNAL_NAME))) await recoverTelemetry(directory);
      const name = await freeName(directory);
      this.#journal = await Journal.create(directory, { file: name, compression, footedBytes: 0 });
      this.#file = await TelemetryFile.create(join(directory, name));
    }
    return { file: this.#file, journal: this.#journal };
  }

  #header(file: TelemetryFile): JournalHeader {
    const name = file.path.slice(this.#options.directory.length).replace(/^[/\\]+/, '');
    return { file: name, compression: this.#options.compression, footedBytes: file.footedBytes };
  }

  #enqueue(task: () => Promise<void>): void {
    this.#queue = this.#queue.then(() => this.#attempt(task));
  }

  async #attempt(task: () => Promise<void>): Promise<void> {
    if (this.#broken) return;
    try {
      await task();
    } catch (error) {
      this.#broken = true;
      this.#problem = `telemetry could not be stored: ${error instanceof Error ? error.message : String(error)}`;
      this.#rows = new Rows();
      this.#relieve();
    }
  }

  #relieve(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const action of waiting) action();
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function freeName(directory: string): Promise<string> {
  for (let number = 1; number <= MAX_FILE_NAMES; number += 1) {
    const name = `${FILE_STEM}${number === 1 ? '' : `-${number}`}.parquet`;
    if (!(await exists(join(directory, name)))) return name;
  }
  throw new Error(`${directory} already holds ${MAX_FILE_NAMES} files named ${FILE_STEM}-N.parquet`);
}
