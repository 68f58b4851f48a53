/**
 * Jobs per second of one runner whose simulation does nothing (`true`), against a real coordinator in another process, and
 * the cost of a job beside a bare `spawn`. Prints its figures; `run` is for `bench/run.ts`.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '../src/client/client.ts';
import type { BatchSubmission } from '../src/client/client.ts';
import { runnerCommand } from '../src/cli/commands/pool/runner.ts';
import { startHttp } from '../src/http/server.ts';
import { openCoordinator } from '../src/coordinator/coordinator.ts';
import { openStore } from '../src/coordinator/storage/open-store.ts';
import { systemClock } from '../src/base/clock.ts';

const SELF = fileURLToPath(import.meta.url);
const TRUE = existsSync('/bin/true') ? '/bin/true' : '/usr/bin/true';
const PARALLEL = [1, 2, 4, 8, 16];
const RUNS = 300;
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
async function jobMs(client: Client, folder: string, parallel: number): Promise<{ ms: number; runnerMs: number }> {
  const runner = child(
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
    const computedMs = cpuMs(runner.pid);
    const since = performance.now();
    const { batch_id } = await client.submit(STUDY);
    let status = '';
    while (status !== 'Completed') {
      await pause(10);
      status = (await client.batch(batch_id)).batch.status;
      if (status === 'Failed') throw new Error('the study failed');
    }
    return { ms: (performance.now() - since) / RUNS, runnerMs: (cpuMs(runner.pid) - computedMs) / RUNS };
  } finally {
    runner.kill('SIGTERM');
    await once(runner, 'exit');
  }
}

function child(...args: string[]): ChildProcess {
  return spawn(process.execPath, [SELF, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'simbatch-bench-'));
  const server = child('coordinator', join(folder, 'data'));
  try {
    const [url] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    const client = new Client({ endpoint: url.toString().trim() });
    console.log(`runner: ${String(RUNS)} runs of \`true\` for each row`);
    console.log('parallel   jobs/s   ms/job   bare spawn ms   overhead ms/job   runner CPU ms/job');
    for (const parallel of PARALLEL) {
      const bareMs = await bareSpawnMs(parallel);
      const { ms, runnerMs } = await jobMs(client, folder, parallel);
      const numbers = [ms, bareMs, ms - bareMs, runnerMs].map((it) => it.toFixed(2));
      const cells = [(1000 / ms).toFixed(0), ...numbers];
      console.log(
        `${String(parallel).padStart(8)} ${cells.map((cell, column) => cell.padStart([8, 8, 15, 17, 19][column] ?? 0)).join(' ')}`,
      );
    }
  } finally {
    server.kill('SIGTERM');
    await once(server, 'exit');
    rmSync(folder, { recursive: true, force: true });
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
