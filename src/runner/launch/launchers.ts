/** Chooses how the runs of each engine are started, and keeps the warm interpreters. The only place of this choice. */
import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { settlesWithin } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { isFunctions } from '../../domain/study/function-code.ts';
import type { Engine } from '../config/config.ts';
import type { Log } from '../log.ts';
import { imageEntrypoint } from '../config/image-entrypoint.ts';
import { NODE_EXTENSIONS } from './engine.ts';
import type { Python } from './engine.ts';
import { coldLauncher } from './cold.ts';
import type { Launcher, WarmLauncher } from './launcher.ts';
import type { SharedPython } from './shared/shared-python.ts';
import { Rendezvous } from './shared/rendezvous.ts';
import { Starter } from './starter.ts';
import { WaitingNode } from './waiting-node.ts';
import { WarmPython, type MachineShare } from './warm-python.ts';

/** Environments of one engine that are kept warm at the same time; each study with variables of its own has another. */
const MOST_ENVIRONMENTS = 4;
/** Less than the time within which the coordinator expects the start of a claimed run. */
const PREPARE_MS = 30_000;
/** How long the start of the runner waits for the process that starts programs; until it is there the runner starts them. */
const STARTER_MS = 2000;

export interface LaunchersOptions {
  engines: readonly Engine[];
  python: Python | undefined;
  /** The environment that simulations inherit, without a study's. */
  env: Readonly<Record<string, string>>;
  cwd: string;
  clock: Clock;
  log: Log;
  /** How many runs there are at once. */
  slots: number;
}

type Environment = Readonly<Record<string, string>>;

const digests = new WeakMap<Environment, string>();

