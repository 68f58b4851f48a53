/** Starts real runner processes against a fake coordinator in a temporary folder, and cleans up. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openProcessTools } from '../../src/runner/processes/process-tools.ts';
import { silentLog } from '../../src/runner/log.ts';
import { Spool } from '../../src/runner/spool.ts';
import { packageRoot } from '../../src/base/package.ts';
import { PROGRAM } from './program.ts';

export const SIMULATION = join(packageRoot, 'test/support/simulations/behave.mjs');

/** Variables for the simulations of the tests, which a runner does not pass by default. */
const VARIABLES =
  'BEHAVE,METADATA,PROTO,SLOW_MS,MEASURE,SAMPLES,STATE_BYTES,COPIES,VICTIM,KEEP_ENV,HUNG,EXIT_CODE,STEPS,LARGE_BYTES';
export const VARIABLES_ALLOWED = {
  SVC_RUNNER_ENVIRONMENT_ALLOWED: VARIABLES,
  SVC_RUNNER_ENVIRONMENT_INHERITED: VARIABLES,
};

export class RunnerProcess {
  readonly process: ChildProcess;
  log = '';

  constructor(child: ChildProcess) {
    this.process = child;
    child.stderr?.on('data', (chunk: Buffer) => (this.log += chunk.toString()));
  }

  /** Sends the signal and resolves with the exit code, or the name of the signal that killed it. */
  async end(signal: NodeJS.Signals): Promise<number | string | null> {
    this.process.kill(signal);
    return await this.exit();
  }

  async exit(): Promise<number | string | null> {
    const { exitCode, signalCode } = this.process;
    if (exitCode !== null || signalCode !== null) return exitCode ?? signalCode;
    const [code, signal] = (await once(this.process, 'exit')) as [number | null, string | null];
    return code ?? signal;
  }

  /** Resolves once the log has the text. */
  async says(text: string): Promise<void> {
    while (!this.log.includes(text)) {
      if (this.process.exitCode !== null) throw new Error(`it ended without saying "${text}": ${this.log}`);
      await once(this.process.stderr as NodeJS.ReadableStream, 'data');
    }
  }
}

/** One test's folder and processes; `clean` ends and removes them. */
export class Site {
  readonly folder = mkdtempSync(join(tmpdir(), 'simbatch-runner-'));
  readonly #processes: RunnerProcess[] = [];
  /** Output root and id of each runner. */
  readonly #owners = new Set<string>();

  /** A runner with a disk of its own. */
  startApart(id: string, endpoint: string, args: readonly string[] = []): RunnerProcess {
    return this.start(endpoint, ['--runner-id', id, '--output-root', join(this.folder, id), ...args]);
  }

  /**
   * A runner with a disk of its own that takes the place of a killed one at once: the spool proves that this one is dead, so that
   * its lease is not waited for.
   */
  startInPlaceOf(dead: string, id: string, endpoint: string, args: readonly string[] = []): RunnerProcess {
    cpSync(join(this.folder, dead, '.simbatch-runner'), join(this.folder, id, '.simbatch-runner'), { recursive: true });
    return this.startApart(id, endpoint, [...args, '--runner-id', dead]);
  }

  start(endpoint: string, args: readonly string[] = [], env: Record<string, string> = {}): RunnerProcess {
    const options = ['--endpoint', endpoint, '--runner-id', 'r1', '--output-root', join(this.folder, 'out')];
    const entrypoint = args.includes('--entrypoint') ? [] : ['--entrypoint', SIMULATION];
    const all = [PROGRAM, 'runner', ...options, ...entrypoint, '--max-concurrent-jobs', '4', ...args];
    const given = (flag: string): string => all[all.lastIndexOf(flag) + 1] ?? '';
    this.#owners.add(Spool.directoryOf(given('--output-root'), given('--runner-id')));
    const child = spawn(process.execPath, all, {
      stdio: ['ignore', 'ignore', 'pipe'],
      cwd: this.folder,
      env: { ...process.env, ...VARIABLES_ALLOWED, ...env },
    });
    const runner = new RunnerProcess(child);
    this.#processes.push(runner);
    return runner;
  }

  /** Lets every runner leave. */
  async stop(): Promise<void> {
    for (const runner of this.#processes) await runner.end('SIGTERM');
  }

  async clean(): Promise<void> {
    for (const runner of this.#processes) await runner.end('SIGKILL');
    for (const owner of this.#owners) removeCgroups(owner);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Ends and removes the cgroups of a runner that was killed. */
function removeCgroups(owner: string): void {
  const { cgroups } = openProcessTools('auto', owner, silentLog);
  for (let tries = 0; cgroups?.removeLeftovers() === false && tries < 1000; tries++) sleepSync(1);
  cgroups?.close();
}

function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Returns whether the process exists (a zombie does not count). */
export function lives(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    return !/\) [ZX] /.test(stat);
  } catch {
    return false;
  }
}
