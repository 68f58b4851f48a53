/** Studies of rare events that are submitted together with different seeds: made in one commit, answered by the hull of their bounds. */
import { expect } from 'chai';
import type {
  EvidenceReport,
  StudyAnswer,
  StudySummary,
  StudyVerdicts,
  SubmissionResponse,
  Uuid,
} from '../../../src/contract/types.ts';
import type { QuestionName } from '../../../src/analysis/questions.ts';
import { concluded } from '../../../src/analysis/questions.ts';
import { repeatSeed } from '../../../src/domain/study/rare-event/repeats.ts';
import { answerOf, work } from '../../support/rare-work.ts';
import { rareStudy } from '../../support/rounds.ts';
import { codeOf, Scene } from '../../support/scene.ts';

async function ask<T>(scene: Scene, name: QuestionName, batchId: Uuid): Promise<T> {
  const answer = await scene.api.parts.answers.ask({ name, batchId, query: {} }, { waitMs: 60_000 });
  if (answer.state !== 'ready') throw new Error(`the answer is ${answer.state}`);
  return concluded(name, JSON.parse(Buffer.from(answer.body).toString()) as object) as T;
}

describe('coordinator/rounds/rare-repeats', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open({ computesInWorker: false });
  });
  afterEach(async () => {
    expect(scene.faults).to.deep.equal([]);
    await scene.api.close();
  });

  const submitted = (options: Parameters<typeof rareStudy>[0], key?: string): Promise<SubmissionResponse> =>
    scene.api.submit(rareStudy(options), key === undefined ? {} : { idempotencyKey: key, bodyDigest: 'a' });

  it('draws the seeds of repeats from the seed and their place, as documented', () => {
    // The first 53 bits of SHA-256("rare-event/1" 00 "1" 00 "1"), computed with sha256sum.
    expect(repeatSeed(1, 1)).to.equal(112_133_775_150_590);
    expect(repeatSeed(1, 2)).not.to.equal(repeatSeed(1, 1));
  });

  it('makes all studies at once, two by default, and the same ones for a repeated request', async () => {
    const study = rareStudy();
    delete study.config.adaptive!.studies;
    const response = await scene.api.submit(study, { idempotencyKey: 'one', bodyDigest: 'a' });
    const [first, second, ...others] = response.studies!;
    expect([first, others]).to.deep.equal([response.batch_id, []]);
    expect(await scene.api.submit(study, { idempotencyKey: 'one', bodyDigest: 'a' })).to.deep.equal(response);
    const { batch } = await scene.api.batch(second!);
    expect(batch).to.deep.include({ budget: 2_000, parent: { batch_id: first, relation: 'repeat' } });
    expect(batch.name).to.match(/ \(study 2\)$/);
    const { batch: own } = await scene.api.batch(first!);
    expect(own.children).to.deep.equal([{ batch_id: second, relation: 'repeat' }]);
    const { config } = await scene.api.submission(second!);
    expect(config.monte_carlo.seed).to.equal(repeatSeed(1, 1));
    expect(config.adaptive!.studies).to.equal(1);
    // Both studies together have 100 runs in a round of a level.
    await scene.register('large', { slots: 201 });
    const codes = async (id: Uuid): Promise<string[]> => (await scene.api.findings(id)).map((it) => it.code);
    expect(await codes(first!)).to.include('rare-idle-pool');
    expect(await codes(second!)).not.to.include('rare-idle-pool');
    // The study itself is the latest one.
    expect(first! > second!).to.equal(true);
    expect((await submitted({ studies: 1 })).studies).to.equal(undefined);
    expect((await submitted({ studies: 5 })).studies).to.have.length(5);
  });

  it('answers with the hull, and meets the requirement only by all of them', async () => {
    const { studies } = await submitted({ limit: 3.5, studies: 2 });
    const [first, second] = studies as [Uuid, Uuid];
    await work(scene, first);
    while ((await scene.api.batch(second)).batch.status !== 'Completed') await work(scene, second);
    const alone = [await answerOf(scene, first), await answerOf(scene, second)];
    expect(alone.map((it) => it.verdict!.reason)).to.deep.equal(['one-study', 'one-study']);
    for (const asked of [first, second]) {
      const both = await answerOf(scene, asked, { combined: 'true' });
      expect(both.studies).to.deep.equal([first, second]);
      expect(both.parts.map((it) => it.estimate)).to.deep.equal(alone.map((it) => it.estimate));
      expect(both.lower).to.equal(Math.min(...alone.map((it) => it.lower!)));
      expect(both.upper).to.equal(Math.max(...alone.map((it) => it.upper!)));
      expect(both).to.deep.include({ apart: false, verdict: { verdict: 'met', reason: null, given: 'regions-found' } });
      expect(both.sentence).to.match(
        /^by both studies, the violations in the regions found .* with 95 % confidence, from/,
      );
      expect(both.warnings.map(({ code }) => code)).not.to.include('rare-one-study');
    }
    const { requirements } = await ask<StudyVerdicts>(scene, 'verdicts', first);
    const [judged] = requirements;
    expect(judged).to.include({ verdict: 'met', upper: 1 - Math.min(...alone.map((it) => it.lower!)) });
    expect(judged!.sentence).to.match(/^met as far as regions were found: by both studies/);
    const summary = await ask<StudySummary>(scene, 'summary', second);
    expect(summary.requirements[0]).to.include({ verdict: 'met', sentence: judged!.sentence });
    const { results } = await ask<EvidenceReport>(scene, 'evidence', first);
    expect(results.requirements[0]).to.include({ verdict: 'met', lower: judged!.lower });
    // Without an assumption no more than the plain runs show.
    expect(judged!.lower).to.be.within(0.95, 0.99);
    const { level, sentence } = await ask<StudyAnswer>(scene, 'answer', first);
    expect([level, sentence.slice(0, 80)]).to.deep.equal([
      'ok',
      'OK: the requirement miss is met, as far as regions were found (experimental). By',
    ]);
  });

  it('has no joint number while one is open, nor a verdict by one study', async () => {
    const { studies } = await submitted({ limit: 3.5, studies: 2 });
    const [first, second] = studies as [Uuid, Uuid];
    await scene.api.pauseBatch(second, 'later');
    await work(scene, first);
    const both = await answerOf(scene, first, { combined: 'true' });
    expect(both).to.include({ phase: 'search', reason: null, estimate: null, lower: null, upper: null, verdict: null });
    expect(both.sentence).to.match(
      /^no joint estimate of 2 studies yet\. Study 1: ended \(confirmed\), \d+ runs, .* in the regions found, between .* with 95 % confidence\. Study 2: search, 100 runs\. Violations in/,
    );
    const open = await ask<StudyAnswer>(scene, 'answer', first);
    expect(open.level).to.equal('running');
    expect(open.sentence).to.include('a study that was submitted with it has not');
    expect((await ask<StudyVerdicts>(scene, 'verdicts', first)).requirements[0]!.verdict).to.equal('open');
    // Of a repeat that was deleted nothing is left to wait for.
    await scene.api.cancelBatch(second, 'not wanted');
    await scene.api.deleteBatch(second);
    const { level, sentence } = await ask<StudyAnswer>(scene, 'answer', first);
    expect(level).to.equal('not_enough');
    expect(sentence).to.include('the requirement miss is not shown by one study alone');
    const [judged] = (await ask<StudyVerdicts>(scene, 'verdicts', first)).requirements;
    expect(judged).to.include({ verdict: 'not-shown', reason: 'one-study' });
  });

  it('are paused, resumed and cancelled with the first one, and any other alone', async () => {
    const { studies } = await submitted({ studies: 3 });
    const [first, second, third] = studies as [Uuid, Uuid, Uuid];
    const states = async (member: 'paused' | 'status'): Promise<unknown[]> =>
      Promise.all(studies!.map(async (it) => (await scene.api.batch(it)).batch[member]));
    await scene.api.pauseBatch(first, 'later');
    expect(await states('paused')).to.deep.equal([true, true, true]);
    expect((await scene.api.batch(third)).batch.pause_reason).to.equal('later');
    await scene.register('lab', { slots: 10 });
    expect((await scene.claimRaw('lab', 10)).assignments).to.deep.equal([]);
    await scene.api.resumeBatch(first);
    expect(await states('paused')).to.deep.equal([undefined, undefined, undefined]);
    await scene.api.pauseBatch(second);
    expect(await states('paused')).to.deep.equal([undefined, true, undefined]);
    await scene.api.cancelBatch(third, 'alone');
    expect(await states('status')).to.deep.equal(['Pending', 'Pending', 'Cancelled']);
    await scene.api.cancelBatch(first, 'all');
    expect(await states('status')).to.deep.equal(['Cancelled', 'Cancelled', 'Cancelled']);
    expect((await scene.api.batch(second)).batch.cancel_reason).to.equal('all');
    await scene.restart();
    expect(await states('status')).to.deep.equal(['Cancelled', 'Cancelled', 'Cancelled']);
    // Twice is not an error.
    await scene.api.cancelBatch(first);
    expect(await codeOf(scene.api.pauseBatch(first))).to.equal('illegal-transition');
  });

  it('are reached by the first one when it has ended itself', async () => {
    const { studies } = await submitted({ limit: 3.5, studies: 2 });
    const [first, second] = studies as [Uuid, Uuid];
    await scene.api.pauseBatch(second);
    await work(scene, first);
    await scene.api.resumeBatch(first);
    expect((await scene.api.batch(second)).batch.paused).to.equal(undefined);
    const cancelled = await scene.api.cancelBatch(first, 'enough');
    expect([cancelled.id, cancelled.status]).to.deep.equal([first, 'Completed']);
    expect((await scene.api.batch(second)).batch.status).to.equal('Cancelled');
    expect(await codeOf(scene.api.cancelBatch(first))).to.equal('illegal-transition');
  });

  it('has no verdict on a requirement that was amended afterwards', async () => {
    const { batch_id: batch } = await submitted({ limit: 3.5 });
    await work(scene, batch);
    const requirements = rareStudy({ limit: 3.5 }).requirements!.map((it) => ({ ...it, probability: 0.5 }));
    await scene.api.amendJudgement(batch, { requirements });
    const [judged] = (await ask<StudyVerdicts>(scene, 'verdicts', batch)).requirements;
    expect(judged).to.include({ verdict: null, reason: 'adaptive-design' });
  });
});
