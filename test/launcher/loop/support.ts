/** A launcher on a cluster in memory, restarted after each crash on the records that were on disk. */
import type { LauncherConfig, QueueConfig } from '../../../src/launcher/settings.ts';
import { Launcher } from '../../../src/launcher/loop/launcher.ts';
import type { OperatorCommand } from '../../../src/launcher/loop/ports.ts';
import type { LauncherStatus } from '../../../src/launcher/loop/status.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { queueConfig } from '../support.ts';
import { Crash, FakeCluster, type FakeClusterOptions } from './fake-cluster.ts';

const POLL_MS = 5_000;

export class Site {
  readonly clock = new SimulatedClock({ seed: 7 });
  readonly cluster: FakeCluster;
  readonly config: LauncherConfig;
  readonly logged: string[] = [];
  commands: OperatorCommand[] = [];
  /** Called when the launcher lets its commands be deleted. */
  onCommandsDone = (): void => {};
  crashes = 0;
  isDryRun = false;
  readonly disk = new Map<string, string>();
  #launcher: Launcher | undefined;

  constructor(
    options: Omit<FakeClusterOptions, 'clock'>,
    queue: Partial<QueueConfig> = {},
    limits: Partial<LauncherConfig['limits']> = {},
  ) {
    this.cluster = new FakeCluster({ clock: this.clock, ...options });
    this.config = {
      launcher: 'test',
      endpoint: 'http://127.0.0.1:1',
      runnerEndpoint: 'http://127.0.0.1:1',
      pollMs: POLL_MS,
      limits: { maxAllocations: undefined, maxCoreHours: undefined, maxCoreHoursPerDay: undefined, ...limits },
      queues: [queueConfig({ section: {}, lifetimeMs: 1_200_000, ...queue })],
    };
  }

  /** One round; after a crash none, and the next one starts a new process. */
  async round(): Promise<LauncherStatus | undefined> {
    try {
      this.#launcher ??= await this.#open();
      const status = await this.#launcher.round();
      if (this.cluster.isCrashed) throw new Crash('the process is dead');
      return status;
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      this.crashes += 1;
      this.#launcher = undefined;
      return undefined;
    } finally {
      await this.clock.advance(POLL_MS);
      this.cluster.advance();
    }
  }

  restart(): void {
    this.#launcher = undefined;
  }

  /** As if the state folder had been lost. */
  forgetEverything(): void {
    this.disk.clear();
    this.#launcher = undefined;
  }

  /** Rounds until `isOver`, at most `most`. Returns the last status. */
  async until(isOver: (status: LauncherStatus) => boolean, most = 400): Promise<LauncherStatus> {
    for (let n = 0; n < most; n += 1) {
      const status = await this.round();
      if (status !== undefined && isOver(status)) return status;
    }
    throw new Error(`not over after ${String(most)} rounds:\n${this.logged.slice(-20).join('\n')}`);
  }

  #open(): Promise<Launcher> {
    this.cluster.isCrashed = false;
    // A crash before the write loses it, a crash after it does not.
    const store = new MemoryStore(this.disk, { beforeWrite: async () => this.cluster.step() });
    const write = store.write.bind(store);
    store.write = async (changes) => {
      await write(changes);
      this.cluster.step();
    };
    return Launcher.open({
      config: this.config,
      engines: new Map(this.config.queues.map((it) => [it.name, this.cluster])),
      coordinator: this.cluster,
      store,
      clock: this.clock,
      inbox: {
        take: async () => {
          const commands = this.commands;
          this.commands = [];
          return { commands, done: async () => this.onCommandsDone() };
        },
      },
      log: (_level, message) => this.logged.push(message),
      onStatus: async () => {},
      isDryRun: this.isDryRun,
    });
  }
}

/** Everything is over: no run waits, no allocation lives, no token is left. */
export const isQuiet =
  ({ cluster }: Site) =>
  (status: LauncherStatus): boolean =>
    cluster.pending === 0 &&
    cluster.live.length === 0 &&
    cluster.tokens.size === 0 &&
    status.queues.every(({ counts }) => Object.keys(counts).length === 0);
