/** A server in a process of its own, and the figures that the kernel has of that process. Linux only. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/** Kernel clock ticks a second, as /proc counts CPU time. */
const TICKS_PER_SECOND = 100;

export class ServerProcess {
  readonly url: string;
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
    this.port = Number(new URL(url).port);
  }

  /** Starts Node with these arguments and waits until the program prints `listening on <url>`. */
  static async spawn(args: readonly string[]): Promise<ServerProcess> {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    // Whatever ends the benchmark ends its server.
    const end = (): unknown => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    let printed = '';
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      printed += chunk.toString();
      const url = /listening on (\S+)/.exec(printed)?.[1];
      if (url !== undefined) return new ServerProcess(child, url);
    }
    throw new Error(`the server did not start: ${printed}`);
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
