/** The warm interpreter of one engine in one environment: its forkserver, replaced when files change, restarted when it dies. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createActor } from 'xstate';
import { warmEngineMachine } from '../../../machines/warm/engine.ts';
import type { Clock } from '../../base/clock.ts';
import { packageRoot } from '../../base/package.ts';
import type { Log } from '../log.ts';
import { oneLine } from '../system-error.ts';
import type { CgroupLimits } from '../processes/cgroups.ts';
import { RESERVED_BYTES, type RunOrder } from './control-channel.ts';
import type { Ending, Launch, LaunchContext, LaunchedProcess, Launcher, WarmLauncher } from './launcher.ts';
import { ProcessServer } from './process-server.ts';
import type { Readiness } from './process-server.ts';
import { deviceVariables } from '../processes/devices.ts';
import type { Rendezvous, WorkerAddress } from './shared/rendezvous.ts';
import type { WorkerSource } from './shared/shared-run.ts';
import { SharedPython } from './shared/shared-python.ts';

export const SCRIPT = join(packageRoot, 'clients', 'python', 'warm', '__main__.py');

/** Files that change faster than a forkserver starts: the run is started cold. */
const MOST_REPLACEMENTS = 3;

/** A worker without runs keeps the memory of its GPUs. */
const DEVICES_IDLE_MS = 1000;

/** The share of the machine that workers have. */
export interface MachineShare {
  limits: CgroupLimits;
  devices?: readonly string[] | undefined;
}

export interface WarmPythonOptions {
  /** The engine, for messages. */
  name: string;
  python: string;
  entrypoint: string;
  preload: readonly string[] | undefined;
  env: Readonly<Record<string, string>>;
  cwd: string;
  clock: Clock;
  log: Log;
  /** Starts runs while the engine is cold. */
  cold: Launcher;
  /** Where workers connect to; made with the first. */
  rendezvous: () => Rendezvous;
}

export class WarmPython implements WarmLauncher {
  readonly #options: WarmPythonOptions;
  readonly #actor = createActor(warmEngineMachine);
  #server: ProcessServer | undefined;
  /** The entrypoint as it was when the last forkserver started. */
  #startedWith: Promise<string> | undefined;
  readonly #announced = new WeakSet<ProcessServer>();
  /** The digest of the code as of before the start of each forkserver. */
  readonly #codes = new WeakMap<ProcessServer, string>();
  /** Workers, by the limits of their runs. */
  readonly #shared = new Map<string, SharedPython>();
  #runs = 0;
  #isClosed = false;

  constructor(options: WarmPythonOptions) {
    this.#options = options;
    this.#actor.start();
  }

  /** Runs that are being launched or executed by it. */
  get runs(): number {
    return this.#runs;
  }

  /** The reason why runs of the engine are started cold; undefined while they are forked. */
  get coldBecause(): string | undefined {
    return this.#actor.getSnapshot().context.reason;
  }

