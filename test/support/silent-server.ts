/** A server that takes connections and does not answer, and garbage collections while a client waits for it. */
import { createServer, type Server, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export class SilentServer {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  /** Connections with a request: `fetch` opens another one, for later, in place of a broken one. */
  readonly #asked = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  /** `beginning`: the bytes that it sends to each request before it falls silent. */
  static async start(beginning = ''): Promise<SilentServer> {
    const server = createServer();
    const silent = new SilentServer(server);
    server.on('connection', (socket) => {
      silent.#open.add(socket);
      socket.on('error', () => {});
      socket.once('data', () => {
        silent.#asked.add(socket);
        socket.write(beginning);
      });
      socket.on('close', () => {
        silent.#open.delete(socket);
        silent.#asked.delete(socket);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return silent;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as { port: number }).port)}`;
  }

  /** Resolves when the clients have closed the connections of their requests. */
  async isLeft(): Promise<void> {
    while (this.#asked.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async stop(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Collects garbage while an operation waits: Node holds some signals weakly. */
export async function amidCollections<T>(operation: () => Promise<T>): Promise<T> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const timer = setInterval(collect, 20);
  try {
    return await operation();
  } finally {
    clearInterval(timer);
  }
}
