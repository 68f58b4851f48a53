/**
 * Starts programs by a small Python process, which takes a fraction of the time that a start takes this process: its memory is
 * copied with each. Where there is none yet, or none that works, this process starts the program itself.
 */
import { isAbsolute, join } from 'node:path';
import { createActor } from 'xstate';
import { warmEngineMachine } from '../../../machines/warm/engine.ts';
import type { Clock } from '../../base/clock.ts';
import { packageRoot } from '../../base/package.ts';
import type { Log } from '../log.ts';
import { coldLauncher } from './cold.ts';
import type { Ending, Launch, LaunchContext, LaunchedProcess, Launcher } from './launcher.ts';
import { ProcessServer } from './process-server.ts';

export const STARTER_SCRIPT = join(packageRoot, 'clients', 'python', 'warm', 'spawn.py');

/** Environments that the server knows at the same time; runs of one study share theirs. */
const MOST_ENVIRONMENTS = 16;

export interface StarterOptions {
  python: string;
  /** Environment of the server, with the variables that its interpreter needs. */
  env: Readonly<Record<string, string>>;
  clock: Clock;
  log: Log;
}

export class Starter implements Launcher {
  readonly #options: StarterOptions;
  /** Warm: by the server. Cold, after three deaths without a run between them, or a refusal: by this process. */
  readonly #actor = createActor(warmEngineMachine);
  #server: ProcessServer | undefined;
  /** The environments that the server knows, by their numbers, the last used at the end. */
  #known = new Map<Launch['env'], number>();
  #isReady = false;
  #isClosed = false;

  constructor(options: StarterOptions) {
    this.#options = options;
    this.#actor.start();
  }

  /** Why this process starts the programs; undefined while the server does. */
  get fault(): string | undefined {
    return this.#actor.getSnapshot().context.reason;
  }

  /** The process id of the server, if there is one. */
  get pid(): number | undefined {
    return this.#server?.pid;
  }

  /** Resolves when the server starts programs, or never will; no launch waits for that. */
  async prepare(): Promise<void> {
    await this.#start()?.ready;
  }

  async launch(launch: Launch, context: LaunchContext): Promise<LaunchedProcess | Ending> {
    const server = this.#start();
    // A name without a folder is looked up in the PATH of the run.
    if (server === undefined || !this.#isReady || !isAbsolute(launch.command))
      return coldLauncher.launch(launch, context);
    const { command, args, env, contract, cwd } = launch;
    const base = this.#numberOf(env, server);
    const result = await server.create({ type: 'spawn', command, args, base, env: contract, cwd }, context);
    // The starter imports no module of the simulation, so none can have changed.
    if (result === 'stale') return { type: 'failed-to-start', code: undefined };
    if ('ended' in result) void result.ended.then((ending) => this.#noteEnd(ending));
    return result;
  }

  /** Ends the server, and with it the runs it has. */
  close(): void {
    this.#isClosed = true;
    this.#server?.kill();
    this.#server = undefined;
  }

  /** The number of the environment at the server, which gets it with its first run. */
  #numberOf(env: Launch['env'], server: ProcessServer): number {
    let number = this.#known.get(env);
    if (number === undefined) {
      number = this.#known.size;
      const [oldest] = this.#known;
      if (number === MOST_ENVIRONMENTS && oldest !== undefined) {
        number = oldest[1];
        this.#known.delete(oldest[0]);
      }
      server.define(number, env);
    } else this.#known.delete(env);
    this.#known.set(env, number);
    return number;
  }

  #start(): ProcessServer | undefined {
    if (this.#isClosed || this.fault !== undefined) return undefined;
    return (this.#server ??= this.#open());
  }

  #open(): ProcessServer {
    const { python, env, clock, log } = this.#options;
    this.#known = new Map();
    const server: ProcessServer = new ProcessServer({
      name: 'starter',
      command: python,
      args: ['-I', '-S', '-B', STARTER_SCRIPT],
      env: { ...env, SVC_OUTPUT_DIR: '-' },
      cwd: '/',
      clock,
      onDeath: (detail) => {
        if (this.#server === server) this.#server = undefined;
        this.#isReady = false;
        log.error(`the process that starts programs ended ${detail}; the runs it had are lost`);
        this.#actor.send({ type: 'SERVER_DIED', detail });
        if (this.fault !== undefined) log.warn(`programs are started by the runner itself: ${this.fault}`);
      },
    });
    void server.ready.then((readiness) => {
      if (this.#server !== server || readiness === undefined) return;
      if ('refused' in readiness) {
        this.#server = undefined;
        server.retire();
        this.#actor.send({ type: 'REFUSED', reason: readiness.refused });
        log.info(`programs are started by the runner itself: ${readiness.refused}`);
      } else this.#isReady = true;
    });
    return server;
  }

  #noteEnd(ending: Ending): void {
    if (ending.type === 'exit' || ending.type === 'signal') this.#actor.send({ type: 'SERVED' });
  }
}
