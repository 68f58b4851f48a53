/** One simulation process: started as the leader of its group, watched, and ended together with all of its descendants. */
import { join } from 'node:path';
import { settlesWithin } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import type { Ending, Launch, Launcher, StartedContainer } from '../launch/launcher.ts';
import { LogFile, OutputCapture } from './output-capture.ts';
import type { ProcessInfo } from '../processes/proc-fs.ts';
import { KILL_DEADLINE_MS } from '../processes/process-scope.ts';
import type { ProcessScope } from '../processes/process-scope.ts';

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

/**
 * A run that ends within this time leaves no record of its process id: its processes are found by their marker, their cgroup, and
 * their creator.
 */
const RECORDED_MS = 20;
/** How long the pipes may stay open after the last known process has ended. */
const PIPES_MS = 250;

/** `stdout.log` and `stderr.log` in the output directory; each is created by its first byte. */
export function logsIn(directory: string, makesDirectory = false): Logs {
  const options = { makesDirectory };
  return {
    stdout: new LogFile(join(directory, 'stdout.log'), options),
    stderr: new LogFile(join(directory, 'stderr.log'), options),
  };
}

export class SimulationProcess {
  /** Undefined while there is no process, and when it could not be started. */
  pid: number | undefined;
  /** Start of the execution, in milliseconds of the clock. */
  sinceMs = 0;
  /** Resolves when the process has ended, or has survived SIGKILL for `KILL_DEADLINE_MS`. */
  readonly ended: Promise<Ending>;
  /** Note on the way the simulation was started, for the reader of the result. */
  note: string | undefined;
  /** The container in which it runs, if in one. */
  container: StartedContainer | undefined;
  readonly #clock: Clock;
  readonly #scope: ProcessScope;
  readonly #logs: Logs;
  readonly #cancelled = new AbortController();
  #captures: { stdout: OutputCapture; stderr: OutputCapture } | undefined;
  #end: (ending: Ending) => void = () => {};
  #hasEnded = false;
  /** The process that was to create it has ended, perhaps after it did. */
  #mayExist = false;

  constructor(clock: Clock, scope: ProcessScope, logs: Logs) {
    this.#clock = clock;
    this.#scope = scope;
    this.#logs = logs;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Starts the process, once. Returns when the process exists, or could not be started. */
  async start(launcher: Launcher, launch: Launch): Promise<void> {
    this.sinceMs = this.#clock.monotonicMs();
    const launched = await launcher.launch(launch, {
      scope: this.#scope,
      onProcess: (pid, sinceMs = this.sinceMs) => {
        this.pid = pid;
        this.sinceMs = sinceMs;
        if (this.#cancelled.signal.aborted) this.#scope.kill();
      },
      onExit: () => {
        this.#hasEnded = true;
      },
      cancelled: this.#cancelled.signal,
    });
    if (!('ended' in launched)) {
      this.#hasEnded = true;
      this.#mayExist = launched.type === 'lost';
      this.#end(launched);
      return;
    }
    const { stdout, stderr, ended, note, container } = launched;
    this.note = note;
    this.container = container;
    this.#captures = {
      stdout: new OutputCapture(stdout, this.#logs.stdout),
      stderr: new OutputCapture(stderr, this.#logs.stderr),
    };
    void ended.then(this.#end);
  }

  /** Waits for the end. Calls `record` unless the run is very short; rejects as soon as that fails. */
  endedAndRecorded(record: (pid: number) => Promise<void>): Promise<Ending> {
    const { pid } = this;
    if (pid === undefined) return this.ended;
    return new Promise((resolve, reject) => {
      let recorded: Promise<void> | undefined;
      const cancel = this.#clock.after(RECORDED_MS, () => {
        recorded = record(pid);
        recorded.catch(reject);
      });
      void this.ended.then(async (ending) => {
        cancel();
        await recorded?.catch(() => {});
        resolve(ending);
      });
    });
  }

  /** SIGKILL to the group and the cgroup, at once, or as soon as there is a process. */
  kill(): void {
    // The pid of a process that has ended may be that of another one.
    if (this.#hasEnded) return;
    if (this.pid !== undefined) this.#scope.kill();
    if (this.#cancelled.signal.aborted) return;
    this.#cancelled.abort();
    this.#clock.after(KILL_DEADLINE_MS, () => {
      this.#end({ type: 'survived' });
    });
  }

  /** Ends every descendant that is left. Call when the process has ended. */
  async clear(): Promise<Remains> {
    if (this.#captures === undefined) {
      const isLeft = this.pid !== undefined || this.#mayExist;
      const left = isLeft ? await this.#scope.clear(this.#clock, true) : [];
      return { survivors: left, isOutputHeld: false };
    }
    const { stdout, stderr } = this.#captures;
    // A process that was killed may have had descendants outside its group.
    let survivors = await this.#scope.clear(this.#clock, this.#cancelled.signal.aborted);
    const closed = Promise.all([stdout.ended, stderr.ended]);
    let isOutputHeld = !(await settlesWithin(this.#clock, PIPES_MS, closed));
    if (isOutputHeld && survivors.length === 0) {
      survivors = await this.#scope.clear(this.#clock, true);
      isOutputHeld = !(await settlesWithin(this.#clock, PIPES_MS, closed));
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
}
