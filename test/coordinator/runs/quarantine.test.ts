/** Drains with an end, and the quarantine of runners on which attempts fail. */
import { expect } from 'chai';
import { QUARANTINE_MS } from '../../../src/coordinator/runs/quarantine.ts';
import { codeOf, Scene } from '../../support/scene.ts';

describe('coordinator/runs/quarantine', () => {
  let scene: Scene;
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });
  const later = (ms: number): string => new Date(scene.world.now() + ms).toISOString();

  /** Runs on `good` complete, those on `bad` fail. */
  const study = async (good: string, bad: string): Promise<string> => {
    const batch = await scene.submit({ runs: 200, maxRetries: 0 });
    for (const run of await scene.claim(good, 20)) {
      await scene.start(batch, run, good);
      await scene.complete(batch, run, good);
    }
    for (const run of await scene.claim(bad, 12)) {
      await scene.start(batch, run, bad);
      await scene.fail(batch, run, bad);
    }
    return batch;
  };
  const stay = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 900_000) {
      await scene.world.advance(Math.min(900_000, ms - passed));
      await scene.api.tick();
    }
  };
  const registerBoth = async (): Promise<void> => {
    for (const id of ['good', 'bad']) await scene.register(id, { slots: 50, heartbeat_interval_secs: 3_600 });
  };

  it('gives a runner whose attempts fail more no new work for an hour, also over a restart', async () => {
    scene = await Scene.open({ quarantine: true });
    await registerBoth();
    const batch = await study('good', 'bad');
    await scene.api.tick();
    const runner = await scene.api.runner('bad');
    expect(runner).to.include({ status: 'Maintenance', accepting_jobs: false, quarantined: true });
    expect(runner.drain_reason).to.equal(
      `quarantine: 12 of its 12 attempts failed in study ${batch}, and 0 of 20 on other runners`,
    );
    expect(runner.drained_until).to.equal(later(QUARANTINE_MS));
    expect(await scene.claim('bad', 1)).to.deep.equal([]);
    expect(await scene.runnerStatus('good')).to.equal('Idle');
    await scene.restart();
    expect(await scene.api.runner('bad')).to.include({ status: 'Maintenance', quarantined: true });
    await stay(QUARANTINE_MS - 1);
    expect(await scene.runnerStatus('bad')).to.equal('Maintenance');
    await stay(1);
    expect(await scene.api.runner('bad')).to.not.have.any.keys('quarantined', 'drained_until', 'drain_reason');
    expect(await scene.claim('bad', 1)).to.have.lengthOf(1);
  });

  it('counts the attempts of a runner anew after an operator has lifted the quarantine', async () => {
    scene = await Scene.open({ quarantine: true });
    await registerBoth();
    const batch = await study('good', 'bad');
    await scene.api.tick();
    await scene.api.resume('bad');
    await scene.api.tick();
    expect(await scene.runnerStatus('bad')).to.equal('Idle');
    const [run = -1] = await scene.claim('bad', 1);
    await scene.start(batch, run, 'bad');
    await scene.fail(batch, run, 'bad');
    await scene.api.tick();
    expect(await scene.runnerStatus('bad'), 'one more failure').to.equal('Idle');
  });

  for (const [lifted, lift] of Object.entries({
    'an operator resumes it': () => scene.api.resume('bad'),
    'its time is over': () => stay(QUARANTINE_MS),
    'an operator drains and resumes it': async () => {
      await scene.api.drain('bad', 'a new disk');
      await scene.api.resume('bad');
    },
  })) {
    it(`counts its attempts anew also after a restart, once ${lifted}`, async () => {
      scene = await Scene.open({ quarantine: true });
      await registerBoth();
      const batch = await study('good', 'bad');
      await scene.api.tick();
      expect(await scene.runnerStatus('bad')).to.equal('Maintenance');
      await scene.world.advance(1);
      await lift();
      await scene.world.advance(1);
      await scene.restart();
      // The counts of the study are filled up from its records.
      await scene.api.findings(batch);
      const failAgain = async (times: number): Promise<void> => {
        for (const run of await scene.claim('bad', times)) {
          await scene.start(batch, run, 'bad');
          await scene.fail(batch, run, 'bad');
        }
        await scene.api.tick();
      };
      await failAgain(1);
      expect(await scene.runnerStatus('bad'), 'one more failure').to.equal('Idle');
      await failAgain(12);
      expect(await scene.runnerStatus('bad'), 'as many as before').to.equal('Maintenance');
    });
  }

  it('never quarantines the last runner that takes work of the study', async () => {
    scene = await Scene.open({ quarantine: true });
    await registerBoth();
    await scene.register('other', { types: ['boat'] });
    await study('good', 'bad');
    await scene.api.drain('good');
    await scene.api.tick();
    expect(await scene.runnerStatus('bad')).to.equal('Idle');
  });

  it('quarantines nothing unless it is switched on', async () => {
    scene = await Scene.open();
    await registerBoth();
    await study('good', 'bad');
    await scene.api.tick();
    expect(await scene.runnerStatus('bad')).to.equal('Idle');
  });

  it('ends a drain at its time, also over a restart, and refuses a time that is past or none', async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 2, heartbeat_interval_secs: 3_600 });
    await scene.submit({ runs: 3 });
    const until = later(60_000);
    expect(await scene.api.drain('a', 'a new disk', until)).to.include({
      drained_until: until,
      drain_reason: 'a new disk',
    });
    await scene.restart();
    expect(await scene.claim('a', 1)).to.deep.equal([]);
    await scene.world.advance(59_999);
    await scene.api.tick();
    expect(await scene.runnerStatus('a')).to.equal('Maintenance');
    await scene.world.advance(1);
    await scene.api.tick();
    expect(await scene.claim('a', 1)).to.deep.equal([0]);
    for (const text of ['', 'tomorrow', '2026-02-30', '12', later(0), later(-1)])
      expect(await codeOf(scene.api.drain('a', undefined, text)), text).to.equal('malformed-query');
  });
});
