/** Extractions over real runners: equal to what a study declares, over the files of two machines, with files deleted and a runner killed. */
import { createHash } from 'node:crypto';
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../src/base/package.ts';
import type { BatchConfig, DerivedConfig, HistoryConfig, Job, Uuid } from '../../../src/contract/types.ts';
import { jobId, runIdOf } from '../../../src/domain/ids.ts';
import { Pool } from '../../support/pool.ts';

const THROW = join(packageRoot, 'test/support/simulations/throw.mjs');
const ASKED: { histories: HistoryConfig[]; derived: DerivedConfig[] } = {
  histories: [
    { variable: 'z', at: { from: 0, to: 10, step: 0.25 } },
    { name: 'around', variable: 'z', at: { points: [-2, -0.5, 0, 1.25] }, origin: 'first(vz < 0)' },
  ],
  derived: [
    { name: 'apogee', take: 'max', telemetry: 'z' },
    { name: 'above', take: 'duration', while: 'z > 50' },
    { name: 'speed_there', take: 'value', telemetry: 'vz', at: 'last(z > 50)' },
    { name: 'doubled', expression: 'outputs.above * 2 + outputs.landed' },
    { name: 'none', take: 'time', at: 'first(z > 1000)' },
  ],
};

describe('runner: extractions', () => {
  let pool: Pool;
  beforeEach(async () => (pool = await Pool.open()));
  afterEach(() => pool.close());

  const runner = (id: string) => pool.site.startApart(id, pool.url, ['--entrypoint', THROW, '--warm']);
  async function over(batchId: Uuid): Promise<Job[]> {
    for (;;) {
      const { batch } = await pool.client.batch(batchId);
      if (['Completed', 'Failed', 'Cancelled'].includes(batch.status)) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const jobs: Job[] = [];
    for await (const it of pool.client.jobs({ batch_id: [batchId] })) jobs.push(it);
    return jobs;
  }
  const submit = (runs: number, config: Partial<BatchConfig> = {}, rate = 0) =>
    pool.submit('throw', {}, { runs, config: { telemetry: { sampling_rate_hz: rate }, ...config } });
  const fileOf = (id: string, batch: Uuid, run: number): string =>
    join(pool.site.folder, id, batch, String(run).padStart(8, '0'), 'attempt-1', 'telemetry.parquet');
  const valuesOf = async (batch: Uuid, run: number) => {
    const { metadata, derived_missing: missing } = await pool.client.jobResult(jobId(batch, run));
    const { histories } = await pool.client.analysis.jobHistories(jobId(batch, run));
    return { metadata, missing, histories };
  };
  async function digest(batch: Uuid): Promise<string> {
    const hash = createHash('sha256');
    for await (const it of pool.client.batchResults(batch)) hash.update(JSON.stringify(it));
    return hash.digest('hex');
  }

  it('compute what a study that declares it has computed, of every stored sample', async () => {
    runner('a');
    const batch = await submit(1, ASKED);
    await over(batch);
    const { batch_id: x1, warnings = [] } = await pool.client.changes.extract(batch, ASKED);
    expect(warnings.filter(({ code }) => code === 'reduced-telemetry')).to.deep.equal([]);
    expect((await over(x1)).map(({ status }) => status)).to.deep.equal(['Completed']);
    const [declared, extracted] = [await valuesOf(batch, 0), await valuesOf(x1, 0)];
    expect(extracted.histories.map(({ name, values }) => [name, values])).to.deep.equal(
      declared.histories.map(({ name, values }) => [name, values]),
    );
    for (const { name } of ASKED.derived) expect(extracted.metadata[name], name).to.equal(declared.metadata[name]);
    expect(extracted.metadata).not.to.have.property('landed');
    expect(extracted.missing).to.deep.equal(declared.missing).and.deep.equal({ none: 'there was no first(z > 1000)' });
    const [attempt] = (await pool.client.jobHistory(jobId(x1, 0))).attempts;
    expect(attempt?.code).to.match(/^[0-9a-f]{12}$/);
  });

  it('say that they know only the samples that were stored', async () => {
    runner('a');
    const batch = await submit(1, {}, 4);
    await over(batch);
    const { batch_id: x1, warnings = [] } = await pool.client.changes.extract(batch, { derived: ASKED.derived });
    expect(warnings.map(({ code, detail }) => [code, /at most 4 samples per second/.test(detail)])).to.deep.equal([
      ['reduced-telemetry', true],
    ]);
    await over(x1);
    const { metadata } = await valuesOf(x1, 0);
    expect(metadata['apogee']).to.be.closeTo(1600 / (2 * 9.80665), 0.2);
  });

  it('over the files of two runners, with files deleted before, continue after a runner and its successor are killed', async function () {
    const runs = 60;
    const [a, b] = [runner('a'), runner('b')];
    const batch = await submit(runs);
    const parents = await over(batch);
    const byRunner = (id: string): number[] =>
      parents.filter(({ assigned_runner: it }) => it === id).map(({ id: job }) => runIdOf(job));
    expect(byRunner('a').length + byRunner('b').length).to.equal(runs);
    expect(Math.min(byRunner('a').length, byRunner('b').length)).to.be.above(0);
    const before = await digest(batch);
    const gone = [...byRunner('a').slice(1, 3), ...byRunner('b').slice(-2)].sort((x, y) => x - y);
    for (const run of gone) for (const id of ['a', 'b']) rmSync(fileOf(id, batch, run), { force: true });
    const files = new Map(
      parents.flatMap(({ id }) =>
        ['a', 'b']
          .map((it) => fileOf(it, batch, runIdOf(id)))
          .filter(existsSync)
          .map((path) => [path, statSync(path).mtimeMs] as const),
      ),
    );
    await b.end('SIGKILL');
    const { batch_id: x1, total_jobs: total } = await pool.client.changes.extract(batch, ASKED);
    expect(total).to.equal(runs);
    await pool.until(x1, ['Completed', 'Failed'], byRunner('a')[0]);
    await a.end('SIGKILL');
    const done = new Set<Uuid>();
    for await (const { id } of pool.client.jobs({ batch_id: [x1], status: ['Completed', 'Failed'] })) done.add(id);
    runner('a');
    runner('b');
    const jobs = await over(x1);
    expect(jobs.filter(({ status }) => status === 'Failed').map(({ id }) => runIdOf(id))).to.deep.equal(gone);
    expect(jobs.filter(({ status }) => status === 'Completed')).to.have.length(runs - gone.length);
    for (const { id } of jobs) {
      const { attempts } = await pool.client.jobHistory(id);
      if (done.has(id)) expect(attempts, 'no run that had ended is repeated').to.have.length(1);
      const executedBy = attempts.at(-1)?.runner_id;
      expect(byRunner(executedBy ?? '')).to.include(runIdOf(id));
    }
    const { extractions } = await pool.client.changes.extractions(batch);
    const [{ without_files: without } = { without_files: undefined }] = extractions;
    expect(without).to.deep.include({ runs: gone.length });
    expect(without?.why).to.match(/^the files of the finished run are gone: .*telemetry.parquet does not exist/);
    expect((await pool.client.findings(x1)).map(({ code }) => code)).to.include('files-gone');
    expect(await digest(batch)).to.equal(before);
    for (const [path, mtime] of files) expect(statSync(path).mtimeMs, path).to.equal(mtime);
  });
});
