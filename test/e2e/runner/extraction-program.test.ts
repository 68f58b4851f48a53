/** Extractions by a program, over real runners: the files that it gets, its crash, its limit, and a runner that is killed in the middle. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../src/base/package.ts';
import type { ExtractionProgram, Job, Uuid } from '../../../src/contract/types.ts';
import { jobId, runIdOf } from '../../../src/domain/ids.ts';
import { Pool } from '../../support/pool.ts';
import { pythonFault } from '../../support/runner-modes.ts';

const SIMULATIONS = join(packageRoot, 'test/support/simulations');
const env = { PYTHONPATH: join(packageRoot, 'clients/python'), PYTHONDONTWRITEBYTECODE: '1' };

describe('runner: extractions by a program', () => {
  let pool: Pool;
  beforeEach(async () => (pool = await Pool.open()));
  afterEach(() => pool.close());

  const start = (id: string, program: string, flags: readonly string[] = []) => {
    const engines = ['--entrypoint', `rocket=${join(SIMULATIONS, 'throw.mjs')}`, '--entrypoint', `post=${program}`];
    const place = ['--runner-id', id, '--output-root', join(pool.site.folder, id)];
    return pool.site.start(pool.url, [...place, ...engines, ...flags], env);
  };
  const runsOf = async (batchId: Uuid): Promise<Job[]> => {
    const jobs: Job[] = [];
    for await (const it of pool.client.jobs({ batch_id: [batchId] })) jobs.push(it);
    return jobs;
  };
  async function over(batchId: Uuid): Promise<Job[]> {
    for (;;) {
      const { batch } = await pool.client.batch(batchId);
      if (['Completed', 'Failed', 'Cancelled'].includes(batch.status)) return await runsOf(batchId);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  const finished = async (runs: number): Promise<Uuid> => {
    const batch = await pool.submit('throw', {}, { runs });
    await over(batch);
    return batch;
  };
  const extract = async (batch: Uuid, program: Partial<ExtractionProgram> = {}) =>
    (await pool.client.changes.extract(batch, { with: { name: 'post', ...program } })).batch_id;
  const folderOf = (id: string, batch: Uuid, run: number): string =>
    join(pool.site.folder, id, batch, String(run).padStart(8, '0'), 'attempt-1');
  /** The bytes of all files of a study, and its results. */
  async function digest(batch: Uuid, runners: readonly string[]): Promise<string> {
    const hash = createHash('sha256');
    for await (const it of pool.client.batchResults(batch)) hash.update(JSON.stringify(it));
    for (const job of await runsOf(batch)) {
      const run = runIdOf(job.id);
      const id = runners.find((it) => it === job.assigned_runner)!;
      // On a busy machine a run may have been handed back before it began: its files are those of a later attempt.
      const folder = join(folderOf(id, batch, run), '..');
      for (const name of readdirSync(folder, { recursive: true }).map(String).sort()) {
        hash.update(name);
        if (statSync(join(folder, name)).isFile()) hash.update(readFileSync(join(folder, name)));
      }
    }
    return hash.digest('hex');
  }

  const WAYS = [
    { title: 'a Node process', program: 'post.mjs', flags: [] },
    { title: 'a Node that waits', program: 'post.mjs', flags: ['--warm'] },
    { title: 'a Python process', program: 'post.py', flags: [] },
    { title: 'a fork of a warm Python', program: 'post.py', flags: ['--warm'] },
  ];
  for (const { title, program, flags } of WAYS)
    it(`give ${title} copies of all files of the finished run and its result; its crash fails its run alone`, async function () {
      if (program.endsWith('.py') && pythonFault() !== undefined) return this.skip();
      start('a', join(SIMULATIONS, program), flags);
      const batch = await finished(3);
      const before = await digest(batch, ['a']);
      const x1 = await extract(batch);
      const jobs = await over(x1);
      expect(jobs.map(({ status }) => status)).to.deep.equal(['Completed', 'Failed', 'Completed']);
      expect(jobs[1]?.error_message).to.match(/exited with code 3[^]*no peak in this one/);
      const { metadata, output_files: files } = await pool.client.jobResult(jobId(x1, 2));
      expect(metadata).to.deep.include({
        run: 2,
        landed: true,
        files: 'metadata.json telemetry.parquet',
        magic: 'PAR1',
      });
      expect(files.map((it) => it.split('/').at(-1))).to.deep.equal(['metadata.json', 'plot.txt']);
      expect(await digest(batch, ['a'])).to.equal(before);
      expect(readdirSync(join(folderOf('a', x1, 2), '..'))).not.to.include('attempt-1.parent');
      const [attempt] = (await pool.client.jobHistory(jobId(x1, 0))).attempts;
      const engines = (await pool.client.runners()).runners.flatMap((it) => it.engines ?? []);
      const own = engines.find(({ name }) => name === 'post');
      expect(own?.code?.digest.startsWith(attempt?.code ?? 'none'), 'the code of the program').to.equal(true);
      const { table } = await pool.client.analysis.tablePage(batch, {});
      expect(table.rows.map((it) => it['outputs.x1.run'])).to.deep.equal([0, null, 2]);
    });

  it('find the files of archives as they were, and leave an archive themselves', async () => {
    start('a', join(SIMULATIONS, 'post.mjs'), ['--artifacts', 'archive']);
    const batch = await pool.submit('throw', { SIM_THROW: 'printed' }, { runs: 1 });
    await over(batch);
    expect(readdirSync(folderOf('a', batch, 0))).to.deep.equal(['files.zip', 'telemetry.parquet']);
    const before = await digest(batch, ['a']);
    const x1 = await extract(batch);
    await over(x1);
    const { metadata, output_files: files } = await pool.client.jobResult(jobId(x1, 0));
    expect(metadata).to.deep.include({ files: 'metadata.json stdout.log telemetry.parquet', magic: 'PAR1' });
    expect(files).to.deep.equal([join(folderOf('a', x1, 0), 'files.zip')]);
    expect(await digest(batch, ['a'])).to.equal(before);
    expect(readdirSync(join(folderOf('a', x1, 0), '..'))).not.to.include('attempt-1.parent');
  });

  it('end a run at its limit, name the runs whose files are gone, and repeat the failed ones as another extraction', async () => {
    const program = join(pool.site.folder, 'slow.mjs');
    const text = `import { readFileSync } from 'node:fs';
      const { run_id: run } = JSON.parse(readFileSync(process.env.SVC_PARENT_RESULT, 'utf8'));
      if (run === 1) await new Promise((resolve) => setTimeout(resolve, 1e6));`;
    writeFileSync(program, text);
    start('a', program);
    const batch = await finished(3);
    rmSync(join(folderOf('a', batch, 2), 'metadata.json'));
    const x1 = await extract(batch, { timeout_seconds: 1 });
    const jobs = await over(x1);
    expect(jobs.map(({ status }) => status)).to.deep.equal(['Completed', 'Timeout', 'Failed']);
    expect(jobs[2]?.error_message).to.match(/files of the finished run are gone: .*metadata.json does not exist/);
    const { extractions } = await pool.client.changes.extractions(batch);
    expect(extractions[0]?.without_files).to.deep.include({ runs: 1, run_ids: '2' });
    const again = await pool.client.rerunBatch(x1, { select: { states: ['Timeout', 'Failed'] } });
    expect(again).to.deep.include({ relation: 'extraction', total_jobs: 2 });
    const { config } = await pool.client.submission(again.batch_id);
    expect(config.simulation.name).to.equal('post');
    expect(config.compute.job_timeout_seconds).to.equal(1);
    expect((await over(again.batch_id)).map(({ id, status }) => [runIdOf(id), status])).to.deep.equal([
      [1, 'Timeout'],
      [2, 'Failed'],
    ]);
    expect((await pool.client.changes.extractions(batch)).extractions.map(({ name }) => name)).to.deep.equal([
      'x1',
      'x2',
    ]);
  });

  it('over two runners continue after one is killed in the middle, without a repeat, and what it left is removed', async () => {
    const program = join(pool.site.folder, 'slow.mjs');
    const text = `import { run as open } from ${JSON.stringify(join(packageRoot, 'clients/node/index.js'))};
      await new Promise((resolve) => setTimeout(resolve, 100));
      open().result({ done: true });`;
    writeFileSync(program, text);
    const [a] = [start('a', program), start('b', program)];
    const batch = await finished(40);
    const before = await digest(batch, ['a', 'b']);
    const of = (await runsOf(batch)).map(({ assigned_runner: it }) => it);
    expect(new Set(of)).to.deep.equal(new Set(['a', 'b']));
    const x1 = await extract(batch);
    await pool.until(x1, ['Completed'], of.indexOf('a'));
    await a.end('SIGKILL');
    const done = (await runsOf(x1)).filter(({ status }) => status === 'Completed').map(({ id }) => id);
    expect(done).to.have.length.below(40);
    start('a', program);
    const jobs = await over(x1);
    expect(jobs.filter(({ status }) => status === 'Completed')).to.have.length(40);
    for (const { id } of jobs) {
      const { attempts } = await pool.client.jobHistory(id);
      const begun = attempts.filter((it) => it.started_at !== undefined);
      if (done.includes(id)) expect(begun).to.have.length(1);
      const executedBy = attempts.at(-1)?.runner_id;
      expect(executedBy).to.equal(of[runIdOf(id)]);
      const left = readdirSync(join(folderOf(executedBy!, x1, runIdOf(id)), '..')).filter((it) =>
        it.endsWith('.parent'),
      );
      expect(left).to.deep.equal([]);
    }
    expect(await digest(batch, ['a', 'b'])).to.equal(before);
  });
});
