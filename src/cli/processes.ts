/**
 * Processes of the program that a command starts: coordinator and runners, each in its own process group, so that the command
 * stops them in order and leaves none.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { packageRoot } from '../base/package.ts';
import { EXIT } from './exit-codes.ts';
import { Failure } from './failure.ts';
import { sleep, systemClock } from '../base/clock.ts';

const PROGRAM = join(packageRoot, 'dist', 'bin', 'simbatch.js');
const STOP_MS = 10_000;
/** Generous: on a busy machine the start of a process has taken half a minute. */
const READY_MS = 120_000;
/** Number of log lines shown when a process fails. */
const KEPT_LINES = 12;

export interface Started {
  readonly name: string;
  readonly child: ChildProcess;
  /** The last lines of its standard error. */
  readonly tail: readonly string[];
}

export class Processes {
  readonly #running = new Map<Started, 'expected to run' | 'expected to end'>();
  #stopping = false;
  /** Rejects when a process ends unexpectedly. */
  readonly died: Promise<never>;
  #reportDeath: (error: Failure) => void = () => {};

  constructor() {
    this.died = new Promise((_, reject) => {
      this.#reportDeath = reject;
    });
    // A rejection must not end the command at a moment when nothing awaits it.
    this.died.catch(() => {});
  }

  /** Starts `simbatch args`; `onLine` gets its standard output. */
  start(
    name: string,
    args: readonly string[],
    env: Record<string, string>,
    onLine: (line: string) => void = () => {},
  ): Started {
    if (this.#stopping) throw new Failure(EXIT.interrupted, `${name} was not started: the processes are being stopped`);
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      // In its own group: otherwise Ctrl-C would reach it before the command stops the processes in order.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    const tail: string[] = [];
    const started: Started = { name, child, tail };
    this.#running.set(started, 'expected to run');
    createInterface({ input: child.stdout }).on('line', onLine);
    createInterface({ input: child.stderr }).on('line', (line) => {
      tail.push(line);
      if (tail.length > KEPT_LINES) tail.shift();
    });
    child.on('error', (error) =>
      this.#reportDeath(new Failure(EXIT.failed, `${name} could not be started: ${error.message}`)),
    );
    child.on('exit', (code, signal) => {
      const isExpected = this.#stopping || this.#running.get(started) === 'expected to end';
      this.#running.delete(started);
      if (!isExpected)
        this.#reportDeath(new Failure(EXIT.failed, `${name} ended early (${signal ?? `exit code ${code}`})`, tail));
    });
    return started;
  }

  /** Starts a coordinator on a free port and returns its address when it listens. */
  async startCoordinator(dataDir: string): Promise<string> {
    return this.launchCoordinator(dataDir).listening;
  }

  /** Starts a coordinator on a free port; `listening` resolves with its address. */
  launchCoordinator(dataDir: string): { started: Started; listening: Promise<string> } {
    let resolveUrl: (url: string) => void = () => {};
    const url = new Promise<string>((resolve) => (resolveUrl = resolve));
    const args = ['serve', '--port', '0', '--data-dir', dataDir, '--log-level', 'warn'];
    const started = this.start('the coordinator', args, {}, (line) => {
      const found = /listening on (\S+)/.exec(line)?.[1];
      if (found !== undefined) resolveUrl(found);
    });
    const waiting = new AbortController();
    const late = sleep(systemClock, READY_MS, waiting.signal).then(() => {
      throw new Failure(EXIT.failed, `the coordinator did not start within ${READY_MS / 1000} s`, started.tail);
    });
    late.catch(() => {});
    // A pending timer would delay the end of the command.
    const listening = Promise.race([url, this.died, late]).finally(() => waiting.abort());
    // A coordinator that is killed during its start is not awaited.
    listening.catch(() => {});
    return { started, listening };
  }

  /** Kills one process with SIGKILL, as a crash would, and not its group; resolves when it has ended. */
  async crash(started: Started): Promise<void> {
    const { child } = started;
    if (!this.#running.has(started)) return;
    this.#running.set(started, 'expected to end');
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  /** Stops the processes, the coordinators last; a process that exceeds the time limit is killed with its group. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const all = [...this.#running.keys()];
    const isCoordinator = ({ name }: Started): boolean => name === 'the coordinator';
    await Promise.all(all.filter((it) => !isCoordinator(it)).map(({ child }) => end(child)));
    await Promise.all(all.filter(isCoordinator).map(({ child }) => end(child)));
  }

  /** Kills all process groups; `died` rejects, so that nothing waits for a process any more. */
  kill(): void {
    this.#stopping = true;
    this.#reportDeath(new Failure(EXIT.interrupted, 'stopped'));
    for (const { child } of this.#running.keys()) signalGroup(child, 'SIGKILL');
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = new AbortController();
  const first = await Promise.race([
    gone.then(() => 'gone'),
    sleep(systemClock, STOP_MS, timer.signal).then(() => 'late'),
  ]);
  timer.abort();
  if (first === 'late') {
    signalGroup(child, 'SIGKILL');
    await gone;
  }
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  } catch {
    // The group has ended by itself.
  }
}
