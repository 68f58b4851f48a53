/**
 * The launcher with a real coordinator and a real engine, in this process: it crashes at one of its effects (a write of its records, a
 * token, a submission, a stop), before or after it, and is opened again on the records that were written.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../src/base/clock.ts';
import type { Client } from '../../../src/client/client.ts';
import type { LauncherConfig } from '../../../src/launcher/settings.ts';
import type { Engine } from '../../../src/launcher/engine.ts';
import { coordinatorPort } from '../../../src/launcher/loop/coordinator.ts';
import { Launcher } from '../../../src/launcher/loop/launcher.ts';
import type { CoordinatorPort } from '../../../src/launcher/loop/ports.ts';
import type { LauncherStatus } from '../../../src/launcher/loop/status.ts';
import { MemoryStore } from '../../support/memory-store.ts';

class Crash extends Error {}

const POLL_MS = 300;
/** A crash before a submission means here that there was none. */
const SETTLE_MS = 4_000;

export interface CrashingParts {
  config: LauncherConfig;
  client: Client;
  /** As a new process opens it. */
  open: () => Engine;
  /** The effect at which it crashes, counted from 1; undefined: never. */
  crashAt: number | undefined;
}

export class CrashingLauncher {
  readonly log: string[] = [];
  /** Calls of `submit` for each id. */
  readonly submissions = new Map<string, number>();
  crashes = 0;
  /** Allocations that lived at once. */
  mostLive = 0;
  readonly #parts: CrashingParts;
  readonly #disk = new Map<string, string>();
  #launcher: Launcher | undefined;
  #steps = 0;
  #isCrashed = false;

  constructor(parts: CrashingParts) {
    this.#parts = parts;
  }

  /** Rounds until `isOver`. */
  async run(isOver: (status: LauncherStatus) => Promise<boolean>, limitMs = 120_000): Promise<LauncherStatus> {
    const endsAt = Date.now() + limitMs;
    for (;;) {
      const status = await this.#round();
      if (status !== undefined && (await isOver(status))) return status;
      if (Date.now() > endsAt) {
        throw new Error(`not over: ${JSON.stringify(status?.queues)}\n${this.log.slice(-20).join('\n')}`);
      }
      await sleep(POLL_MS);
    }
  }

  async #round(): Promise<LauncherStatus | undefined> {
    try {
      this.#launcher ??= await this.#open();
      const status = await this.#launcher.round();
      if (this.#isCrashed) throw new Crash();
      return status;
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      this.crashes += 1;
      this.#launcher = undefined;
      return undefined;
    }
  }

  /** A dead process has no further effect, also where it catches the error. */
  #step(): void {
    if (this.#isCrashed) throw new Crash();
    this.#steps += 1;
    if (this.#steps !== this.#parts.crashAt) return;
    this.#isCrashed = true;
    throw new Crash();
  }

  async #effect<T>(act: () => Promise<T>): Promise<T> {
    this.#step();
    const result = await act();
    this.#step();
    return result;
  }

  #open(): Promise<Launcher> {
    this.#isCrashed = false;
    const { config, client, open } = this.#parts;
    const engine = this.#engine(open());
    const port = coordinatorPort(client);
    const coordinator: CoordinatorPort = {
      demand: () => port.demand(),
      runners: () => port.runners(),
      timeLimits: (runnerIds) => port.timeLimits(runnerIds),
      makeTokens: (requests) => this.#effect(() => port.makeTokens(requests)),
      revokeTokens: (allocations) => this.#effect(() => port.revokeTokens(allocations)),
    };
    const store = new MemoryStore(this.#disk);
    const write = store.write.bind(store);
    store.write = (changes) => this.#effect(() => write(changes));
    return Launcher.open({
      config,
      engines: new Map(config.queues.map((it) => [it.name, engine])),
      coordinator,
      store,
      clock: systemClock,
      inbox: { take: async () => ({ commands: [], done: async () => {} }) },
      log: (level, message) => this.log.push(`${level} ${message}`),
      onStatus: async () => {},
      isDryRun: false,
    });
  }

  #engine(engine: Engine): Engine {
    return {
      settleMs: SETTLE_MS,
      list: async () => {
        const view = await engine.list();
        this.mostLive = Math.max(this.mostLive, view.allocations.filter((it) => it.state !== 'ended').length);
        return view;
      },
      submit: (request) =>
        this.#effect(() => {
          this.submissions.set(request.id, (this.submissions.get(request.id) ?? 0) + 1);
          return engine.submit(request);
        }),
      stop: (allocations, now) => this.#effect(() => engine.stop(allocations, now)),
      check: (requests) => engine.check(requests),
      script: (request) => engine.script(request),
    };
  }
}
