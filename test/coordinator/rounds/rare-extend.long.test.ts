/** Studies of rare events that are extended after their end: opened again, with the further rounds that the pure functions give. */
import { expect } from 'chai';
import { madeRareStudy } from '../../analysis/rare/studies.ts';
import type { BatchSubmission, Uuid } from '../../../src/contract/types.ts';
import { decodeBlock } from '../../../src/domain/adaptive/rows.ts';
import { keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import { answerOf, roundsOf, sumOf, work, type WorkOptions } from '../../support/rare-work.ts';
import { rareStudy } from '../../support/rounds.ts';
import { Scene } from '../../support/scene.ts';

/** Its search has room for one level in its budget. */
const FEW = 100 + 2 * 50 + 200 + 150;

describe('coordinator/rounds/rare-extend', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open({ computesInWorker: false });
  });
  afterEach(async () => {
    expect(scene.faults).to.deep.equal([]);
    await scene.api.close();
  });

  const ended = async (submission: BatchSubmission, options: WorkOptions = {}): Promise<Uuid> => {
    const { batch_id: batch } = await scene.api.submit(submission);
    await work(scene, batch, options);
    return batch;
  };
  const refusal = async (batch: Uuid, request: Parameters<typeof scene.api.extendBatch>[1]): Promise<string> => {
    const before = scene.store.get(keys.batch(batch));
    const error = (await scene.api.extendBatch(batch, request).catch((it: unknown) => it)) as Error & {
      code?: string;
      faults?: readonly { pointer: string; detail: string }[];
    };
    expect(scene.store.get(keys.batch(batch)), 'nothing has changed').to.equal(before);
    const [fault] = error.faults ?? [];
    return fault === undefined ? `${error.code}: ${error.message}` : `${fault.pointer} ${fault.detail}`;
  };
  const again = (batch: Uuid, crashes: boolean): Promise<void> =>
    work(scene, batch, { before: async (claims) => (crashes && claims % 2 === 0 ? scene.restart() : undefined) });

  for (const [what, submission, runs] of [
    ['a confirmed one', rareStudy({ limit: 3.5 }), [230, 45]],
    ['a search that reached nothing', { ...rareStudy({ limit: 3.5 }), runs: FEW }, [250, 900]],
  ] as [string, BatchSubmission & { runs?: number }, number[]][]) {
    it(`takes further rounds, with crashes between any two claims: ${what}`, async () => {
      const { runs: budget = 0, ...study } = submission;
      study.config.monte_carlo.runs = budget;
      Object.assign(study.config.adaptive!, { confirm_part: 60, tune_runs: 50 });
      const batch = await ended(study);
      const first = await roundsOf(scene, batch);
      const { batch: closed } = await scene.api.batch(batch);
      expect(closed).to.include({ status: 'Completed', closed: true });
      for (const [at, more] of runs.entries()) {
        const { budget: before } = (await scene.api.batch(batch)).batch;
        const answer = await scene.api.extendBatch(batch, { runs: more });
        expect(answer).to.include({ batch_id: batch, mode: 'reopened', budget: before! + more });
        const { batch: open } = await scene.api.batch(batch);
        expect(open).to.include({ status: 'Running' });
        expect([open.closed, open.ended_at]).to.deep.equal([undefined, undefined]);
        expect(await answerOf(scene, batch)).to.include({ reason: null, verdict: null });
        await again(batch, at === 0);
      }
      const made = madeRareStudy(study, sumOf, runs);
      const stored = await roundsOf(scene, batch);
      expect(stored.slice(0, first.length)).to.deep.equal(first);
      expect(stored.length).to.be.above(first.length);
      const rows = stored.flatMap((_, round) => [
        ...decodeBlock(scene.store.get(keys.rows(batch, round, 0))!, 2).values,
      ]);
      // The parameters are the coordinates: standard normals.
      expect(rows).to.deep.equal(made.parameters.flatMap(({ a = 0, b = 0 }) => [a, b]));
      const never = made.answer();
      const { batch_id: _, studies: __, parts: ___, warnings: ____, ...answer } = await answerOf(scene, batch);
      const { batch_id: _a, studies: _b, parts: _c, warnings: _d, ...expected } = never;
      expect(answer).to.deep.equal(expected);
      expect(answer.reason).to.equal('confirmed');
      expect((await scene.api.checkRounds(batch)).computed).to.deep.include({ verdict: 'identical' });
      const { events } = await scene.api.batchHistory(batch);
      expect(events.map(({ type }) => type).join(' ')).to.equal(
        'submitted started closed extended closed extended closed ended',
      );
    });
  }

  it('takes those that were submitted with it along, and one of them alone by its own id', async () => {
    const { studies } = await scene.api.submit(rareStudy({ limit: 3.5, studies: 2 }));
    const [first, second] = studies as [Uuid, Uuid];
    await scene.api.pauseBatch(second, 'later');
    await work(scene, first);
    expect(await refusal(first, { runs: 100 })).to.match(
      new RegExp(`^not-extendable: study ${first} is not extended: study ${second} is (Pending|Running), and rounds`),
    );
    await scene.api.resumeBatch(second);
    await work(scene, second);
    const before = await answerOf(scene, first, { combined: 'true' });
    const once = { idempotencyKey: 'more', bodyDigest: 'a' };
    const answer = await scene.api.extendBatch(first, { runs: 300 }, once);
    expect(answer.studies).to.deep.equal([first, second]);
    // A repeat of the request extends nothing again, also after a crash.
    await scene.restart();
    expect(await scene.api.extendBatch(first, { runs: 300 }, once)).to.deep.equal(answer);
    expect((await answerOf(scene, first, { combined: 'true' })).estimate).to.equal(null);
    await work(scene, first);
    await work(scene, second);
    const after = await answerOf(scene, first, { combined: 'true' });
    expect(after.runs).to.equal(before.runs + 600);
    expect(after.lower!).to.be.above(before.lower!);
    expect(after.upper!).to.be.below(before.upper!);
    const alone = await scene.api.extendBatch(second, { runs: 50 });
    expect(alone).to.include({ batch_id: second }).and.not.have.property('studies');
    expect((await scene.api.batch(first)).batch.status).to.equal('Completed');
  });

  it('leaves one whose end is final, and says so', async () => {
    const { studies } = await scene.api.submit(rareStudy({ limit: 3.5, studies: 2 }));
    const [first, second] = studies as [Uuid, Uuid];
    await scene.api.cancelBatch(second, 'no');
    await work(scene, first);
    const answer = await scene.api.extendBatch(first, { runs: 300 });
    expect(answer).not.to.have.property('studies');
    expect(answer.warnings).to.deep.equal([
      { code: 'not-extended', pointer: '', detail: `study ${second} is not extended: it is Cancelled; submit it anew` },
    ]);
  });

  it('is refused at another end, and for runs that lead nowhere', async () => {
    const cases: [reason: string, value: WorkOptions['value']][] = [
      ['not-rare', () => 5],
      ['plateau', (p) => (sumOf(p) > 1.2 ? 1 : 0)],
      ['no-output', () => undefined],
    ];
    for (const [reason, value] of cases) {
      const batch = await ended(rareStudy({ name: reason }), { value });
      expect(await refusal(batch, { runs: 500 })).to.match(
        new RegExp(`^not-extendable: study ${batch} is not extended: it ended as ${reason}, and only`),
      );
    }
    const confirmed = await ended(rareStudy({ limit: 3.5 }));
    expect(await refusal(confirmed, {})).to.match(/^\/runs is missing; give the number of further draws/);
    expect(await refusal(confirmed, { runs: 10, name: 'other' })).to.match(/^\/name is given/);
    // 100 rounds of 200 draws at most.
    expect(await refusal(confirmed, { runs: 19_801 })).to.match(/^\/runs is 19801; study .* takes up to 19800 more/);
    const narrow = { maxRuns: 2_100 };
    const tooMany = await scene.api.extendBatch(confirmed, { runs: 101 }, narrow).catch((it: unknown) => it);
    expect(tooMany).to.include({ code: 'invalid-request' });
    const few = rareStudy({ limit: 3.5 });
    few.config.monte_carlo.runs = FEW;
    const open = await ended(few);
    expect(await refusal(open, { runs: 1 })).to.match(
      /^\/runs is 1, and the next level .* needs at least \d+ further runs/,
    );
    const cancelled = await scene.api.submit(rareStudy()).then((it) => it.batch_id);
    await scene.api.cancelBatch(cancelled, 'no');
    expect(await refusal(cancelled, { runs: 500 })).to.match(/^not-extendable: .* it is Cancelled; submit it anew$/);
    const stopped = rareStudy({ limit: 3.5, seed: 4 });
    Object.assign(stopped.config.adaptive!, { relative_half_width: 10, confirm_part: 50, confirm_runs: 400 });
    expect(await refusal(await ended(stopped), { runs: 500 })).to.include('submit it without the stop');
    const closed = await scene.api.submit(rareStudy()).then((it) => it.batch_id);
    await scene.api.closeBatch(closed);
    await work(scene, closed);
    expect(await refusal(closed, { runs: 500 })).to.match(/^not-extendable: .* closed before its end/);
    // Its rerun has a fixed number of runs.
    const { batch_id: rerun } = await scene.api.rerunBatch(confirmed, { select: { run_ids: '0-9' } });
    expect(await refusal(rerun, { runs: 500 })).to.match(/^not-extendable: the study repeats runs/);
  });

  it('announces its second end, and gives the parameters of its later rounds', async () => {
    const batch = await ended(rareStudy({ limit: 3.5 }));
    const { budget } = await scene.api.extendBatch(batch, { runs: 1_500 });
    await again(batch, true);
    const { batch: after } = await scene.api.batch(batch);
    // More than the budget of its submission.
    expect(after.total_jobs).to.be.above(2_000);
    expect(after.budget).to.equal(budget);
    const lines: string[] = [];
    for await (const part of await scene.api.samples(batch, 'csv')) lines.push(...part.trimEnd().split('\n'));
    expect(lines.length).to.equal(1 + after.total_jobs);
    const asked = { name: 'summary' as const, batchId: batch, query: {} };
    const summary = await scene.api.parts.answers.ask(asked, { waitMs: 60_000 });
    expect(summary.state).to.equal('ready');
  });
});
