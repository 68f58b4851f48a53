/**
 * Runs per second of one runner whose simulation does nothing (`true`), against a real coordinator in another process, beside
 * an earlier build, HyperQueue and a bare `spawn`. Prints its figures; `run` is for `bench/run.ts`.
 */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '../src/client/client.ts';
import type { BatchSubmission } from '../src/client/client.ts';
import { runnerCommand } from '../src/cli/commands/pool/runner.ts';
import { startHttp } from '../src/http/server.ts';
import { openCoordinator } from '../src/coordinator/coordinator.ts';
import { openStore } from '../src/coordinator/storage/open-store.ts';
import { systemClock } from '../src/base/clock.ts';
import { packageRoot } from '../src/base/package.ts';
import { median } from './support/measure.ts';

const SELF = fileURLToPath(import.meta.url);
const TRUE = existsSync('/bin/true') ? '/bin/true' : '/usr/bin/true';
const PARALLEL = [1, 2, 16];
const RUNS = 300;
const ROUNDS = 3;
/** Runs before the measured ones. */
const WARM_UP = 50;
/** Linux counts CPU time in hundredths of a second. */
const MS_PER_TICK = 10;

const STUDY: BatchSubmission = {
  name: 'nothing',
  config: {
    simulation: { name: 'nothing', version: '1', duration_minutes: 0 },
    monte_carlo: { runs: RUNS, sampling_method: 'monte_carlo', seed: 1 },
    dispersions: { x: { distribution: { type: 'normal', mean: 0, std_dev: 1 }, units: '' } },
    compute: {
      container: { image: 'none', cpu_request: '0', memory_request: '0' },
      max_parallel_jobs: 0,
      job_timeout_seconds: 60,
    },
    early_termination: { enabled: false, check_frequency_hz: 1, conditions: [] },
    telemetry: {
      sampling_rate_hz: 1,
      variables: [],
      storage: { s3_bucket: '', s3_prefix: '', compression: 'none' },
      buffer_flush_interval_seconds: 1,
    },
  },
};

/** A build of simbatch: its `bench/runner.js`. */
interface Build {
  name: string;
  program: string;
}

/** Milliseconds per process when `parallel` bare spawns are kept going. */
async function bareSpawnMs(parallel: number): Promise<number> {
  let left = RUNS;
  const since = performance.now();
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      while (left-- > 0) await once(spawn(TRUE, [], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] }), 'close');
    }),
  );
  return (performance.now() - since) / RUNS;
}

