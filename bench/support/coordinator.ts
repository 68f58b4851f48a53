/** A coordinator in a process of its own, as a user starts it, and what the kernel says of that process. Linux only. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../bin/simbatch.js', import.meta.url));
/** Kernel clock ticks a second, as /proc counts CPU time. */
const TICKS_PER_SECOND = 100;

export class CoordinatorProcess {
  readonly url: string;
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
    this.port = Number(new URL(url).port);
  }

  /** Starts `simbatch serve` on the directory and waits until it listens. `nodeOptions`: e.g. `--cpu-prof`. */
  static async start(dataDir: string, nodeOptions: readonly string[] = profiling()): Promise<CoordinatorProcess> {
    const args = [...nodeOptions, PROGRAM, 'serve', '--port', '0', '--data-dir', dataDir, '--log-level', 'error'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    // Whatever ends the benchmark ends its coordinator.
    const end = (): unknown => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    let said = '';
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      said += chunk.toString();
      const url = /listening on (\S+)/.exec(said)?.[1];
      if (url !== undefined) return new CoordinatorProcess(child, url);
    }
    throw new Error(`the coordinator did not start: ${said}`);
  }

  /** Seconds of CPU used so far, in user and kernel mode, by all its threads. */
  cpuSecs(): number {
    const fields = readFileSync(`/proc/${this.#pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }

  /** Resident memory in MB (10^6 bytes). */
  residentMb(): number {
    return this.#statusMb('VmRSS');
  }

  /** Resident memory in MB without the pages of mapped files, which the kernel takes back at any time: LevelDB maps its tables. */
  ownMb(): number {
    return this.#statusMb('RssAnon');
  }

  #statusMb(name: string): number {
    const status = readFileSync(`/proc/${this.#pid}/status`, 'utf8');
    const kb = new RegExp(String.raw`^${name}:\s+(\d+)`, 'm').exec(status)?.[1];
    return (Number(kb) * 1024) / 1e6;
  }

  /** Samples the resident memory until the function returned is called, which gives the highest (MB). */
  watchResident(read = (): number => this.residentMb()): () => number {
    let highest = read();
    const timer = setInterval(() => (highest = Math.max(highest, read())), 50);
    return () => {
      clearInterval(timer);
      return Math.max(highest, read());
    };
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await gone;
  }

  get #pid(): number {
    return this.#child.pid as number;
  }
}

/** With BENCH_PROFILE=<directory> every coordinator leaves a CPU profile there. */
function profiling(): string[] {
  const directory = process.env['BENCH_PROFILE'];
  return directory === undefined ? [] : ['--cpu-prof', '--cpu-prof-interval', '250', `--cpu-prof-dir=${directory}`];
}
