/**
 * The stdout or the stderr of a worker: the output of its runs one after the other, each followed by a mark with the number of the
 * run. A run that prints more than its log takes makes the worker wait.
 */
import { Readable, type Duplex } from 'node:stream';

const NEWLINE = 10;
/** Digits of the number of a run, and the end of the line. */
const MOST_NUMBER_BYTES = 17;
const EMPTY = Buffer.alloc(0);

/** Called for the output of the run that the worker executes, when its first byte comes. */
export type OnOutput = (output: Readable) => void;

export class MarkedOutput {
  readonly #socket: Duplex;
  readonly #mark: Buffer;
  readonly #onOutput: OnOutput;
  readonly #onMark: () => void;
  /** The output of the current run, if it has any. */
  #current: RunOutput | undefined;
  #rest: Buffer = EMPTY;
  /** The log of the current run takes no more now. */
  #isFull = false;
  #isPaused = false;
  /** The run whose mark came last. */
  lastId = 0;

  /** @param token the worker's own, a secret of this process. @param onMark called after each mark. */
  constructor(socket: Duplex, token: string, onOutput: OnOutput, onMark: () => void) {
    this.#socket = socket;
    this.#mark = Buffer.from(`\0${token} `);
    this.#onOutput = onOutput;
    this.#onMark = onMark;
    socket.on('data', (data: Buffer) => this.#take(data));
  }

  /** Reads nothing until `resume`. */
  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  /** Reads on, as soon as the log of the current run takes more. */
  resume(): void {
    this.#isPaused = false;
    if (!this.#isFull) this.#socket.resume();
  }

  /** Resolves when the worker has closed it and all that came before was taken. */
  async ended(): Promise<void> {
    if (!this.#socket.closed) await new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    this.#give(this.#rest);
    this.#rest = EMPTY;
    this.#over();
  }

  /** Reads no more of it. */
  close(): void {
    this.#socket.destroy();
    this.#over();
  }

  #take(data: Buffer): void {
    let rest = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    for (let at = rest.indexOf(this.#mark); at >= 0; at = rest.indexOf(this.#mark)) {
      const end = rest.indexOf(NEWLINE, at);
      if (end < 0) break;
      this.#give(rest.subarray(0, at));
      this.lastId = Number(rest.toString('latin1', at + this.#mark.length, end));
      rest = rest.subarray(end + 1);
      this.#over();
      this.#onMark();
    }
    // A mark may have come in part.
    const from = Math.max(0, rest.length - this.#mark.length - MOST_NUMBER_BYTES);
    const possible = rest.indexOf(0, from);
    const whole = possible < 0 ? rest.length : possible;
    this.#give(rest.subarray(0, whole));
    this.#rest = rest.subarray(whole);
  }

  #give(data: Buffer): void {
    if (data.length === 0) return;
    if (this.#current === undefined) {
      this.#current = new RunOutput(() => this.#more());
      this.#onOutput(this.#current);
    }
    if (this.#current.chunk(data)) return;
    this.#isFull = true;
    this.#socket.pause();
  }

  #more(): void {
    this.#isFull = false;
    if (!this.#isPaused) this.#socket.resume();
  }

  #over(): void {
    this.#current?.over();
    this.#current = undefined;
  }
}

class RunOutput extends Readable {
  readonly #more: () => void;
  #isOver = false;

  /** @param more called when it takes more. */
  constructor(more: () => void) {
    super({ highWaterMark: 1 });
    this.#more = more;
  }

  /** Returns whether it takes more now. */
  chunk(data: Buffer): boolean {
    return this.#isOver || this.push(data);
  }

  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.push(null);
    this.#more();
  }

  override _read(): void {
    this.#more();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#isOver = true;
    this.#more();
    done(error);
  }
}
