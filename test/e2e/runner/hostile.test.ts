/** Simulations that misbehave, as real processes: every slot comes back or is reported, and the runner can always be ended. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Cgroups } from '../../../src/runner/processes/cgroups.ts';
import { FakeCoordinator } from '../../support/fake-coordinator.ts';
import type { FakeJob, JobSpec } from '../../support/fake-coordinator.ts';
import { HungFileSystem } from '../../support/hung-file-system.ts';
import { MODES, SHARED } from '../../support/runner-modes.ts';
import type { RunnerMode } from '../../support/runner-modes.ts';
import { lives, SIMULATION, Site } from '../../support/runner-process.ts';

/** Whether this machine lets a runner have cgroups. */
function hasCgroups(): boolean {
  const opened = Cgroups.open(`simbatch-probe-${String(process.pid)}`);
  if (typeof opened === 'string') return false;
  opened.close();
  return true;
}

for (const mode of [...MODES, SHARED]) {
  describe(`runner: simulations that misbehave, ${mode.name}`, () => {
    suite(mode);
  });
}

function suite(mode: RunnerMode): void {
  let fake: FakeCoordinator;
  let site: Site;
  let hung: HungFileSystem | undefined;
  before(function () {
    if (mode.missing !== undefined) this.skip();
  });
  beforeEach(async () => {
    fake = await FakeCoordinator.start();
    if (mode.isolation !== undefined) fake.isolation = mode.isolation;
    site = new Site();
  });
  afterEach(async () => {
    hung?.release();
    hung = undefined;
    await site.clean();
    await fake.stop();
  });

  function add(BEHAVE: string, more: JobSpec = {}): FakeJob {
    const [job] = fake.add({ ...more, environment: { BEHAVE, ...more.environment } });
    if (job === undefined) throw new Error('no job');
    return job;
  }
  const over = (...jobs: FakeJob[]) =>
    fake.until('all are over', () => jobs.every((it) => ['Completed', 'Failed'].includes(it.job.status)));
  const directoryOf = (job: FakeJob): string =>
    join(site.folder, 'out', job.job.batch_id, String(job.job.run_config.run_id).padStart(8, '0'), 'attempt-1');
  function notesOf(job: FakeJob): string {
    const last = job.accepted.at(-1);
    const result = last === undefined || !('result' in last) ? undefined : last.result;
    return JSON.stringify(result?.metadata['simbatch_notes'] ?? []);
  }
  const pidsOf = (job: FakeJob) => JSON.parse(readFileSync(join(directoryOf(job), 'pids.json'), 'utf8')) as number[];

  it('pipes in place of its logs, metadata and telemetry hold no slot', async () => {
    const runner = site.start(fake.url, [...mode.args, '--max-concurrent-jobs', '1']);
    const jobs = Array.from({ length: 6 }, () => add('pipes'));
    await over(...jobs);
    expect(jobs.map((it) => it.job.status)).to.deep.equal(jobs.map(() => 'Completed'));
    expect(runner.log).not.to.include('a slot is lost');
    expect(await runner.end('SIGTERM')).to.equal(0);
  });

  it('a link in place of its log is not followed', async () => {
    const victim = join(site.folder, 'victim');
    writeFileSync(victim, 'untouched');
    site.start(fake.url, mode.args);
    const job = add('linkedLog', { environment: { VICTIM: victim } });
    await over(job);
    expect(readFileSync(victim, 'utf8')).to.equal('untouched');
    expect(job.job.status).to.equal('Completed');
  });

  it('no run, and no process of one, inherits a descriptor of the runner', async function () {
    if (!existsSync('/proc/self/fd')) return this.skip();
    site.start(fake.url, mode.args);
    const job = add('descriptors');
    await over(job);
    expect(job.job.status).to.equal('Completed');
    const found = JSON.parse(readFileSync(join(directoryOf(job), 'descriptors.json'), 'utf8')) as {
      own: Record<string, string>;
      of_child: string;
    };
    const ofChild = Array.from(found.of_child.matchAll(/ (\d+) -> (.*)$/gm), ([, fd, link]) => [fd!, link!]);
    // An interpreter that executes run after run has four connections of its own to the runner, two of them as its output too, and
    // the named pipe with the numbers of its runs. Its children have none of them.
    const isOwnConnection = (link: string): boolean =>
      mode.isolation === 'shared' && /^socket:|\/simbatch-\w+\/[0-9a-f-]{36} \(deleted\)$/.test(link);
    const own = Object.entries(found.own).filter(([, link]) => !isOwnConnection(link));
    expect(Object.keys(found.own).length - own.length).to.equal(mode.isolation === 'shared' ? 7 : 0);
    for (const [fd, link] of [...own, ...ofChild]) {
      if (Number(fd) < 3) continue;
      // Node has descriptors of its own: of its event loop and threads. The listing is one, too.
      expect(link, `descriptor ${fd}`).to.match(/^(\/dev\/null|\/proc\/\d+\/fd|anon_inode:.*|pipe:.*)$/);
    }
    expect(JSON.stringify(found)).not.to.include('spool');
  });

  it('a daemon without the environment of the run is dead before the run is reported, with a cgroup', async function () {
    if (!hasCgroups()) return this.skip();
    site.start(fake.url, [...mode.args, '--cgroup', 'required']);
    const job = add('daemon');
    await over(job);
    expect(job.job.status).to.equal('Completed');
    expect(pidsOf(job).map(lives)).to.deep.equal([false]);
  });

  it('a daemon with the environment of the run is dead before the run is reported, without a cgroup', async function () {
    if (!existsSync('/proc/self/environ')) return this.skip();
    const runner = site.start(fake.url, [...mode.args, '--cgroup', 'off']);
    await runner.says('runs have no cgroup: cgroup is off; a process that leaves its group and drops its environment');
    const job = add('daemon', { environment: { KEEP_ENV: '1' } });
    await over(job);
    expect(job.job.status).to.equal('Completed');
    expect(pidsOf(job).map(lives)).to.deep.equal([false]);
  });

  for (const cgroup of ['auto', 'off']) {
    it(`processes that are created faster than they are ended are all dead, cgroup ${cgroup}`, async function () {
      if (!existsSync('/proc/self/environ')) return this.skip();
      site.start(fake.url, [...mode.args, '--cgroup', cgroup]);
      const job = add('forks', { timeoutSecs: 1 });
      await over(job);
      expect(job.accepted.at(-1)).to.include({ type: 'fail', reason: 'timeout' });
      expect(notesOf(job)).to.equal('[]');
    });
  }

  it('a process that survives SIGKILL loses its slot, is named in the result, and gives the slot back when it dies', async function () {
    hung = await HungFileSystem.mount(join(site.folder, 'hung'));
    if (hung === undefined) return this.skip();
    const runner = site.start(fake.url, [...mode.args, '--max-concurrent-jobs', '2']);
    const job = add('stuck', { timeoutSecs: 1, environment: { HUNG: hung.directory } });
    await over(job);
    expect(job.accepted.at(-1)).to.include({ type: 'fail', reason: 'timeout' });
    expect(notesOf(job)).to.match(/1 of its processes could not be ended: \d+ \([^)]+, waits in the kernel\)/);
    await runner.says('a slot is lost, 1 of 2 now: process');
    await fake.until('a heartbeat reports the lost slot', () => fake.slotsLost === 1);
    const next = [add('succeed'), add('succeed'), add('succeed')];
    await over(...next);
    expect(next.map((it) => it.job.status)).to.deep.equal(['Completed', 'Completed', 'Completed']);
    hung.release();
    await runner.says('a slot is back, 0 of 2 are lost now');
    await fake.until('a heartbeat reports no lost slot', () => fake.slotsLost === 0);
    expect(await runner.end('SIGTERM')).to.equal(0);
  });

  it('two SIGTERMs end a runner whose simulation survives SIGKILL', async function () {
    hung = await HungFileSystem.mount(join(site.folder, 'hung'));
    if (hung === undefined) return this.skip();
    const runner = site.start(fake.url, mode.args);
    const job = add('stuck', { environment: { HUNG: hung.directory } });
    await fake.until('it runs', () => job.job.status === 'Running');
    runner.process.kill('SIGTERM');
    await runner.says('leaving');
    expect(await runner.end('SIGTERM')).to.be.oneOf([1, 'SIGKILL']);
  });

  it('a file system that does not answer loses slots, fails its runs as infrastructure, and cannot keep the runner', async function () {
    // The entrypoint is looked at before its way of starting is chosen.
    if (mode.isWarm) return this.skip();
    hung = await HungFileSystem.mount(join(site.folder, 'hung'));
    if (hung === undefined) return this.skip();
    // The entrypoint is reached through a link that leads to the hung file system later.
    const link = join(site.folder, 'link');
    mkdirSync(join(site.folder, 'good'));
    writeFileSync(join(site.folder, 'good', 'simulation.mjs'), `await import(${JSON.stringify(SIMULATION)});`);
    symlinkSync(join(site.folder, 'good'), link);
    const runner = site.start(fake.url, ['--entrypoint', join(link, 'simulation.mjs'), '--max-concurrent-jobs', '6']);
    const before = add('succeed');
    await over(before);
    unlinkSync(link);
    symlinkSync(hung.directory, link);
    const jobs = Array.from({ length: 5 }, () => add('succeed'));
    await over(...jobs);
    for (const job of jobs) {
      expect(job.accepted.at(-1)).to.include({ type: 'fail', reason: 'infrastructure' });
      expect(job.accepted.at(-1))
        .to.have.property('error_message')
        .that.matches(/did not finish within 30 s/);
    }
    await runner.says('a slot is lost, 5 of 6 now: preparing');
    await fake.until('a heartbeat reports the lost slots', () => fake.slotsLost === 5);
    const seen = fake.heartbeats;
    await fake.until('it sends heartbeats', () => fake.heartbeats > seen + 1);
    runner.process.kill('SIGTERM');
    await runner.says('leaving');
    runner.process.kill('SIGTERM');
    await runner.says('leaving at once');
    // Its threads wait in the kernel, so the process disappears only with the file system; it does nothing more.
    await pause(2000);
    const last = fake.requests.length;
    await pause(2000);
    expect(fake.requests.length).to.equal(last);
    hung.release();
    expect(await runner.exit()).to.be.oneOf([1, 'SIGKILL']);
  });
}
