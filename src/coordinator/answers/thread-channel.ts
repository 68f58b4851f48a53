/** Calls between two threads over a message port: each side offers methods and calls those of the other. */
import { SimbatchError, type ErrorCode } from '../../domain/errors.ts';

/** A `Worker` or a `MessagePort`. */
interface Port {
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (message: Message) => void): unknown;
}

/** The methods of one side, by name; arguments and results are structured clones. Bytes in either are transferred. */
type Methods = Record<string, (argument: never) => unknown>;
type ArgumentOf<M> = M extends (argument: infer A) => unknown ? A : never;
type ResultOf<M> = M extends (argument: never) => infer R ? Awaited<R> : never;

type Message =
  | { kind: 'call'; id: number; method: string; argument: unknown }
  | { kind: 'result'; id: number; value: unknown }
  | { kind: 'error'; id: number; code: ErrorCode | undefined; message: string; stack: string | undefined };

interface PendingCall {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** One end of the channel. `Remote` are the methods of the other side. */
export class ThreadChannel<Remote extends Methods> {
  readonly #port: Port;
  readonly #methods: Methods;
  readonly #pending = new Map<number, PendingCall>();
  #nextId = 0;

  constructor(port: Port, methods: Methods) {
    this.#port = port;
    this.#methods = methods;
    port.on('message', (message) => {
      if (message.kind === 'call') void this.#serve(message);
      else this.#settle(message);
    });
  }

  /** Rejects with the other side's SimbatchError, or with an Error that has its message. */
  call<K extends keyof Remote & string>(method: K, argument: ArgumentOf<Remote[K]>): Promise<ResultOf<Remote[K]>> {
    const id = this.#nextId++;
    const result = new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    this.#port.postMessage({ kind: 'call', id, method, argument } satisfies Message, buffersOf(argument));
    return result as Promise<ResultOf<Remote[K]>>;
  }

  /** Rejects all pending calls: the other side has ended. */
  fail(error: Error): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const call of pending) call.reject(error);
  }

  async #serve({ id, method, argument }: Message & { kind: 'call' }): Promise<void> {
    try {
      const value: unknown = await this.#methods[method]!(argument as never);
      this.#port.postMessage({ kind: 'result', id, value } satisfies Message, buffersOf(value));
    } catch (error) {
      const code = error instanceof SimbatchError ? error.code : undefined;
      const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
      this.#port.postMessage({ kind: 'error', id, code, message, stack } satisfies Message);
    }
  }

  #settle(message: Exclude<Message, { kind: 'call' }>): void {
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (message.kind === 'result') pending?.resolve(message.value);
    else pending?.reject(errorFrom(message));
  }
}

function errorFrom({ code, message, stack }: Message & { kind: 'error' }): Error {
  if (code !== undefined) return new SimbatchError(code, message);
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}

/** The buffers of an argument or a result that is bytes, or an object with a member `bytes`. */
function buffersOf(value: unknown): ArrayBuffer[] {
  const bytes = value instanceof Uint8Array ? value : (value as { bytes?: unknown } | null | undefined)?.bytes;
  return bytes instanceof Uint8Array ? [bytes.buffer as ArrayBuffer] : [];
}
