/** A study whose runs have taken results says so wherever its results are read. */
import { expect } from 'chai';
import type { CodeIdentity, Report, StudyAnswer, StudySummary, Uuid, WorstRuns } from '../../../src/contract/types.ts';
import { verifyManifest } from '../../../src/analysis/manifest/verify.ts';
import type { Asked } from '../../../src/analysis/questions.ts';
import { Scene } from '../../support/scene.ts';
import { tableOf } from '../answers/table/flown-study.ts';

const code: CodeIdentity = { kind: 'entrypoint', digest: 'a'.repeat(64) };
const engines = [{ name: '*', code }];
const SAID = '4 of 6 runs were not executed: they have the results of earlier runs';

describe('coordinator/reuse: said', () => {
  let scene: Scene;
  let first: Uuid;
  let second: Uuid;
  before(async () => {
    scene = await Scene.open();
    await scene.register('r1', { slots: 100, engines });
    first = await scene.submit({ runs: 4 });
    await execute();
    second = await scene.submit({ runs: 6, name: 'second', policy: { reuse: 'all' } });
    await execute();
    await execute();
  });
  after(() => scene.api.close());

  async function execute(): Promise<void> {
    const instance = scene.instance('r1');
    const { assignments } = await scene.api.claim('r1', { instance, max_jobs: 100, wait_seconds: 0, engines });
    const reports = assignments.flatMap(({ job, attempt }): Report[] => {
      const result = { execution_time_secs: 1, output_files: [], metadata: { miss: job.run_config.run_id + 0.5 } };
      const own = { job_id: job.id, attempt };
      return [
        { type: 'start', ...own, code },
        { type: 'complete', ...own, result },
      ];
    });
    const answers = await scene.api.reports('r1', { instance, reports });
    for (const it of answers) if ('refusal' in it) throw it.refusal;
  }

  const ask = async <T>(asked: Asked): Promise<T> => {
    const answer = await scene.api.answer(asked, { waitMs: 1e6 });
    if (answer.state !== 'ready') throw new Error(`the answer is ${answer.state}`);
    return JSON.parse(new TextDecoder().decode(answer.body)) as T;
  };

  it('in the header of every answer, in the sentence of the summary and of the answer', async () => {
    const summary = await ask<StudySummary>({ name: 'summary', batchId: second, query: {} });
    expect(summary.reused).to.equal(4);
    expect(summary.sentence).to.equal('statistics of 6 of 6 runs (4 reused)');
    expect(summary.warnings).to.deep.include({ code: 'reused', message: SAID });
    const { sentence } = await ask<StudyAnswer>({ name: 'answer', batchId: second, query: {} });
    expect(sentence).to.equal(`OK: all 6 runs completed. ${SAID}.`);
    const query = { output: 'miss', k: 3, direction: 'largest' } as const;
    const worst = await ask<WorstRuns>({ name: 'worst', batchId: second, query });
    expect(worst.reused).to.equal(4);
    expect(await ask<StudySummary>({ name: 'summary', batchId: first, query: {} })).not.to.have.property('reused');
  });

  it('in tables: their warnings, and the origin in each row', async () => {
    const { warnings, rows } = await tableOf(scene, second);
    expect(warnings).to.deep.equal([{ code: 'reused', message: SAID }]);
    expect(rows.filter((it) => it['reused_from'] != null)).to.have.lengthOf(4);
    expect((await tableOf(scene, first)).warnings).to.deep.equal([]);
  });

  it('in the header of the manifest, which is verified', async () => {
    const pieces: Uint8Array[] = [];
    for await (const piece of await scene.api.manifest(second)) pieces.push(piece);
    const lines = Buffer.concat(pieces).toString().trimEnd().split('\n');
    expect(JSON.parse(lines[0]!)).to.include({ reused: 4 });
    expect(await verifyManifest(lines)).to.deep.include({ valid: true, runs: 6 });
  });
});
