/** Launchers: their last reports, and the findings of a study that follow from them. */
import { expect } from 'chai';
import type { LauncherQueue, LauncherReport, UnservedRuns } from '../../../src/contract/types.ts';
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
    await scene.world.advance(11_900);
    expect((await scene.api.launchers()).launchers[0]?.current).to.equal(true);
    await scene.world.advance(100);
    expect((await scene.api.launchers()).launchers[0]?.current).to.equal(false);
    // A launcher with rare rounds, of a version that reports after its rounds alone.
    await scene.api.reportLauncher(report({ poll_seconds: 60 }));
    await scene.world.advance(119_000);
    expect((await scene.api.launchers()).launchers[0]?.current).to.equal(true);
  });

  it('says how the cluster has taken the last allocation of a queue, while its runs wait again', async () => {
    const last = async (end: 'preempted' | 'out-of-memory' | 'completed', name = 'main'): Promise<string> => {
      const ended = [
        { allocation: `slurm/${name}/b`, end, reason: 'its node failed (exit code 137): OOMKilled' },
        { allocation: 'slurm/main/a', end: 'completed' as const, reason: 'it is over' },
      ];
      await scene.api.reportLauncher(report({ queues: [queue], ended }));
      return (await first())?.message ?? '';
    };
    const taken = /: main: .*, the last one has ended: its node failed \(exit code 137\): OOMKilled$/;
    expect(await last('preempted')).to.match(taken);
    expect(await last('out-of-memory')).to.match(taken);
    expect(await last('completed')).to.not.include('has ended');
    expect(await last('preempted', 'other')).to.not.include('has ended');
  });

  it('finds that a launcher starts runners, in place of a missing runner', async () => {
    expect(await first()).to.include({ code: 'no-runner' });
    await scene.api.reportLauncher(report());
    expect(await first()).to.include({ code: 'launching', severity: 'waiting' });
    await scene.api.reportLauncher(report({ queues: [{ ...queue, counts: {}, blocked: 'it is paused: x' }] }));
    expect(await first()).to.include({
      code: 'launching',
      severity: 'blocked',
      message: 'no runner can execute a run, and the launcher lab starts none: main: it is paused: x',
    });
  });

  it('says what the allocations of the queues that fit wait for, and why earlier ones failed', async () => {
    const says = async (...queues: LauncherQueue[]) => {
      const of = (name: string, state: string, reason: string) => ({
        allocation: `slurm/${name}/${state}`,
        queue: name,
        state,
        reason,
      });
      const allocations = [
        of('big', 'Queued', 'x'),
        of('main', 'Queued', 'PENDING: Resources'),
        of('main', 'Starting', 'ContainerCreating'),
      ];
      await scene.api.reportLauncher(report({ queues, allocations }));
      const { message, severity } = (await first())!;
      return [severity, message.replace(/^no runner can execute a run( yet)?[;,] (and )?the launcher lab /, '')];
    };
    const own = [{ batches: [batch], why: '2 runs wait: submits 0 allocations, but max is 1' }];
    expect(await says({ ...queue, counts: { Queued: 2, Starting: 1, Idle: 4 } })).to.deep.equal([
      'waiting',
      'starts runners: main: 2 allocations wait in the engine (PENDING: Resources), 1 allocation starts (ContainerCreating)',
    ]);
    const failing = 'the last 2 allocations failed (its runner failed: ErrImagePull: pull access denied)';
    expect(await says({ ...queue, failing })).to.deep.equal([
      'waiting',
      `starts runners: main: 1 allocation waits in the engine (PENDING: Resources), ${failing}`,
    ]);
    const blocked = `${failing}; the next attempt is in 1m`;
    expect(await says({ ...queue, failing, blocked, counts: {} })).to.deep.equal([
      'blocked',
      `starts none: main: ${blocked}`,
    ]);
    const [big, small] = [
      { ...queue, name: 'big', counts: {} },
      { ...queue, demand: own, counts: {} },
    ];
    expect(await says(big, small)).to.deep.equal(['waiting', `has started none: main: ${own[0]!.why}`]);
    expect(await says(big, { ...small, blocked })).to.deep.equal(['blocked', `starts none: main: ${blocked}`]);
    expect(await says({ ...big, blocked: 'it is paused: x' }, { ...queue, demand: [] })).to.deep.equal([
      'waiting',
      'starts runners: big: it is paused: x; main: 1 allocation waits in the engine (PENDING: Resources)',
    ]);
  });

  it('says of a launcher that does not report any more that it does not run, for a week', async () => {
    await scene.api.reportLauncher(report());
    await scene.world.advance(30_000);
    expect(await first()).to.include({
      code: 'launcher-silent',
      severity: 'blocked',
      message:
        'no runner can execute a run, and the launcher lab (last report 30s ago) does not run, or cannot reach this coordinator',
    });
    await scene.api.reportLauncher(report({ launcher: 'other', unserved: [unserved()] }));
    expect((await first())?.message).to.equal(
      `${unserved().message}; the launcher lab (last report 30s ago) does not run, or cannot reach this coordinator`,
    );
    await scene.world.advance(7 * 86_400_000 - 30_000);
    expect((await first())?.message).to.match(
      /^no runner can execute a run, and the launcher other \(last report 6d23h ago\)/,
    );
    await scene.world.advance(30_000);
    expect(await first()).to.include({ code: 'no-runner' });
  });

  it('says nothing of a silent launcher where a runner is connected', async () => {
    await scene.api.reportLauncher(report());
    await scene.world.advance(30_000);
    await scene.register('a');
    await scene.api.drain('a');
    expect(await first()).to.include({ code: 'all-drained' });
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
