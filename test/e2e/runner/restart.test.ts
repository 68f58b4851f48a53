/** Runs when the runner is killed, the coordinator is away, or replies are lost. Real processes, real HTTP. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { freshSite } from '../../support/fresh-site.ts';
import type { FakeCoordinator, FakeJob, JobSpec } from '../../support/fake-coordinator.ts';
import { lives, type Site } from '../../support/runner-process.ts';

describe('runner: restarts and faults', () => {
  let fake: FakeCoordinator;
  let site: Site;
  freshSite((it) => ({ fake, site } = it));

  const runOf = (job: FakeJob): string =>
    join(site.folder, 'out', job.job.batch_id, String(job.job.run_config.run_id).padStart(8, '0'));

  /** The names of the attempts that were executed here. */
  const executed = (job: FakeJob): string[] =>
    existsSync(runOf(job)) ? readdirSync(runOf(job)).filter((name) => !name.endsWith('.json')) : [];

  function add(...behaviours: string[]): FakeJob[] {
    return fake.add(...behaviours.map((BEHAVE): JobSpec => ({ environment: { BEHAVE } })));
  }

  function addOne(behaviour: string, more: Record<string, string> = {}): FakeJob {
    const [job] = fake.add({ environment: { BEHAVE: behaviour, ...more } });
    if (job === undefined) throw new Error('no job');
    return job;
  }

  async function pidsOf(job: FakeJob, attempt = 1): Promise<number[]> {
    const file = join(runOf(job), `attempt-${String(attempt)}`, 'pids.json');
    for (;;) {
      if (existsSync(file)) {
        const text = readFileSync(file, 'utf8');
        if (text.endsWith(']')) return JSON.parse(text) as number[];
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  it('kill -9 of the runner: its successor kills the orphans, takes over the id, and the run is executed again', async function () {
    if (!existsSync('/proc/self/environ')) return this.skip();
    const first = site.start(fake.url);
    const job = addOne('family');
    const pids = await pidsOf(job);
    await first.end('SIGKILL');
    // A starter of processes ends the simulation with the runner; the process that left its session stays for the successor.
    expect(lives(pids.at(-1) ?? NaN)).to.equal(true);
    const second = site.start(fake.url, ['--grace-secs', '0']);
    await fake.until('it is claimed again', () => job.attempt === 2);
    expect(pids.map(lives)).to.deep.equal([false, false, false]);
    expect(fake.registrations.map((it) => it.replaces)).to.deep.equal([undefined, fake.registrations[0]?.instance]);
    expect(second.log).to.include('left by a former runner process');
    await pidsOf(job, 2);
    expect(await second.end('SIGTERM')).to.equal(0);
  });

  for (const [behaviour, status] of [
    ['succeed', 'Completed'],
    ['fail', 'Failed'],
  ] as const) {
    it(`kill -9 of the runner before it is known that a run is ${status}: the successor reports it, and executes nothing again`, async () => {
      const first = site.start(fake.url);
      const job = addOne(behaviour);
      const refused = fake.refuseOutcomes();
      await fake.until('its outcome is refused twice', () => refused() > 1);
      await first.end('SIGKILL');
      fake.fault = () => undefined;
      site.start(fake.url);
      await fake.until('it is over', () => job.job.status === status);
      expect(job.attempt).to.equal(1);
      expect(executed(job)).to.deep.equal(['attempt-1']);
      expect(fake.registrations.at(-1)?.holding).to.deep.equal([{ job_id: job.job.id, attempt: 1 }]);
    });
  }

  it('executes and reports every run once although two of five replies are lost', async () => {
    let count = 0;
    fake.fault = () => ([1, 3].includes(count++ % 5) ? 'drop-reply' : undefined);
    const jobs = add(...Array.from({ length: 8 }, () => 'succeed'));
    site.start(fake.url);
    await fake.until('all are over', () => jobs.every((it) => it.job.status === 'Completed'));
    expect(jobs.map((it) => it.accepted.map((report) => report.type))).to.deep.equal(
      jobs.map(() => ['start', 'complete']),
    );
    expect(jobs.map(executed)).to.deep.equal(jobs.map(() => ['attempt-1']));
  });

  for (const fault of ['hang-up', 503] as const) {
    it(`continues while the coordinator is away (${String(fault)}), and reports afterwards`, async () => {
      const runner = site.start(fake.url);
      const job = addOne('slow', { SLOW_MS: '300' });
      await fake.until('it runs', () => job.job.status === 'Running');
      fake.fault = () => fault;
      const seen = fake.requests.length;
      await fake.until('several tries have failed', () => fake.requests.length > seen + 4);
      fake.fault = () => undefined;
      await fake.until('it is over', () => job.job.status === 'Completed');
      expect(job.attempt).to.equal(1);
      expect(runner.log).to.match(/cannot reach|unavailable/);
      await runner.says('answers again');
    });
  }

  it('registers again when the coordinator has forgotten it, and keeps what it runs', async () => {
    site.start(fake.url);
    const job = addOne('slow', { SLOW_MS: '1500' });
    await fake.until('it runs', () => job.job.status === 'Running');
    fake.forget();
    await fake.until('it is over', () => job.job.status === 'Completed');
    expect(fake.registrations).to.have.length.greaterThan(1);
    expect(fake.registrations.at(-1)?.holding).to.deep.equal([{ job_id: job.job.id, attempt: 1 }]);
  });

  it('kills a run that was reassigned, and does not report it', async () => {
    const runner = site.start(fake.url);
    const job = addOne('family');
    const pids = await pidsOf(job);
    fake.reassign(job);
    await runner.says('run killed: the coordinator has given it to another runner');
    expect(pids.map(lives)).to.deep.equal([false, false, false]);
    expect(job.accepted.map((it) => it.type)).to.deep.equal(['start']);
  });

  it('drops and logs an outcome that the coordinator refuses, and continues', async () => {
    const runner = site.start(fake.url);
    const job = addOne('slow', { SLOW_MS: '200' });
    await fake.until('it runs', () => job.job.status === 'Running');
    fake.reassign(job);
    await runner.says('stale-attempt');
    const next = addOne('succeed');
    await fake.until('the next is over', () => next.job.status === 'Completed');
  });

  it('refuses a second process with its id on this machine', async () => {
    const first = site.start(fake.url);
    await fake.until('it is registered', () => fake.registrations.length === 1);
    const second = site.start(fake.url);
    expect(await second.exit()).to.equal(73);
    expect(second.log).to.match(/a runner with the id r1 is already running here.*--runner-id/);
    expect(first.process.exitCode).to.equal(null);
  });

  it('waits while its id is used on another machine, and says so', async () => {
    const first = site.start(fake.url);
    await fake.until('it is registered', () => fake.registrations.length === 1);
    const second = site.start(fake.url, ['--output-root', join(site.folder, 'elsewhere')]);
    await second.says('another live runner uses the id r1');
    expect(second.process.exitCode).to.equal(null);
    expect(first.process.exitCode).to.equal(null);
  });

  it('SIGTERM: finishes what runs, claims nothing more, signs off, exits 0', async () => {
    const runner = site.start(fake.url, ['--max-concurrent-jobs', '1', '--grace-secs', '20']);
    const job = addOne('slow', { SLOW_MS: '700' });
    await fake.until('it runs', () => job.job.status === 'Running');
    const later = addOne('succeed');
    expect(await runner.end('SIGTERM')).to.equal(0);
    expect([job.job.status, later.job.status]).to.deep.equal(['Completed', 'Pending']);
    expect(fake.signedOff).to.equal(1);
  });

  it('SIGTERM: no heartbeat and no registration is in flight when it signs off, and none follows', async () => {
    const runner = site.start(fake.url, ['--heartbeat-interval-secs', '1']);
    await fake.until('it is registered', () => fake.registrations.length === 1);
    fake.delayMs = (path) => (path.endsWith('/heartbeat') ? 1500 : 0);
    await fake.until('a heartbeat is in flight', () => fake.heartbeatsInFlight === 1);
    expect(await runner.end('SIGTERM')).to.equal(0);
    expect(fake.inFlightAtSignOff).to.deep.equal([0]);
    expect(fake.requests.at(-1)).to.match(/sign-off$/);
  });

  it('SIGTERM: what is not done within the grace time is killed and handed back', async () => {
    const runner = site.start(fake.url, ['--grace-secs', '0']);
    const job = addOne('family');
    const pids = await pidsOf(job);
    expect(await runner.end('SIGTERM')).to.equal(0);
    expect(pids.map(lives)).to.deep.equal([false, false, false]);
    expect(job.job.status).to.equal('Pending');
    expect(job.accepted.map((it) => it.type)).to.deep.equal(['start', 'release']);
    expect(fake.signedOff).to.equal(1);
  });

  it('a second signal ends it at once, its simulations included', async () => {
    const runner = site.start(fake.url, ['--grace-secs', '3600']);
    const job = addOne('family');
    const pids = await pidsOf(job);
    runner.process.kill('SIGTERM');
    await runner.says('leaving');
    expect(await runner.end('SIGTERM')).to.equal(1);
    while (pids.some(lives)) await new Promise((resolve) => setTimeout(resolve, 10));
  });

  it('SIGTERM while the coordinator is away: the outcome is kept, and delivered by the next process', async () => {
    const first = site.start(fake.url, ['--grace-secs', '1']);
    const job = addOne('slow', { SLOW_MS: '300' });
    await fake.until('it runs', () => job.job.status === 'Running');
    fake.fault = () => 'hang-up';
    expect(await first.end('SIGTERM')).to.equal(0);
    expect(first.log).to.include('kept for the next start');
    fake.fault = () => undefined;
    site.start(fake.url);
    await fake.until('it is over', () => job.job.status === 'Completed');
    expect(job.attempt).to.equal(1);
  });

  it('executes a Python simulation, and advertises the Python', async function () {
    if (spawnSync('python3', ['--version']).status !== 0 && process.env['SIMBATCH_REQUIRE_ALL'] !== '1')
      return this.skip();
    const entrypoint = join(site.folder, 'simulation.py');
    const lines = [
      'import json, os',
      'config = json.load(open(os.environ["SVC_RUN_CONFIG"]))',
      'path = os.path.join(os.environ["SVC_OUTPUT_DIR"], "metadata.json")',
      'json.dump({"seed": config["metadata"]["seed"], "half": config["parameters"]["mass"] / 2}, open(path, "w"))',
    ];
    writeFileSync(entrypoint, lines.join('\n'));
    site.start(fake.url, ['--entrypoint', entrypoint]);
    const job = addOne('none');
    await fake.until('it is over', () => ['Completed', 'Failed'].includes(job.job.status));
    expect(job.accepted.at(-1)).to.have.nested.property('result.metadata').that.deep.equals({ seed: 42, half: 0.75 });
    expect(fake.registrations[0]?.capabilities.python_version).to.match(/^3\.\d+/);
  });

  it('reports a missing entrypoint at the start', async () => {
    const runner = site.start(fake.url, ['--entrypoint', 'nowhere.py']);
    expect(await runner.exit()).to.equal(78);
    expect(runner.log).to.match(
      /--entrypoint: entrypoint is "nowhere\.py", but \/\S+\/nowhere\.py does not exist; name the file/,
    );
  });

  it("an entrypoint that vanishes is the machine's fault, and the runner pauses", async () => {
    const entrypoint = join(site.folder, 'here.mjs');
    writeFileSync(entrypoint, '');
    const runner = site.start(fake.url, ['--entrypoint', entrypoint]);
    await fake.until('it is registered', () => fake.registrations.length === 1);
    renameSync(entrypoint, `${entrypoint}.gone`);
    const job = addOne('succeed');
    await fake.until('it has failed', () => job.job.status === 'Failed');
    expect(job.accepted.at(-1)).to.include({ type: 'fail', reason: 'infrastructure' });
    await runner.says('this machine cannot execute');
  });

  it('refuses a credential that the coordinator refuses, at the start', async () => {
    fake.fault = () => 401;
    const runner = site.start(fake.url);
    expect(await runner.exit()).to.equal(77);
    expect(runner.log).to.include('unavailable');
  });
});