  /** Resolves when a fork needs no further preparation, or the engine is cold. @param code the digest of the code to load. */
  async prepare(code?: string): Promise<void> {
    this.#retireOther(code);
    if (this.#readyServer === undefined) await this.#ready(code);
  }

  async launch(launch: Launch, context: LaunchContext): Promise<LaunchedProcess | Ending> {
    const order = { type: 'run' as const, env: launch.contract, seed: launch.randomSeed };
    const forked = await this.#counted(() => this.#fork(order, launch, context));
    if (forked !== undefined) return forked;
    if ((await launch.isCurrent?.()) === false) return { type: 'code-changed' };
    const note = `started cold: ${this.coldBecause ?? 'files of the simulation change all the time'}`;
    const process = await this.#counted(() => this.#options.cold.launch(launch, context));
    return 'ended' in process ? { ...process, note } : process;
  }

  /** Creates a process that executes many runs, with a marker in the place of an output directory. Undefined: the engine is cold. */
  worker(
    address: WorkerAddress & { memory: number | null },
    marker: string,
    code: string | undefined,
    context: LaunchContext,
    devices?: readonly string[],
  ): Promise<LaunchedProcess | Ending | undefined> {
    const env = { SVC_OUTPUT_DIR: marker, ...deviceVariables(devices) };
    const order = { type: 'run' as const, env, seed: 0, worker: { ...address } };
    return this.#counted(() => this.#fork(order, { code }, context));
  }

  /** The workers of runs with these limits and GPUs. @param code the digest of the code that they have loaded. */
  shared({ limits, devices }: MachineShare, code: string | undefined): SharedPython {
    const key = JSON.stringify([limits.memoryBytes, limits.cpuMilli, code, devices]);
    let found = this.#shared.get(key);
    if (found === undefined) {
      // Workers of another code execute no further run.
      for (const [other, it] of this.#shared) {
        if (it.code === code) continue;
        it.retire();
        this.#shared.delete(other);
      }
      const { clock, log, name, rendezvous } = this.#options;
      found = new SharedPython({
        source: devices === undefined ? this : this.#onDevices(devices),
        ...(devices === undefined || devices.length === 0 ? {} : { idleMs: DEVICES_IDLE_MS }),
        rendezvous,
        clock,
        log,
        name,
        code,
        memory: limits.memoryBytes ?? null,
      });
      this.#shared.set(key, found);
    }
    return found;
  }

  /** Creates workers that see these GPUs from their start. */
  #onDevices(devices: readonly string[]): WorkerSource {
    return {
      worker: (address, marker, code, context) => this.worker(address, marker, code, context, devices),
      retire: () => this.retire(),
    };
  }

