/**
 * Asks one address over and over from a thread of its own, so that the client's other work does not delay it, and reports how
 * long each answer took.
 */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Wire } from './wire.ts';

/** Time between an answer and the next question: the probe is not itself the load. */
const PAUSE_MS = 5;

interface ProbeData {
  port: number;
  path: string;
}

/** Asks until the function returned is called, which gives the times in ms. */
export async function startProbe(data: ProbeData): Promise<() => Promise<number[]>> {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: data });
  await once(worker, 'message');
  return async () => {
    worker.postMessage('stop');
    const [times] = (await once(worker, 'message')) as [number[]];
    await worker.terminate();
    return times;
  };
}

async function probe({ port, path }: ProbeData): Promise<void> {
  const wire = await Wire.open(port);
  const times: number[] = [];
  let stopped = false;
  parentPort?.once('message', () => (stopped = true));
  parentPort?.postMessage('ready');
  while (!stopped) {
    const since = performance.now();
    await wire.get(path);
    times.push(performance.now() - since);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  wire.close();
  parentPort?.postMessage(times);
}

if (!isMainThread) await probe(workerData as ProbeData);
