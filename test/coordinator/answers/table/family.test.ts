/** Tables and results of a family: one row for each run of a study and of what grew from it. */
import { expect } from 'chai';
import type { JobResult } from '../../../../src/contract/types.ts';
import { jobId } from '../../../../src/domain/ids.ts';
import { all, Scene } from '../../../support/scene.ts';
import { study } from '../../../support/studies.ts';
import { type Asked, tableOf, type Row } from './flown-study.ts';

describe('coordinator/answers/table family', () => {
  let scene: Scene;
  let first: string;
  let rerun: string;
  let extension: string;
  let cancelled: string;
  let comparison: string;

  /** Ends the next `count` runs of the batch; the runs named fail. */
  async function end(batch: string, count: number, failing: readonly number[] = [], value = 0): Promise<void> {
    for (const run of await scene.claim('a', count)) {
      await scene.start(batch, run, 'a');
      const about = { runner_id: 'a', attempt: 1 };
      const result = { execution_time_secs: 1, output_files: [], metadata: { miss: run + value } };
      if (failing.includes(run)) {
        await scene.api.fail(jobId(batch, run), { ...about, reason: 'exit', error_message: 'broke', result });
      } else await scene.api.complete(jobId(batch, run), { ...about, result });
    }
  }

  before(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 100 });
    first = (await scene.api.submit(study({ runs: 6, maxRetries: 0 }))).batch_id;
    await end(first, 6, [1, 3, 5]);
    rerun = (await scene.api.rerunBatch(first, { select: { states: ['Failed'] } })).batch_id;
    // Run 5 stays open.
    await end(rerun, 2, [], 100);
    extension = (await scene.api.extendBatch(first, { runs: 9 })).batch_id;
    await scene.api.cancelJob(jobId(rerun, 5));
    await end(extension, 2, [7], 200);
    cancelled = (await scene.api.rerunBatch(first, { select: { run_ids: '0,2' } })).batch_id;
    await scene.api.cancelBatch(cancelled);
    comparison = (await scene.api.rerunBatch(first, { relation: 'comparison', simulation_version: '2' })).batch_id;
    await scene.api.cancelBatch(comparison);
  });
  after(() => scene.api.close());

  const table = async (asked: Asked = {}, batchId = first): Promise<Row[]> =>
    (await tableOf(scene, batchId, { family: true, ...asked })).rows;

  /** The runs that count: run id, batch, class and output. */
  const expected = (): unknown[][] => [
    [0, first, 'ok', 0],
    [1, rerun, 'ok', 101],
    [2, first, 'ok', 2],
    [3, rerun, 'ok', 103],
    [4, first, 'ok', 4],
    // Its rerun was cancelled.
    [5, first, 'crashed', 5],
    [6, extension, 'ok', 206],
    [7, extension, 'crashed', 207],
    [8, extension, 'open', null],
  ];
  const shown = (rows: readonly Row[]): unknown[][] =>
    rows.map((it) => [it['run_id'], it['batch_id'], it['class'], it['outputs.miss']]);

  it('has one row for each run: the latest that ended, from whichever member is asked', async () => {
    for (const batchId of [first, rerun, extension]) {
      expect(shown(await table({}, batchId)), batchId).to.deep.equal(expected());
    }
    const { matched, of, warnings } = await tableOf(scene, first, { family: true });
    expect([matched, of, warnings.map((it) => it.code)]).to.deep.equal([9, 9, ['unfinished']]);
    expect(await table({}, comparison)).to.have.length(6);
    expect((await tableOf(scene, first)).of).to.equal(6);
  });

  it('selects, sorts and pages over all members', async () => {
    const order = expected().filter((it) => it[3] !== null);
    order.sort((a, b) => (b[3] as number) - (a[3] as number));
    const sorted = { where: 'outputs.miss is not null', sort: ['-outputs.miss'] };
    expect(shown(await table(sorted))).to.deep.equal(order);
    const requests: [Asked, unknown[][]][] = [
      [sorted, order],
      [{ where: 'outputs.miss is not null' }, order.toSorted((a, b) => (a[0] as number) - (b[0] as number))],
      [{}, expected()],
    ];
    for (const [asked, wanted] of requests) {
      const rows: Row[] = [];
      let after: string | undefined;
      do {
        const page = await tableOf(scene, first, { family: true, ...asked, limit: 2, after });
        rows.push(...page.rows);
        expect([page.matched, page.of]).to.deep.equal([wanted.length, 9]);
        after = page.next;
      } while (after !== undefined);
      expect(shown(rows)).to.deep.equal(wanted);
    }
  });

  it('gives the runs of replicates rows of their own', async () => {
    const own = await Scene.open();
    const latin = study({ runs: 4, config: { monte_carlo: { sampling_method: 'latin_hypercube' } } });
    const { batch_id: batchId } = await own.api.submit(latin);
    await own.api.extendBatch(batchId, {});
    const rows = await (async () => (await tableOf(own, batchId, { family: true })).rows)();
    expect(rows.map((it) => [it['replicate'], it['run_id']])).to.deep.equal(
      [0, 1].flatMap((replicate) => [0, 1, 2, 3].map((run) => [replicate, run])),
    );
    const page = await tableOf(own, batchId, { family: true, limit: 3 });
    const next = await tableOf(own, batchId, { family: true, limit: 3, after: page.next });
    expect(next.rows.map((it) => [it['replicate'], it['run_id']])).to.deep.equal([
      [0, 3],
      [1, 0],
      [1, 1],
    ]);
    expect(next.of).to.equal(8);
    await own.api.close();
  });

  it('has the latest result of each run, in pages too', async () => {
    const wanted = expected()
      .filter((it) => it[3] !== null)
      .map(([run, batch, , miss]) => [run, batch, miss]);
    const of = (results: readonly JobResult[]): unknown[][] =>
      results.map((it) => [it.run_id, it.batch_id, it.metadata['miss']]);
    expect(of(await all((await scene.api.batchResults(rerun, { family: true })).results))).to.deep.equal(wanted);
    const found: JobResult[] = [];
    let after: string | undefined;
    do {
      const page = { family: true, limit: 3, ...(after === undefined ? {} : { after }) };
      const { results } = await scene.api.batchResults(first, page);
      found.push(...(await all(results)));
      after = results.next();
    } while (after !== undefined);
    expect(of(found)).to.deep.equal(wanted);
    expect((await all((await scene.api.batchResults(first)).results))[0]).to.not.have.property('batch_id');
  });
});
