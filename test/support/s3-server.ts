/** Servers with an S3 interface for tests, and the ports on which they listen. */
import { connect, createServer } from 'node:net';

/** A running server. */
export interface S3Server {
  endpoint: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
  /** The most bytes that the bucket takes; undefined: no limit. */
  setQuota: (bytes: number | undefined, bucket: string) => Promise<void>;
  stop(): void;
}

const START_MS = 120_000;

/** Ports that are free now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const ports = servers.map((it) => (it.address() as { port: number }).port);
  await Promise.all(servers.map((it) => new Promise((resolve) => it.close(resolve))));
  return ports;
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
