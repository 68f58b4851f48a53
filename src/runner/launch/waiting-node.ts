/** Node processes that have started and wait for a run, before they load the simulation. Each executes one run. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Duplex, Readable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import { packageRoot } from '../../base/package.ts';
import { withoutInherited } from '../processes/inherited-descriptors.ts';
import { RESERVED_BYTES } from './control-channel.ts';
import type { Ending, Launch, LaunchContext, LaunchedProcess, Launcher, WarmLauncher } from './launcher.ts';

const SCRIPT = join(packageRoot, 'clients', 'node', 'warm', 'wait.cjs');
/** Most processes that wait: each takes about 7 MB beside the memory that processes of Node share. */
const MOST_WAITING = 8;

export interface WaitingNodeOptions {
  entrypoint: string;
  env: Readonly<Record<string, string>>;
  cwd: string;
  clock: Clock;
  /** How many runs there are at once. */
  slots: number;
  /** Starts runs when no process waits. */
  cold: Launcher;
}

export class WaitingNode implements WarmLauncher {
  readonly size: number;
  readonly #options: WaitingNodeOptions;
  readonly #waiting = new Set<ChildProcess>();
  /** How many processes are to wait: as many as there were launches, so that an environment of one run costs one. */
  #wanted = 1;
  #launches = 0;
  #isClosed = false;

  constructor(options: WaitingNodeOptions) {
    this.#options = options;
    this.size = Math.min(options.slots, MOST_WAITING);
    this.#fill();
  }

  /** Starts as many processes as runs may want at once. */
  fill(): void {
    this.#wanted = this.size;
    this.#fill();
  }

  /** Gives the run to a process that waits; starts one cold when there is none. */
  async launch(launch: Launch, context: LaunchContext): Promise<LaunchedProcess | Ending> {
    this.#launches += 1;
    this.#wanted = Math.min(this.size, Math.max(this.#wanted, this.#launches));
    const [child] = this.#waiting;
    if (child?.pid === undefined) {
      this.#fillSoon();
      return this.#options.cold.launch(launch, context);
    }
    this.#waiting.delete(child);
    this.#fillSoon();
    const { scope, onProcess, onExit } = context;
    const cgroup = scope.prepare();
    scope.adopt(child.pid);
    onProcess(child.pid);
    const ended = new Promise<Ending>((resolve) => {
      child.once('exit', (code, signal) => {
        onExit();
        resolve(signal === null ? { type: 'exit', code: code ?? 0 } : { type: 'signal', signal });
      });
    });
    const channel = channelOf(child);
    // The process answers only when it could not enter the cgroup.
    channel.once('data', (why: Buffer) => scope.disown(why.toString().trim()));
    channel.end(`${JSON.stringify({ env: launch.contract, cgroup: cgroup?.directory ?? null })}\n`);
    for (const it of [child, child.stdout, child.stderr]) hold(it, true);
    return { stdout: child.stdout as Readable, stderr: child.stderr as Readable, ended };
  }

  /** Ends the processes that wait; those that execute a run are not touched. */
  retire(): void {
    this.#isClosed = true;
    for (const child of this.#waiting) child.kill('SIGKILL');
    this.#waiting.clear();
  }

  kill(): void {
    this.retire();
  }

  #fillSoon(): void {
    this.#options.clock.soon(() => this.#fill());
  }

  #fill(): void {
    while (!this.#isClosed && this.#waiting.size < this.#wanted) if (!this.#start()) return;
  }

  /** Returns whether a process was started. */
  #start(): boolean {
    const { entrypoint, env, cwd } = this.#options;
    let child: ChildProcess;
    try {
      child = spawn(process.execPath, ['--require', SCRIPT, entrypoint], {
        cwd,
        env: { ...env, SVC_OUTPUT_DIR: '-'.repeat(RESERVED_BYTES) },
        detached: true,
        stdio: withoutInherited(['ignore', 'pipe', 'pipe', 'pipe']),
      });
    } catch {
      // The run is started cold, and reports why.
      return false;
    }
    child.on('error', () => this.#waiting.delete(child));
    child.once('exit', () => this.#waiting.delete(child));
    channelOf(child).on('error', () => {});
    // A process that waits does not keep the runner running.
    for (const it of [child, ...child.stdio]) hold(it, false);
    this.#waiting.add(child);
    return child.pid !== undefined;
  }
}

function channelOf(child: ChildProcess): Duplex {
  return child.stdio[3] as Duplex;
}

function hold(it: unknown, isHeld: boolean): void {
  const handle = it as { ref?: () => void; unref?: () => void } | null;
  if (isHeld) handle?.ref?.();
  else handle?.unref?.();
}
