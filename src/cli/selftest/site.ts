/** The coordinator and the runners of a selftest, on one data directory, with the proxy between them. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError, Client, UnreachableError } from '../../client/client.ts';
import type { Uuid } from '../../contract/types.ts';
import { sleep, systemClock } from '../../base/clock.ts';
import { batchIdOf, runIdOf } from '../../domain/ids.ts';
import { attemptDirectory } from '../../runner/files/artifacts.ts';
import { Processes, type Started } from '../processes.ts';
import { BEGUN, DONE } from './toy-study.ts';
import { Wire } from './wire.ts';

export interface SiteOptions {
  /** Holds the data directory and the outputs of the runners. */
  folder: string;
  entrypoint: string;
  /** Runs that one runner executes at a time. */
  slots: number;
  /** Further options of the runners. */
  runnerOptions?: readonly string[];
}

/** An attempt that a runner has claimed. */
export interface ClaimedAttempt {
  jobId: Uuid;
  attempt: number;
  runnerId: string;
}

export const RUNNER_IDS = ['selftest-1', 'selftest-2'] as const;
const RETRY_MS = 20;

export class Site {
  readonly dataDir: string;
  readonly wire = new Wire();
  readonly #options: SiteOptions;
  readonly #processes = new Processes();
  readonly #runners = new Map<string, Started>();
  #coordinator: Started | undefined;
  #endpoint = '';
  /** Time of the last start of the coordinator, from its process to the line that says it listens. */
  startMs = 0;

  constructor(options: SiteOptions) {
    this.#options = options;
    this.dataDir = join(options.folder, 'data');
  }

  /** Rejects when a process ends that was not killed on purpose. */
  get died(): Promise<never> {
    return this.#processes.died;
  }

  client(): Client {
    return new Client({ endpoint: this.#endpoint });
  }

  async start(): Promise<void> {
    this.#endpoint = await this.wire.listen();
    await this.startCoordinator();
    for (const id of RUNNER_IDS) this.startRunner(id);
  }

  /** Starts the coordinator and resolves when it listens. With `killAfterMs` it is killed that long after its start first. */
  async startCoordinator(killAfterMs?: number): Promise<void> {
    if (killAfterMs !== undefined) {
      this.#coordinator = this.#processes.launchCoordinator(this.dataDir).started;
      await sleep(systemClock, killAfterMs);
      await this.crashCoordinator();
    }
    const fromMs = systemClock.monotonicMs();
    const { started, listening } = this.#processes.launchCoordinator(this.dataDir);
    this.#coordinator = started;
    this.wire.target = new URL(await listening);
    this.startMs = systemClock.monotonicMs() - fromMs;
  }

  async crashCoordinator(): Promise<void> {
    this.wire.target = undefined;
    if (this.#coordinator !== undefined) await this.#processes.crash(this.#coordinator);
  }

  startRunner(id: string): void {
    const { folder, entrypoint, slots, runnerOptions = [] } = this.#options;
    const args = ['runner', '--runner-id', id, '--max-concurrent-jobs', String(slots), '--entrypoint', entrypoint];
    const more = ['--output-root', this.outputRoot(id), '--working-directory', folder, '--log-level', 'warn'];
    const settings = {
      SVC_ENDPOINT: this.#endpoint,
      SVC_RUNNER_GRACE_SECS: '0',
      SVC_RUNNER_HEARTBEAT_INTERVAL_SECS: '1',
    };
    this.#runners.set(id, this.#processes.start(`the runner ${id}`, [...args, ...more, ...runnerOptions], settings));
  }

  async crashRunner(id: string): Promise<void> {
    const started = this.#runners.get(id);
    if (started !== undefined) await this.#processes.crash(started);
  }

  outputRoot(runnerId: string): string {
    return join(this.#options.folder, runnerId);
  }

  /**
   * The process of an attempt's simulation; undefined while none runs. It looks into the folder of this attempt alone: a search through those of all
   * runs takes longer than a short run, and meanwhile the proxy of this process passes no message on.
   */
  simulationOf({ jobId, runnerId, attempt }: ClaimedAttempt): number | undefined {
    const root = this.outputRoot(runnerId);
    return this.#pidOf(attemptDirectory(root, batchIdOf(jobId), runIdOf(jobId), attempt));
  }

  #pidOf(path: string): number | undefined {
    const begunFile = `${path}${BEGUN}`;
    const pid = Number(existsSync(begunFile) ? readFileSync(begunFile, 'utf8') : 0);
    return pid > 0 && executes(pid, this.#options.entrypoint) ? pid : undefined;
  }

  /** Every attempt that a runner began to execute, and whether its simulation ended by itself. */
  attempts(runnerId: string): { path: string; isDone: boolean }[] {
    const root = this.outputRoot(runnerId);
    if (!existsSync(root)) return [];
    const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
    const done = new Set(names.filter((it) => it.endsWith(DONE)).map((it) => it.slice(0, -DONE.length)));
    return names
      .filter((it) => it.endsWith(BEGUN))
      .map((it) => it.slice(0, -BEGUN.length))
      .map((it) => ({ path: join(root, it), isDone: done.has(it) }));
  }

  /** Ends everything that was started; a simulation whose runner was killed included. */
  async stop(): Promise<void> {
    await this.#processes.stop();
    this.#killSimulations();
    await this.wire.close();
  }

  /** Kills all processes at once, without waiting. */
  kill(): void {
    this.#processes.kill();
    this.#killSimulations();
  }

  /** Kills the simulations that outlived their runners. */
  #killSimulations(): void {
    for (const { path, isDone } of RUNNER_IDS.flatMap((id) => this.attempts(id))) {
      const pid = isDone ? undefined : this.#pidOf(path);
      if (pid !== undefined) kill(pid);
    }
  }
}

/** Kills a process with SIGKILL. @returns false when it had ended */
export function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/** True when the process executes the file: a process id may belong to another program by now. */
function executes(pid: number, entrypoint: string): boolean {
  try {
    const command =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        : execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
    // The runner has the path among its arguments, too; the simulation has it as its last one.
    return command.replaceAll('\0', ' ').trimEnd().endsWith(` ${entrypoint}`);
  } catch {
    return false;
  }
}

/**
 * Repeats an exchange until it is answered: without an answer it may or may not have taken effect.
 * @throws Failure when a process of the site ended by itself
 */
export async function untilAnswered<T>(site: Site, exchange: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await Promise.race([exchange(), site.died]);
    } catch (error) {
      if (!(error instanceof UnreachableError) && !(error instanceof ApiError && error.transient)) throw error;
      await sleep(systemClock, RETRY_MS, signal);
    }
  }
}
