/** One simulation process: started as the leader of its own group, watched, killed with its group, and over only when all are dead. */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import { join } from 'node:path';
import { OutputCapture } from './output-capture.ts';
import { killGroup, killRemainders } from './process-group.ts';
import type { Log } from '../log.ts';
import { systemCode } from '../system-error.ts';
import { sleep } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';

export interface Launch {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** The output directory; what is printed goes to `stdout.log` and `stderr.log` in it. */
  directory: string;
}

/** How it ended. `failed-to-start` has spawn's error code. */
export type Ending =
  | { type: 'exit'; code: number }
  | { type: 'signal'; signal: NodeJS.Signals }
  | { type: 'failed-to-start'; code: string | undefined };

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** How long a process that left the group may keep the pipes open after the end before it is looked for. */
const PIPES_MS = 250;

export class SimulationProcess {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined;
  /** Resolves when the process and its whole group are dead and the logs are complete. */
  readonly ended: Promise<Ending>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #directory: string;
  readonly #captures: { stdout: OutputCapture; stderr: OutputCapture } | undefined;
  #killed: Promise<void> | undefined;
  #exited = false;

  constructor(clock: Clock, log: Log, launch: Launch) {
    this.#clock = clock;
    this.#log = log;
    this.#directory = launch.directory;
    let child: Child;
    try {
      child = spawn(launch.command, launch.args, {
        cwd: launch.cwd,
        env: launch.env,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    } catch (error) {
      // Some refusals of the system are thrown (E2BIG), others come as an event.
      this.ended = Promise.resolve({ type: 'failed-to-start', code: systemCode(error) });
      return;
    }
    this.pid = child.pid;
    this.#captures = {
      stdout: new OutputCapture(child.stdout, join(launch.directory, 'stdout.log')),
      stderr: new OutputCapture(child.stderr, join(launch.directory, 'stderr.log')),
    };
    this.ended = this.#watch(child);
  }

  /** SIGKILL to the whole group, at once. Resolves when all are dead; `ended` resolves soon after. */
  kill(): Promise<void> {
    // After its end the pid may be another's.
    if (this.pid === undefined || (this.#exited && this.#killed === undefined)) return Promise.resolve();
    this.#killed ??= killGroup(this.#clock, this.#log, this.pid, this.#directory);
    return this.#killed;
  }

  /** The process has ended; its group may be being cleared away. */
  get exited(): boolean {
    return this.#exited;
  }

  /** The last lines of stderr, or of stdout when stderr is empty. */
  lastLines(maxBytes: number): string {
    const { stderr, stdout } = this.#captures ?? {};
    const lines = stderr?.lastLines(maxBytes) ?? '';
    return lines === '' ? (stdout?.lastLines(maxBytes) ?? '') : lines;
  }

  /** Why the logs could not be written, if so. */
  get logFault(): NodeJS.ErrnoException | undefined {
    return this.#captures?.stderr.fault ?? this.#captures?.stdout.fault;
  }

  async #watch(child: Child): Promise<Ending> {
    const ending = await new Promise<Ending>((resolve) => {
      child.once('error', (error: NodeJS.ErrnoException) => {
        if (child.pid === undefined) resolve({ type: 'failed-to-start', code: error.code });
      });
      child.once('exit', (code, signal) => {
        resolve(signal === null ? { type: 'exit', code: code ?? 0 } : { type: 'signal', signal });
      });
    });
    this.#exited = true;
    if (this.pid !== undefined) {
      if (this.#killed === undefined) await killRemainders(this.#clock, this.#log, this.pid, this.#directory);
      await this.#killed;
      await this.#pipesClosed(this.pid);
    }
    await Promise.all([this.#captures?.stdout.finish(), this.#captures?.stderr.finish()]);
    return ending;
  }

  async #pipesClosed(leader: number): Promise<void> {
    const closed = Promise.all([this.#captures?.stdout.ended, this.#captures?.stderr.ended]);
    if (await this.#within(PIPES_MS, closed)) return;
    await killGroup(this.#clock, this.#log, leader, this.#directory);
    await this.#within(PIPES_MS, closed);
  }

  async #within(ms: number, event: Promise<unknown>): Promise<boolean> {
    const stop = new AbortController();
    const happened = await Promise.race([
      event.then(() => true),
      sleep(this.#clock, ms, stop.signal).then(() => false),
    ]);
    stop.abort();
    return happened;
  }
}
