/**
 * The socket to which forked processes connect their stdout and stderr. A forkserver has no descriptor of any run's output,
 * so a stream ends when the processes of its run have closed it, as the pipe of a child process does.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';

const PREFIX = 'simbatch-warm-';
/** A connection names its stream within this time and so many bytes. */
const HEADER_MS = 10_000;
const HEADER_BYTES = 200;

export interface ExpectedOutput {
  id: number;
  secret: string;
  stdout: Promise<Socket>;
  stderr: Promise<Socket>;
  /** No connection is taken any more. */
  cancel: () => void;
}

export class OutputSockets {
  readonly path: string;
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #server: Server;
  readonly #expected = new Map<string, (socket: Socket) => void>();
  #lastId = 0;

  private constructor(directory: string, clock: Clock, server: Server) {
    this.#directory = directory;
    this.path = join(directory, 'output');
    this.#clock = clock;
    this.#server = server;
    server.on('connection', (socket) => {
      this.#take(socket);
    });
  }

  /** @throws the system's error when no socket can be made. */
  static async open(clock: Clock, pid: number): Promise<OutputSockets> {
    // A path of a socket has at most 107 bytes.
    const parent = tmpdir().length > 60 ? '/tmp' : tmpdir();
    removeLeftovers(parent);
    // Mode 0700: no other user can connect.
    const directory = mkdtempSync(join(parent, `${PREFIX}${String(pid)}-`));
    const sockets = new OutputSockets(directory, clock, createServer());
    await new Promise<void>((resolve, reject) => {
      sockets.#server.once('error', reject);
      sockets.#server.listen(sockets.path, resolve);
    });
    sockets.#server.unref();
    return sockets;
  }

  /** Expects the two streams of a run that is to be forked. */
  expect(): ExpectedOutput {
    this.#lastId += 1;
    const id = this.#lastId;
    const secret = Buffer.from(this.#clock.random(16)).toString('hex');
    const key = (fd: number): string => `${String(id)} ${secret} ${String(fd)}`;
    const stream = (fd: number): Promise<Socket> =>
      new Promise((resolve) => {
        this.#expected.set(key(fd), resolve);
      });
    const cancel = (): void => {
      this.#expected.delete(key(1));
      this.#expected.delete(key(2));
    };
    return { id, secret, stdout: stream(1), stderr: stream(2), cancel };
  }

  close(): void {
    this.#server.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #take(socket: Socket): void {
    let header = Buffer.alloc(0);
    const cancel = this.#clock.after(HEADER_MS, () => socket.destroy());
    socket.on('error', () => socket.destroy());
    const read = (): void => {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return;
      header = Buffer.concat([header, chunk]);
      const end = header.indexOf(10);
      if (end < 0 && header.length <= HEADER_BYTES) return;
      socket.off('readable', read);
      cancel();
      const key = header.toString('latin1', 0, Math.max(end, 0));
      const resolve = this.#expected.get(key);
      if (resolve === undefined) {
        socket.destroy();
        return;
      }
      // Each stream once: a run cannot connect a second time with its secret.
      this.#expected.delete(key);
      const rest = header.subarray(end + 1);
      if (rest.length > 0) socket.unshift(rest);
      resolve(socket);
    };
    socket.on('readable', read);
  }
}

/** Removes the sockets of runners that were killed. */
function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent).filter((it) => it.startsWith(PREFIX))) {
    const pid = Number(name.slice(PREFIX.length).split('-')[0]);
    if (!Number.isSafeInteger(pid) || pid <= 0 || exists(pid)) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // Another user's.
    }
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
