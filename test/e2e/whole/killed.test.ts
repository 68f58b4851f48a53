import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Client } from '../../../src/client/client.ts';
import type { Job, JobStatus, Uuid } from '../../../src/contract/types.ts';
import { study } from '../../support/studies.ts';
import { PROGRAM } from '../../support/program.ts';
import { FakeRunner, insist, Site, sleep, until, type Acknowledged } from '../support.ts';

const RUNS = 300;
const ROUNDS = 6;

/** Recounts a batch from the public interface. */
async function recount(
  client: Client,
  batchId: Uuid,
): Promise<{ counters: Record<string, number>; counted: Record<string, number>; jobs: Job[] }> {
  const { batch, jobs_by_status: counters } = await client.batch(batchId);
  const counted = Object.fromEntries(Object.keys(counters).map((it) => [it, 0])) as Record<JobStatus, number>;
  const jobs: Job[] = [];
  for await (const job of client.jobs({ batch_id: [batchId] })) {
    jobs.push(job);
    counted[job.status] += 1;
  }
  expect(batch.total_jobs).to.equal(jobs.length);
  expect(batch.completed_jobs).to.equal(counted.Completed);
  expect(batch.failed_jobs).to.equal(counted.Failed + counted.Timeout);
  return { counters, counted, jobs };
}

describe('e2e: a coordinator killed repeatedly with SIGKILL under load', () => {
  const site = new Site();
  const acknowledged = new Map<Uuid, Acknowledged[]>();
  const submitted: Uuid[] = [];
  let client: Client;
  let runners: FakeRunner[];

  before(async () => {
    await site.start();
    client = site.client();
    submitted.push((await client.submit(study({ name: 'long', runs: RUNS }))).batch_id);
    runners = ['r1', 'r2', 'r3', 'r4'].map((id) => new FakeRunner(id, client, 8, acknowledged));
    const work = Promise.all(runners.map((it) => it.work(20)));
    work.catch(() => {});
    for (let round = 1; round <= ROUNDS; round += 1) {
      await until(() => acknowledged.size >= (RUNS * round) / (ROUNDS + 2), work);
      // At varying points of a turn.
      await sleep(Math.random() * 30);
      await site.kill();
      await site.start();
      // Repeated until answered, with one key: there is one batch for any number of repeats.
      const idempotencyKey = `round-${round}`;
      const { batch_id: batchId } = await insist(() =>
        client.submit(study({ name: idempotencyKey, runs: 5 }), { idempotencyKey }),
      );
      submitted.push(batchId);
      if (round === 1) await insist(() => client.drain('r4', 'a new disk'));
    }
    const { items: all } = await client.batchesPage();
    expect(all).to.have.length(submitted.length);
    await until(async () => {
      await sleep(50);
      return (await client.batchesPage({ status: ['Pending', 'Running'] })).items.length === 0;
    }, work);
    for (const it of runners) it.stop();
    await work;
  });
  after(async () => {
    for (const it of runners ?? []) it.stop();
    await site.clean();
  });

  it('has every acknowledged batch once, and completes each', async () => {
    const found: Uuid[] = [];
    for await (const { id, status } of client.batches()) {
      found.push(id);
      expect(status).to.equal('Completed');
    }
    expect(found).to.deep.equal([...submitted].sort());
  });

  it('has every acknowledged result, and completed no run twice', async () => {
    expect(acknowledged.size).to.be.greaterThan(RUNS - 40);
    for (const [jobId, completions] of acknowledged) {
      expect(completions, jobId).to.have.length(1);
      const { attempts } = await client.jobHistory(jobId);
      const completed = attempts.filter((it) => it.outcome === 'completed');
      const [{ runner, attempt, mark }] = completions as [Acknowledged];
      expect(completed.map((it) => [it.runner_id, it.attempt])).to.deep.equal([[runner, attempt]]);
      expect((await client.jobResult(jobId)).metadata).to.deep.equal({ mark });
    }
  });

  it('has counters that equal a recount, and a result for every completed run', async () => {
    for (const batchId of submitted) {
      const { counters, counted, jobs } = await recount(client, batchId);
      expect(counters).to.deep.equal(counted);
      const results: Uuid[] = [];
      for await (const { job_id: jobId, success } of client.batchResults(batchId)) if (success) results.push(jobId);
      expect(results).to.deep.equal(jobs.filter((it) => it.status === 'Completed').map((it) => it.id));
    }
  });

  it('keeps the acknowledged drain', async () => {
    expect(await client.runner('r4')).to.include({ status: 'Maintenance', drain_reason: 'a new disk' });
  });

  it('has an export that replays without a divergence', () => {
    const file = join(site.folder, 'all.json');
    execFileSync(process.execPath, [PROGRAM, 'snapshot', 'export', '--endpoint', site.url, file]);
    const out = execFileSync(process.execPath, [PROGRAM, 'snapshot', 'replay', file], { encoding: 'utf8' });
    expect(out).to.match(/all as recorded/);
  });
});
