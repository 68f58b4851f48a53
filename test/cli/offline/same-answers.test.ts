/** Answers from a table that the coordinator wrote are the coordinator's own, to the bit. */
import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { fileAnalysis } from '../../../src/cli/offline/file-analysis.ts';
import { readFileStudy } from '../../../src/cli/offline/file-study.ts';
import type { TableFormat } from '../../../src/contract/types.ts';
import type { Asked } from '../../../src/analysis/questions.ts';
import { flown as mixed } from '../../coordinator/answers/table/flown-study.ts';
import { flown } from '../../support/flown.ts';
import { Scene } from '../../support/scene.ts';

describe('cli/offline answers', () => {
  let scene: Scene;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-same-'));
    scene = await Scene.open();
    await scene.register('a', { slots: 500 });
  });
  after(async () => {
    await scene.api.close();
    await rm(folder, { recursive: true });
  });

  async function written(batchId: string, format: TableFormat, family = false): Promise<string> {
    const answer = await scene.api.table({ batchId, format, family });
    if (answer.state !== 'ready') throw new Error(`the table is ${answer.state}`);
    const pieces: Uint8Array[] = [];
    if (answer.body instanceof Uint8Array) pieces.push(answer.body);
    else for await (const piece of answer.body) pieces.push(piece.slice());
    const path = join(folder, `${batchId}.${format}`);
    await writeFile(path, Buffer.concat(pieces));
    return path;
  }

  async function online(question: Asked, family = false): Promise<unknown> {
    const answer = await scene.api.answer(question, { waitMs: 1e6, family });
    if (answer.state !== 'ready') throw new Error(`the answer is ${answer.state}`);
    return JSON.parse(new TextDecoder().decode(answer.body));
  }

  /** Each question with its query as the command line asks it. */
  const QUERIES = [
    ['summary', {}],
    ['summary', { confidence: 0.8 }],
    ['verdicts', {}],
    ['verdicts', { output: 'miss', condition: '< 20', probability: 0.4, look: 'continuous', terminated: 'exclude' }],
    ['sensitivity', { output: 'miss' }],
    ['attribution', {}],
    ['attribution', { failing: 'close' }],
    ['attribution', { failing: 'terminated_by is not null or outputs.miss > 15' }],
    ['convergence', { output: 'miss', quantity: 'p90' }],
    ['convergence', { output: 'miss', half_width: 0.5 }],
    ['convergence', {}],
    ['worst', { output: 'miss', k: 5, direction: 'smallest' }],
    ['rare-event', {}],
  ] as const;

  const STUDIES = [
    ['an ended study', {}],
    ['a study with open runs', { runs: 80, done: 50 }],
    ['a cancelled study', { runs: 80, done: 50, cancel: true }],
    ['a study whose runs lost telemetry under a rule', { lost: 2 }],
    ['a study with rules in shadow', { shadow: true }],
    ['a study that selects runs', { runs: 100, done: 49, run_ids: '3-99:2' }],
    ['a Latin hypercube', { method: 'latin_hypercube' }],
  ] as const;

  for (const [name, options] of STUDIES) {
    for (const format of ['parquet', 'csv'] as const) {
      it(`of ${name} are the same from ${format} as online`, async () => {
        const batchId = await flown(scene, options);
        if ('cancel' in options) await scene.api.cancelBatch(batchId);
        const path = await written(batchId, format);
        const submission = await scene.api.submission(batchId);
        const file = join(folder, 'study.yaml');
        await writeFile(file, stringify(submission));
        const study = await readFileStudy(path, format === 'csv' ? file : undefined);
        expect(study.warnings).to.deep.equal([]);
        for (const [question, query] of QUERIES) {
          const expected = await online({ name: question, batchId, query });
          const found = await fileAnalysis(study).ask(question, batchId, query);
          expect(found, `${question} ${JSON.stringify(query)}`).to.deep.equal(expected);
        }
        await scene.api.cancelBatch(batchId).catch(() => {});
      });
    }
  }

  it('of two files are those of the comparison online', async () => {
    const before = await flown(scene);
    const after = await flown(scene, { version: '2.0' });
    const expected = await online({ name: 'compare', batchId: before, query: { with: after } });
    const [first, second] = [
      await readFileStudy(await written(before, 'parquet')),
      await readFileStudy(await written(after, 'parquet')),
    ];
    expect(await fileAnalysis(first, second).ask('compare', before, { with: after })).to.deep.equal(expected);
  });

  it('of outputs of several types say that text may have been a number, and are the same otherwise', async () => {
    const batchId = await mixed(scene);
    const study = await readFileStudy(await written(batchId, 'parquet'));
    expect(study.warnings.map((it) => it.code)).to.deep.equal(['types-unknown']);
    const found = await fileAnalysis({ ...study, warnings: [] }).ask('summary', batchId);
    expect(found).to.deep.equal(await online({ name: 'summary', batchId, query: {} }));
  });

  it('of a family are those of the family online', async () => {
    const batchId = await flown(scene, { method: 'latin_hypercube', runs: 30 });
    await scene.api.extendBatch(batchId, { runs: 30 });
    const study = await readFileStudy(await written(batchId, 'parquet', true));
    expect(study.warnings).to.deep.equal([]);
    const analysis = fileAnalysis(study);
    const summary = await analysis.ask('summary', batchId);
    expect(summary.of).to.equal(60);
    expect(summary).to.deep.equal(await online({ name: 'summary', batchId, query: {} }, true));
    const worst = { output: 'miss', k: 5, direction: 'largest' } as const;
    expect(await analysis.ask('worst', batchId, worst)).to.deep.equal(
      await online({ name: 'worst', batchId, query: { ...worst } }, true),
    );
  });
});
