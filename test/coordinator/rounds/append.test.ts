/** Rounds of adaptive studies: appended once, in order, within the budget; and everything that is refused. */
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import type { RoundResults, Uuid } from '../../../src/contract/types.ts';
import { SimbatchError } from '../../../src/domain/errors.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { createSampler } from '../../../src/domain/sampling/sampler.ts';
import { submissionFaults } from '../../../src/domain/study/submission.ts';
import { adaptiveStudy } from '../../support/rounds.ts';
import { all, codeOf, Scene } from '../../support/scene.ts';

const ROW = { r: 1, x: 2 };

describe('coordinator/rounds/append', () => {
  let scene: Scene;
  let batch: Uuid;
  beforeEach(async () => {
    scene = await Scene.open();
    batch = (await scene.api.submit(adaptiveStudy())).batch_id;
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  const append = (body: object) => scene.api.appendRound(batch, body);
  const status = async () => (await scene.api.batch(batch)).batch;
  async function refusal(body: unknown): Promise<SimbatchError> {
    try {
      await scene.api.appendRound(batch, body);
    } catch (error) {
      return error as SimbatchError;
    }
    throw new Error('it was not refused');
  }
  const pointersOf = async (body: unknown) => ((await refusal(body)).faults ?? []).map(({ pointer }) => pointer);
  async function run(count: number): Promise<number[]> {
    const runs = await scene.claim('a', count);
    for (const it of runs) {
      await scene.start(batch, it, 'a');
      await scene.complete(batch, it, 'a');
    }
    return runs;
  }
  const results = async (round: number): Promise<RoundResults> => {
    const answer = await scene.api.roundResults(batch, round);
    if (!('pieces' in answer)) throw new Error(`round ${round} is open`);
    return JSON.parse(answer.pieces.join('')) as RoundResults;
  };

  it('begins without runs, waits for rows, grows by rounds and ends when it is closed', async () => {
    expect(await status()).to.deep.include({
      total_jobs: 0,
      status: 'Pending',
      rounds: 0,
      budget: 20,
      waiting_for_rows: true,
    });
    const first = await append({ key: 'g0', rows: [ROW, { r: 3, x: -0 }] });
    expect(first).to.deep.include({ round: 0, first_run_id: 0, count: 2, run_ids: '0-1', repeated: false });
    expect(await status())
      .to.include({ total_jobs: 2, rounds: 1 })
      .and.not.have.property('waiting_for_rows');
    await scene.register('a', { slots: 4 });
    expect(await run(4)).to.deep.equal([0, 1]);
    expect(await status()).to.deep.include({ status: 'Running', waiting_for_rows: true });
    expect(await append({ round: 1, columns: { r: [4], x: [5] } })).to.deep.include({ round: 1, run_ids: '2' });
    await scene.api.closeBatch(batch);
    expect(await status()).to.include({ status: 'Running', closed: true });
    expect(await run(4)).to.deep.equal([2]);
    expect(await status()).to.include({ status: 'Completed', closed: true, total_jobs: 3 });
    expect(await scene.api.closeBatch(batch), 'again').to.include({ status: 'Completed' });
  });

  it('gives a run the numbers of its row, and all else of the Monte Carlo draw that the row names', async () => {
    await append({ key: 'a', rows: [ROW, { r: 3, x: 4 }, { r: 5, x: 6 }], draws: [null, 7, 7] });
    await scene.register('a', { slots: 4 });
    const { assignments } = await scene.claimRaw('a', 4);
    const configs = assignments.map(({ job }) => job.run_config);
    const { wind } = adaptiveStudy().config.dispersions;
    const drawn = createSampler({ wind: wind! }, { runs: 100, sampling_method: 'monte_carlo', seed: 42 });
    expect(configs.map(({ parameters }) => parameters)).to.deep.equal([
      { r: 1, wind: drawn.parameters(0)['wind'], x: 2 },
      { r: 3, wind: drawn.parameters(7)['wind'], x: 4 },
      { r: 5, wind: drawn.parameters(7)['wind'], x: 6 },
    ]);
    expect(configs.map(({ metadata }) => metadata.draw)).to.deep.equal([0, 7, 7]);
  });

  it('has the documented digest and chain', async () => {
    const { digest } = await append({ key: 'a', rows: [ROW] });
    const hash = createHash('sha256').update('simbatch-round/1\0parameters\0r\0x\0');
    expect(digest).to.equal(hash.update(new Uint8Array(new Float64Array([1, 2]).buffer)).digest('hex'));
    await append({ key: 'b', rows: [ROW], draws: [3] });
    const rounds = await all(await scene.api.rounds(batch));
    const withDraw = createHash('sha256').update('simbatch-round/1\0parameters\0r\0x\0');
    withDraw.update(new Uint8Array(new Float64Array([1, 2]).buffer)).update(new Uint8Array(new Int32Array([3]).buffer));
    expect(rounds[1]!.digest).to.equal(withDraw.digest('hex'));
    expect(await scene.api.checkRounds(batch)).to.deep.include({
      rounds: 2,
      runs: 2,
      verdict: 'identical',
      faults: [],
    });
  });

  it('answers a repeat from the store before the state of the study is looked at, also after a restart', async () => {
    const first = await append({ key: 'a', rows: [ROW] });
    const numbered = await append({ round: 1, rows: [ROW, ROW], draws: [null, 4] });
    await append({ key: 'c', rows: [ROW] });
    for (const end of ['open', 'restart', 'cancelled']) {
      if (end === 'restart') await scene.restart();
      if (end === 'cancelled') await scene.api.cancelBatch(batch);
      expect(await append({ key: 'a', rows: [ROW] }), end).to.deep.equal({ ...first, repeated: true });
      expect(await append({ round: 1, rows: [ROW, ROW], draws: [null, 4] }), end).to.deep.equal({
        ...numbered,
        repeated: true,
      });
      expect((await append({ round: 1, rows: [ROW, ROW], draws: [1, 4] })).repeated, end).to.equal(true);
    }
    expect(await status()).to.include({ total_jobs: 4, rounds: 3 });
  });

  it('refuses other rows under a known key or number, and names the first place that differs', async () => {
    await append({ key: 'a', rows: [ROW, ROW] });
    const other = await refusal({ key: 'a', rows: [ROW, { r: 1, x: 9 }] });
    expect(other.code).to.equal('round-key-reused');
    expect(other.faults).to.deep.equal([{ pointer: '/rows/1/x', detail: 'differs from the stored round' }]);
    expect((await refusal({ key: 'a', columns: { r: [0, 0], x: [2, 2] } })).faults![0]!.pointer).to.equal(
      '/columns/r/0',
    );
    expect((await refusal({ key: 'a', rows: [ROW] })).message).to.contain('has 1 rows, and the stored round has 2');
    expect(
      (
        await refusal({
          key: 'a',
          rows: [
            { r: 1, x: 2 },
            { r: 1, x: 2 },
          ],
          draws: [0, 5],
        })
      ).faults![0]!.pointer,
    ).to.equal('/draws/1');
    expect(await codeOf(append({ key: 'a', round: 1, rows: [ROW, ROW] }))).to.equal('round-key-reused');
    expect(await codeOf(append({ round: 0, rows: [ROW] }))).to.equal('round-taken');
    expect(await codeOf(append({ key: 'new', round: 0, rows: [ROW, ROW] }))).to.equal('round-taken');
    const late = await refusal({ round: 3, rows: [ROW] });
    expect([late.code, late.message]).to.deep.equal([
      'round-out-of-order',
      'the next round of the study is 1, and the request says 3',
    ]);
    expect(await status()).to.include({ total_jobs: 2, rounds: 1 });
  });

  it('distinguishes 0 and -0', async () => {
    await append({ key: 'a', rows: [{ r: 0, x: 0 }] });
    expect(await codeOf(append({ key: 'a', rows: [{ r: 0, x: -0 }] }))).to.equal('round-key-reused');
  });

  it('appends one round when two clients send the same key at once, and two in turn for two keys', async () => {
    const both = await Promise.all([append({ key: 'a', rows: [ROW] }), append({ key: 'a', rows: [ROW] })]);
    expect(both.map(({ round, repeated }) => [round, repeated])).to.deep.equal([
      [0, false],
      [0, true],
    ]);
    const keys = ['b', 'c', 'd'].map((key) => append({ key, rows: [ROW, ROW], draws: [null, 1] }));
    expect((await Promise.all(keys)).map((it) => it.run_ids)).to.deep.equal(['1-2', '3-4', '5-6']);
    expect(await scene.api.checkRounds(batch)).to.deep.include({ rounds: 4, runs: 7, verdict: 'identical' });
  });

  it('gives rows without a draw the draws of their own runs, also when other clients append at the same time', async () => {
    const appends = ['a', 'b', 'c'].map((key) => append({ key, rows: [ROW, ROW], draws: [null, 1] }));
    const [first] = await Promise.all(appends);
    await scene.register('a', { slots: 8 });
    const { assignments } = await scene.claimRaw('a', 8);
    expect(assignments.map(({ job }) => job.run_config.metadata.draw)).to.deep.equal([0, 1, 2, 1, 4, 1]);
    expect(await append({ key: 'a', rows: [ROW, ROW], draws: [0, 1] })).to.deep.equal({ ...first!, repeated: true });
  });

  it('completes every round of a cancelled study, with runs that wait, run or have ended, and answers who waits', async () => {
    for (const key of ['ended', 'half', 'running', 'untouched']) await append({ key, rows: [ROW, ROW] });
    await scene.register('a', { slots: 4 });
    expect(await scene.claim('a', 4)).to.deep.equal([0, 1, 2, 3]);
    for (const it of [0, 1, 2]) {
      await scene.start(batch, it, 'a');
      await scene.complete(batch, it, 'a');
    }
    await scene.register('b', { slots: 2 });
    await scene.claim('b', 2);
    const completed: number[] = [];
    scene.api.parts.roundProgress.onComplete(({ round }) => completed.push(round));
    const waiting = [1, 2, 3].map((round) => scene.api.roundResults(batch, round, { waitMs: 30_000 }));
    await scene.api.cancelBatch(batch);
    for (const answer of await Promise.all(waiting)) expect(answer).to.have.property('pieces');
    expect(completed).to.have.members([1, 2, 3]);
    expect((await all(await scene.api.rounds(batch))).map((it) => it.complete)).to.deep.equal([true, true, true, true]);
  });

  it('keeps to its budget, and appends nothing of a round beyond it', async () => {
    await append({ key: 'a', rows: Array.from({ length: 18 }, () => ROW) });
    const { code, message } = await refusal({ key: 'b', rows: [ROW, ROW, ROW] });
    expect([code, message]).to.deep.equal([
      'budget-exhausted',
      'the round has 3 runs, and 2 of the 20 runs of the study are left; nothing was appended',
    ]);
    expect(await append({ key: 'b', rows: [ROW, ROW] })).to.include({ run_ids: '18-19' });
    expect(await status()).to.include({ total_jobs: 20, status: 'Pending' });
  });

  it('takes rounds while it is paused, and none once it is cancelled or closed', async () => {
    await scene.register('a', { slots: 4 });
    await scene.api.pauseBatch(batch);
    await append({ key: 'a', rows: [ROW] });
    expect(await scene.claim('a', 4)).to.deep.equal([]);
    await scene.api.resumeBatch(batch);
    expect(await scene.claim('a', 4)).to.deep.equal([0]);
    await scene.api.closeBatch(batch);
    expect(await codeOf(append({ key: 'b', rows: [ROW] }))).to.equal('study-closed');
    const other = (await scene.api.submit(adaptiveStudy())).batch_id;
    await scene.api.cancelBatch(other);
    expect(await codeOf(scene.api.appendRound(other, { key: 'b', rows: [ROW] }))).to.equal('study-closed');
    expect(await scene.status(other)).to.contain('Cancelled');
    const fixed = await scene.submit({ runs: 1 });
    expect(await codeOf(scene.api.appendRound(fixed, { key: 'b', rows: [ROW] }))).to.equal('not-external');
    expect(await codeOf(scene.api.closeBatch(fixed))).to.equal('not-external');
    expect(await codeOf(scene.api.extendBatch(batch, { runs: 30 }))).to.equal('not-extendable');
  });

  const cases: [string, unknown, string[]][] = [
    ['no key and no round', { rows: [ROW] }, ['']],
    ['neither rows nor columns', { key: 'a' }, ['']],
    ['both', { key: 'a', rows: [ROW], columns: { r: [1], x: [1] } }, ['']],
    ['no row', { key: 'a', rows: [] }, ['/rows']],
    ['no row by column', { key: 'a', columns: { r: [], x: [] } }, ['/columns']],
    ['rows in an object', { key: 'a', rows: { r: 1 } }, ['/rows']],
    ['a row without members', { key: 'a', rows: [ROW, null, 3, [1]] }, ['/rows/1', '/rows/2', '/rows/3']],
    ['a missing number', { key: 'a', rows: [ROW, { r: 1 }] }, ['/rows/1/x']],
    [
      'an infinite number',
      {
        key: 'a',
        rows: [
          { r: 1, x: Infinity },
          { r: 1, x: NaN },
        ],
      },
      ['/rows/0/x', '/rows/1/x'],
    ],
    ['a text', { key: 'a', columns: { r: [1, 2], x: [1, '2'] } }, ['/columns/x/1']],
    [
      'a number out of bounds',
      {
        key: 'a',
        rows: [
          { r: -1, x: 0 },
          { r: 11, x: 0 },
        ],
      },
      ['/rows/0/r', '/rows/1/r'],
    ],
    ['a name that is drawn', { key: 'a', rows: [{ ...ROW, wind: 1 }] }, ['/rows/0/wind']],
    ['an unknown name', { key: 'a', columns: { r: [1], x: [1], y: [2] } }, ['/columns/y']],
    ['__proto__', { key: 'a', rows: [JSON.parse('{"r":1,"x":2,"__proto__":3}')] }, ['/rows/0/__proto__']],
    ['columns of several lengths', { key: 'a', columns: { r: [1, 2], x: [1] } }, ['/columns/x']],
    ['a draw too few', { key: 'a', rows: [ROW, ROW], draws: [1] }, ['/draws']],
    [
      'draws that cannot be run ids',
      { key: 'a', rows: [ROW, ROW, ROW], draws: [-1, 0.5, 2 ** 31] },
      ['/draws/0', '/draws/1', '/draws/2'],
    ],
    ['an unknown member', { key: 'a', rows: [ROW], lable: 'x' }, ['/lable']],
    ['an empty key', { key: '', rows: [ROW] }, ['/key']],
    ['a key too long', { key: 'k'.repeat(201), rows: [ROW] }, ['/key']],
    ['a key of another type', { key: 7, rows: [ROW] }, ['/key']],
    ['a lone surrogate', { key: '\ud800', rows: [ROW] }, ['/key']],
    [
      'a label and a note too long',
      { key: 'a', rows: [ROW], label: 'l'.repeat(201), note: 'n'.repeat(10_001) },
      ['/label', '/note'],
    ],
    ['a round between two numbers', { round: 1.5, rows: [ROW] }, ['/round']],
    ['a list', [ROW], ['']],
    ['too many rows', { key: 'a', rows: Array.from({ length: 10_001 }, () => ROW) }, ['/rows']],
  ];
  for (const [title, body, pointers] of cases) {
    it(`refuses ${title}`, async () => {
      expect((await refusal(body)).code).to.equal('invalid-request');
      expect(await pointersOf(body)).to.deep.equal(pointers);
      expect(await status()).to.include({ total_jobs: 0, rounds: 0 });
    });
  }

  it('answers the results of a round once its runs have ended, and answers the waiting requests', async () => {
    await append({ key: 'a', rows: [ROW, { r: 3, x: 4 }], label: 'first', note: 'a note' });
    await append({ key: 'b', rows: [ROW] });
    await scene.register('a', { slots: 4 });
    const open = await scene.api.roundResults(batch, 0);
    expect(open).to.deep.equal({
      progress: { round: 0, first_run_id: 0, count: 2, counts: { open: 2 }, complete: false },
    });
    const waiting = scene.api.roundResults(batch, 0, { waitMs: 30_000 });
    const [one, two, three] = await scene.claim('a', 4);
    expect([one, two, three]).to.deep.equal([0, 1, 2]);
    for (const it of [0, 1]) await scene.start(batch, it, 'a');
    await scene.complete(batch, 0, 'a');
    await scene.api.fail(jobId(batch, 1), { runner_id: 'a', attempt: 1, reason: 'invalid', error_message: 'broken' });
    expect(await waiting).to.have.property('pieces');
    const { counts, complete, results: rows } = await results(0);
    expect({ counts, complete }).to.deep.equal({ counts: { ok: 1, crashed: 1 }, complete: true });
    expect(rows.map((it) => [it.run_id, it.class, it.outputs, it.parameters['x']])).to.deep.equal([
      [0, 'ok', { miss: 1 }, 2],
      [1, 'crashed', {}, 4],
    ]);
    expect(rows[1]!.error).to.contain('broken');
    expect(await scene.api.round(batch, 0)).to.deep.include({
      key: 'a',
      label: 'first',
      note: 'a note',
      complete: true,
    });
    expect(await scene.api.roundByKey(batch, 'b')).to.deep.include({ round: 1, complete: false, counts: { open: 1 } });
    expect((await all(await scene.api.rounds(batch))).map((it) => it.complete)).to.deep.equal([true, false]);
    expect((await all(await scene.api.rounds(batch, { from: 1, limit: 5 }))).map((it) => it.round)).to.deep.equal([1]);
    expect((await all(await scene.api.rounds(batch, { step: 2 }))).map((it) => it.round)).to.deep.equal([0]);
    await scene.restart();
    expect(
      (await all(await scene.api.rounds(batch))).map((it) => it.complete),
      'after a restart',
    ).to.deep.equal([true, false]);
    const later = scene.api.roundResults(batch, 1, { waitMs: 30_000 });
    await scene.api.cancelBatch(batch);
    expect(await later).to.have.property('pieces');
    expect(await codeOf(scene.api.round(batch, 2))).to.equal('unknown-round');
    expect(await codeOf(scene.api.roundByKey(batch, 'c'))).to.equal('unknown-round');
  });

  it('is gone with its study: rounds, rows and keys', async () => {
    await append({ key: 'a', rows: [ROW] });
    await scene.api.cancelBatch(batch);
    await scene.api.deleteBatch(batch);
    await scene.api.parts.purges.idle();
    const left = [...scene.store.disk.keys()].filter((key) => key.includes(batch));
    expect(left).to.deep.equal([]);
  });

  it('is refused with what fixes the runs in advance or stops the study', () => {
    const submission = adaptiveStudy({ config: { monte_carlo: { run_ids: '0-3', replicate: 1 } } });
    submission.runs_override = 5;
    submission.policy = { stop_when: 'settled' };
    const pointers = submissionFaults(submission).map(({ pointer }) => pointer);
    expect(pointers).to.include.members([
      '/config/monte_carlo/run_ids',
      '/config/monte_carlo/replicate',
      '/runs_override',
      '/policy/stop_when',
    ]);
    const rare = adaptiveStudy();
    rare.config.adaptive = { algorithm: 'rare_event' };
    expect(submissionFaults(rare).map(({ pointer }) => pointer)).to.include.members([
      '/config/adaptive/requirement',
      '/config/monte_carlo/runs',
      '/config/dispersions/r/distribution/type',
    ]);
    const without = adaptiveStudy();
    delete without.config.adaptive;
    expect(submissionFaults(without).map(({ pointer }) => pointer)).to.deep.equal(['/config/adaptive']);
    const other = adaptiveStudy();
    other.config.monte_carlo.sampling_method = 'monte_carlo';
    expect(submissionFaults(other).map(({ pointer }) => pointer)).to.deep.equal([
      '/config/adaptive',
      '/config/dispersions/x/distribution/type',
      '/config/dispersions/r/distribution/type',
    ]);
    const joined = adaptiveStudy();
    joined.config.correlations = [{ parameters: ['r', 'wind'], rank: 0.5 }];
    expect(submissionFaults(joined)[0]!.detail).to.contain('uses no random number and cannot be correlated');
  });
});
