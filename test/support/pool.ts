/** A real coordinator in this process and real runner processes, for tests of both together. */
import { join } from 'node:path';
import { Client } from '../../src/client/client.ts';
import type { BatchSubmission, Job, Uuid } from '../../src/client/client.ts';
import { systemClock } from '../../src/base/clock.ts';
import { openCoordinator, type Coordinator } from '../../src/coordinator/coordinator.ts';
import { openStore } from '../../src/coordinator/kernel/storage/open-store.ts';
import { jobId } from '../../src/domain/ids.ts';
import { listen, type TestServer } from './http.ts';
import { Site } from './runner-process.ts';
import { study, type StudyOptions } from './studies.ts';

export class Pool {
  readonly site: Site;
  readonly coordinator: Coordinator;
  readonly server: TestServer;
  readonly client: Client;

  private constructor(site: Site, coordinator: Coordinator, server: TestServer) {
    this.site = site;
    this.coordinator = coordinator;
    this.server = server;
    this.client = new Client({ endpoint: server.url });
  }

  static async open(settings: Parameters<typeof openCoordinator>[2] = {}): Promise<Pool> {
    const site = new Site();
    const coordinator = await openCoordinator(await openStore(join(site.folder, 'data')), systemClock, settings);
    return new Pool(site, coordinator, await listen({ coordinator }));
  }

  get url(): string {
    return this.server.url;
  }

  /** Submits runs that do what `behave` says in test/support/simulations/behave.mjs. */
  async submit(behave: string, environment: Record<string, string> = {}, options: StudyOptions = {}): Promise<Uuid> {
    const submission: BatchSubmission = study({ runs: 1, maxRetries: 0, ...options });
    submission.config.compute.container.environment = { BEHAVE: behave, ...environment };
    return (await this.client.submit(submission)).batch_id;
  }

  /** Waits until the run is in one of the states. */
  async until(batchId: Uuid, states: readonly Job['status'][], run = 0): Promise<Job> {
    for (;;) {
      const job = await this.client.job(jobId(batchId, run));
      if (states.includes(job.status)) return job;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async close(): Promise<void> {
    this.coordinator.releaseWaiting();
    await this.server.close(200);
    await this.coordinator.close();
    await this.site.clean();
  }
}
