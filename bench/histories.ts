/** One history of 10^4 runs at 500 times: its band, the history read to its end in each format, and the longest iteration of the thread of requests meanwhile. */
import { get } from 'node:http';
import { withCoordinatorOn, inFolder } from './support/folder.ts';
import { measure, type Measure } from './support/measure.ts';
import { systemClock } from '../src/base/clock.ts';
import { openCoordinator } from '../src/coordinator/coordinator.ts';
import { openStore } from '../src/coordinator/kernel/storage/open-store.ts';
import type { Uuid } from '../src/contract/types.ts';
import { seedHistories } from './support/seeded.ts';
import { measureTasks } from './support/task-meter.ts';

const RUNS = Number(process.env['BENCH_RUNS'] ?? 10_000);
const POINTS = 500;
const ROUNDS = 5;
const REQUESTS = [
  'format=arrow',
  'format=parquet',
  'format=ndjson',
  'format=csv',
  'format=arrow&wide=true',
  'format=parquet&wide=true',
  'format=ndjson&wide=true',
  'format=csv&wide=true',
];

/** Reads the whole answer and throws it away. */
function drain(url: string): Promise<{ secs: number; bytes: number }> {
  return new Promise((resolve, reject) => {
    const since = performance.now();
    get(url, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('end', () => {
        if (response.statusCode !== 200) return reject(new Error(`${url} is answered ${response.statusCode}`));
        return resolve({ secs: (performance.now() - since) / 1000, bytes });
      });
      response.on('error', reject);
    }).on('error', reject);
  });
}

/** Processor time of the longest iteration of the event loop that answers requests, while the long formats are read in this process. */
async function longestIterations(folder: string, batchId: Uuid): Promise<Measure[]> {
  const coordinator = await openCoordinator(await openStore(folder), systemClock);
  const lines: Measure[] = [];
  for (const format of ['arrow', 'parquet', 'ndjson'] as const) {
    const { longestCpuMs, longestGcMs } = await measureTasks(async () => {
      const answer = await coordinator.histories({ batchId, name: 'nz_g', format, wide: false });
      if (answer.state !== 'ready') throw new Error(`the history is ${answer.state}`);
      for await (const piece of answer.body as AsyncIterable<Uint8Array>) void piece;
    });
    lines.push(
      measure(`longest iteration of the thread of requests, ${format}`, 'ms', [longestCpuMs], { atMost: 10 }),
      measure('the longest collection of garbage on it, by the clock', 'ms', [longestGcMs]),
    );
  }
  await coordinator.close();
  return lines;
}

/** Processor time of the band of all runs. Each question has another coverage, so that none is answered from memory. */
async function bands(folder: string, batchId: Uuid): Promise<Measure[]> {
  return await withCoordinatorOn(folder, async (coordinator) => {
    const cpus: number[] = [];
    const highest = coordinator.watchResident(() => coordinator.ownMb());
    const before = coordinator.ownMb();
    for (let round = 0; round <= ROUNDS; round += 1) {
      const cpu = coordinator.cpuSecs();
      const coverage = 0.9 + round / 1_000;
      await drain(`${coordinator.url}/batches/${batchId}/band?history=nz_g&coverage=${coverage}&wait=30`);
      cpus.push(coordinator.cpuSecs() - cpu);
    }
    const memory = highest() - before;
    const what = `band of ${RUNS} runs at ${POINTS} points, processor time of both threads`;
    return [
      measure(`${what}: the first question, with the start of the worker and its table`, 's', cpus.slice(0, 1)),
      measure(`${what}: another coverage`, 's', cpus.slice(1), { atMost: 2 }),
      measure('memory more', 'MB', [memory], { atMost: 400 }),
    ];
  });
}

export async function run(): Promise<Measure[]> {
  return inFolder(async (folder) => {
    const batchId = await seedHistories(folder, RUNS, POINTS);
    const lines = await longestIterations(folder, batchId);
    lines.push(...(await bands(folder, batchId)));
    for (const request of REQUESTS) {
      await withCoordinatorOn(folder, async (coordinator) => {
        const url = `${coordinator.url}/batches/${batchId}/histories?name=nz_g&${request}`;
        const [rates, cpus, more]: [number[], number[], number[]] = [[], [], []];
        let sent = 0;
        for (let round = 0; round < ROUNDS; round += 1) {
          const before = coordinator.ownMb();
          const highest = coordinator.watchResident(() => coordinator.ownMb());
          const cpu = coordinator.cpuSecs();
          const { secs, bytes } = await drain(url);
          rates.push((RUNS * POINTS) / secs);
          cpus.push(((coordinator.cpuSecs() - cpu) * 1e9) / (RUNS * POINTS));
          more.push(highest() - before);
          sent = bytes;
        }
        lines.push(
          measure(`history of ${RUNS} runs at ${POINTS} times, ${request}, first time`, 'values/s', rates.slice(0, 1)),
          measure(`the same again (${Math.round(sent / 1e6)} MB)`, 'values/s', rates.slice(1), { atLeast: 5_000_000 }),
          measure('processor time a value, of all threads', 'ns', cpus, { atMost: 200 }),
          measure('memory more', 'MB', [Math.max(...more)], { atMost: 150 }),
        );
      });
    }
    return lines;
  });
}
