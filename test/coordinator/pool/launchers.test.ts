/** Launchers: their last reports, and the findings of a study that follow from them. */
import { expect } from 'chai';
import type { LauncherReport, UnservedRuns } from '../../../src/contract/types.ts';
import { Scene } from '../../support/scene.ts';

const queue = { name: 'main', engine: 'slurm', max: 4, counts: { Queued: 1 }, why: ['1 run waits'] };
const report = (given: Partial<LauncherReport> = {}): LauncherReport => ({
  launcher: 'lab',
  poll_seconds: 5,
  problems: [],
  queues: [queue],
  unserved: [],
  allocations: [],
  ...given,
});

describe('coordinator/pool/launchers', () => {
  let scene: Scene;
  let batch: string;
  beforeEach(async () => {
    scene = await Scene.open();
    batch = await scene.submit({ runs: 2 });
  });
  const first = async () => (await scene.api.findings(batch))[0];
  const unserved = (given: Partial<UnservedRuns> = {}): UnservedRuns => ({
    code: 'no-capacity-fits',
    message: '2 runs of rocket fit no queue (main: a run requests 9 cores, an allocation has 4)',
    runs: 2,
    batches: [batch],
    ...given,
  });

  it('keeps the last report of each launcher, and says when further ones are missing', async () => {
    expect(await scene.api.launchers()).to.deep.equal({ launchers: [] });
    await scene.api.reportLauncher(report({ launcher: 'z' }));
    await scene.api.reportLauncher(report());
    const { reported_at } = await scene.api.reportLauncher(report({ problems: ['x'] }));
    const { launchers } = await scene.api.launchers();
    expect(launchers.map((it) => it.launcher)).to.deep.equal(['lab', 'z']);
    expect(launchers[0]).to.deep.equal({ ...report({ problems: ['x'] }), reported_at, current: true });
    await scene.world.advance(30_000);
    expect((await scene.api.launchers()).launchers[0]?.current).to.equal(false);
  });

  it('finds that a launcher starts runners, in place of a missing runner', async () => {
    expect(await first()).to.include({ code: 'no-runner' });
    await scene.api.reportLauncher(report());
    expect(await first()).to.include({ code: 'launching', severity: 'waiting' });
    await scene.api.reportLauncher(report({ queues: [{ ...queue, blocked: 'it is paused: x' }] }));
    expect(await first()).to.include({
      code: 'launching',
      severity: 'blocked',
      message: 'no runner can execute a run, and the launcher lab starts none: main: it is paused: x',
    });
    await scene.world.advance(30_000);
    expect(await first()).to.include({ code: 'no-runner' });
  });

  for (const code of ['no-capacity-fits', 'lifetime-too-short', 'settings-refuse'] as const) {
    it(`finds that no capacity fits (${code}) when no queue of any launcher fits, and no runner`, async () => {
      await scene.api.reportLauncher(report({ unserved: [unserved({ code })] }));
      const expected = { code: 'no-capacity-fits', severity: 'blocked', count: 2, message: unserved().message };
      expect(await first()).to.include(expected);
      await scene.api.reportLauncher(report({ launcher: 'other' }));
      expect(await first()).to.include({ code: 'launching', severity: 'waiting' });
      await scene.api.reportLauncher(report({ launcher: 'other', unserved: [unserved({ code })] }));
      expect(await first()).to.include(expected);
      await scene.register('a');
      expect(await first()).to.not.include({ code: 'no-capacity-fits' });
    });
  }
});
