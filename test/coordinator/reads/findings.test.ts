/** The findings of a batch: counts of its attempts while it runs, and after a restart. */
import { expect } from 'chai';
import { Scene } from '../../support/scene.ts';
import type { FailReason, Uuid } from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { MAX_LOSSES } from '../../../src/domain/rules.ts';

describe('coordinator/reads/findings', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  const codes = async (batch: Uuid): Promise<string[]> => (await scene.api.findings(batch)).map(({ code }) => code);
  const fail = async (
    batch: Uuid,
    run: number,
    on: string,
    message: string,
    attempt = 1,
    reason: FailReason = 'exit',
  ) => {
    await scene.start(batch, run, on, attempt);
    await scene.api.fail(jobId(batch, run), { runner_id: on, attempt, reason, error_message: message });
  };

  it('differ for a study without runners, with canary runs, paused and ended', async () => {
    const batch = await scene.submit({ runs: 5, policy: { canary_runs: 2 } });
    expect(await codes(batch)).to.deep.equal(['no-runner']);
    await scene.register('a', { slots: 4 });
    expect(await codes(batch)).to.deep.equal(['starting']);
    await scene.claim('a', 4);
    expect(await codes(batch)).to.deep.equal(['canary-running']);
    await fail(batch, 0, 'a', 'broke', 1, 'invalid');
    const [finding] = await scene.api.findings(batch);
    expect(finding).to.include({ code: 'canary-failed', severity: 'blocked', count: 3 });
    await scene.api.pauseBatch(batch, 'a look');
    expect(await codes(batch)).to.deep.equal(['paused']);
    await scene.api.cancelBatch(batch);
    expect(await codes(batch)).to.deep.equal([]);
  });

  it('finds from requeued attempts that a study fails everywhere, before a run has ended', async () => {
    await scene.register('a', { slots: 50 });
    await scene.register('b', { slots: 50 });
    const batch = await scene.submit({ runs: 1000 });
    await scene.claim('a', 4);
    await scene.claim('b', 4);
    for (const run of [0, 1, 2]) await fail(batch, run, 'a', `run ${run}: no such file: /opt/${run}.py`);
    for (const run of [4, 5]) await fail(batch, run, 'b', `run ${run}: no such file: /opt/${run}.py`);
    const expected = {
      code: 'fails-everywhere',
      message: 'all latest 5 attempts failed in the same way, on 2 runners: run …: no such file: …',
      count: 5,
      runs: [0, 1, 2, 4, 5],
    };
    expect((await scene.api.findings(batch))[0]).to.deep.include(expected);
    await scene.restart();
    expect((await scene.api.findings(batch))[0], 'after a restart').to.deep.include(expected);
    await scene.api.cancelBatch(batch);
    expect(await codes(batch)).to.deep.equal(['fails-everywhere']);
  });

  it('finds the runner on which attempts fail, and many retries, also after a restart', async () => {
    for (const id of ['a', 'b']) await scene.register(id, { slots: 50 });
    const batch = await scene.submit({ runs: 60, maxRetries: 0 });
    const [onA, onB] = [await scene.claim('a', 20), await scene.claim('b', 20)];
    for (const run of onA) {
      await scene.start(batch, run, 'a');
      await scene.complete(batch, run, 'a');
    }
    for (const run of onB) {
      if (run % 2 === 0) await fail(batch, run, 'b', `broke at ${run}`);
      else {
        await scene.start(batch, run, 'b');
        await scene.api.fail(jobId(batch, run), {
          runner_id: 'b',
          attempt: 1,
          reason: 'early_termination',
          error_message: 'met',
        });
      }
    }
    const message = 'runner b failed 10 of 20 attempts (50 %), the others 0 of 20 (0 %)';
    expect((await scene.api.findings(batch))[0]).to.include({ code: 'runner-fails-more', message });
    await scene.restart();
    expect((await scene.api.findings(batch))[0], 'after a restart').to.include({ code: 'runner-fails-more', message });
  });

  it('are the same after a restart as before, whatever the order in which the runs have ended', async () => {
    for (const id of ['a', 'b']) await scene.register(id, { slots: 2000 });
    const batch = await scene.submit({ runs: 900, maxRetries: 0 });
    const onB = new Set(await scene.claim('b', 300));
    await scene.claim('a', 600);
    // The last runs end first, with another status; each message has the number of its run.
    for (let run = 899; run >= 0; run -= 1) {
      if (run % 50 === 0) await scene.world.advance(1_000);
      const status = run < 350 ? 137 : 139;
      await fail(batch, run, onB.has(run) ? 'b' : 'a', `step ${run}: exit status ${status}`);
    }
    const summary = (): unknown => scene.api.parts.health.known(batch)?.tally.summary();
    const before = { findings: await scene.api.findings(batch), summary: summary() };
    expect(before.findings[0]?.message).to.equal(
      'all latest 256 attempts failed in the same way, on 2 runners: step …: exit status 137',
    );
    await scene.restart();
    expect({ findings: await scene.api.findings(batch), summary: summary() }).to.deep.equal(before);
  });

  it('counts a run that lost its last runner neither before a restart nor after it', async () => {
    const batch = await scene.submit({ runs: 1 });
    for (let loss = 1; loss <= MAX_LOSSES; loss += 1) {
      await scene.register('a', { slots: 1, instance: `a-${loss}` });
      await scene.claim('a', 1);
      await scene.start(batch, 0, 'a', loss);
      await scene.world.advance(3_600_000);
    }
    expect((await scene.api.job(jobId(batch, 0))).status).to.equal('Failed');
    const finished = (): number | undefined => scene.api.parts.health.known(batch)?.tally.finished;
    expect(finished()).to.equal(0);
    await scene.restart();
    await scene.api.findings(batch);
    expect(finished()).to.equal(0);
  });

  it('says that the counts of a long study are those of a sample after a restart, and counts on', async () => {
    await scene.register('a', { slots: 1000 });
    const batch = await scene.submit({ runs: 700, maxRetries: 0 });
    for (let run = 0; run < 601; run++) {
      await scene.claim('a');
      await scene.world.advance(10);
      if (run < 600) await fail(batch, run, 'a', run < 90 ? 'broke' : `other ${run}`);
    }
    await scene.restart();
    const asked = scene.api.findings(batch);
    await fail(batch, 600, 'a', 'other 600');
    await asked;
    const found = (await scene.api.findings(batch)).find(({ code }) => code === 'fails-everywhere');
    expect(found?.message).to.match(
      /^all latest 256 attempts failed in the same way, on the only runner that tried: other …$/,
    );
    expect(scene.api.parts.health.known(batch)?.tally.summary()).to.include({ isSample: true });
  });

  it('refuses an unknown batch', async () => {
    const error = await scene.api.findings('no').catch((it: Error) => it);
    expect(error).to.include({ code: 'unknown-batch' });
  });
});
