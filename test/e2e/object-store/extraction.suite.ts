/** Extractions of runs whose files are in the object store, the same for every store: any runner reaches them, and a file that is gone is named. */
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/base/package.ts';
import { runIdOf } from '../../../src/domain/ids.ts';
import { appendRun, textOf, type RunRange } from '../../../src/domain/runs/run-ranges.ts';
import type { ObjectStore } from '../../../src/coordinator/files/object-store/object-store.ts';
import { Client, type Job, type Uuid } from '../../../src/client/client.ts';
import type { Pool } from '../../support/pool.ts';
import { serving } from '../../support/program.ts';
import { Site, type RunnerProcess } from '../../support/runner-process.ts';
import { freePorts } from '../../support/ports.ts';
import type { S3Server } from '../../support/s3-server.ts';
import { study } from '../../support/studies.ts';
import { BUCKET, STORAGE, storeOf, untilUploaded } from './uploads.suite.ts';

const RUNS = 6;
const GONE = 4;
const SIMULATIONS = join(packageRoot, 'test/support/simulations');
const THROW = join(SIMULATIONS, 'throw.mjs');
const APOGEE = 1600 / (2 * 9.80665);
const DERIVED = [{ name: 'apogee', take: 'max' as const, telemetry: 'z' }];
/** Every sample of each run is stored. */
const EVERY_SAMPLE = { telemetry: { ...STORAGE.config.telemetry, sampling_rate_hz: 0 } };

const placeOf = (batch: Uuid): string => `team a/x/${batch}/`;
/** Removes the files of a run from the store. */
const removeFiles = (store: ObjectStore, batch: Uuid, run: number): Promise<void> =>
  store.removeBelow(BUCKET, `${placeOf(batch)}${String(run)}/`);

/** The results of a study, and the objects of its runs. */
async function digest(client: Client, store: ObjectStore, batch: Uuid): Promise<string> {
  const hash = createHash('sha256');
  for await (const it of client.batchResults(batch)) hash.update(JSON.stringify(it));
  for (const it of await store.list(BUCKET, placeOf(batch), 1e6)) hash.update(JSON.stringify(it));
  return hash.digest('hex');
}

const rangesOf = (runs: readonly number[]): string => {
  const ranges: RunRange[] = [];
  for (const run of runs) appendRun(ranges, run);
  return ranges.map(textOf).join(',');
};

const leftOf = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true })
        .map(String)
        .filter((it) => /[.]parent$/.test(it))
    : [];

export async function extractsFromStore(pool: Pool, store: ObjectStore): Promise<void> {
  const first = pool.site.startApart('a', pool.url, ['--entrypoint', THROW]);
  const batch = await pool.submit('throw', {}, { runs: RUNS, config: EVERY_SAMPLE });
  for (let run = 0; run < RUNS; run += 1) await untilUploaded(pool.client, await pool.until(batch, ['Completed'], run));
  await first.end('SIGTERM');
  await removeFiles(store, batch, GONE);

  // Another machine, which has none of the files.
  pool.site.startApart('b', pool.url, ['--entrypoint', THROW]);
  const { batch_id: x1 } = await pool.client.changes.extract(batch, { derived: DERIVED });
  for (let run = 0; run < RUNS; run += 1) {
    const job = await pool.until(x1, ['Completed', 'Failed'], run);
    const result = await pool.client.jobResult(job.id);
    expect(job.assigned_runner).to.equal('b');
    if (run === GONE) expect(result).to.include({ success: false });
    else expect(result.metadata['apogee']).to.be.closeTo(APOGEE, 1e-3);
  }
  expect(leftOf(join(pool.site.folder, 'b'))).to.deep.equal([]);
  const { extractions } = await pool.client.changes.extractions(batch);
  expect(extractions[0]?.without_files).to.deep.include({ runs: 1, run_ids: String(GONE) });
}

/** The program of an extraction gets the files of each run from the object store, on a machine that has none of them. */
export async function executesFromStore(pool: Pool, store: ObjectStore): Promise<void> {
  const env = { PYTHONPATH: join(packageRoot, 'clients/python'), PYTHONDONTWRITEBYTECODE: '1' };
  const start = (id: string): RunnerProcess => {
    const engines = ['--entrypoint', `rocket=${THROW}`, '--entrypoint', `post=${join(SIMULATIONS, 'post.py')}`];
    return pool.site.start(pool.url, ['--runner-id', id, '--output-root', join(pool.site.folder, id), ...engines], env);
  };
  const first = start('a');
  const batch = await pool.submit('throw', {}, { runs: 4, config: EVERY_SAMPLE });
  const sizes: number[] = [];
  for (let run = 0; run < 4; run += 1) {
    const job = await pool.until(batch, ['Completed'], run);
    await untilUploaded(pool.client, job);
    const { files } = await pool.client.files.list(job.id);
    sizes.push(files.find(({ path }) => path === 'telemetry.parquet')!.bytes!);
  }
  await first.end('SIGTERM');
  rmSync(join(pool.site.folder, 'a'), { recursive: true });
  await removeFiles(store, batch, 3);
  const before = await digest(pool.client, store, batch);

  start('b');
  const { batch_id: x1 } = await pool.client.changes.extract(batch, { with: { name: 'post' } });
  const ends: unknown[] = [];
  for (let run = 0; run < 4; run += 1) {
    const job = await pool.until(x1, ['Completed', 'Failed'], run);
    const { metadata } = await pool.client.jobResult(job.id);
    ends.push(
      job.status === 'Completed'
        ? metadata
        : /files of the finished run are gone|no peak in this one/.exec(job.error_message ?? '')?.[0],
    );
    expect(job.assigned_runner).to.equal('b');
  }
  const seen = { landed: true, files: 'metadata.json telemetry.parquet', magic: 'PAR1' };
  expect(ends[0]).to.deep.include({ ...seen, run: 0, bytes: sizes[0] });
  expect(ends[1]).to.equal('no peak in this one');
  expect(ends[2]).to.deep.include({ ...seen, run: 2, bytes: sizes[2] });
  expect(ends[3]).to.equal('files of the finished run are gone');
  // The program has changed its copies.
  expect(await digest(pool.client, store, batch)).to.equal(before);
  expect(leftOf(join(pool.site.folder, 'b'))).to.deep.equal([]);
}

