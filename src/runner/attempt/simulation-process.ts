/** One simulation process: started as the leader of its group, watched, and ended together with all of its descendants. */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { sleep } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { systemCode } from '../system-error.ts';
import { LogFile, OutputCapture } from './output-capture.ts';
import type { ProcessInfo } from '../processes/proc-fs.ts';
import { KILL_DEADLINE_MS } from '../processes/process-scope.ts';
import type { ProcessScope } from '../processes/process-scope.ts';

export interface Launch {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
}

/** How it ended. `failed-to-start` has spawn's error code; `survived`: SIGKILL did not end it in time. */
export type Ending =
  | { type: 'exit'; code: number }
  | { type: 'signal'; signal: NodeJS.Signals }
  | { type: 'failed-to-start'; code: string | undefined }
  | { type: 'survived' };

/** Processes that remain after the end of the run. */
export interface Remains {
  /** Processes that SIGKILL did not end in time. */
  survivors: readonly ProcessInfo[];
  /** A process that could not be found still holds the run's output open. */
  isOutputHeld: boolean;
}

export interface Logs {
  stdout: LogFile;
  stderr: LogFile;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** How long the pipes may stay open after the last known process has ended. */
const PIPES_MS = 250;

/** Creates `stdout.log` and `stderr.log` in the output directory, which must have answered just before. */
export function createLogs(directory: string): Logs {
  return {
    stdout: LogFile.create(join(directory, 'stdout.log')),
    stderr: LogFile.create(join(directory, 'stderr.log')),
  };
}

export class SimulationProcess {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined;
  /** Resolves when the process has ended, or has survived SIGKILL for `KILL_DEADLINE_MS`. */
  readonly ended: Promise<Ending>;
  readonly #clock: Clock;
  readonly #scope: ProcessScope;
  readonly #captures: { stdout: OutputCapture; stderr: OutputCapture } | undefined;
  readonly #logs: Logs;
  #survived: (() => void) | undefined;
  #hasEnded = false;
  #isKilled = false;

  constructor(clock: Clock, scope: ProcessScope, logs: Logs, launch: Launch) {
    this.#clock = clock;
    this.#scope = scope;
    this.#logs = logs;
    let child: Child;
    try {
      child = scope.launch(() =>
        spawn(launch.command, launch.args, {
          cwd: launch.cwd,
          env: launch.env,
          detached: true,
          stdio: ['ignore', 'pipe', 'pipe'],
        }),
      );
    } catch (error) {
      // Some refusals of the system are thrown (E2BIG), others are emitted.
      this.ended = Promise.resolve({ type: 'failed-to-start', code: systemCode(error) });
      return;
    }
    this.pid = child.pid;
    this.#captures = {
      stdout: new OutputCapture(child.stdout, logs.stdout),
      stderr: new OutputCapture(child.stderr, logs.stderr),
    };
    this.ended = this.#end(child);
  }

  /** SIGKILL to the group and the cgroup, at once. */
  kill(): void {
    // After its end the pid may be another's.
    if (this.pid === undefined || this.#hasEnded) return;
    this.#scope.kill();
    if (this.#isKilled) return;
    this.#isKilled = true;
    this.#clock.after(KILL_DEADLINE_MS, () => this.#survived?.());
  }

  /** Ends every descendant that is left. Call when the process has ended. */
  async clear(): Promise<Remains> {
    if (this.#captures === undefined) return { survivors: [], isOutputHeld: false };
    const { stdout, stderr } = this.#captures;
    // A process that was killed may have had descendants outside its group.
    let survivors = await this.#scope.clear(this.#clock, this.#isKilled);
    const closed = Promise.all([stdout.ended, stderr.ended]);
    let isOutputHeld = !(await this.#within(PIPES_MS, closed));
    if (isOutputHeld && survivors.length === 0) {
      survivors = await this.#scope.clear(this.#clock, true);
      isOutputHeld = !(await this.#within(PIPES_MS, closed));
    }
    return { survivors, isOutputHeld };
  }

  /** Completes the log files. */
  async finishLogs(): Promise<void> {
    await Promise.all([this.#captures?.stdout.finish(), this.#captures?.stderr.finish()]);
  }

  /** Removes the log files that are empty and returns their paths. The directory must have answered just before. */
  removeEmptyLogs(): string[] {
    return [this.#logs.stdout, this.#logs.stderr].filter((it) => it.removeIfEmpty()).map((it) => it.path);
  }

  /** The last lines of stderr, or of stdout when stderr is empty. */
  lastLines(maxBytes: number): string {
    const { stderr, stdout } = this.#captures ?? {};
    const lines = stderr?.lastLines(maxBytes) ?? '';
    return lines === '' ? (stdout?.lastLines(maxBytes) ?? '') : lines;
  }

  /** Why the logs could not be written, if so. */
  get logFault(): Error | undefined {
    return this.#logs.stderr.fault ?? this.#logs.stdout.fault;
  }

  #end(child: Child): Promise<Ending> {
    return new Promise<Ending>((resolve) => {
      this.#survived = () => {
        resolve({ type: 'survived' });
      };
      child.once('error', (error: NodeJS.ErrnoException) => {
        if (child.pid === undefined) resolve({ type: 'failed-to-start', code: error.code });
      });
      child.once('exit', (code, signal) => {
        this.#hasEnded = true;
        resolve(signal === null ? { type: 'exit', code: code ?? 0 } : { type: 'signal', signal });
      });
    });
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
