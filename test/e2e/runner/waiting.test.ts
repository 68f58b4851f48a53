/** A runner on which runs wait: a real process against a small coordinator. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { freshSite } from '../../support/fresh-site.ts';
import type { FakeCoordinator, FakeJob } from '../../support/fake-coordinator.ts';
import type { Site } from '../../support/runner-process.ts';

const SLOTS = 16;

describe('runner: runs that wait', () => {
  let fake: FakeCoordinator;
  let site: Site;
  freshSite((it) => ({ fake, site } = it));

  /** Starts a runner that has executed short runs, then fills its slots with long ones. */
  async function fill(): Promise<{ runner: ReturnType<Site['start']>; long: FakeJob[]; later: FakeJob[] }> {
    const entrypoint = join(site.folder, 'simulation.sh');
    writeFileSync(entrypoint, '#!/bin/sh\nsleep "${SIM_SLEEP:-0}"\n');
    chmodSync(entrypoint, 0o755);
    const options = ['--entrypoint', entrypoint, '--max-concurrent-jobs', String(SLOTS), '--log-level', 'debug'];
    const runner = site.start(fake.url, [...options, '--grace-secs', '60']);
    const short = fake.add(...Array.from({ length: 3 * SLOTS }, () => ({})));
    await fake.until('the short runs are over', () => short.every((it) => it.job.status === 'Completed'));
    for (const { accepted } of short) expect(accepted.map((it) => it.type)).to.deep.equal(['start', 'complete']);
    const long = fake.add(...Array.from({ length: SLOTS }, () => ({ environment: { SIM_SLEEP: '8' } })));
    const later = fake.add({}, {}, {});
    const hasWaited = (it: FakeJob): boolean => it.job.status !== 'Pending' || handedBack(it);
    await fake.until('the long runs have started and a run has waited', () => {
      return long.every((it) => it.job.status === 'Running') && later.some(hasWaited);
    });
    return { runner, long, later };
  }
  const handedBack = ({ accepted }: FakeJob): boolean => accepted.some((it) => it.type === 'hand_back');

  it('hands back the runs that wait for long ones, without a start, and executes it afterwards', async () => {
    const { runner, long, later } = await fill();
    await runner.says('handed back: the runs before it take long');
    await fake.until('nothing waits', () => later.every((it) => it.job.status === 'Pending'));
    expect(later.some(handedBack)).to.equal(true);
    for (const { accepted } of later) expect(accepted.map((it) => it.type)).to.not.include('start');
    await fake.until('all are over', () => [...long, ...later].every((it) => it.job.status === 'Completed'));
  });

  it('starts no run that waits when it leaves, and lets its runs end', async () => {
    const { runner, long, later } = await fill();
    runner.process.kill('SIGTERM');
    expect(await runner.exit()).to.equal(0);
    for (const { job, accepted } of later) {
      expect(job.status).to.equal('Pending');
      expect(accepted.map((it) => it.type)).to.not.include('start');
    }
    expect(long.map((it) => it.job.status)).to.deep.equal(long.map(() => 'Completed'));
  });
});
