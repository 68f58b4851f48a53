/** A coordinator and a runner of one build of simbatch, kept open so that builds can execute studies in turns. Linux only. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '../../src/client/client.ts';
import { MASS_AND_WIND, study } from './studies.ts';

/** A build of simbatch. */
export interface Build {
  name: string;
  /** Its `bench/runner.js`. */
  program: string;
}

/** A simulation, and how the runner executes it. */
export interface Workload {
  name: string;
  entrypoint: string;
  /** Further options of the runner. */
  options: readonly string[];
}

/** Milliseconds per run; the CPU time is that of all threads, user and kernel. */
export interface RunCost {
  /** From the submission of a study to its end, divided by its runs. */
  wallMs: number;
  runnerMs: number;
  /** The processes that create the runs for the runner. */
  serversMs: number;
  /** The runs themselves, and all other ended descendants of the runner. */
  runsMs: number;
  coordinatorMs: number;
}

/** Linux counts CPU time in hundredths of a second. */
const MS_PER_TICK = 10;
const POLL_MS = 20;

export class Rig {
  readonly #folder: string;
  readonly #server: ChildProcess;
  readonly #runner: ChildProcess;
  readonly #client: Client;

  private constructor(folder: string, server: ChildProcess, runner: ChildProcess, client: Client) {
    this.#folder = folder;
    this.#server = server;
    this.#runner = runner;
    this.#client = client;
  }

  static async open({ program }: Build, { entrypoint, options }: Workload, slots: number): Promise<Rig> {
    const start = (...args: string[]): ChildProcess =>
      spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const folder = mkdtempSync(join(tmpdir(), 'simbatch-bench-'));
    const server = start('coordinator', join(folder, 'data'));
    const [url] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    const client = new Client({ endpoint: url.toString().trim() });
    const place = ['--endpoint', client.endpoint, '--runner-id', 'bench', '--output-root', join(folder, 'out')];
    const size = ['--entrypoint', entrypoint, '--max-concurrent-jobs', String(slots), '--log-level', 'warn'];
    const runner = start('runner', ...place, ...size, ...options);
    while ((await client.runners()).runners.length === 0) await pause(20);
    return new Rig(folder, server, runner, client);
  }

  /** Executes a study of so many runs. */
  async measure(runs: number): Promise<RunCost> {
    const before = this.#cpu();
    const since = performance.now();
    const { batch_id } = await this.#client.submit(study(runs, 'nothing', MASS_AND_WIND));
    for (let status = ''; status !== 'Completed';) {
      await pause(POLL_MS);
      status = (await this.#client.batch(batch_id)).batch.status;
      if (status === 'Failed') throw new Error('the study failed');
    }
    const wallMs = performance.now() - since;
    const after = this.#cpu();
    return {
      wallMs: wallMs / runs,
      runnerMs: (after.runner.own - before.runner.own) / runs,
      serversMs: (after.servers.own - before.servers.own) / runs,
      runsMs: (after.runner.ended + after.servers.ended - before.runner.ended - before.servers.ended) / runs,
      coordinatorMs: (after.coordinator.own - before.coordinator.own) / runs,
    };
  }

  async close(): Promise<void> {
    for (const child of [this.#runner, this.#server]) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #cpu(): Record<'runner' | 'servers' | 'coordinator', CpuTime> {
    const servers = childrenOf(this.#runner.pid ?? 0).map(cpuOf);
    return {
      runner: cpuOf(this.#runner.pid ?? 0),
      servers: {
        own: servers.reduce((sum, it) => sum + it.own, 0),
        ended: servers.reduce((sum, it) => sum + it.ended, 0),
      },
      coordinator: cpuOf(this.#server.pid ?? 0),
    };
  }
}

/** Milliseconds of a process, and of its ended and reaped descendants. */
interface CpuTime {
  own: number;
  ended: number;
}

function statOf(pid: number | string): string[] {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

function cpuOf(pid: number): CpuTime {
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = statOf(pid).slice(11, 15).map(Number);
  return { own: (user + system) * MS_PER_TICK, ended: (endedUser + endedSystem) * MS_PER_TICK };
}

function childrenOf(pid: number): number[] {
  const pids = readdirSync('/proc').filter((it) => /^\d+$/.test(it));
  return pids.filter((it) => Number(statOf(it)[1]) === pid).map(Number);
}
