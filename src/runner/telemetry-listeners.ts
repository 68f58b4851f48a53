/**
 * Loopback listeners for telemetry, each used by one run at a time and then by another: opening one costs as much as a short
 * run. Between two runs a listener takes no connection, and a listener that a process of its last run may still know is closed.
 */
import { createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';

const HOST = '127.0.0.1';

/** A port that belongs to one run until it is given back. */
export class TelemetryListener {
  readonly port: number;
  readonly #server: Server;
  #onConnection: ((socket: Socket) => void) | undefined;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
    server.on('connection', (socket) => this.pass(socket));
  }

  /** @throws the system's error when no port can be had. */
  static open(): Promise<TelemetryListener> {
    return new Promise((resolve, reject) => {
      const server = createServer({ noDelay: true });
      server.once('error', reject);
      server.listen({ host: HOST, port: 0 }, () => {
        server.off('error', reject);
        // A connection that fails before it is taken concerns its client only.
        server.on('error', () => {});
        const address = server.address();
        // An idle listener must not keep the process running.
        server.unref();
        resolve(new TelemetryListener(server, typeof address === 'object' && address !== null ? address.port : 0));
      });
    });
  }

  /** The address for a client: `127.0.0.1:<port>`. */
  get url(): string {
    return `${HOST}:${String(this.port)}`;
  }

  /** Passes on each connection until `detach`. */
  attach(onConnection: (socket: Socket) => void): void {
    this.#onConnection = onConnection;
  }

  /** Passes a connection to the run that has the port. */
  pass(socket: Socket): void {
    if (this.#onConnection === undefined) socket.destroy();
    else this.#onConnection(socket);
  }

  /** From now on connections are closed as they arrive. */
  detach(): void {
    this.#onConnection = undefined;
  }

  close(): void {
    this.detach();
    this.#server.close();
  }
}

export class ListenerPool {
  readonly #clock: Pick<Clock, 'soon'>;
  readonly #free: TelemetryListener[] = [];
  /** Listeners that come back are closed. */
  #isClosed: boolean;

  /** @param reuses false: each listener serves one run. */
  constructor(clock: Pick<Clock, 'soon'>, reuses: boolean) {
    this.#clock = clock;
    this.#isClosed = !reuses;
  }

  /** How many listeners wait for a run. */
  get free(): number {
    return this.#free.length;
  }

  /** @throws the system's error when no port can be had. */
  async acquire(): Promise<TelemetryListener> {
    return this.#free.pop() ?? (await TelemetryListener.open());
  }

  /**
   * Takes a listener back when its run has ended.
   * @param isUnknown no living process can know its port: all processes of the run are dead.
   */
  release(listener: TelemetryListener, isUnknown: boolean): void {
    listener.detach();
    if (!isUnknown || this.#isClosed) {
      listener.close();
      return;
    }
    // Connections that were made before the end of the run and not accepted yet arrive within one turn of the event loop.
    this.#clock.soon(() => {
      this.#clock.soon(() => {
        if (this.#isClosed) listener.close();
        else this.#free.push(listener);
      });
    });
  }

  close(): void {
    this.#isClosed = true;
    for (const listener of this.#free.splice(0)) listener.close();
  }
}
