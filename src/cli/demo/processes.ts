/** The processes of the demo: each in its own process group, so that the demo stops them in order and leaves none. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { packageRoot } from '../../base/package.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { sleep, systemClock } from '../../base/clock.ts';

const PROGRAM = join(packageRoot, 'dist', 'bin', 'simbatch.js');
const STOP_MS = 10_000;
const READY_MS = 30_000;
/** Number of log lines shown when a process fails. */
const KEPT_LINES = 12;

export class Processes {
  readonly #running: { name: string; child: ChildProcess; tail: string[] }[] = [];
  #stopping = false;
  /** Rejects when a process ends unexpectedly. */
  readonly died: Promise<never>;
  #reportDeath: (error: Failure) => void = () => {};

  constructor() {
    this.died = new Promise((_, reject) => {
      this.#reportDeath = reject;
    });
    // A rejection must not end the demo at a moment when nothing awaits it.
    this.died.catch(() => {});
  }

  /** Starts `simbatch args`; `onLine` gets its standard output. */
  start(
    name: string,
    args: readonly string[],
    env: Record<string, string>,
    onLine: (line: string) => void = () => {},
  ): void {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      // In its own group: otherwise Ctrl-C would reach it before the demo stops the processes in order.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    const tail: string[] = [];
    this.#running.push({ name, child, tail });
    createInterface({ input: child.stdout }).on('line', onLine);
    createInterface({ input: child.stderr }).on('line', (line) => {
      tail.push(line);
      if (tail.length > KEPT_LINES) tail.shift();
    });
    child.on('error', (error) =>
      this.#reportDeath(new Failure(EXIT.failed, `${name} could not be started: ${error.message}`)),
    );
    child.on('exit', (code, signal) => {
      if (!this.#stopping)
        this.#reportDeath(new Failure(EXIT.failed, `${name} ended early (${signal ?? `exit code ${code}`})`, tail));
    });
  }

  /** Starts the coordinator on a free port and returns its address. */
  async startCoordinator(dataDir: string): Promise<string> {
    const listening = new Promise<string>((resolve) => {
      const args = ['serve', '--port', '0', '--data-dir', dataDir, '--log-level', 'warn'];
      this.start('the coordinator', args, {}, (line) => {
        const url = /listening on (\S+)/.exec(line)?.[1];
        if (url !== undefined) resolve(url);
      });
    });
    const waiting = new AbortController();
    const late = sleep(systemClock, READY_MS, waiting.signal).then(() => {
      throw new Failure(EXIT.failed, `the coordinator did not start within ${READY_MS / 1000} s`);
    });
    late.catch(() => {});
    // A pending timer would delay the end of the demo.
    return Promise.race([listening, this.died, late]).finally(() => waiting.abort());
  }

  /** Stops the processes, the coordinator last; a process that exceeds the time limit is killed with its group. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const [coordinator, ...others] = this.#running;
    await Promise.all(others.map(({ child }) => end(child)));
    if (coordinator !== undefined) await end(coordinator.child);
  }

  /** Kills all process groups. */
  kill(): void {
    this.#stopping = true;
    for (const { child } of this.#running) signalGroup(child, 'SIGKILL');
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
