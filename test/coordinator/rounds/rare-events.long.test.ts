/** Studies of rare events: their rounds are appended once each, whatever crashes and however many runners there are, and follow from the results. */
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import { answerOf, roundsOf, sumOf, work, type WorkOptions } from '../../support/rare-work.ts';
import { rareStudy } from '../../support/rounds.ts';
import { codeOf, RESULT, Scene } from '../../support/scene.ts';

describe('coordinator/rounds/rare-events', () => {
  const scenes: Scene[] = [];
  const open = async (): Promise<Scene> => {
    const scene = await Scene.open({ computesInWorker: false });
    scenes.push(scene);
    return scene;
  };
  afterEach(async () => {
    for (const scene of scenes.splice(0)) {
      expect(scene.faults).to.deep.equal([]);
      await scene.api.close();
    }
  });

  it('appends the same rounds with 1, 2 and 8 runners, and after crashes between any two claims', async () => {
    const first = await open();
    const batch = await first.api.submit(rareStudy()).then((it) => it.batch_id);
    await work(first, batch);
    const rounds = await roundsOf(first, batch);
    expect(rounds.length).to.be.greaterThan(5);
    expect(rounds[0]).to.deep.include({ round: 0, count: 100, space: 'normal', source: 'rare-event/1' });
    for (const runners of [2, 8]) {
      const scene = await open();
      const { batch_id: other } = await scene.api.submit(rareStudy());
      await work(scene, other, { runners });
      expect(await roundsOf(scene, other)).to.deep.equal(rounds);
    }
    const crashing = await open();
    const { batch_id: other } = await crashing.api.submit(rareStudy());
    await work(crashing, other, { before: async (claims) => (claims % 2 === 1 ? crashing.restart() : undefined) });
    expect(await roundsOf(crashing, other)).to.deep.equal(rounds);
  });

  it('answers with both bounds, a warning of the one study, and verdicts of two', async () => {
    const scene = await open();
    const { batch_id: batch } = await scene.api.submit(rareStudy({ limit: 3.5 }));
    const early = await answerOf(scene, batch);
    expect(early).to.include({ phase: 'search', reason: null, estimate: null, verdict: null });
    await work(scene, batch);
    const answer = await answerOf(scene, batch);
    const { lower, upper, direct } = answer;
    expect(answer).to.include({ phase: 'ended', reason: 'confirmed', experimental: true, requirement: 'miss' });
    // The truth is 2.3e-4.
    expect(lower).to.be.within(1e-5, 2.33e-4);
    expect(upper).to.be.within(2.33e-4, 0.01);
    expect(direct!.upper).to.be.greaterThan(upper!);
    expect(answer.sentence).to.match(/^P\(y >= 3\.5\) in the regions found is .* with 95 % confidence/);
    expect(answer.sentence).to.include('regions that were not found are excluded only above');
    expect(answer.warnings.map(({ code }) => code)).to.include('rare-one-study');
    expect(answer.verdict).to.deep.equal({ verdict: 'not-shown', reason: 'one-study', given: null });
    const { batch_id: second } = await scene.api.submit(rareStudy({ limit: 3.5, seed: 2 }));
    await work(scene, second);
    const other = await answerOf(scene, second);
    const both = await answerOf(scene, batch, { with: second });
    expect(both).to.include({
      apart: false,
      lower: Math.min(lower!, other.lower!),
      upper: Math.max(upper!, other.upper!),
    });
    expect(both.estimate).to.equal((answer.estimate! + other.estimate!) / 2);
    expect(both.verdict).to.deep.equal({ verdict: 'met', reason: null, given: 'regions-found' });
    expect(await codeOf(answerOf(scene, batch, { with: batch }))).to.equal('malformed-query');
  });

  it('is the same in the analysis worker, and rounds computed again are identical', async () => {
    const scene = await open();
    const { batch_id: batch } = await scene.api.submit(rareStudy());
    await work(scene, batch);
    const check = await scene.api.checkRounds(batch);
    expect(check).to.deep.include({ verdict: 'identical', faults: [] });
    expect(check.computed).to.deep.include({ verdict: 'identical', largest_difference: 0, first: null });
    const inWorker = await Scene.open();
    scenes.push(inWorker);
    const { batch_id: other } = await inWorker.api.submit(rareStudy());
    await work(inWorker, other);
    expect(await roundsOf(inWorker, other)).to.deep.equal(await roundsOf(scene, batch));
    expect((await inWorker.api.checkRounds(other)).computed).to.deep.equal(check.computed);
  });

  it('finds a row that was changed on the disk', async () => {
    const scene = await open();
    const { batch_id: batch } = await scene.api.submit(rareStudy());
    await work(scene, batch);
    const key = keys.rows(batch, 3, 0);
    const block = JSON.parse(scene.store.get(key)!) as { values: string };
    const numbers = Buffer.from(block.values, 'base64');
    numbers.writeDoubleLE(numbers.readDoubleLE(16) + 1e-6, 16);
    scene.store.disk.set(key, JSON.stringify({ ...block, values: numbers.toString('base64') }));
    await scene.restart();
    const { verdict, computed } = await scene.api.checkRounds(batch);
    const { first_run_id: first } = await scene.api.round(batch, 3);
    expect(verdict).to.equal('differs');
    expect(computed).to.deep.include({ verdict: 'differs', first: { round: 3, run: first + 1 } });
  });

  it('ends with a reason in place of a wrong number', async () => {
    const cases: [reason: string, value: WorkOptions['value'], words: string][] = [
      ['not-rare', ({ a = 0 }) => 3 + a, 'not rare'],
      ['constant-output', () => 1, 'every run gave the same y'],
      ['no-output', () => undefined, 'no run reported the output y'],
      ['too-many-unknown', (p, run) => (run % 3 === 0 ? sumOf(p) : undefined), 'have no value'],
      ['plateau', (p) => (sumOf(p) > 1.2 ? 1 : 0), 'takes few values'],
      ['not-reached', (p) => sumOf(p) - 9, 'no run violated'],
    ];
    const scene = await open();
    for (const [reason, value, words] of cases) {
      const { batch_id: batch } = await scene.api.submit(rareStudy({ name: reason }));
      await work(scene, batch, { value });
      const answer = await answerOf(scene, batch);
      expect(answer).to.include({ reason, phase: 'ended' });
      expect(answer.sentence).to.include(words);
      expect(answer.verdict?.verdict, reason).to.equal(reason === 'not-rare' ? 'violated' : 'not-shown');
      if (reason !== 'not-rare') expect(answer.estimate, reason).to.equal(null);
    }
  });

  it('drops a round that another one has taken the place of', async () => {
    const scene = await open();
    const { answers } = scene.api.parts;
    const next = answers.nextRareRound.bind(answers);
    // The second computation gives the round of the first again, as a slow computation would.
    let stale: Awaited<ReturnType<typeof next>> | undefined;
    const computed: number[] = [];
    answers.nextRareRound = async (batchId) => {
      const isSecond = stale !== undefined;
      stale ??= await next(batchId);
      computed.push(isSecond ? 2 : 1);
      return stale;
    };
    const { batch_id: batch } = await scene.api.submit(rareStudy());
    await scene.register('lab', { slots: 100 });
    while (!computed.includes(2)) {
      const { assignments } = await scene.claimRaw('lab', 100);
      for (const { job, attempt } of assignments) {
        const { run_id: run, parameters } = job.run_config;
        await scene.start(batch, run, 'lab', attempt);
        const result = { ...RESULT, metadata: { y: sumOf(parameters) } };
        await scene.api.complete(job.id, { runner_id: 'lab', attempt, result });
      }
      if (assignments.length === 0) await setTimeout(5);
    }
    await setTimeout(20);
    const { batch: resource } = await scene.api.batch(batch);
    expect(resource).to.include({ rounds: 1, total_jobs: 100 });
  });

  it('refuses rounds of clients, and is not waiting for them', async () => {
    const scene = await open();
    const { batch_id: batch } = await scene.api.submit(rareStudy());
    expect(await codeOf(scene.api.appendRound(batch, { key: 'a', rows: [{}] }))).to.equal('not-external');
    expect(await codeOf(scene.api.evaluate(batch, { rows: [{}] }))).to.equal('not-external');
    const { batch: resource } = await scene.api.batch(batch);
    expect(resource.waiting_for_rows).to.equal(undefined);
    expect(resource.budget).to.equal(2_000);
  });

  it('says what is known when it is cancelled', async () => {
    const scene = await open();
    const { batch_id: batch } = await scene.api.submit(rareStudy());
    const cancel = async (claims: number): Promise<void> => {
      if (claims === 5) await scene.api.cancelBatch(batch, 'enough');
    };
    await work(scene, batch, { before: cancel }).catch(() => undefined);
    const answer = await answerOf(scene, batch);
    expect(answer).to.include({ phase: 'ended', reason: 'cancelled', estimate: null });
    expect(answer.direct!.of).to.equal(100);
    expect(answer.sentence).to.match(/^cancelled in the phase search/);
  });
});
