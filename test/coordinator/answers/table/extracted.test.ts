/** The table of a study with the outputs of its extractions: as columns, in conditions and orders, page by page, with their limits. */
import { expect } from 'chai';
import type { QuestionAnswer, QuestionName, QuestionQuery } from '../../../../src/analysis/questions.ts';
import type { Uuid } from '../../../../src/contract/types.ts';
import { jobId } from '../../../../src/domain/ids.ts';
import { runs, Scene } from '../../../support/scene.ts';

const RUNS = 12;

interface Page {
  columns: { name: string }[];
  rows: Record<string, unknown>[];
  warnings: { code: string; message: string }[];
}

describe('coordinator/answers/table: outputs of extractions', () => {
  let scene: Scene;
  let batch: Uuid;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.api.register({
      id: 'a',
      instance: 'a-1',
      capabilities: {
        max_concurrent_jobs: 50,
        cpu_cores: 0,
        memory_gb: 0,
        gpu_available: false,
        supported_simulation_types: [],
        features: ['histories', 'extraction'],
      },
    });
    batch = await scene.submit({ runs: RUNS });
    await execute(batch, (run) => ({ miss: run, 'x2.peak': 'own' }));
  });
  afterEach(() => scene.api.close());

  /** `undefined`: the files of the run are gone. */
  async function execute(id: Uuid, metadataOf: (run: number) => object | undefined, most = RUNS): Promise<void> {
    const claimed = runs(await scene.api.claim('a', { instance: 'a-1', max_jobs: most }));
    for (const run of claimed) {
      await scene.start(id, run, 'a');
      const metadata = metadataOf(run);
      const of = { runner_id: 'a', attempt: 1 };
      const files = { telemetry_data: `/out/${id}/${String(run).padStart(8, '0')}/attempt-1/telemetry.parquet` };
      if (metadata === undefined)
        await scene.api.fail(jobId(id, run), { ...of, reason: 'files-gone', error_message: 'the files are gone' });
      else
        await scene.api.complete(jobId(id, run), {
          ...of,
          result: { execution_time_secs: 1, output_files: [], metadata: { ...metadata }, ...files },
        });
    }
  }
  const extract = async (name?: string) =>
    (
      await scene.api.extractBatch(batch, {
        derived: [{ name: 'peak', take: 'max', telemetry: 'z' }],
        ...(name === undefined ? {} : { name }),
      })
    ).batch_id;
  async function page(
    request: { where?: string; sort?: string[] } = {},
    options: { limit: number; after?: string } = { limit: 100 },
  ) {
    const answer = await scene.api.table({ batchId: batch, format: 'json', ...request }, options);
    if (answer.state !== 'ready') throw new Error('it has no table');
    const text = new TextDecoder().decode(answer.body as Uint8Array);
    return { ...answer, page: JSON.parse(text) as Page };
  }
  const peaks = ({ rows }: Page): unknown[] => rows.map((row) => row['outputs.x1.peak'] ?? null);

  it('are columns of the runs that have them, and a condition, an order and every page knows them', async () => {
    await execute(await extract(), (run) => (run === 5 ? undefined : { peak: 100 - run }));
    const all = (await page()).page;
    expect(all.columns.map(({ name }) => name)).to.include.members(['outputs.miss', 'outputs.x1.peak']);
    expect(peaks(all)).to.deep.equal([100, 99, 98, 97, 96, null, 94, 93, 92, 91, 90, 89]);
    const some = await page({ where: 'outputs.x1.peak >= 93', sort: ['outputs.x1.peak'] }, { limit: 4 });
    expect([some.matched, peaks(some.page)]).to.deep.equal([7, [93, 94, 96, 97]]);
    const rest = await page(
      { where: 'outputs.x1.peak >= 93', sort: ['outputs.x1.peak'] },
      { limit: 4, after: some.next! },
    );
    expect(peaks(rest.page)).to.deep.equal([98, 99, 100]);
    const [first, second] = [
      await page({}, { limit: 7 }),
      await page({}, { limit: 7, after: (await page({}, { limit: 7 })).next! }),
    ];
    expect([...peaks(first.page), ...peaks(second.page)]).to.deep.equal(peaks(all));
  });

  it('are in the whole table as a file, which a client need not read again, and are read anew when runs of an extraction end', async () => {
    const x1 = await extract();
    await execute(x1, () => ({ peak: 1 }), 3);
    const whole = async () => {
      const answer = await scene.api.table({ batchId: batch, format: 'csv' });
      if (answer.state !== 'ready' || answer.body instanceof Uint8Array) throw new Error('it is not streamed');
      let text = '';
      for await (const piece of answer.body) text += new TextDecoder().decode(piece);
      const [head = '', ...rows] = text
        .trim()
        .split(/\r?\n/)
        .filter((line) => !line.startsWith('#'));
      const at = head.split(',').findIndex((it) => it.includes('x1.peak'));
      return { tag: answer.tag, values: rows.map((row) => row.split(',')[at]) };
    };
    const open = await whole();
    expect([open.tag, open.values.filter((it) => it === '1').length]).to.deep.equal([undefined, 3]);
    await execute(x1, () => ({ peak: 1 }));
    const over = await whole();
    expect(over.values.filter((it) => it === '1')).to.have.length(RUNS);
    const known = { isKnown: (tag: string) => tag === over.tag };
    expect((await scene.api.table({ batchId: batch, format: 'csv' }, known)).state).to.equal('unchanged');
    await extract();
    expect((await scene.api.table({ batchId: batch, format: 'csv' }, known)).state).to.equal('ready');
  });

  it('say in the header which runs have no files, what was thinned out, what is not there yet, and which name is taken', async () => {
    await execute(await extract(), (run) => (run === 5 || run === 7 ? undefined : { peak: run }));
    await execute(await extract(), () => ({ peak: 1 }), 2);
    const { warnings, rows } = (await page()).page;
    const said = warnings.filter(({ code }) => code === 'extracted').map(({ message }) => message);
    expect(said[0]).to.equal('x1: nothing of 2 runs (5,7): the files are gone');
    expect(said[1]).to.match(/^x1: the study has stored at most 10 samples per second/);
    expect(said.slice(2)).to.deep.equal([
      said[1]!.replace('x1', 'x2'),
      'x2: 10 runs of the extraction are not there yet',
      'x2.peak is an output of the study itself: that of the extraction is not shown',
    ]);
    expect(rows[0]!['outputs.x2.peak']).to.equal('own');
  });

  const ask = async <N extends QuestionName>(name: N, query: QuestionQuery<N>, of = batch) => {
    const answer = await scene.api.answer({ name, batchId: of, query }, { waitMs: 60_000 });
    if (answer.state !== 'ready') throw new Error(`it is ${answer.state}`);
    return JSON.parse(new TextDecoder().decode(answer.body)) as QuestionAnswer<N>;
  };
  const extractedIn = ({ warnings }: { warnings: readonly { code: string; message: string }[] }): string[] =>
    warnings.filter(({ code }) => code === 'extracted').map(({ message }) => message);

  it('answer questions about the study, with their units, runs without a value missing, and warnings where an answer names them', async () => {
    const x1 = (
      await scene.api.extractBatch(batch, { derived: [{ name: 'peak', take: 'max', telemetry: 'z', units: 'm' }] })
    ).batch_id;
    await execute(x1, (run) => (run === 5 ? undefined : { peak: 100 - run, ok: run > 3, word: 'w' }));
    const summary = await ask('summary', {});
    const peak = summary.outputs.find(({ name }) => name === 'x1.peak')!;
    expect(peak).to.deep.include({ count: RUNS - 1, missing: 1, units: 'm', min: 89, max: 100 });
    expect(summary.outputs.map(({ name }) => name)).to.include.members(['miss', 'x1.ok']);
    expect(extractedIn(summary)[0]).to.equal('x1: no value of 1 run, of which nothing could be computed');
    const { requirements } = await ask('verdicts', { output: 'x1.peak', condition: '> 95', probability: 0.1 });
    expect(requirements[0]).to.deep.include({ passed: 5 });
    const sensitivity = await ask('sensitivity', { output: 'x1.peak' });
    expect(sensitivity.n_used).to.equal(RUNS - 1);
    expect(extractedIn(sensitivity)).to.have.length(2);
    const [worst] = (await ask('worst', { output: 'x1.peak', direction: 'largest', k: 1 })).runs;
    expect(worst).to.deep.include({ run_id: 0, value: 100 });
    expect(extractedIn(await ask('sensitivity', { output: 'miss' })), 'it names no such output').to.deep.equal([]);
    const other = await scene.submit({ runs: RUNS });
    await execute(other, (run) => ({ miss: run + 1 }));
    await execute(
      (await scene.api.extractBatch(other, { derived: [{ name: 'peak', take: 'max', telemetry: 'z' }] })).batch_id,
      (run) => ({
        peak: 50 - run,
      }),
    );
    const compared = await ask('compare', { with: other });
    expect(JSON.stringify(compared)).to.include('x1.peak');
    await ask('sensitivity', { output: 'x1.nothing' }).then(
      () => expect.fail('it has no such output'),
      (error: Error) => expect(error.message).to.match(/the study has no output "x1.nothing"/),
    );
  });

  it('are asked about again when more runs of the extraction have ended', async () => {
    const x1 = await extract();
    await execute(x1, (run) => ({ peak: run }), 3);
    const first = await ask('summary', {});
    expect(first.outputs.find(({ name }) => name === 'x1.peak')).to.include({ count: 3, max: 2 });
    expect(extractedIn(first)[0]).to.equal('x1: 9 runs of the extraction are not there yet');
    await execute(x1, (run) => ({ peak: run }));
    const second = await ask('summary', {});
    expect(second.outputs.find(({ name }) => name === 'x1.peak')).to.include({ count: RUNS, max: RUNS - 1 });
    expect(extractedIn(second)).to.have.length(1);
  });

  it('leave a requirement on them open until they are computed, and count those that cannot be as unknown', async () => {
    const judge = async (more = {}) => {
      const query = { output: 'x1.peak', condition: '< 100', probability: 0.5, confidence: 0.9, ...more };
      const answer = await ask('verdicts', query);
      const [requirement] = answer.requirements;
      return { ...requirement!, extracted: extractedIn(answer) };
    };
    const x1 = await extract();
    const before = await judge();
    expect(before).to.include({ verdict: 'open', passed: 0, failed: 0, unknown: 0, judged: 0 });
    await judge({ output: 'x1.peek' }).then(
      () => expect.fail('it will have no such output'),
      (error: Error) => expect(error.message).to.match(/the study has no output "x1.peek"/),
    );
    expect(before.extracted[0]).to.equal('x1: 12 runs of the extraction are not there yet');
    await execute(x1, (run) => ({ peak: run }), 3);
    const first = await judge();
    expect(first).to.include({ verdict: 'open', passed: 3, unknown: 0, judged: 3 });
    expect(first.warnings.map(({ code }) => code)).to.include('unfinished');
    expect(await judge({ condition: '< 0', probability: 0.95 }), 'no open run can change it').to.include({
      verdict: 'violated',
      failed: 3,
    });
    await execute(x1, (run) => (run === 5 ? undefined : { peak: run }));
    const over = await judge();
    expect(over).to.include({ verdict: 'met', passed: 11, unknown: 1, judged: 12 });
    const own = await ask('verdicts', { output: 'miss', condition: '< 100', probability: 0.5 });
    expect(own.requirements[0]).to.include({ verdict: 'met', passed: 12 });
  });

  it('are of the runs that the extraction has', async () => {
    const derived = [{ name: 'peak', take: 'max' as const, telemetry: 'z' }];
    const { batch_id: some } = await scene.api.extractBatch(batch, {
      name: 'y',
      derived,
      select: { run_ids: '3-5,9' },
    });
    await execute(some, (run) => ({ peak: run }));
    const { runs: worst } = await ask('worst', { output: 'y.peak', direction: 'largest', k: 9 });
    expect(worst.map(({ run_id: run, value }) => [run, value])).to.deep.equal([9, 5, 4, 3].map((it) => [it, it]));
  });

  it('cannot be required of the study, whose runs are judged as they end', async () => {
    const x1 = await extract();
    const requirement = { name: 'low', output: 'x1.peak', condition: '< 3', probability: 0.9 };
    const error = await scene.api.amendJudgement(batch, { requirements: [requirement] }).then(
      () => undefined,
      (it: Error) => it,
    );
    expect(error?.message).to.match(
      new RegExp(`requirements/0/output is an output of an extraction; require "peak" of study ${x1}`),
    );
    await scene.api.amendJudgement(x1, { requirements: [{ ...requirement, output: 'peak' }] });
  });

  it('leave the results of the study, and its other questions, as they are', async () => {
    await execute(await extract(), () => ({ peak: 1 }));
    const { metadata } = await scene.api.jobResult(jobId(batch, 0));
    expect(metadata).to.deep.equal({ miss: 0, 'x2.peak': 'own' });
  });
});
