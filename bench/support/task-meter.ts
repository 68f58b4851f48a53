/**
 * Processor time of one thread by iteration of its event loop, apart from the time it waits for a processor: on a busy machine the lateness
 * of timers says more about the machine than about the program. Linux only.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';

export interface TaskReport {
  iterations: number;
  /** The most processor time of one iteration, in milliseconds. */
  longestCpuMs: number;
  /** Iterations of more than 10 ms of processor time. */
  over10Ms: number;
  /** The longest wait for a processor within one iteration. */
  longestQueueMs: number;
  /** The longest iteration by the clock: both together, and sleep. */
  longestWallMs: number;
  longestGcMs: number;
  /** How late a timer of 1 ms was in a thread that does nothing, at most: the machine alone. */
  idleThreadLateMs: number;
}

const NS_PER_MS = 1e6;

/** Measures the calling thread while the work is done. Iterations follow each other without sleep, so that each is seen. */
export async function measureTasks(work: () => Promise<unknown>): Promise<TaskReport> {
  // `run time, time on the run queue, slices`, in nanoseconds.
  const file = openSync('/proc/thread-self/schedstat', 'r');
  const bytes = Buffer.alloc(64);
  const usage = (): [cpu: number, queue: number] => {
    const text = bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0));
    const [cpu = 0, queue = 0] = text.split(' ').map(Number);
    return [cpu, queue];
  };
  const report = { iterations: 0, longestCpuMs: 0, over10Ms: 0, longestQueueMs: 0, longestWallMs: 0, longestGcMs: 0 };
  const collections = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) report.longestGcMs = Math.max(report.longestGcMs, duration);
  });
  collections.observe({ entryTypes: ['gc'] });
  const idle = idleThread();
  let [cpu, queue] = usage();
  let at = performance.now();
  let isOver = false;
  const iterate = (): void => {
    if (isOver) return;
    const [newCpu, newQueue] = usage();
    const now = performance.now();
    const cpuMs = (newCpu - cpu) / NS_PER_MS;
    report.iterations++;
    report.longestCpuMs = Math.max(report.longestCpuMs, cpuMs);
    report.over10Ms += Number(cpuMs > 10);
    report.longestQueueMs = Math.max(report.longestQueueMs, (newQueue - queue) / NS_PER_MS);
    report.longestWallMs = Math.max(report.longestWallMs, now - at);
    [cpu, queue, at] = [newCpu, newQueue, now];
    setImmediate(iterate);
  };
  setImmediate(iterate);
  await work();
  isOver = true;
  collections.disconnect();
  closeSync(file);
  return { ...report, idleThreadLateMs: await idle() };
}

/** Starts a thread that does nothing but see how late its timers are; the result ends it. */
function idleThread(): () => Promise<number> {
  const script = `
    const { parentPort } = require('node:worker_threads');
    let late = 0, due = performance.now() + 1;
    const timer = setInterval(() => { const now = performance.now(); late = Math.max(late, now - due); due = now + 1; }, 1);
    parentPort.once('message', () => { clearInterval(timer); parentPort.postMessage(late); });`;
  const worker = new Worker(script, { eval: true });
  return () =>
    new Promise((resolve) => {
      worker.once('message', (late: number) => void worker.terminate().then(() => resolve(late)));
      worker.postMessage('end');
    });
}