/** Two runners that have no file compute an extraction; one of them and the coordinator are killed in the middle. */
export async function extractsThroughKills(server: S3Server, runs: number, goneRuns: number): Promise<void> {
  const site = new Site();
  const store = storeOf(server);
  const [port = 0] = await freePorts(1);
  const { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY } = server.credentials;
  const serve = () =>
    serving(
      [
        '--port',
        String(port),
        '--data-dir',
        join(site.folder, 'data'),
        '--s3-bucket',
        BUCKET,
        '--s3-endpoint',
        server.endpoint,
      ],
      { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY },
    );
  let coordinator = await serve();
  try {
    const { url } = coordinator;
    const client = new Client({ endpoint: url });
    const start = (id: string): RunnerProcess => site.startApart(id, url, ['--entrypoint', THROW, '--warm']);
    const jobsOf = async (batchId: Uuid, status?: Job['status'][]): Promise<Job[]> => {
      const jobs: Job[] = [];
      for await (const it of client.jobs({ batch_id: [batchId], ...(status === undefined ? {} : { status }) }))
        jobs.push(it);
      return jobs;
    };
    const over = async (batchId: Uuid): Promise<Job[]> => {
      while (!['Completed', 'Failed'].includes((await client.batch(batchId)).batch.status))
        await new Promise((resolve) => setTimeout(resolve, 100));
      return await jobsOf(batchId);
    };

    const firsts = [start('a'), start('b')];
    const submission = study({ runs, maxRetries: 0, config: EVERY_SAMPLE });
    const { batch_id: batch } = await client.submit(submission);
    const parents = await over(batch);
    // On a busy machine a simulation may give up before its telemetry is connected: such a run has no file.
    const sampled: number[] = [];
    for (const job of parents)
      if ((await untilUploaded(client, job)).telemetry_data !== null) sampled.push(runIdOf(job.id));
    expect(sampled.length).to.be.above(runs / 2);
    expect(new Set(parents.map((it) => it.assigned_runner))).to.deep.equal(new Set(['a', 'b']));
    for (const it of firsts) await it.end('SIGTERM');
    for (const id of ['a', 'b']) rmSync(join(site.folder, id), { recursive: true });
    const gone = Array.from(
      { length: goneRuns },
      (_, at) => sampled[Math.floor(((at + 0.5) * sampled.length) / goneRuns)]!,
    );
    for (const run of gone) await removeFiles(store, batch, run);
    const before = await digest(client, store, batch);

    const { batch_id: x1 } = await client.changes.extract(batch, { derived: DERIVED });
    const [c] = [start('c'), start('d')];
    while ((await client.batch(x1)).batch.completed_jobs < runs / 4)
      await new Promise((resolve) => setTimeout(resolve, 20));
    await c.end('SIGKILL');
    coordinator.child.kill('SIGKILL');
    await once(coordinator.child, 'exit');
    coordinator = await serve();
    const attemptsOf = async (id: Uuid) => (await client.jobHistory(id)).attempts;
    const done = new Map<Uuid, number>();
    for (const { id } of await jobsOf(x1, ['Completed', 'Failed'])) done.set(id, (await attemptsOf(id)).length);
    expect(done.size).to.be.within(Math.floor(runs / 4), runs - 1);
    // Its runs may go to the other one: it removes what they have left as it starts.
    await start('c').says('registered as c');

    const jobs = await over(x1);
    expect(jobs.filter(({ status }) => status === 'Failed').map(({ id }) => runIdOf(id))).to.deep.equal(gone);
    expect(jobs.filter(({ status }) => status === 'Completed')).to.have.length(runs - gone.length);
    for (const { id } of jobs) {
      const attempts = await attemptsOf(id);
      const ended = done.get(id) ?? attempts.length;
      expect(attempts, `no run that had ended is repeated: ${JSON.stringify(attempts)}`).to.have.length(ended);
      if (gone.includes(runIdOf(id))) continue;
      const { apogee } = (await client.jobResult(id)).metadata;
      if (sampled.includes(runIdOf(id))) expect(apogee).to.be.closeTo(APOGEE, 1e-3);
      else expect(apogee).to.equal(undefined);
    }
    const { extractions } = await client.changes.extractions(batch);
    expect(extractions[0]?.without_files).to.deep.include({ runs: gone.length, run_ids: rangesOf(gone) });
    const { table } = await client.analysis.tablePage(batch, { limit: runs });
    for (const row of table.rows) {
      const run = Number(row['run_id']);
      const isKnown = sampled.includes(run) && !gone.includes(run);
      expect(row['outputs.x1.apogee'] !== null, `run ${String(run)} in the table`).to.equal(isKnown);
    }
    expect(await digest(client, store, batch)).to.equal(before);
    for (const id of ['c', 'd']) expect(leftOf(join(site.folder, id)), id).to.deep.equal([]);
  } finally {
    coordinator.child.kill('SIGKILL');
    await site.clean();
  }
}
