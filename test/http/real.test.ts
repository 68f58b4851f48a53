import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { routes } from '../../src/http/routes/index.ts';
import { schemaFaults } from '../../src/contract/validation/validate.ts';
import { openCoordinator, type Coordinator } from '../../src/coordinator/coordinator.ts';
import { openStore } from '../../src/coordinator/kernel/storage/open-store.ts';
import { systemClock } from '../../src/base/clock.ts';
import { capabilities, submission } from '../support/fake-api.ts';
import { listen, post, type TestServer } from '../support/http.ts';

async function sendWithKey(url: string, name: string): Promise<any> {
  return (await post(`${url}/jobs`, { ...submission, name }, { 'idempotency-key': 'k1' })).json();
}

describe('http over a real coordinator', () => {
  let folder: string;
  let coordinator: Coordinator;
  let server: TestServer;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-http-'));
    coordinator = await openCoordinator(await openStore(folder), systemClock);
    server = await listen({ coordinator });
  });
  after(async () => {
    coordinator.releaseWaiting();
    await server.close(1_000);
    await coordinator.close();
    await rm(folder, { recursive: true });
  });

  /** Sends a request and asserts the status and, for 200, the documented shape. */
  async function ask(operationId: string, path: string, body?: unknown, status = 200): Promise<any> {
    const route = routes.find((each) => each.operationId === operationId)!;
    const response = route.method === 'GET' ? await fetch(server.url + path) : await post(server.url + path, body);
    const text = await response.text();
    expect(response.status, `${operationId}: ${text}`).to.equal(status);
    const answer = JSON.parse(text);
    if (status === 200 && route.response) expect(schemaFaults(route.response, answer), operationId).to.deep.equal([]);
    return answer;
  }

  it('takes a study from submission to its results', async () => {
    const { batch_id: batchId, total_jobs: total } = await ask('submitBatch', '/jobs', submission);
    expect(total).to.equal(3);
    await ask('registerRunner', '/runners', { id: 'r1', capabilities, instance: 'i' });
    const { assignments, batches } = await ask('claimJobs', '/runners/r1/claims', { instance: 'i', max_jobs: 2 });
    expect(assignments).to.have.length(2);
    expect(Object.keys(batches)).to.deep.equal([batchId]);
    const [first, second] = assignments;
    const report = { runner_id: 'r1', attempt: first.attempt };
    expect((await ask('startJob', `/jobs/${first.job.id}/start`, report)).status).to.equal('Running');
    const result = { execution_time_secs: 2, output_files: ['/out/a.csv'], metadata: { apogee_m: 12.5 } };
    expect((await ask('getJobResult', `/jobs/${first.job.id}/results`, undefined, 404)).code).to.equal(
      'result-not-ready',
    );
    expect((await ask('completeJob', `/jobs/${first.job.id}/complete`, { ...report, result })).status).to.equal(
      'Completed',
    );
    const stale = { runner_id: 'r1', attempt: 99 };
    expect((await ask('startJob', `/jobs/${second.job.id}/start`, stale, 409)).code).to.equal('stale-attempt');
    const { outcomes } = await ask('report', '/runners/r1/reports', {
      instance: 'i',
      reports: [
        { type: 'start', job_id: second.job.id, attempt: second.attempt },
        { type: 'complete', job_id: second.job.id, attempt: 99, result },
        { type: 'fail', job_id: second.job.id, attempt: second.attempt, reason: 'invalid', error_message: 'no mass' },
      ],
    });
    expect(outcomes.map((outcome: any) => outcome.status ?? outcome.problem.code)).to.deep.equal([
      'Running',
      'stale-attempt',
      'Failed',
    ]);
    expect((await ask('getJobResult', `/jobs/${first.job.id}/results`)).metadata).to.deep.equal({ apogee_m: 12.5 });
    expect((await ask('getBatchResults', `/batches/${batchId}/results`)).results).to.have.length(2);
    expect((await ask('getJobHistory', `/jobs/${second.job.id}/history`)).attempts).to.have.length(1);
    expect((await ask('getBatchSubmission', `/batches/${batchId}/submission`)).config).to.deep.equal(submission.config);
    expect(await ask('listJobs', `/jobs?batch_id=${batchId}&status=Pending`)).to.have.length(1);
    await ask('drainRunner', '/runners/r1/drain?reason=done');
    expect((await ask('getRunner', '/runners/r1')).drain_reason).to.equal('done');
    await ask('resumeRunner', '/runners/r1/resume');
    await ask('cancelBatch', `/batches/${batchId}/cancel`, { reason: 'enough' });
    const { jobs_by_status: counts } = await ask('getBatch', `/batches/${batchId}`);
    expect(counts).to.include({ Completed: 1, Failed: 1, Cancelled: 1 });
    expect((await ask('cancelJob', `/jobs/${first.job.id}/cancel`, undefined, 409)).code).to.equal(
      'illegal-transition',
    );
    expect(await ask('listBatches', '/batches?name=study')).to.have.length(1);
    await ask('listRunners', '/runners');
    await ask('heartbeat', '/runners/r1/heartbeat', { instance: 'i', holding: [] });
    expect((await ask('heartbeat', '/runners/r1/heartbeat', { instance: 'j', holding: [] }, 409)).code).to.equal(
      'wrong-instance',
    );
    await ask('signOffRunner', '/runners/r1/sign-off', { instance: 'i' });
  });

  it('lists all jobs of several studies in pages, each once', async () => {
    const study = structuredClone(submission);
    study.config.monte_carlo.runs = 250;
    for (let count = 0; count < 3; count++) await ask('submitBatch', '/jobs', study);
    const whole = (await ask('listJobs', '/jobs')).map((each: any) => each.id);
    const paged: string[] = [];
    let address: string | undefined = '/jobs?limit=100';
    while (address !== undefined) {
      const response: Response = await fetch(server.url + address);
      paged.push(...((await response.json()) as any[]).map((each) => each.id as string));
      address = /^<([^>]+)>/.exec(response.headers.get('link') ?? '')?.[1];
    }
    expect(paged).to.deep.equal(whole);
    expect(new Set(paged).size).to.equal(753);
  });

  it('lists batches newest first in pages, and refuses a cursor of the other order', async () => {
    for (let count = 0; count < 3; count++) await ask('submitBatch', '/jobs', submission);
    const whole = (await ask('listBatches', '/batches')).map((each: any) => each.id);
    const response = await fetch(`${server.url}/batches?order=newest&limit=1`);
    expect(((await response.json()) as any[]).map((each) => each.id)).to.deep.equal(whole.slice(-1));
    expect(response.headers.get('x-total-count')).to.equal(null);
    const next = /^<([^>]+)>/.exec(response.headers.get('link') ?? '')?.[1] ?? '';
    expect((await ask('listBatches', next)).map((each: any) => each.id)).to.deep.equal(whole.slice(-2, -1));
    for (const wrong of [next.replace('order=newest', 'order=oldest'), '/batches?order=sideways'])
      expect((await ask('listBatches', wrong, undefined, 400)).code, wrong).to.equal('malformed-query');
  });

  it('creates nothing for a repeated idempotency key, and refuses another study with it', async () => {
    const first = await sendWithKey(server.url, 'one');
    expect(await sendWithKey(server.url, 'one')).to.deep.equal(first);
    expect((await sendWithKey(server.url, 'two')).code).to.equal('idempotency-key-reused');
  });

  const submitted = async (name: string): Promise<string> =>
    ((await (await post(`${server.url}/jobs`, { ...submission, name })).json()) as any).batch_id;

  it('answers a repeated request for a batch alike, and refuses its key for another batch, action or body', async () => {
    const [one, other] = [(await sendWithKey(server.url, 'one')).batch_id, await submitted('other')];
    const send = async (batch: string, action: string, body: object, key = 'k2') =>
      (await post(`${server.url}/batches/${batch}/${action}`, body, { 'idempotency-key': key })).json() as any;
    const runs = submission.config.monte_carlo.runs;
    const made = await send(one, 'extend', { runs: runs + 1 });
    expect(made).to.include({ mode: 'continued', total_jobs: 1 });
    expect(await send(one, 'extend', { runs: runs + 1 })).to.deep.equal(made);
    for (const refused of [
      await send(one, 'extend', { runs: runs + 2 }),
      await send(other, 'extend', { runs: runs + 1 }),
      await send(one, 'rerun', { runs: runs + 1 }),
      await send(one, 'pause', { reason: 'x' }),
    ]) {
      expect(refused.code).to.be.oneOf(['idempotency-key-reused', 'invalid-request']);
    }
    const paused = await send(other, 'pause', { reason: 'a look' }, 'k3');
    expect(paused).to.include({ paused: true, pause_reason: 'a look' });
    await post(`${server.url}/batches/${other}/resume`, undefined, {});
    expect(await send(other, 'pause', { reason: 'a look' }, 'k3'), 'a repeat').to.deep.equal(paused);
    const { batch } = (await (await fetch(`${server.url}/batches/${other}`)).json()) as any;
    expect(batch).to.not.have.property('paused');
  });

  it('finds batches by label, and refuses labels out of their bounds', async () => {
    const labelled = await post(`${server.url}/jobs`, { ...submission, labels: { campaign: '2026-q4, b' } });
    const { batch_id: id } = (await labelled.json()) as any;
    const found = (await (await fetch(`${server.url}/batches?label=campaign%3D2026-q4%2C%20b`)).json()) as any[];
    expect(found.map((it) => [it.id, it.labels])).to.deep.equal([[id, { campaign: '2026-q4, b' }]]);
    expect((await fetch(`${server.url}/batches?label=campaign`)).status).to.equal(400);
    for (const labels of [{ '-a': 'x' }, { a: 'x'.repeat(129) }, { a: 1 }]) {
      expect((await post(`${server.url}/jobs`, { ...submission, labels })).status).to.equal(422);
    }
  });

  it('rejects an invented position in a well-formed cursor without an internal fault', async () => {
    const { makeCursor } = await import('../../src/http/request/cursor.ts');
    for (const position of ['', 'x', '0', '\0', 'z'.repeat(300), '{"a":1}']) {
      const status = (await fetch(`${server.url}/jobs?limit=1&cursor=${makeCursor('["/jobs"]', position)}`)).status;
      expect([200, 400], JSON.stringify(position)).to.include(status);
    }
  });
});
