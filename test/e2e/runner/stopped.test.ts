/** A cluster ends an allocation: SIGTERM reaches every process of it, in any order. The runs are handed back, and nothing is counted. */
import { expect } from 'chai';
import { descendants } from '../../support/descendants.ts';
import { freshSite } from '../../support/fresh-site.ts';
import type { FakeCoordinator, FakeJob } from '../../support/fake-coordinator.ts';
import { MODES, SHARED } from '../../support/runner-modes.ts';
import type { RunnerProcess, Site } from '../../support/runner-process.ts';

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended meanwhile.
    }
  }
}

const types = (job: FakeJob): string[] => job.accepted.map((it) => it.type);
const messageOf = (job: FakeJob): string => {
  const last = job.accepted.at(-1);
  return last?.type === 'release' ? last.message : '';
};

for (const mode of [...MODES, SHARED]) {
  describe(`runner: stopped with all of its processes, simulations ${mode.name}`, function () {
    let fake: FakeCoordinator;
    let site: Site;
    freshSite((it) => {
      ({ fake, site } = it);
      if (mode.isolation !== undefined) fake.isolation = mode.isolation;
    });
    before(function () {
      if (mode.missing !== undefined) return this.skip();
    });

    /** A runner that executes these behaviours, and the processes below it. */
    async function running(
      behaviours: readonly string[],
      more: readonly string[] = [],
    ): Promise<{ runner: RunnerProcess; jobs: FakeJob[]; pids: number[] }> {
      const runner = site.start(fake.url, [...mode.args, ...more]);
      if (mode.isWarm) await runner.says('warm, ');
      const jobs = fake.add(...behaviours.map((BEHAVE) => ({ environment: { BEHAVE, SLOW_MS: '4000' } })));
      await fake.until('they run', () => jobs.every((it) => it.job.status === 'Running'));
      // A simulation needs a moment to install its handlers.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return { runner, jobs, pids: descendants(runner.process.pid ?? NaN) };
    }

    for (const [order, first] of [
      ['the runner is the first', true],
      ['the runner is the last', false],
    ] as const) {
      it(`hands back the runs that die of SIGTERM, and counts no failure: ${order}`, async () => {
        const { runner, jobs, pids } = await running(['hang', 'hang', 'hang'], ['--grace-secs', '30']);
        expect(pids.length).to.be.at.least(jobs.length);
        const ended = runner.exit();
        if (first) signal([runner.process.pid ?? NaN], 'SIGTERM');
        signal(pids, 'SIGTERM');
        if (!first) {
          // Longer than any death takes to be seen.
          await new Promise((resolve) => setTimeout(resolve, 500));
          signal([runner.process.pid ?? NaN], 'SIGTERM');
        }
        expect(await ended, runner.log).to.equal(0);
        expect(jobs.map(types)).to.deep.equal(jobs.map(() => ['start', 'release']));
        for (const job of jobs)
          expect(messageOf(job)).to.equal('it was stopped (SIGTERM); the simulation was killed by signal SIGTERM');
        expect(fake.signedOff).to.equal(1);
      });
    }

    it('gives a run that catches SIGTERM its grace, and takes its result', async () => {
      const { runner, jobs, pids } = await running(['patient'], ['--grace-secs', '60']);
      signal([...pids, runner.process.pid ?? NaN], 'SIGTERM');
      expect(await runner.exit(), runner.log).to.equal(0);
      expect(types(jobs[0]!)).to.deep.equal(['start', 'complete']);
    });

    // The rest does not depend on how a run is started, but for a server of its own.
    if (mode !== MODES[0] && !mode.name.includes('warm Python') && mode !== SHARED) return;

    it('hands back a run that ignores SIGTERM at the end of the grace time, with the reason', async () => {
      const { runner, jobs, pids } = await running(['stubborn'], ['--grace-secs', '1']);
      signal([...pids, runner.process.pid ?? NaN], 'SIGTERM');
      expect(await runner.exit(), runner.log).to.equal(0);
      expect(types(jobs[0]!)).to.deep.equal(['start', 'release']);
      expect(messageOf(jobs[0]!)).to.match(/SIGTERM\), and the run did not end within 1 s of grace$/);
    });

    it('hands back what the cluster kills before the runner itself', async () => {
      const { runner, jobs, pids } = await running(['stubborn', 'stubborn'], ['--grace-secs', '60']);
      signal([...pids, runner.process.pid ?? NaN], 'SIGTERM');
      await runner.says('leaving');
      signal(pids, 'SIGKILL');
      expect(await runner.exit(), runner.log).to.equal(0);
      expect(jobs.map(types)).to.deep.equal(jobs.map(() => ['start', 'release']));
    });

    it('hands its runs back at a second SIGTERM, too', async () => {
      const { runner, jobs } = await running(['stubborn'], ['--grace-secs', '60']);
      runner.process.kill('SIGTERM');
      await runner.says('leaving');
      runner.process.kill('SIGTERM');
      expect(await runner.exit(), runner.log).to.equal(1);
      expect(fake.signedOff).to.equal(1);
      expect(types(jobs[0]!)).to.deep.equal(['start']);
    });

    it('counts SIGTERM that has nothing to do with a stop as a failure', async () => {
      const { jobs, pids } = await running(['hang']);
      signal(pids, 'SIGTERM');
      await fake.until('it has failed', () => jobs[0]?.job.status === 'Failed');
      expect(jobs[0]?.accepted.at(-1)).to.include({ type: 'fail', reason: 'signal' });
    });
  });
}
