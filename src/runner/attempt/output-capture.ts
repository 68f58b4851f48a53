/** Keeps the output of a simulation: beginning and end in a file of bounded size, the last lines for the report. */
import { close, closeSync, constants, lstatSync, open, unlinkSync, write } from 'node:fs';
import { lstat, mkdir, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

export interface CaptureLimits {
  /** Bytes kept from the beginning. */
  headBytes: number;
  /** Bytes kept from the end, when there is more than the beginning holds. In memory until the end. */
  tailBytes: number;
}

export const CAPTURE_LIMITS: CaptureLimits = { headBytes: 8 << 20, tailBytes: 256 << 10 };

/** The last bytes of a stream of any length. Grows to `capacity` only when it is needed. */
class Ring {
  #bytes = Buffer.alloc(0);
  #total = 0;
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  push(chunk: Buffer): void {
    const part = chunk.length > this.#capacity ? chunk.subarray(chunk.length - this.#capacity) : chunk;
    const skipped = chunk.length - part.length;
    this.#grow(Math.min(this.#capacity, this.#total + chunk.length));
    const start = (this.#total + skipped) % this.#capacity;
    const first = Math.min(part.length, this.#capacity - start);
    part.copy(this.#bytes, start, 0, first);
    part.copy(this.#bytes, 0, first);
    this.#total += chunk.length;
  }

  /** Returns the last `count` bytes at most. */
  last(count: number): Buffer {
    const length = Math.min(count, this.#total, this.#capacity);
    const end = this.#total % this.#capacity;
    if (this.#total <= this.#capacity) return this.#bytes.subarray(this.#total - length, this.#total);
    const whole = Buffer.concat([this.#bytes.subarray(end), this.#bytes.subarray(0, end)]);
    return whole.subarray(whole.length - length);
  }

  #grow(needed: number): void {
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.alloc(Math.min(this.#capacity, Math.max(needed, this.#bytes.length * 2, 4096)));
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }
}

/**
 * A log in the output directory, created by its first byte: most short runs print nothing. Nothing that the simulation puts in
 * its place (a pipe, a link, a device) is ever opened or followed; the log has a fault then. Only removing is synchronous, so
 * the directory must have answered just before.
 */
export class LogFile {
  /** Why the file could not be created or written, if so. */
  fault: Error | undefined;
  readonly path: string;
  #fd: number | undefined;
  readonly #makesDirectory: boolean;
  #written = 0;
  /** True while the file is open, or about to be. */
  #isWanted: boolean;
  #isClosed = false;
  #queue: Promise<void> = Promise.resolve();

  /** @param options `fd`: open for writing at `path`; absent: the file is created when it is needed. `makesDirectory`: with its directory. */
  constructor(path: string, { fd, makesDirectory = false }: { fd?: number; makesDirectory?: boolean } = {}) {
    this.path = path;
    this.#fd = fd;
    this.#makesDirectory = makesDirectory;
    this.#isWanted = fd !== undefined;
  }

  /** Appends; resolves when it is written or has failed. Writes nothing more after a failure, or once it is closed. */
  write(bytes: Buffer): Promise<void> {
    if (this.#isClosed) return this.#queue;
    this.#isWanted = true;
    this.#queue = this.#queue.then(async () => {
      if (this.fault !== undefined) return;
      try {
        const fd = (this.#fd ??= await this.#create());
        for (let done = 0; done < bytes.length;) {
          const { bytesWritten } = await writeBytes(fd, bytes, done);
          done += bytesWritten;
          this.#written += bytesWritten;
        }
      } catch (error) {
        this.fault = error instanceof Error ? error : new Error(String(error));
      }
    });
    return this.#queue;
  }

  get isOpen(): boolean {
    return this.#isWanted && !this.#isClosed;
  }

  /** Completes the file. An empty one stays open until it is removed. */
  async complete(): Promise<void> {
    await this.#queue;
    if (this.#written === 0 || this.#isClosed) return;
    this.#isClosed = true;
    const fd = this.#release();
    if (fd !== undefined) await closeFile(fd);
  }

  /** Removes the file when it is empty, and returns whether it did. */
  removeIfEmpty(): boolean {
    if (this.#written > 0 || this.#isClosed) return false;
    this.#isClosed = true;
    const fd = this.#release();
    if (fd === undefined) return false;
    closeSync(fd);
    try {
      const found = lstatSync(this.path);
      // The simulation may have put a file of its own there.
      if (!found.isFile() || found.size > 0) return false;
      unlinkSync(this.path);
      return true;
    } catch {
      // The simulation has removed it.
      return false;
    }
  }

  /** Discards the output of an attempt whose directory may not answer. */
  async discard(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#queue;
    const fd = this.#release();
    if (fd === undefined) return;
    await closeFile(fd);
    const found = await lstat(this.path).catch(() => undefined);
    if (found?.isFile() === true && found.size === 0) await unlink(this.path).catch(() => {});
  }

  async #create(): Promise<number> {
    if (this.#makesDirectory) await mkdir(dirname(this.path), { recursive: true });
    const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
    return await openFile(this.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644);
  }

  /** Returns the descriptor, which is no longer used here. */
  #release(): number | undefined {
    const fd = this.#fd;
    this.#fd = undefined;
    return fd;
  }
}

const openFile = promisify(open);
const closeFile = promisify(close);
const writeBytes = promisify(write);

/** Reads `stream` to its end even when the file fails: a full disk must not block the simulation's pipe. */
export class OutputCapture {
  readonly #file: LogFile;
  readonly #limits: CaptureLimits;
  readonly #ring: Ring;
  #total = 0;
  readonly #stream: Readable;
  readonly #ended: Promise<void>;

  constructor(stream: Readable, file: LogFile, limits: CaptureLimits = CAPTURE_LIMITS) {
    this.#file = file;
    this.#limits = limits;
    this.#ring = new Ring(limits.tailBytes);
    this.#stream = stream;
    this.#ended = new Promise((resolve) => {
      // A connection may have closed before it is captured.
      if (stream.closed) resolve();
      else stream.once('close', resolve);
      stream.once('error', () => stream.destroy());
    });
    stream.on('data', (chunk: Buffer) => {
      this.#take(chunk);
    });
  }

  /** Resolves when every process that had the writing side has closed it. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Why the file could not be written, if so. */
  get fault(): Error | undefined {
    return this.#file.fault;
  }

  /** Stops reading and completes the file. */
  async finish(): Promise<void> {
    this.#stream.destroy();
    const beyond = this.#total - this.#limits.headBytes;
    if (beyond > 0) {
      const tail = this.#ring.last(Math.min(beyond, this.#limits.tailBytes));
      const left = beyond - tail.length;
      if (left > 0) void this.#file.write(Buffer.from(`\n[simbatch: ${String(left)} bytes left out here]\n`));
      void this.#file.write(tail);
    }
    await this.#file.complete();
  }

  /** The last lines, at most `maxBytes`, without control characters. */
  lastLines(maxBytes: number): string {
    // A character cut in half at the beginning becomes one replacement character, removed with its line below.
    const end = this.#ring.last(maxBytes).toString('utf8');
    const whole = this.#total > maxBytes ? end.slice(end.indexOf('\n') + 1) : end;
    // oxlint-disable-next-line no-control-regex -- control characters are what is removed
    return whole.replaceAll(/\u001b\[[0-9;]*[A-Za-z]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '').trim();
  }

  #take(chunk: Buffer): void {
    const before = this.#total;
    this.#total += chunk.length;
    this.#ring.push(chunk);
    if (before >= this.#limits.headBytes || this.#file.fault !== undefined) return;
    // One chunk at a time: the pipe is the buffer.
    this.#stream.pause();
    void this.#file.write(chunk.subarray(0, this.#limits.headBytes - before)).then(() => this.#stream.resume());
  }
}