  /** Takes no further run; its forkserver ends with its last run. */
  retire(): void {
    for (const it of this.#shared.values()) it.retire();
    this.#server?.retire();
    this.#server = undefined;
  }

  /** Ends the forkserver, and its runs with it. */
  kill(): void {
    this.#isClosed = true;
    this.#server?.kill();
    this.#server = undefined;
  }

  async #counted<Result extends LaunchedProcess | Ending | undefined>(launch: () => Promise<Result>): Promise<Result> {
    this.#runs += 1;
    try {
      const result = await launch();
      if (result !== undefined && 'ended' in result) void result.ended.then((ending) => this.#noteEnd(ending));
      else this.#runs -= 1;
      return result;
    } catch (error) {
      this.#runs -= 1;
      throw error;
    }
  }

  /** Forks the process. Undefined: the engine is cold, or its files change all the time. */
  async #fork(
    order: RunOrder,
    wanted: Pick<Launch, 'code' | 'isCurrent'>,
    context: LaunchContext,
  ): Promise<LaunchedProcess | Ending | undefined> {
    for (let replaced = 0; replaced < MOST_REPLACEMENTS; replaced++) {
      this.#retireOther(wanted.code);
      const ready = context.cancelled.aborted ? 'cancelled' : this.#readyServer;
      const server = ready ?? (await this.#readyUnless(context, wanted.code));
      if (server === 'cancelled') return { type: 'signal', signal: 'SIGKILL' };
      if (server === undefined) return undefined;
      // Its start takes time, in which the files may change.
      if (ready === undefined && (await wanted.isCurrent?.()) === false) return { type: 'code-changed' };
      if (!this.#hasLoaded(server, wanted.code)) continue;
      const result = await server.create(order, context);
      if (result !== 'stale') return result;
      if (this.#server === server) {
        this.#options.log.info(`${this.#name}: a file has changed, its warm interpreter is replaced`);
        this.retire();
      } else server.retire();
    }
    return undefined;
  }

  /** The forkserver, if it can fork now. */
  get #readyServer(): ProcessServer | undefined {
    return this.#server !== undefined && this.#announced.has(this.#server) ? this.#server : undefined;
  }

  #readyUnless(
    { cancelled }: LaunchContext,
    code: string | undefined,
  ): Promise<ProcessServer | 'cancelled' | undefined> {
    const abort = new Promise<'cancelled'>((resolve) => {
      cancelled.addEventListener('abort', () => resolve('cancelled'), { once: true });
    });
    return Promise.race([this.#ready(code), abort]);
  }

  /** The forkserver, started if need be. Undefined: the engine is cold. */
  async #ready(code: string | undefined): Promise<ProcessServer | undefined> {
    for (;;) {
      if (this.#isClosed || (this.#isCold && !(await this.#hasChanged()))) return undefined;
      const server = (this.#server ??= this.#start(code));
      const readiness = await server.ready;
      // Another server may have been started meanwhile.
      if (this.#server !== server) continue;
      if (readiness === undefined) this.#server = undefined;
      else if ('refused' in readiness) {
        this.#server = undefined;
        server.retire();
        this.#becomeCold(readiness.refused);
      } else {
        this.#announce(server, readiness);
        return server;
      }
    }
  }

  #announce(server: ProcessServer, readiness: Readiness): void {
    const { log } = this.#options;
    if (this.#announced.has(server)) return;
    this.#announced.add(server);
    log.info(`${this.#name}: warm, ${describe(readiness)}`);
    for (const [module, why] of readiness.skipped) log.warn(`${this.#name}: each run imports ${module} itself: ${why}`);
  }

  #start(code: string | undefined): ProcessServer {
    const { python, entrypoint, preload, env, cwd, clock } = this.#options;
    this.#startedWith = this.#identity();
    const settings = { entrypoint, preload: preload ?? null, death_signal: true, skipped: {} };
    const server: ProcessServer = new ProcessServer({
      name: 'forkserver',
      command: python,
      args: [SCRIPT, JSON.stringify(settings)],
      env: { ...env, SVC_OUTPUT_DIR: '-'.repeat(RESERVED_BYTES) },
      cwd,
      clock,
      onDeath: (detail) => {
        if (this.#server === server) this.#server = undefined;
        this.#noteDeath(detail);
      },
    });
    if (code !== undefined) this.#codes.set(server, code);
    return server;
  }

  /** A forkserver that has loaded other code takes no further run. */
  #retireOther(code: string | undefined): void {
    const server = this.#server;
    if (server === undefined || this.#hasLoaded(server, code)) return;
    this.#options.log.info(`${this.#name}: its code has changed, its warm interpreter is replaced`);
    this.retire();
  }

  #hasLoaded(server: ProcessServer, code: string | undefined): boolean {
    return code === undefined || this.#codes.get(server) === code;
  }

  #noteDeath(detail: string): void {
    // The end of the runner: its workers wait for runs.
    if (this.#isClosed) return;
    this.#options.log.error(`${this.#name}: its forkserver ended ${detail}; the runs it had are lost`);
    this.#actor.send({ type: 'SERVER_DIED', detail });
    if (this.#isCold) this.#becomeCold(this.coldBecause ?? detail);
  }

  #becomeCold(reason: string): void {
    this.#actor.send({ type: 'REFUSED', reason });
    this.#options.log.warn(`${this.#name}: not warm, each run starts an interpreter: ${reason}`);
  }

  /** Whether the entrypoint has changed since the engine became cold. */
  async #hasChanged(): Promise<boolean> {
    if ((await this.#identity()) === (await this.#startedWith)) return false;
    this.#actor.send({ type: 'CHANGED' });
    return true;
  }

  async #identity(): Promise<string> {
    try {
      const { mtimeMs, size, ino } = await stat(this.#options.entrypoint);
      return `${String(mtimeMs)} ${String(size)} ${String(ino)}`;
    } catch (error) {
      return oneLine(error);
    }
  }

  #noteEnd(ending: Ending): void {
    this.#runs -= 1;
    if (ending.type === 'exit' || ending.type === 'signal') this.#actor.send({ type: 'SERVED' });
  }

  get #isCold(): boolean {
    return this.#actor.getSnapshot().value === 'Cold';
  }

  get #name(): string {
    return `engine ${this.#options.name}`;
  }
}

function describe({ preloaded, ms }: { preloaded: readonly string[]; ms: number }): string {
  const modules = preloaded.length === 0 ? 'no module' : preloaded.join(', ');
  return `${modules} imported in ${ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`}`;
}