/** Equal for equal environments. Made once for each object: the runs of a study have the same one. */
function digestOf(env: Environment): string {
  const known = digests.get(env);
  if (known !== undefined) return known;
  const text = JSON.stringify(Object.entries(env).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const digest = createHash('sha256').update(text).digest('hex');
  digests.set(env, digest);
  return digest;
}

/** The part of `Launchers` that an attempt uses. */
export type LauncherChoice = Pick<Launchers, 'of' | 'sharedOf' | 'prepare'>;

/** Starts every run cold. */
export const ONLY_COLD: LauncherChoice = {
  of: () => coldLauncher,
  sharedOf: () => undefined,
  async prepare() {},
};

export class Launchers {
  readonly #options: LaunchersOptions;
  /** Warm launchers by engine and environment, the last used at the end. */
  readonly #warm = new Map<string, { engine: string; launcher: WarmLauncher }>();
  #rendezvous: Rendezvous | undefined;
  /** The launcher that starts a program for each run. */
  readonly #cold: Launcher & Partial<Pick<Starter, 'close'>>;

  constructor(options: LaunchersOptions) {
    this.#options = options;
    const { python, env, clock, log } = options;
    const fault = pythonFault(python);
    this.#cold =
      python === undefined || fault !== undefined
        ? coldLauncher
        : new Starter({ python: python.executable, env, clock, log });
  }

  /**
   * Starts the warm interpreters of studies without variables of their own, so that their first runs do not wait. `codeOf`: the digest of the code
   * of an engine.
   */
  async open(codeOf: (engine: Engine) => Promise<string | undefined>): Promise<void> {
    const { engines, python, log, env } = this.#options;
    if (!engines.every((engine) => this.#isWarm(engine))) {
      if (this.#cold === coldLauncher)
        log.info(`programs are started by the runner itself: ${pythonFault(python) ?? ''}`);
      else await this.#within(STARTER_MS, this.#cold.prepare?.());
    }
    for (const engine of engines) {
      const fault = engine.warm === true ? this.#fault(engine) : undefined;
      if (fault !== undefined) log.warn(`engine ${engine.name}: not warm, each run starts a process: ${fault}`);
    }
    for (const engine of engines) {
      // An interpreter for functions is started with the function of a study.
      if (engine.warm !== true || isFunctions(engine.name)) continue;
      const launcher = this.of(engine, env);
      void codeOf(engine).then((code) => launcher.prepare?.(code));
      if (launcher instanceof WaitingNode) {
        launcher.fill();
        log.info(`engine ${engine.name}: warm, ${String(launcher.size)} Node processes wait for runs`);
      }
    }
  }

  /** The workers of the engine's runs with this environment, these limits and these GPUs; undefined: it has none, each run has a process. */
  sharedOf(engine: Engine, env: Environment, share: MachineShare, code: string | undefined): SharedPython | undefined {
    const launcher = this.of(engine, env);
    return launcher instanceof WarmPython && launcher.coldBecause === undefined
      ? launcher.shared(share, code)
      : undefined;
  }

  /** The launcher of the engine's runs with this environment: the inherited one and the study's. */
  of(engine: Engine, env: Environment): Launcher {
    if (!this.#isWarm(engine)) return this.#cold;
    const key = `${digestOf(env)} ${engine.name}`;
    const known = this.#warm.get(key);
    const entry = known ?? { engine: engine.name, launcher: this.#create(engine, env) };
    this.#warm.delete(key);
    this.#warm.set(key, entry);
    if (known === undefined) this.#limit(engine.name);
    return entry.launcher;
  }

  /** Resolves when a run of the code with this digest can be launched without waiting, at the latest after `PREPARE_MS`. */
  async prepare(engine: Engine, env: Environment, code?: string): Promise<void> {
    const launcher = this.of(engine, env);
    // The runner itself starts programs until the starter is ready.
    if (launcher !== this.#cold) await this.#within(PREPARE_MS, launcher.prepare?.(code));
  }

  async #within(ms: number, preparation: Promise<void> | undefined): Promise<void> {
    if (preparation !== undefined) await settlesWithin(this.#options.clock, ms, preparation);
  }

  /** Ends all warm interpreters. */
  close(): void {
    for (const { launcher } of this.#warm.values()) launcher.kill();
    this.#warm.clear();
    this.#rendezvous?.close();
    this.#cold.close?.();
  }

  #isWarm(engine: Engine): boolean {
    return engine.warm === true && this.#fault(engine) === undefined;
  }

  /** Why the engine cannot be warm, by its kind. */
  #fault(engine: Engine): string | undefined {
    if (imageEntrypoint(engine.entrypoint) !== undefined) return 'its entrypoint is in an image';
    if (isNode(engine)) return undefined;
    if (!isPython(engine)) return 'only .py, .mjs, .js and .cjs entrypoints can be';
    return pythonFault(this.#options.python);
  }

  #create({ name, entrypoint, preload }: Engine, env: Environment): WarmLauncher {
    const { python, cwd, clock, log, slots } = this.#options;
    const cold = this.#cold;
    if (python === undefined || !isPython({ name, entrypoint })) {
      return new WaitingNode({ entrypoint, env, cwd, clock, slots, cold });
    }
    const rendezvous = (): Rendezvous => (this.#rendezvous ??= new Rendezvous());
    const common = { name, entrypoint, preload, env, cwd, clock, log, cold, rendezvous };
    return new WarmPython({ ...common, python: python.executable });
  }

  /** Ends the warm interpreter that was used least lately, when there are too many of an engine. */
  #limit(engine: string): void {
    const own = [...this.#warm].filter(([, it]) => it.engine === engine);
    for (const [key, { launcher }] of own.slice(0, -MOST_ENVIRONMENTS)) {
      launcher.retire();
      this.#warm.delete(key);
    }
  }
}

/** Why this Python can neither be kept warm nor start programs. */
function pythonFault(python: Python | undefined): string | undefined {
  if (python === undefined) return 'no Python was found';
  const [major = 0, minor = 0] = python.version.split('.').map(Number);
  if (major < 3 || (major === 3 && minor < 9)) return `it needs Python 3.9 or later, and this is ${python.version}`;
  return undefined;
}

const isPython = ({ entrypoint }: Engine): boolean => extname(entrypoint).toLowerCase() === '.py';
const isNode = ({ entrypoint }: Engine): boolean => NODE_EXTENSIONS.has(extname(entrypoint).toLowerCase());
