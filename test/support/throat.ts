/** A coordinator in this process with a pool that executes runs of a throat: y = r squared, and 0.4 melts. */
import { systemClock } from '../../src/base/clock.ts';
import { Client } from '../../src/client/client.ts';
import { openCoordinator, type Coordinator } from '../../src/coordinator/coordinator.ts';
import { commandHere } from './command-here.ts';
import { capabilities } from './fake-api.ts';
import { listen, type TestServer } from './http.ts';
import { MemoryStore } from './memory-store.ts';
import { RESULT } from './scene.ts';

export class Throat {
  readonly #coordinator: Coordinator;
  readonly server: TestServer;
  readonly client: Client;
  /** The `r` of every execution, in their order. */
  readonly executed: number[] = [];
  #isWorking = false;

  readonly #further: Readonly<Record<string, number>>;

  private constructor(coordinator: Coordinator, server: TestServer, further: Readonly<Record<string, number>>) {
    this.#coordinator = coordinator;
    this.#further = further;
    this.server = server;
    this.client = new Client({ endpoint: server.url });
  }

  /** `further`: outputs that every run has besides. */
  static async open(further: Readonly<Record<string, number>> = {}): Promise<Throat> {
    const coordinator = await openCoordinator(new MemoryStore(), systemClock);
    const throat = new Throat(coordinator, await listen({ coordinator }), further);
    await throat.client.register({
      id: 'a',
      instance: 'i',
      capabilities: { ...capabilities, max_concurrent_jobs: 50 },
    });
    return throat;
  }

  /** Runs a command of the program. */
  readonly simbatch = (...args: string[]): ReturnType<typeof commandHere> => {
    process.exitCode = undefined;
    return commandHere(...args, '--endpoint', this.server.url);
  };

  /** Runs a command that waits for runs, and stops it as soon as it waits. */
  async stopped(...args: string[]): ReturnType<typeof commandHere> {
    const before = process.listenerCount('SIGTERM');
    const ended = this.simbatch(...args);
    while (process.listenerCount('SIGTERM') === before) await new Promise((resolve) => setTimeout(resolve, 5));
    process.emit('SIGTERM');
    return ended;
  }

  /** Executes the runs that wait, until none does. */
  async work(): Promise<void> {
    const { assignments } = await this.client.claim('a', { instance: 'i', max_jobs: 50, wait_seconds: 0 });
    if (assignments.length === 0) return;
    for (const { job, attempt } of assignments) {
      const report = { runner_id: 'a', attempt };
      await this.client.start(job.id, report);
      const r = job.run_config.parameters['r']!;
      this.executed.push(r);
      if (r === 0.4) await this.client.fail(job.id, { ...report, reason: 'invalid', error_message: 'melts' });
      else {
        const metadata = { y: r * r, name: 'a', ...this.#further };
        await this.client.complete(job.id, { ...report, result: { ...RESULT, metadata } });
      }
    }
    await this.work();
  }

  /** Executes runs as they come, until the throat is closed. */
  async keepWorking(): Promise<void> {
    this.#isWorking = true;
    while (this.#isWorking) {
      await this.work();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async close(): Promise<void> {
    this.#isWorking = false;
    process.exitCode = undefined;
    this.#coordinator.releaseWaiting();
    await this.server.close(1_000);
    await this.#coordinator.close();
  }
}
