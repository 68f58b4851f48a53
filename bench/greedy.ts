/**
 * Greedy readers beside the pool: eight clients read answers of 10^6 runs while runners send heartbeats, and while four clients take
 * jobs through their life in bulk.
 */
import { inFolder } from './support/folder.ts';
import { startCoordinator } from './support/coordinator.ts';
import { measure, quantile, type Measure } from './support/measure.ts';
import { startProbe } from './support/probe.ts';
import { startReaders } from './support/readers.ts';
import { IdleHands } from './support/runners.ts';
import { seed } from './support/seeded.ts';
import { registration, study } from './support/studies.ts';
import { Wire } from './support/wire.ts';

const RUNS = 1_000_000;
const RUNNERS = 100;
/** Each runner sends a heartbeat once in this time. */
const INTERVAL_MS = 1_000;
const SECONDS = 15;
/** Clients in bulk, and the jobs of each request. */
const [BULK_CLIENTS, BULK] = [4, 64];
/** Warm-up of the clients in bulk, and the time for which each of their rates is measured. */
const [WARM_UP_SECS, BULK_SECS] = [5, 10];
/** Of 12 clients 4 are in bulk: beside the readers they keep a third of their rate at least. */
const KEPT_PERCENT = (100 * BULK_CLIENTS) / (BULK_CLIENTS + 8);
/** The grace time of running answers at the stop, and the time to close the store. */
const STOP_SECS = 10;

interface Beats {
  times: number[];
  /** Heartbeats answered later than the next one of the same runner was due. */
  late: number;
}

/** Sends the heartbeats of all runners, spread evenly over the interval. */
async function beat(port: number): Promise<Beats> {
  const found: Beats = { times: [], late: 0 };
  const one = async (at: number): Promise<void> => {
    const wire = await Wire.open(port);
    const request = registration(`beating-${at}`, 1);
    await wire.post('/runners', request);
    const startMs = performance.now() + (at * INTERVAL_MS) / RUNNERS;
    for (let round = 0; round < (SECONDS * 1000) / INTERVAL_MS; round += 1) {
      const dueMs = startMs + round * INTERVAL_MS;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
      await wire.post(`/runners/${request.id}/heartbeat`, { instance: request.instance, holding: [] });
      const tookMs = performance.now() - dueMs;
      found.times.push(tookMs);
      if (tookMs > INTERVAL_MS) found.late += 1;
    }
    wire.close();
  };
  await Promise.all(Array.from({ length: RUNNERS }, (_, at) => one(at)));
  return found;
}

/** The rate of the clients in bulk without readers and beside them, and the times of `/healthz` beside both. */
async function besideBulk(port: number, paths: readonly string[]) {
  const wire = await Wire.open(port);
  await wire.post('/jobs', study(RUNS));
  const hands = await Promise.all(
    Array.from({ length: BULK_CLIENTS }, (_, at) => IdleHands.register(port, `bulk-${at}`, BULK)),
  );
  const working = hands.map((it) => it.workInBulk());
  const done = (): number => hands.reduce((sum, it) => sum + it.done, 0);
  const rate = async (secs: number): Promise<number> => {
    const [before, sinceMs] = [done(), performance.now()];
    await new Promise((resolve) => setTimeout(resolve, secs * 1000));
    return (done() - before) / ((performance.now() - sinceMs) / 1000);
  };
  await rate(WARM_UP_SECS);
  const alone = await rate(BULK_SECS);
  const endReaders = await startReaders({ port, paths });
  const endProbe = await startProbe({ port, path: '/healthz' });
  const beside = await rate(BULK_SECS);
  const health = await endProbe();
  await endReaders();
  for (const it of hands) it.stop();
  await Promise.all(working);
  for (const it of [...hands, wire]) it.close();
  return { alone, beside, health };
}

export async function run(): Promise<Measure[]> {
  return inFolder(async (folder) => {
    const { active, finished } = await seed(folder, RUNS, 0);
    const coordinator = await startCoordinator(folder);
    const paths = [
      `/jobs?batch_id=${active}`,
      `/jobs?batch_id=${active}`,
      `/jobs?batch_id=${finished}`,
      `/jobs?batch_id=${finished}`,
      `/batches/${finished}/results`,
      `/batches/${finished}/snapshot`,
      `/batches/${active}/samples?format=csv`,
      '/backup',
    ];
    const bulk = await besideBulk(coordinator.port, paths);
    const endReaders = await startReaders({ port: coordinator.port, paths });
    const endProbe = await startProbe({ port: coordinator.port, path: '/healthz' });
    const sinceMs = performance.now();
    const { times: beats, late } = await beat(coordinator.port);
    const health = await endProbe();
    const secs = (performance.now() - sinceMs) / 1000;
    const stopMs = performance.now();
    await coordinator.stop();
    const stopSecs = (performance.now() - stopMs) / 1000;
    const bytes = await endReaders();
    return [
      measure('p99 of /healthz beside 8 readers of 10^6 runs', 'ms', [quantile(health, 0.99)], { atMost: 50 }),
      measure('greatest', 'ms', [Math.max(...health)]),
      measure(`p99 of ${RUNNERS} heartbeats a second`, 'ms', [quantile(beats, 0.99)]),
      measure('heartbeats later than the next was due', '', [late], { atMost: 0 }),
      measure('from SIGTERM to the exit, with readers', 's', [stopSecs], { atMost: STOP_SECS }),
      measure('read meanwhile', 'MB/s', [bytes / 1e6 / secs]),
      measure('jobs in bulk without readers', 'jobs/s', [bulk.alone]),
      measure('jobs in bulk beside 8 readers', 'jobs/s', [bulk.beside]),
      measure('the share of their rate that they keep', '%', [(100 * bulk.beside) / bulk.alone], {
        atLeast: KEPT_PERCENT,
      }),
      measure('p99 of /healthz beside readers and bulk', 'ms', [quantile(bulk.health, 0.99)], { atMost: 50 }),
      measure('greatest', 'ms', [Math.max(...bulk.health)]),
    ];
  });
}
