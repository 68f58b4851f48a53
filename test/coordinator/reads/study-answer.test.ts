/** The answer about a study at a coordinator: its situation decides as far as its runs do not. */
import { expect } from 'chai';
import type { StudyAnswer, Uuid } from '../../../src/contract/types.ts';
import { Scene } from '../../support/scene.ts';

describe('coordinator/reads/study-answer', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
  });
  afterEach(() => scene.api.close());

  const ask = (batchId: Uuid, family = false, known?: string) =>
    scene.api.answer({ name: 'answer', batchId, query: {} }, { waitMs: 1e6, family, isKnown: (tag) => tag === known });
  const answer = async (batchId: Uuid, family = false): Promise<StudyAnswer> => {
    const found = await ask(batchId, family);
    if (found.state !== 'ready') throw new Error(`the answer is ${found.state}`);
    return JSON.parse(new TextDecoder().decode(found.body)) as StudyAnswer;
  };

  it('is blocked without a runner, then running, then ok; its tag changes with its text', async () => {
    const batch = await scene.submit({ runs: 2 });
    const { level, sentence, next } = await answer(batch);
    expect(level).to.equal('blocked');
    expect(sentence).to.equal('Blocked: no runner has registered; start one with `simbatch runner`.');
    expect(next[0]!.action.command).to.equal('simbatch runner');
    const tagged = await ask(batch);
    if (tagged.state === 'pending') throw new Error('pending');
    expect(await ask(batch, false, tagged.tag)).to.deep.equal({ state: 'unchanged', tag: tagged.tag });
    await scene.register('a', { slots: 2 });
    await scene.running(batch, 0, 'a');
    expect((await answer(batch)).sentence).to.equal('Running: 0 of 2 runs have ended.');
    expect((await ask(batch, false, tagged.tag)).state).to.equal('ready');
    await scene.complete(batch, 0, 'a');
    await scene.running(batch, 1, 'a');
    await scene.complete(batch, 1, 'a');
    expect((await answer(batch)).sentence).to.equal('OK: all 2 runs completed.');
  });

  it('says why a study was cancelled, and what ran before; a family has no reason', async () => {
    const batch = await scene.submit({ runs: 4 });
    await scene.register('a');
    await scene.running(batch, 0, 'a');
    await scene.complete(batch, 0, 'a');
    await scene.api.cancelBatch(batch, 'wrong model');
    expect(await answer(batch)).to.deep.include({
      level: 'cancelled',
      sentence: 'Cancelled: wrong model; 1 of 4 runs ended before.',
    });
    expect((await answer(batch, true)).sentence).to.equal('Cancelled: 1 of 4 runs ended before.');
  });

  it('refuses a batch that is not there', async () => {
    const error = await ask('019a0000-0000-8000-8000-000000000000').then(
      () => undefined,
      (it: { code: string }) => it.code,
    );
    expect(error).to.equal('unknown-batch');
  });
});
