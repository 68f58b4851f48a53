/** Requests that wait until a study has ended and is judged, waits for rows, or its canary has failed. */
import { expect } from 'chai';
import { Abandonment } from '../../../src/base/abandonment.ts';
import type { Uuid } from '../../../src/contract/types.ts';
import { keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import { SimbatchError } from '../../../src/domain/errors.ts';
import { codeOf, Scene } from '../../support/scene.ts';
import { settled } from '../../support/simulated-clock.ts';
import { adaptiveStudy } from '../../support/rounds.ts';

const EASY = { name: 'close', output: 'miss', condition: '< 50', probability: 0.5, confidence: 0.6 };

describe('coordinator/judgement/study-waits', () => {
  let scene: Scene;
  let answers: string[];
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 8 });
    answers = [];
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  const asked = (batch: Uuid, waitMs = 30_000, abandoned = new Abandonment()): Promise<unknown> =>
    scene.api.batch(batch, { waitMs, abandoned }).then(({ batch: { status } }) => answers.push(status));
  const execute = async (batch: Uuid, runs: readonly number[]): Promise<void> => {
    for (const run of runs) {
      await scene.start(batch, run, 'a');
      await scene.complete(batch, run, 'a');
    }
  };

  it('are answered by the last run of the study, and by none before it', async () => {
    const batch = await scene.submit({ runs: 3 });
    const other = await scene.submit({ runs: 1 });
    await scene.claim('a', 8);
    const both = [asked(batch), asked(batch)];
    await execute(other, [0]);
    await execute(batch, [0, 1]);
    await settled();
    expect(answers).to.deep.equal([]);
    await execute(batch, [2]);
    await Promise.all(both);
    await asked(batch);
    expect(answers).to.deep.equal(['Completed', 'Completed', 'Completed']);
  });

  it('are answered with the last verdicts of a study that has requirements', async () => {
    const batch = await scene.submit({ runs: 8, requirements: [EASY] });
    await scene.claim('a', 8);
    const waiting = scene.api.batch(batch, { waitMs: 30_000 });
    await execute(batch, [0, 1, 2, 3, 4, 5, 6, 7]);
    const { batch: ended, requirements: verdicts } = await waiting;
    expect(ended.status).to.equal('Completed');
    expect(verdicts?.map(({ verdict }) => verdict)).to.deep.equal(['met']);
  });

  it('are answered with the cancellation, once the last run that was active has ended', async () => {
    const batch = await scene.submit({ runs: 9 });
    await scene.claim('a', 1);
    await scene.start(batch, 0, 'a');
    const waiting = asked(batch);
    await scene.api.cancelBatch(batch);
    await waiting;
    expect(answers).to.deep.equal(['Cancelled']);
  });

  it('are answered after their time, when their client has gone, and at the stop, with the study as it is', async () => {
    const batch = await scene.submit({ runs: 2 });
    const abandoned = new Abandonment();
    const waiting = [asked(batch, 1_000), asked(batch, 9_000, abandoned), asked(batch, 9_000)];
    await settled();
    await scene.world.advance(1_000);
    await waiting[0];
    abandoned.abort('gone');
    await waiting[1];
    expect(answers).to.deep.equal(['Pending', 'Pending']);
    scene.api.releaseWaiting();
    await waiting[2];
    await asked(batch, 0);
    expect(answers).to.have.length(4);
    expect(await codeOf(asked('01234567-89ab-8def-8123-456789abcdef'))).to.equal('unknown-batch');
  });

  it('are answered when an adaptive study waits for rows, and wait again for those that are appended', async () => {
    const { batch_id: batch } = await scene.api.submit(adaptiveStudy({ runs: 20 }));
    await asked(batch);
    await scene.api.appendRound(batch, { key: 'a', rows: [{ r: 1, x: 2 }] });
    const waiting = asked(batch);
    await settled();
    expect(answers).to.deep.equal(['Pending']);
    await scene.claim('a', 1);
    await execute(batch, [0]);
    await waiting;
    expect(answers).to.deep.equal(['Pending', 'Running']);
  });

  it('are answered when a canary has failed: nothing more is executed before a client decides', async () => {
    const batch = await scene.submit({ runs: 4, maxRetries: 0, policy: { canary: 'corners' } });
    const canary = (await scene.api.batch(batch)).batch.children![0]!.batch_id;
    const waiting = asked(batch);
    const { assignments } = await scene.claimRaw('a', 8);
    for (const { job } of assignments) {
      await scene.start(canary, job.run_config.run_id, 'a');
      await settled();
      expect(answers).to.deep.equal([]);
      await scene.fail(canary, job.run_config.run_id, 'a', 1, 'invalid', 'broke');
    }
    await waiting;
    expect(answers).to.deep.equal(['Pending']);
    await scene.api.releaseBatch(batch);
    const again = asked(batch);
    await scene.claim('a', 8);
    await execute(batch, [0, 1, 2, 3]);
    await again;
    expect(answers).to.deep.equal(['Pending', 'Completed']);
  });

  it('are answered where a record is damaged, which the answer reports, and keep nothing from the parts after them', async () => {
    const { batch_id: batch } = await scene.api.submit(adaptiveStudy({ runs: 20 }));
    await scene.api.appendRound(batch, { key: 'a', rows: [{ r: 1, x: 2 }] });
    const waiting = codeOf(asked(batch));
    await scene.claim('a', 1);
    await scene.start(batch, 0, 'a');
    const { store } = scene;
    const get = store.get.bind(store);
    store.get = (key) => {
      if (key === keys.submission(batch)) throw new SimbatchError('store-damaged', 'damaged');
      return get(key);
    };
    await scene.complete(batch, 0, 'a');
    expect(await waiting).to.equal('store-damaged');
  });
});
