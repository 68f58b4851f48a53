/** Points of adaptive studies: each is executed once, however many clients ask for it and however often; and the results in the order of the rows. */
import { expect } from 'chai';
import type { Evaluation, EvaluationProgress, Uuid } from '../../../src/contract/types.ts';
import type { SimbatchError } from '../../../src/domain/errors.ts';
import { Abandonment } from '../../../src/base/abandonment.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { adaptiveStudy } from '../../support/rounds.ts';
import { all, codeOf, RESULT, Scene } from '../../support/scene.ts';

const MANY = Array.from({ length: 10_001 }, () => 1);
const rowsOf = (...xs: number[]): { rows: object[] } => ({ rows: xs.map((x) => ({ r: 1, x })) });

describe('coordinator/rounds/evaluate', () => {
  let scene: Scene;
  let batch: Uuid;
  beforeEach(async () => {
    scene = await Scene.open();
    batch = (await scene.api.submit(adaptiveStudy())).batch_id;
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  /** The answer, complete or not. */
  async function ask(
    body: object,
    options: { waitMs?: number; abandoned?: Abandonment } = {},
  ): Promise<Evaluation | EvaluationProgress> {
    const answer = await scene.api.evaluate(batch, body, options);
    return 'pieces' in answer ? (JSON.parse(answer.pieces.join('')) as Evaluation) : answer.progress;
  }
  async function results(body: object): Promise<Evaluation> {
    const answer = await ask(body);
    if (!('points' in answer)) throw new Error('runs are open');
    return answer;
  }
  const total = async (): Promise<number> => (await scene.api.batch(batch)).batch.total_jobs;
  const runsOf = async (body: object): Promise<number[]> => (await results(body)).points.map(({ run_id: run }) => run);
  /** Executes all open runs; the output `y` of a run is its `x`, and runs with a negative `x` fail. */
  async function work(): Promise<void> {
    await scene.register('a', { slots: 50 });
    const { assignments } = await scene.claimRaw('a', 50);
    for (const { job, attempt } of assignments) {
      const { run_id: run, parameters } = job.run_config;
      const x = parameters['x']!;
      await scene.start(batch, run, 'a', attempt);
      if (x < 0) await scene.fail(batch, run, 'a', attempt);
      else {
        const result = { ...RESULT, metadata: { y: x, deep: { z: -x } } };
        await scene.api.complete(jobId(batch, run), { runner_id: 'a', attempt: attempt, result });
      }
    }
    if (assignments.length > 0) await work();
  }

  it('appends the rows that no round has, each once, and answers in the order of the request', async () => {
    const first = await ask(rowsOf(3, 1, 3));
    expect(first).to.deep.include({ count: 3, counts: { open: 3 }, complete: false });
    expect(first.appended).to.deep.include({ round: 0, count: 2, run_ids: '0-1', repeated: false });
    expect((await ask(rowsOf(1, 2, 3))).appended).to.deep.include({ round: 1, count: 1, run_ids: '2' });
    expect((await ask(rowsOf(2, 1))).appended, 'a repeat').to.equal(null);
    await work();
    const answer = await results({ ...rowsOf(2, 3, 1, 3), outputs: ['y', 'unknown'] });
    expect(answer).to.deep.include({ appended: null, counts: { ok: 4 }, complete: true });
    expect(answer.points).to.deep.equal([
      { run_id: 2, class: 'ok', outputs: { y: 2 } },
      { run_id: 0, class: 'ok', outputs: { y: 3 } },
      { run_id: 1, class: 'ok', outputs: { y: 1 } },
      { run_id: 0, class: 'ok', outputs: { y: 3 } },
    ]);
    expect((await results({ columns: { r: [1], x: [2] } })).points[0]!.outputs, 'all outputs').to.include({
      y: 2,
      'deep.z': -2,
    });
    expect(await total()).to.equal(3);
  });

  it('knows the rows of rounds that clients have appended, and theirs know its key', async () => {
    await scene.api.appendRound(batch, { key: 'mine', ...rowsOf(5, 6) });
    expect((await ask(rowsOf(6, 7))).appended).to.deep.include({ round: 1, count: 1 });
    const [, second] = await all(await scene.api.rounds(batch));
    expect(second!.key).to.equal(second!.digest);
    expect(await scene.api.appendRound(batch, { key: second!.digest, ...rowsOf(7) })).to.include({
      repeated: true,
      round: 1,
    });
  });

  it('distinguishes -0 from 0, and rows from their neighbours, by all of their bytes', async () => {
    expect(
      (
        await ask({
          rows: [
            { r: 1, x: 0 },
            { r: 1, x: -0 },
            { r: 0, x: 1 },
          ],
        })
      ).appended!.count,
    ).to.equal(3);
  });

  it('executes a point once for clients that ask at the same time', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, client) => ask(rowsOf(client % 4, 10 + (client % 3)))),
    );
    expect(answers.reduce((sum, { appended }) => sum + (appended?.count ?? 0), 0)).to.equal(7);
    expect(await total()).to.equal(7);
  });

  it('finds all points again after a restart', async () => {
    for (let x = 0; x < 9; x++) await ask(rowsOf(x));
    await work();
    await scene.restart();
    expect(await runsOf(rowsOf(8, 0, 4))).to.deep.equal([8, 0, 4]);
    expect(await total()).to.equal(9);
  });

  it('counts a failed point as evaluated, and executes it again on request only', async () => {
    await ask(rowsOf(-1, 1));
    await work();
    const failed = await results(rowsOf(-1, 1));
    expect(failed.counts).to.deep.equal({ crashed: 1, ok: 1 });
    expect(failed.points[0]).to.include({ class: 'crashed', error: 'broke' });
    const again = await ask({ ...rowsOf(-1, 1, -1), retry_failed: true });
    expect(again.appended).to.deep.include({ round: 1, count: 1, run_ids: '2' });
    expect((await ask({ ...rowsOf(-1, 1), retry_failed: true })).appended, 'it is open').to.equal(null);
    await scene.register('a', { slots: 2 });
    await scene.claim('a');
    await scene.start(batch, 2, 'a');
    await scene.complete(batch, 2, 'a');
    expect(await runsOf(rowsOf(-1, 1)), 'the first failed: the last counts').to.deep.equal([2, 1]);
    expect((await ask({ ...rowsOf(-1), retry_failed: true })).appended, 'it has completed').to.equal(null);
    await ask(rowsOf(-2));
    await work();
    for (const round of [3, 4]) {
      expect((await ask({ ...rowsOf(-2), retry_failed: true })).appended).to.include({ round });
      await work();
    }
  });

  it('waits for its own runs alone, and until the client disconnects', async () => {
    await ask(rowsOf(1, 2));
    const both = ask(rowsOf(2, 1), { waitMs: 30_000 });
    const one = ask(rowsOf(1), { waitMs: 30_000 });
    const gone = new Abandonment();
    const left = ask(rowsOf(2), { waitMs: 30_000, abandoned: gone });
    await scene.register('a', { slots: 2 });
    await scene.claim('a', 2);
    await scene.start(batch, 0, 'a');
    await scene.complete(batch, 0, 'a');
    expect(await one).to.deep.include({ complete: true });
    gone.abort('gone');
    expect(await left).to.deep.include({ complete: false });
    await scene.start(batch, 1, 'a');
    await scene.complete(batch, 1, 'a');
    expect(await both).to.deep.include({ complete: true, counts: { ok: 2 } });
    await ask(rowsOf(3));
    const cancelled = ask(rowsOf(3), { waitMs: 30_000 });
    await scene.api.cancelBatch(batch);
    expect(await cancelled).to.deep.include({ complete: true, counts: { cancelled: 1 } });
  });

  it('answers at the end of the wait', async () => {
    const late = ask(rowsOf(1), { waitMs: 5_000 });
    for (let turns = 0; turns < 50; turns++) await Promise.resolve();
    await scene.world.advance(5_000);
    expect(await late).to.deep.include({ complete: false });
  });

  it('refuses new rows beyond the budget and of a closed study, and answers for known ones', async () => {
    await ask(rowsOf(1));
    await work();
    const many = rowsOf(...Array.from({ length: 20 }, (_, x) => x + 2));
    expect(await codeOf(ask(many))).to.equal('budget-exhausted');
    expect(await total(), 'nothing was appended').to.equal(1);
    await scene.api.closeBatch(batch);
    expect(await codeOf(ask(rowsOf(1, 2)))).to.equal('study-closed');
    expect(await runsOf(rowsOf(1, 1))).to.deep.equal([0, 0]);
    const plain = await scene.submit();
    expect(await codeOf(scene.api.evaluate(plain, rowsOf(1)))).to.equal('not-external');
    const rerun = await scene.api.rerunBatch(batch, {});
    expect(await codeOf(scene.api.evaluate(rerun.batch_id, rowsOf(1))), 'a rerun takes no rows').to.equal(
      'not-external',
    );
  });

  const refused: [string, object, string][] = [
    ['a missing number', { rows: [{ r: 1 }] }, '/rows/0/x'],
    [
      'a number out of bounds',
      {
        rows: [
          { r: 1, x: 1 },
          { r: 11, x: 1 },
        ],
      },
      '/rows/1/r',
    ],
    ['no rows', { rows: [] }, '/rows'],
    ['10,001 rows', { columns: { r: MANY, x: MANY } }, '/columns'],
    ['a key', { key: 'a', rows: [{ r: 1, x: 1 }] }, '/key'],
    ['outputs that are a text', { outputs: 'y', rows: [{ r: 1, x: 1 }] }, '/outputs'],
    ['an output without a name', { outputs: ['y', ''], rows: [{ r: 1, x: 1 }] }, '/outputs/1'],
    ['a text for retry_failed', { retry_failed: 'no', rows: [{ r: 1, x: 1 }] }, '/retry_failed'],
  ];
  for (const [what, body, pointer] of refused) {
    it(`refuses ${what}`, async () => {
      const error: SimbatchError = await ask(body).then(
        () => expect.fail('it was not refused'),
        (it: SimbatchError) => it,
      );
      expect([error.code, error.faults?.[0]?.pointer]).to.deep.equal(['invalid-request', pointer]);
      expect(await total()).to.equal(0);
    });
  }
});
