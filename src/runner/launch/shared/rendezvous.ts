/**
 * The place where workers connect to the runner: a socket in a folder that only this user may enter. Each worker brings a
 * secret of its own, four connections, and a named pipe.
 */
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Bytes of the number of a run in the pipe: one read takes one number. */
const NUMBER_BYTES = 8;
const MOST_HEADER_BYTES = 200;
const KINDS = ['orders', 'messages', 'stdout', 'stderr'] as const;
type Kind = (typeof KINDS)[number];
export type Connections = Record<Kind, Socket>;

/** Where a worker connects to. */
export interface WorkerAddress {
  socket: string;
  pipe: string;
  token: string;
}

/**
 * The numbers of the runs that a worker may begin. The worker and the runner both read from the pipe, so that a run is begun by the
 * worker or taken back by the runner, never both.
 */
export interface RunNumbers {
  /** Lets the worker begin the runs, in this order. */
  give(ids: readonly number[]): void;
  /** The runs that have not begun: the worker begins none of them. */
  takeBack(): number[];
  close(): void;
}

export class NumberPipe implements RunNumbers {
  readonly #path: string;
  readonly #fd: number;
  #isClosed = false;

  /** The worker has made the pipe, and removes its name when it has opened it, too. @throws the system's error. */
  constructor(path: string) {
    const { O_RDWR, O_NONBLOCK } = constants;
    this.#path = path;
    this.#fd = openSync(path, O_RDWR | O_NONBLOCK);
  }

  give(ids: readonly number[]): void {
    const bytes = Buffer.alloc(ids.length * NUMBER_BYTES);
    for (const [index, id] of ids.entries()) bytes.writeBigUInt64LE(BigInt(id), index * NUMBER_BYTES);
    // Less than the pipe takes at once: a worker has few runs ahead.
    writeSync(this.#fd, bytes);
  }

  takeBack(): number[] {
    const ids: number[] = [];
    if (this.#isClosed) return ids;
    const bytes = Buffer.alloc(NUMBER_BYTES);
    try {
      while (readSync(this.#fd, bytes, 0, NUMBER_BYTES, null) === NUMBER_BYTES)
        ids.push(Number(bytes.readBigUInt64LE()));
    } catch {
      // The pipe is empty.
    }
    return ids;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#fd);
    // A worker that ended before has left it.
    rmSync(this.#path, { force: true });
  }
}

export class Rendezvous {
  readonly #folder: string;
  readonly #server: Server;
  readonly #expected = new Map<string, { found: Partial<Connections>; resolve: (all: Connections) => void }>();

  /** @throws the system's error when the folder cannot be made. */
  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), 'simbatch-'));
    // While a connection is paused, its messages stay in the system, and are read together.
    this.#server = createServer({ highWaterMark: 1 }, (socket) => this.#greet(socket));
    this.#server.on('error', () => {});
    this.#server.listen(join(this.#folder, 's'));
    this.#server.unref();
  }

  /** Expects a worker. @returns its address, and its connections when they are there; `forget` when it does not come. */
  expect(token: string): { address: WorkerAddress; connections: Promise<Connections> } {
    const connections = new Promise<Connections>((resolve) => {
      this.#expected.set(token, { found: {}, resolve });
    });
    return { address: { socket: join(this.#folder, 's'), pipe: join(this.#folder, token), token }, connections };
  }

  forget(token: string): void {
    for (const socket of Object.values(this.#expected.get(token)?.found ?? {})) socket.destroy();
    this.#expected.delete(token);
  }

  close(): void {
    for (const token of this.#expected.keys()) this.forget(token);
    this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #greet(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    // Whatever keeps the runner running, this does not.
    socket.unref();
    socket.once('data', (data: Buffer) => {
      const end = data.indexOf('\n');
      const [token = '', kind = ''] = data.toString('latin1', 0, Math.min(end, MOST_HEADER_BYTES)).split(' ');
      const expected = this.#expected.get(token);
      if (end < 0 || expected === undefined || !KINDS.some((it) => it === kind)) {
        socket.destroy();
        return;
      }
      socket.pause();
      if (end + 1 < data.length) socket.unshift(data.subarray(end + 1));
      expected.found[kind as Kind] = socket;
      const { orders, messages, stdout, stderr } = expected.found;
      if (orders === undefined || messages === undefined || stdout === undefined || stderr === undefined) return;
      this.#expected.delete(token);
      expected.resolve({ orders, messages, stdout, stderr });
    });
  }
}
