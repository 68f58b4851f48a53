/** Ports of loopback, for servers that cannot choose one themselves. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';

const START_MS = 120_000;

/** Below the ports that systems give to clients: one of those could have the port before its server, or between two of its lives. */
const PORTS = [15_000, 32_000] as const;

/** Different ports that are free now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = new Map<number, Server>();
  while (servers.size < count) {
    const port = randomInt(...PORTS);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (isFree) servers.set(port, server);
  }
  for (const it of servers.values()) it.close();
  await Promise.all([...servers.values()].map((it) => once(it, 'close')));
  return [...servers.keys()];
}

/** Resolves when a server listens on the port. */
export async function listening(port: number, name: string): Promise<void> {
  const endMs = Date.now() + START_MS;
  for (;;) {
    if (await isListening(port)) return;
    if (Date.now() > endMs) throw new Error(`${name} does not listen on port ${String(port)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Whether a server listens on the port now. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
      .once('connect', () => resolve(true))
      .once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
