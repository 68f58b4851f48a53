/** A study with the real coordinator and real runners, each of which is killed with SIGKILL on the way. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from '../../../src/client/client.ts';
import type { JobResult } from '../../../src/client/client.ts';
import { serving } from '../../support/program.ts';
import { Site } from '../../support/runner-process.ts';
import { study } from '../../support/studies.ts';

const RUNS = 40;

async function untilCompleted(client: Client, batchId: string, count: number): Promise<void> {
  while ((await client.batch(batchId)).batch.completed_jobs < count)
    await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('runner: end to end', () => {
  let site: Site;
  let coordinator: ChildProcess;
  let port = '0';
  beforeEach(async () => {
    site = new Site();
    await startCoordinator();
  });
  afterEach(async () => {
    coordinator.kill('SIGKILL');
    await site.clean();
  });

  async function startCoordinator(): Promise<void> {
    ({ child: coordinator, port } = await serving(['--data-dir', join(site.folder, 'data'), '--port', port]));
  }

  it('every run completes once although coordinator and runner are killed', async () => {
    const url = `http://127.0.0.1:${port}`;
    const client = new Client({ endpoint: url });
    const first = site.start(url);
    const { batch_id } = await client.submit(study({ runs: RUNS, seed: 9223372036854775807n }));
    await untilCompleted(client, batch_id, 5);
    coordinator.kill('SIGKILL');
    await once(coordinator, 'exit');
    await startCoordinator();
    await untilCompleted(client, batch_id, 15);
    await first.end('SIGKILL');
    const second = site.start(url);
    await untilCompleted(client, batch_id, RUNS);
    const { batch, jobs_by_status } = await client.batch(batch_id);
    expect(batch).to.include({ status: 'Completed', completed_jobs: RUNS, failed_jobs: 0 });
    expect(jobs_by_status).to.include({ Completed: RUNS, Pending: 0, Running: 0 });
    const results: JobResult[] = [];
    for await (const result of client.batchResults(batch_id, { pageSize: 7 })) results.push(result);
    const runs = results.map((result) => Number(result.metadata['run_id'])).sort((a, b) => a - b);
    expect(runs).to.deep.equal(Array.from({ length: RUNS }, (_, run) => run));
    const [job] = (await client.jobsPage({ batch_id: [batch_id], run_id: [7] })).items;
    expect(job?.run_config.metadata.seed).to.equal(9223372036854775807n);
    const mine = results.find((result) => result.metadata['run_id'] === 7);
    expect(mine?.metadata['doubled']).to.equal(2 * Number(job?.run_config.parameters['mass']));
    expect(job?.retries).to.equal(0);
    expect(await second.end('SIGTERM')).to.equal(0);
    expect((await client.runner('r1')).status).to.equal('Offline');
  });
});
