/** Keeps what a simulation prints: the beginning and the end in a file of bounded size, the very last lines for the report. */
import { createWriteStream } from 'node:fs';
import type { WriteStream } from 'node:fs';
import type { Readable } from 'node:stream';

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

  /** At most the last `count` bytes. */
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

/** Reads `stream` to its end, whatever becomes of the file: a full disk must not stop the simulation's pipe. */
export class OutputCapture {
  /** Why the file could not be written, if so. */
  fault: NodeJS.ErrnoException | undefined;
  readonly #path: string;
  readonly #limits: CaptureLimits;
  readonly #ring: Ring;
  #file: WriteStream | undefined;
  #total = 0;
  readonly #stream: Readable;
  readonly #ended: Promise<void>;

  constructor(stream: Readable, path: string, limits: CaptureLimits = CAPTURE_LIMITS) {
    this.#path = path;
    this.#limits = limits;
    this.#ring = new Ring(limits.tailBytes);
    this.#stream = stream;
    this.#ended = new Promise((resolve) => {
      stream.once('close', resolve);
      stream.once('error', () => stream.destroy());
    });
    stream.on('data', (chunk: Buffer) => {
      this.#take(chunk);
    });
  }

  /** Resolves when the writing side is closed by everybody who had it. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Stops reading and completes the file. There is no file when nothing was printed. */
  async finish(): Promise<void> {
    this.#stream.destroy();
    const beyond = this.#total - this.#limits.headBytes;
    const file = this.#file;
    if (file === undefined) return;
    if (beyond > 0 && this.fault === undefined) {
      const tail = this.#ring.last(Math.min(beyond, this.#limits.tailBytes));
      const left = beyond - tail.length;
      if (left > 0) file.write(`\n[simbatch: ${String(left)} bytes left out here]\n`);
      file.write(tail);
    }
    await new Promise<void>((resolve) => {
      file.once('close', resolve);
      if (file.destroyed) resolve();
      else file.end();
    });
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
    if (before >= this.#limits.headBytes || this.fault !== undefined) return;
    this.#file ??= this.#open();
    const flowing = this.#file.write(chunk.subarray(0, this.#limits.headBytes - before));
    if (flowing) return;
    this.#stream.pause();
    this.#file.once('drain', () => this.#stream.resume());
  }

  #open(): WriteStream {
    const file = createWriteStream(this.#path, { flags: 'w' });
    file.once('error', (error) => {
      this.fault = error;
      this.#stream.resume();
    });
    return file;
  }
}
