/** The stdout and stderr of the processes of a server, as streams: the server reads on when a stream has room. */
import { Readable } from 'node:stream';
import type { Order, OutputChunk, StreamNumber } from './control-channel.ts';

/** The output of all processes of one server. */
export class ServedOutputs {
  readonly #send: (order: Order) => void;
  readonly #onClosed: () => void;
  /** Open streams, also of runs that have ended. */
  readonly #open = new Map<string, ServedOutput>();

  /** @param onClosed called when a stream is not open any more. */
  constructor(send: (order: Order) => void, onClosed: () => void) {
    this.#send = send;
    this.#onClosed = onClosed;
  }

  /** Number of outputs that are open. */
  get size(): number {
    return this.#open.size;
  }

  open(id: number, fd: StreamNumber): Readable {
    const output = new ServedOutput(
      () => this.#send({ type: 'more', id, fd }),
      () => {
        this.#send({ type: 'drop', id, fd });
        this.#open.delete(keyOf(id, fd));
        this.#onClosed();
      },
    );
    this.#open.set(keyOf(id, fd), output);
    return output;
  }

  take({ id, fd }: OutputChunk, data: Buffer): void {
    // A stream that is not read any more is closed by the server as soon as it has the order.
    this.#open.get(keyOf(id, fd))?.chunk(data);
  }

  /** Every process that had it open has closed it. */
  close(id: number, fd: StreamNumber): void {
    this.#open.get(keyOf(id, fd))?.over();
    this.#open.delete(keyOf(id, fd));
    this.#onClosed();
  }

  /** The server has ended. Whether there was more is unknown: the log says so. */
  cut(why: string): void {
    for (const output of this.#open.values()) {
      output.chunk(Buffer.from(`\n[simbatch: the rest, if any, is lost: ${why}]\n`));
      output.over();
    }
    this.#open.clear();
  }
}

const keyOf = (id: number, fd: StreamNumber): string => `${String(id)} ${String(fd)}`;

class ServedOutput extends Readable {
  readonly #more: () => void;
  readonly #drop: () => void;
  /** The server waits until it is asked for more. */
  #isAwaited = false;
  #isOver = false;

  /**
   * @param more asks the server for the next chunk.
   * @param drop lets the server close the stream: what is written to it from now on fails.
   */
  constructor(more: () => void, drop: () => void) {
    super({ highWaterMark: 1 });
    this.#more = more;
    this.#drop = drop;
  }

  chunk(data: Buffer): void {
    this.#isAwaited = true;
    this.push(data);
  }

  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.push(null);
  }

  override _read(): void {
    if (!this.#isAwaited || this.#isOver) return;
    this.#isAwaited = false;
    this.#more();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#isOver) {
      this.#isOver = true;
      this.#drop();
    }
    done(error);
  }
}