/** Milliseconds a process has computed so far, the time of its ended children not counted. Linux only. */
function cpuMs(pid: number | undefined): number {
  const fields =
    readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
      .split(') ')[1]
      ?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

/** Per job of a study of RUNS runs, in milliseconds: from its submission to its end, and of the runner's CPU time. */
async function jobMs(
  build: Build,
  client: Client,
  folder: string,
  parallel: number,
): Promise<{ ms: number; runnerMs: number }> {
  const runner = child(
    build,
    'runner',
    '--endpoint',
    client.endpoint,
    '--runner-id',
    `p${String(parallel)}`,
    '--entrypoint',
    TRUE,
    '--max-concurrent-jobs',
    String(parallel),
    '--output-root',
    join(folder, `out-${String(parallel)}`),
    '--log-level',
    'warn',
  );
  try {
    while (!(await client.runners()).runners.some((it) => it.id === `p${String(parallel)}`)) await pause(20);
    await complete(client, WARM_UP);
    const computedMs = cpuMs(runner.pid);
    const since = performance.now();
    await complete(client, RUNS);
    return { ms: (performance.now() - since) / RUNS, runnerMs: (cpuMs(runner.pid) - computedMs) / RUNS };
  } finally {
    runner.kill('SIGTERM');
    await once(runner, 'exit');
  }
}

/** Submits a study of so many runs and waits for its end. */
async function complete(client: Client, runs: number): Promise<void> {
  const { batch_id } = await client.submit({ ...STUDY, runs_override: runs });
  for (let status = ''; status !== 'Completed';) {
    await pause(25);
    status = (await client.batch(batch_id)).batch.status;
    if (status === 'Failed') throw new Error('the study failed');
  }
}

function child({ program }: Build, ...args: string[]): ChildProcess {
  return spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Per run with a coordinator and a runner of this build. */
async function buildRate(build: Build, slots: number): Promise<{ ms: number; runnerMs: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'simbatch-bench-'));
  const server = child(build, 'coordinator', join(folder, 'data'));
  try {
    const [url] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    return await jobMs(build, new Client({ endpoint: url.toString().trim() }), folder, slots);
  } finally {
    server.kill('SIGTERM');
    await once(server, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Milliseconds per task of HyperQueue; undefined where its Python package is not installed. */
function hyperqueueMs(slots: number): number | undefined {
  const python = process.env['HYPERQUEUE_PYTHON'] ?? 'python3';
  const script = join(packageRoot, 'bench', 'support', 'hyperqueue_rate.py');
  const { status, stdout } = spawnSync(python, [script, String(slots), String(RUNS), TRUE], { encoding: 'utf8' });
  const seconds = /^seconds (.+)$/m.exec(stdout)?.[1];
  return status === 0 && seconds !== undefined ? (Number(seconds) * 1000) / RUNS : undefined;
}

/** One contender in one round at one number of slots. */
interface Sample {
  ms: number;
  runnerMs?: number;
}

/**
 * Every contender once in each round, in turns, so that the state of the machine is the same for all. `BENCH_BEFORE` is the
 * `dist` folder of an earlier build to compare with; `HYPERQUEUE_PYTHON` a Python that has the package `hyperqueue`.
 */
export async function run(): Promise<void> {
  const before = process.env['BENCH_BEFORE'];
  const builds: Build[] = [
    ...(before === undefined ? [] : [{ name: 'before', program: join(before, 'bench', 'runner.js') }]),
    { name: 'simbatch', program: SELF },
  ];
  console.log(`runner: ${String(RUNS)} runs of \`true\`, ${String(ROUNDS)} rounds in turns; medians`);
  console.log('slots  contender     runs/s   ms/run   runner CPU ms/run   bare spawn ms   load');
  for (const slots of PARALLEL) {
    const samples = new Map<string, Sample[]>();
    const bare: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      bare.push(await bareSpawnMs(slots));
      const add = (name: string, sample: Sample): void =>
        void samples.set(name, [...(samples.get(name) ?? []), sample]);
      for (const build of builds) add(build.name, await buildRate(build, slots));
      const peerMs = hyperqueueMs(slots);
      if (peerMs !== undefined) add('hyperqueue', { ms: peerMs });
    }
    for (const [name, its] of samples) {
      const ms = median(its.map((it) => it.ms));
      const cpu = median(its.flatMap((it) => it.runnerMs ?? []));
      const cells = [
        (1000 / ms).toFixed(0).padStart(8),
        ms.toFixed(2).padStart(8),
        (Number.isNaN(cpu) ? '' : cpu.toFixed(2)).padStart(19),
      ];
      const load = loadavg()[0]?.toFixed(1) ?? '';
      console.log(
        `${String(slots).padStart(5)}  ${name.padEnd(11)} ${cells.join(' ')} ${median(bare).toFixed(2).padStart(15)} ${load.padStart(6)}`,
      );
    }
    if (!samples.has('hyperqueue')) console.log('       hyperqueue is not installed (pip install hyperqueue): skipped');
  }
}

async function coordinator(directory: string): Promise<void> {
  const system = await openCoordinator(await openStore(directory), systemClock);
  const log = { debug() {}, info() {}, warn: console.error, error: console.error };
  const http = await startHttp({ coordinator: system, host: '127.0.0.1', port: 0, clock: systemClock, log });
  console.log(http.url);
  await once(process, 'SIGTERM');
  await http.close(500);
  await system.close();
}

if (process.argv[1] === SELF) {
  if (process.argv[2] === 'coordinator') await coordinator(process.argv[3] ?? '');
  else if (process.argv[2] === 'runner') await runnerCommand().parseAsync(process.argv.slice(3), { from: 'user' });
  else await run();
}
