/** Servers with an S3 interface for tests, and the ports on which they listen. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';

/** A running server. */
export interface S3Server {
  endpoint: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
  /** The most bytes that the bucket takes; undefined: no limit. */
  setQuota: (bytes: number | undefined, bucket: string) => Promise<void>;
  stop(): void;
}

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
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) return;
    if (Date.now() > endMs) throw new Error(`${name} does not listen on port ${String(port)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
