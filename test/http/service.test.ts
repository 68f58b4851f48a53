import { expect } from 'chai';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Metrics } from '../../src/http/metrics.ts';
import { readBackup } from '../../src/coordinator/kernel/storage/backup.ts';
import { openCoordinator, type Coordinator } from '../../src/coordinator/coordinator.ts';
import { openStore } from '../../src/coordinator/kernel/storage/open-store.ts';
import { systemClock } from '../../src/base/clock.ts';
import { packageRoot } from '../../src/base/package.ts';
import { brokenActor } from '../support/broken-actor.ts';
import { capabilities, fakeCoordinator, submission } from '../support/fake-api.ts';
import { listen, post, type TestServer } from '../support/http.ts';

/** Series -> value. */
function seriesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

describe('GET /metrics', () => {
  let folder: string;
  let coordinator: Coordinator;
  let server: TestServer;
  const metrics = new Metrics();
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-metrics-'));
    coordinator = await openCoordinator(metrics.timed(await openStore(folder)), systemClock, { hooks: metrics.news });
    metrics.watch(coordinator);
    server = await listen({ coordinator, metrics });
  });
  after(async () => {
    await server.close(1_000);
    await coordinator.close();
    await rm(folder, { recursive: true });
  });
  const read = async () => seriesOf(await (await fetch(`${server.url}/metrics`)).text());

  it('reports events and the current state', async () => {
    const ask = async (path: string, body?: unknown): Promise<any> => (await post(server.url + path, body)).json();
    const { batch_id } = await ask('/jobs', submission);
    await ask('/runners', { id: 'r1', instance: 'i', capabilities });
    const { assignments } = await ask('/runners/r1/claims', { instance: 'i', max_jobs: 2 });
    const report = { runner_id: 'r1', attempt: 1 };
    await ask(`/jobs/${assignments[0].job.id}/start`, report);
    const during = await read();
    for (const [series, value] of Object.entries({
      'simbatch_jobs{status="Pending"}': 1,
      'simbatch_jobs{status="Claimed"}': 1,
      'simbatch_jobs{status="Running"}': 1,
      'simbatch_batches{status="Pending"}': 0,
      'simbatch_batches{status="Running"}': 1,
      'simbatch_runners{status="Busy"}': 1,
      'simbatch_runners{status="Offline"}': 0,
      simbatch_batches_submitted_total: 1,
      simbatch_waiting_claims: 0,
      simbatch_faults_total: 0,
      'simbatch_http_request_seconds_count{operation="submitBatch",status="200"}': 1,
      'simbatch_turn_seconds_count{operation="submit",outcome="done"}': 1,
    })) {
      expect(during.get(series), series).to.equal(value);
    }
    await ask('/runners/r1/sign-off', { instance: 'i' });
    await ask(`/batches/${batch_id}/cancel`);
    await fetch(`${server.url}/jobs/nonsense`);
    await fetch(`${server.url}/nonsense`);
    await ask('/runners/r1/heartbeat', { instance: 'other', holding: [] });
    const after = await read();
    for (const [series, value] of Object.entries({
      'simbatch_jobs{status="Pending"}': 0,
      'simbatch_batches{status="Running"}': 0,
      'simbatch_batches_ended_total{status="Cancelled"}': 1,
      'simbatch_jobs_requeued_total{reason="signed-off"}': 2,
      'simbatch_http_request_seconds_count{operation="getJob",status="404"}': 1,
      'simbatch_http_request_seconds_count{operation="none",status="404"}': 1,
      'simbatch_turn_seconds_count{operation="heartbeat",outcome="refused"}': 1,
    })) {
      expect(after.get(series), series).to.equal(value);
    }
    expect(after.get('simbatch_commit_seconds_count')).to.be.greaterThan(4);
    expect(after.get('simbatch_commit_records_sum')).to.be.greaterThan(4);
  });

  it('counts a fault and continues', async () => {
    const { parts } = coordinator;
    const thrown = parts.turns.run('spoilt', () => {
      throw new Error('spoilt');
    });
    expect(await thrown.catch((error: { code?: string }) => error.code)).to.equal('internal');
    const now = await read();
    expect(now.get('simbatch_faults_total')).to.equal(1);
    expect(now.get('simbatch_turn_seconds_count{operation="spoilt",outcome="fault"}')).to.equal(1);
    expect((await fetch(`${server.url}/healthz`)).status).to.equal(200);
  });

  it('counts an actor that failed, by kind and measure', async () => {
    await post(`${server.url}/runners`, { id: 'r2', instance: 'i', capabilities });
    const mend = brokenActor(coordinator.parts.directory.find('runner/r2')!);
    expect((await post(`${server.url}/runners/r2/heartbeat`, { instance: 'i', holding: [] })).status).to.equal(500);
    mend();
    expect((await read()).get('simbatch_actor_failures_total{kind="runner",measure="restart"}')).to.equal(1);
    expect((await post(`${server.url}/runners/r2/heartbeat`, { instance: 'i', holding: [] })).status).to.equal(200);
  });

  it('creates no series from client input', async () => {
    // Turns that follow from the time, such as the first sweep, make series of their own.
    const ofRequests = async () => [...(await read()).keys()].filter((it) => !it.startsWith('simbatch_turn_seconds'));
    for (const path of ['/metrics', '/made-up']) await fetch(server.url + path);
    const before = await ofRequests();
    for (let i = 0; i < 50; i++) await fetch(`${server.url}/made-up-${i}?x=${i}`);
    expect(await ofRequests()).to.deep.equal(before);
    expect([...(await read()).keys()].filter((it) => it.includes('made-up'))).to.deep.equal([]);
  });

  it('has every metric, and no other, explained in docs/operations.md', async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    const reported = [...text.matchAll(/^# TYPE (simbatch_\w+)/gm)].map((match) => match[1] as string);
    const docs = await readFile(join(packageRoot, 'docs/operations.md'), 'utf8');
    const explained = new Set([...docs.matchAll(/^\| `(simbatch_\w+)/gm)].map((match) => match[1] as string));
    expect(reported).to.have.length.greaterThan(12);
    expect([...explained].toSorted()).to.deep.equal(reported.toSorted());
  });
});

describe('GET /limits', () => {
  it('returns the configured limits, which apply', async () => {
    const limits = { submissionBytes: 5_000, runsPerBatch: 4 };
    const server = await listen({ limits, settings: { defaultMaxRetries: 7, retainMs: 3 * 86_400_000 } });
    expect(await (await fetch(`${server.url}/limits`)).json()).to.include({
      submission_bytes: 5_000,
      runs_per_batch: 4,
      reports_bytes: 64 * 1024 * 1024,
      default_max_retries: 7,
      retain_days: 3,
      idempotency_hours: 24,
    });
    const withRuns = (runs: number, override?: number) => {
      const study = structuredClone(submission) as any;
      study.config.monte_carlo.runs = runs;
      if (override !== undefined) study.runs_override = override;
      return post(`${server.url}/jobs`, study);
    };
    expect((await withRuns(4)).status).to.equal(200);
    expect((await withRuns(1_000, 4)).status).to.equal(200);
    for (const [runs, override, pointer] of [
      [5, undefined, '/config/monte_carlo/runs'],
      [1_000, 5, '/runs_override'],
    ] as const) {
      const refused = await withRuns(runs, override);
      expect(refused.status).to.equal(422);
      const { errors } = (await refused.json()) as any;
      const detail =
        'is 5; this coordinator takes studies of up to 4 runs: submit fewer, or start it with a higher --max-runs';
      expect(errors).to.deep.equal([{ pointer, detail }]);
    }
    expect((await post(`${server.url}/jobs`, { ...submission, name: 'x'.repeat(6_000) })).status).to.equal(413);
    await server.close(0);
  });
});

describe('GET /backup', () => {
  it('cuts the connection when the store cannot be read', async () => {
    const coordinator = fakeCoordinator({
      backup: async () =>
        (async function* () {
          yield '{"simbatch_backup":1,"store_format":1}\n';
          await Promise.resolve();
          throw new Error('the disk is gone');
        })(),
    });
    const server = await listen({ coordinator });
    const response = await fetch(`${server.url}/backup`);
    expect(response.headers.get('content-type')).to.equal('application/x-ndjson');
    const read = response.text().catch((error: unknown) => error);
    expect(await read).to.be.instanceOf(Error);
    await server.close(0);
  });

  it('releases its view when the client disconnects or sends HEAD', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'simbatch-backup-'));
    const store = await openStore(folder);
    let open = 0;
    const counting = {
      get: store.get.bind(store),
      write: store.write.bind(store),
      close: store.close.bind(store),
      snapshot: () => {
        const snapshot = store.snapshot();
        open += 1;
        return { ...snapshot, close: () => ((open -= 1), snapshot.close()) };
      },
    };
    const coordinator = await openCoordinator(counting, systemClock);
    for (let i = 0; i < 50; i++) await store.write(new Map([[`!result!${i}`, JSON.stringify('x'.repeat(100_000))]]));
    const server = await listen({ coordinator });
    await fetch(`${server.url}/backup`, { method: 'HEAD' });
    const leaving = new AbortController();
    const response = await fetch(`${server.url}/backup`, { signal: leaving.signal });
    await response.body!.getReader().read();
    leaving.abort();
    for (let tries = 0; tries < 200 && open > 0; tries++) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(open).to.equal(0);
    const whole = await fetch(`${server.url}/backup`);
    expect((await readBackup(whole.body as AsyncIterable<Uint8Array>)).records).to.equal(50);
    await server.close(0);
    await coordinator.close();
    await rm(folder, { recursive: true });
  });
});
