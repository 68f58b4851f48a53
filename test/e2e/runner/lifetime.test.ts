/** Tests of runners with an end: when they leave by themselves, and what the coordinator learns of it. */
import { expect } from 'chai';
import { declaredEnd, LifetimeWatch } from '../../../src/runner/connection/lifetime.ts';
import { freshSite } from '../../support/fresh-site.ts';
import type { FakeCoordinator } from '../../support/fake-coordinator.ts';
import type { Site } from '../../support/runner-process.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const NEVER = { endsAtMs: undefined, maxMs: undefined, marginMs: 60_000, idleMs: undefined };

describe('runner: lifetime', () => {
  const ENDS: [string, Parameters<typeof declaredEnd>[0], number | undefined][] = [
    ['no end', NEVER, undefined],
    ['an instant', { ...NEVER, endsAtMs: 500_000 }, 440_000],
    ['a time from the start', { ...NEVER, maxMs: 300_000 }, 340_000],
    ['the earlier of both', { ...NEVER, endsAtMs: 900_000, maxMs: 300_000, marginMs: 0 }, 400_000],
  ];
  for (const [name, lifetime, end] of ENDS) {
    it(`declares ${name}`, () => expect(declaredEnd(lifetime, 100_000)).to.equal(end));
  }

  function watch(endInMs: number | undefined, idleMs: number | undefined) {
    const clock = new SimulatedClock();
    const left: string[] = [];
    const endMs = endInMs === undefined ? undefined : clock.now() + endInMs;
    return {
      clock,
      left,
      watch: new LifetimeWatch({ clock, endMs, graceMs: 30_000, idleMs, leave: (why) => left.push(why) }),
    };
  }

  it('leaves the grace time before the end', async () => {
    const { clock, left } = watch(100_000, undefined);
    await clock.advance(69_000);
    expect(left).to.deep.equal([]);
    await clock.advance(1_000);
    expect(left).to.deep.equal(['its machine is taken from it soon']);
  });

  it('leaves at once when the end is nearer than the grace time', async () => {
    const { clock, left } = watch(10_000, undefined);
    await clock.advance(0);
    expect(left.length).to.equal(1);
  });

  it('leaves after the time without a run, counted anew after each run', async () => {
    const { clock, left, watch: lifetime } = watch(undefined, 60_000);
    lifetime.holds(0);
    await clock.advance(50_000);
    lifetime.holds(1);
    await clock.advance(500_000);
    lifetime.holds(0);
    await clock.advance(40_000);
    lifetime.holds(0);
    expect(left).to.deep.equal([]);
    await clock.advance(20_000);
    expect(left).to.deep.equal(['no run for 60 s']);
  });

  it('does nothing after it is closed', async () => {
    const { clock, left, watch: lifetime } = watch(100_000, 1_000);
    lifetime.holds(0);
    lifetime.close();
    await clock.advance(200_000);
    expect(left).to.deep.equal([]);
  });

  describe('of a real process', () => {
    let fake: FakeCoordinator;
    let site: Site;
    freshSite((it) => ({ fake, site } = it));

    it('names its allocation and its end, and exits when there is nothing to do', async () => {
      const [job] = fake.add({ environment: { BEHAVE: 'succeed' } });
      const times = ['--max-lifetime', '2h', '--idle-exit', '1s'];
      const runner = site.start(fake.url, ['--allocation', 'slurm/main/1', '--ephemeral', ...times]);
      expect(await runner.exit()).to.equal(0);
      expect(job?.job.status).to.equal('Completed');
      const [registration] = fake.registrations;
      expect(registration).to.include({ allocation: 'slurm/main/1', ephemeral: true });
      const aheadMs = Date.parse(registration?.ends_at ?? '') - Date.now();
      expect(aheadMs).to.be.within(3_600_000, 7_140_000);
      expect(runner.log).to.contain('no run for 1 s');
    });

    it('hands a run back that does not end in time', async () => {
      const [job] = fake.add({ environment: { BEHAVE: 'slow', SLOW_MS: '600000' } });
      const runner = site.start(fake.url, ['--max-lifetime', '8s', '--lifetime-margin', '0', '--grace-secs', '1']);
      expect(await runner.exit()).to.equal(0);
      expect(fake.signedOff).to.equal(1);
      expect(job?.job.status).to.not.be.oneOf(['Completed', 'Failed']);
    });
  });
});
