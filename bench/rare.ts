/**
 * The decision after each round of 1,000 runs of a study of rare events of 100 parameters: processor time of the analysis worker, and the longest
 * iteration of the thread of requests meanwhile. `node dist/bench/rare.js [PARAMETERS]`
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { systemClock } from '../src/base/clock.ts';
import { type Coordinator, openCoordinator } from '../src/coordinator/coordinator.ts';
import { openStore } from '../src/coordinator/kernel/storage/open-store.ts';
import type { BatchSubmission, ClaimResponse, Report, Uuid } from '../src/contract/types.ts';
import { study } from '../test/support/studies.ts';
import { measureTasks } from './support/task-meter.ts';

const PARAMETERS = Number(process.argv[2] ?? 100);
const RUNS = 1_000;
const RUNNER = { id: 'r', instance: 'r-1' };
const GROUP = 250;

type Assigned = ClaimResponse['assignments'][number];

function submission(): BatchSubmission {
  const made = study({ runs: 0 });
  const { config } = made;
  config.monte_carlo = { runs: 0, sampling_method: 'adaptive', seed: 1 };
  config.adaptive = {
    algorithm: 'rare_event',
    studies: 1,
    population: RUNS,
    width: RUNS,
    tune_runs: RUNS,
    confirm_runs: 2 * RUNS,
  };
  config.adaptive.confirm_part = RUNS;
  const distribution = { type: 'normal' as const, mean: 0, std_dev: 1 };
  const names = Array.from({ length: PARAMETERS }, (_, at) => `x${at}`);
  config.dispersions = Object.fromEntries(names.map((name) => [name, { distribution, units: '' }]));
  made.requirements = [{ name: 'far', output: 'y', condition: '< 4', probability: 0.9999 }];
  return made;
}

/** The runs of a round, claimed and started. */
async function started(coordinator: Coordinator): Promise<Assigned[]> {
  const all: Assigned[] = [];
  while (all.length < RUNS) {
    const { assignments } = await coordinator.claim(RUNNER.id, {
      instance: RUNNER.instance,
      max_jobs: GROUP,
      wait_seconds: 0,
    });
    await report(
      coordinator,
      assignments.map(({ job, attempt }) => ({ type: 'start', job_id: job.id, attempt })),
    );
    all.push(...assignments);
    if (assignments.length === 0) await setTimeout(5);
  }
  return all;
}

async function report(coordinator: Coordinator, reports: Report[]): Promise<void> {
  for (let at = 0; at < reports.length; at += GROUP)
    await coordinator.reports(RUNNER.id, { instance: RUNNER.instance, reports: reports.slice(at, at + GROUP) });
}

function completed({ job, attempt }: Assigned): Report {
  const values = Object.values(job.run_config.parameters);
  const y = values.reduce((sum, it) => sum + it, 0) / Math.sqrt(values.length);
  const result = { execution_time_secs: 1, output_files: [], metadata: { y } };
  return { type: 'complete', job_id: job.id, attempt, result };
}

/** Processor time of the calling thread, and of the process, in milliseconds. */
async function cpuMs(): Promise<{ thread: number; process: number }> {
  const [run = 0] = (await readFile('/proc/self/task/' + process.pid + '/schedstat', 'utf8')).split(' ').map(Number);
  const { user, system } = process.cpuUsage();
  return { thread: run / 1e6, process: (user + system) / 1e3 };
}

/** Resolves when the study has another round than the last of `rounds`, or has ended; true for a round. */
async function decided(coordinator: Coordinator, batch: Uuid, rounds: number): Promise<boolean> {
  for (;;) {
    const { batch: found } = await coordinator.batch(batch);
    if ((found.rounds ?? 0) > rounds) return true;
    if (found.status === 'Completed') return false;
    await setTimeout(2);
  }
}

const folder = await mkdtemp(join(tmpdir(), 'simbatch-rare-'));
const coordinator = await openCoordinator(await openStore(folder), systemClock);
try {
  const { batch_id: batch } = await coordinator.submit(submission());
  const capabilities = {
    max_concurrent_jobs: RUNS,
    cpu_cores: 0,
    memory_gb: 0,
    gpu_available: false,
    supported_simulation_types: [],
  };
  // Without heartbeats of its own it is online as long as a round takes on a busy machine.
  await coordinator.register({ ...RUNNER, capabilities, heartbeat_interval_secs: 60 });
  const rows: Record<string, string | number>[] = [];
  for (let rounds = 1, isOpen = await decided(coordinator, batch, 0); isOpen; rounds += 1) {
    const { decision } = await coordinator.round(batch, rounds - 1);
    const [last, ...others] = (await started(coordinator)).map(completed);
    await report(coordinator, others);
    const before = await cpuMs();
    const tasks = await measureTasks(async () => {
      await report(coordinator, [last!]);
      isOpen = await decided(coordinator, batch, rounds);
    });
    const after = await cpuMs();
    const byOthers = after.process - before.process - (after.thread - before.thread);
    rows.push({
      'after a round of': decision?.phase ?? 'search',
      'processor ms of other threads': Math.round(byOthers),
      'longest iteration, processor ms': Number(tasks.longestCpuMs.toFixed(1)),
      'iterations over 10 ms': tasks.over10Ms,
      'longest collection of garbage, ms': Number(tasks.longestGcMs.toFixed(1)),
    });
  }
  console.table(rows);
} finally {
  await coordinator.close();
  await rm(folder, { recursive: true });
}
