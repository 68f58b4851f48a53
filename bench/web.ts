/**
 * The dashboard under load: a batch of 100,000 runs with about 2,000 state changes a second, watched in a real browser. Prints
 * the longest task of the page's thread after the load, the time until a study of a million runs is usable, and the cost of a viewer to the
 * coordinator's throughput.
 */
import { Worker } from 'node:worker_threads';
import type { Coordinator } from '../src/coordinator/lifecycle.ts';
import { openBrowser } from '../test/support/browser.ts';
import { descent, descentStudy, startWeb } from '../test/support/web-server.ts';

const RUNS = 100_000;
const SECS = 10;
/** Runs that end before the first page is opened. */
const EARLIER = 20_000;
/** Pages under load: the address, where BATCH is the study, and a text that shows that the page is ready. */
const PAGES: readonly (readonly [name: string, address: string, ready: string])[] = [
  ['overview', '#/batches/BATCH', '.panel .spark'],
  ['runs', '#/batches/BATCH/runs?sort=-p.gust_speed', '.grid-row'],
  ['explore', '#/batches/BATCH/explore', '.h-all'],
  ['explore, a selection', '#/batches/BATCH/explore?select=p.gust_speed:10..20', '.card-plot > svg'],
  ['compare', '#/batches/BATCH/compare', 'select'],
  ['studies', '#/batches', '.cards a'],
  ['pool', '#/runners', '.cards a'],
  ['machines', '#/machines/job', '.diagram'],
];
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Claims, starts and ends `perTurn` runs, over and over; three state changes each. `everyMs` 0: as fast as it goes. */
function work(
  coordinator: Coordinator,
  perTurn: number,
  everyMs: number,
): { changes: () => number; stop: () => Promise<void> } {
  let changes = 0;
  let isStopped = false;
  const instance = 'bench';
  const loop = async (): Promise<void> => {
    let nextMs = performance.now();
    while (!isStopped) {
      const { assignments } = await coordinator.claim('bench', { instance, max_jobs: perTurn });
      await coordinator.reports('bench', {
        instance,
        reports: assignments.map(({ job, attempt }) => ({ type: 'start' as const, job_id: job.id, attempt })),
      });
      await coordinator.reports('bench', {
        instance,
        reports: assignments.map((it) => {
          const outcome = descent(it);
          const metadata = 'metadata' in outcome ? outcome.metadata : {};
          const result = { execution_time_secs: 1, output_files: [], metadata };
          const about = { job_id: it.job.id, attempt: it.attempt, result };
          return 'metadata' in outcome
            ? { type: 'complete' as const, ...about }
            : { type: 'fail' as const, ...about, reason: outcome.reason, error_message: outcome.message };
        }),
      });
      changes += assignments.length * 3;
      nextMs += everyMs;
      await pause(Math.max(0, nextMs - performance.now()));
    }
  };
  const working = loop();
  return {
    changes: () => changes,
    stop: () => {
      isStopped = true;
      return working;
    },
  };
}

/** State changes a second over some seconds. */
async function rate(changes: () => number, secs: number): Promise<number> {
  const [before, startedMs] = [changes(), performance.now()];
  await pause(secs * 1_000);
  return ((changes() - before) / (performance.now() - startedMs)) * 1_000;
}

const web = await startWeb();
const { coordinator } = web;
const capabilities = {
  max_concurrent_jobs: 1_000,
  cpu_cores: 0,
  memory_gb: 0,
  gpu_available: false,
  supported_simulation_types: [],
};
await coordinator.register({ id: 'bench', instance: 'bench', heartbeat_interval_secs: 60, capabilities });
const { batch_id } = await coordinator.submit(descentStudy('hundred thousand', RUNS));
const browser = await openBrowser();
if (browser === undefined) throw new Error('this needs chromium: apt-get install chromium');

// Some runs have ended before a page is opened: there is something to show.
const first = work(coordinator, 500, 0);
while (first.changes() < 3 * EARLIER) await pause(20);
await first.stop();

for (const [name, address, ready] of PAGES) {
  const page = await browser.newPage({ viewport: { width: 1_280, height: 900 }, bypassCSP: true });
  await page.goto(`${web.url}/${address.replace('BATCH', batch_id)}`);
  await page.locator(ready).first().waitFor({ timeout: 60_000, state: 'attached' });
  await pause(2_000);
  await page.evaluate(
    'globalThis.tasks = []; new PerformanceObserver((list) => { for (const it of list.getEntries()) globalThis.tasks.push(it.duration); }).observe({ type: "longtask" })',
  );
  const load = work(coordinator, 67, 100);
  const perSecond = await rate(load.changes, SECS);
  await load.stop();
  const tasks = await page.evaluate<number[]>('globalThis.tasks');
  console.log(
    `page ${name}: ${Math.round(perSecond)} changes/s; tasks over 50 ms: ${tasks.length}; longest: ${Math.round(Math.max(0, ...tasks))} ms`,
  );
  await page.close();
}

const { batch_id: second } = await coordinator.submit(descentStudy('a million', 1_000_000));
const million = work(coordinator, 500, 0);
await pause(5_000);
await million.stop();
const opened: number[] = [];
for (let round = 0; round < 5; round += 1) {
  const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
  const startedMs = performance.now();
  await page.goto(`${web.url}/#/batches/${second}`);
  await page.locator('.study-head .status-bar').waitFor();
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  opened.push(performance.now() - startedMs);
  if (round === 0) {
    await page.locator('.panel .spark').first().waitFor({ timeout: 120_000, state: 'attached' });
    console.log(`overview of a million runs: outputs after ${Math.round(performance.now() - startedMs)} ms`);
  }
  await page.close();
}
console.log(`overview of a million runs: state and actions after ${Math.round(Math.max(...opened))} ms at most of 5`);
await browser.close();
const alone: number[] = [];
const viewed: number[] = [];
const load = work(coordinator, 50, 0);
await pause(2_000);
for (let round = 0; round < 7; round += 1) {
  alone.push(await rate(load.changes, 2));
  // In a thread of its own, as a viewer's browser is on a machine of its own.
  const viewer = new Worker(
    `const { WebSocket } = require('ws'); const { workerData } = require('node:worker_threads');
     const socket = new WebSocket(workerData.url);
     socket.on('open', () => workerData.topics.forEach((topic) => socket.send(JSON.stringify({ type: 'subscribe', topic }))));`,
    {
      eval: true,
      workerData: { url: `${web.url.replace('http', 'ws')}/live`, topics: [`batch/${second}`, 'batches'] },
    },
  );
  await pause(500);
  viewed.push(await rate(load.changes, 2));
  await viewer.terminate();
  // The feed lingers for viewers who come back.
  await pause(10_500);
}
await load.stop();
const middle = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
console.log(`throughput: ${Math.round(middle(alone))} changes/s alone, ${Math.round(middle(viewed))} with one viewer`);
await web.close();
