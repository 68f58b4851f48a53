/** Clients that read long answers as fast as they arrive and discard them, in a thread of their own. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

interface ReadersData {
  port: number;
  paths: readonly string[];
}

/** Reads each path again and again. Returns a function that ends it and returns the number of bytes read. */
export async function startReaders(data: ReadersData): Promise<() => Promise<number>> {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: data });
  await once(worker, 'message');
  return async () => {
    worker.postMessage('stop');
    const [bytes] = (await once(worker, 'message')) as [number];
    await worker.terminate();
    return bytes;
  };
}

function read({ port, paths }: ReadersData): void {
  let bytes = 0;
  let open = 0;
  const again = (path: string): void => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
      if ((open += 1) === paths.length) parentPort?.postMessage('ready');
    });
    socket.on('data', (chunk) => (bytes += chunk.length));
    // The coordinator may have been stopped.
    socket.on('error', () => {});
    socket.on('end', () => again(path));
  };
  parentPort?.once('message', () => parentPort?.postMessage(bytes));
  paths.forEach(again);
}

if (!isMainThread) read(workerData as ReadersData);
