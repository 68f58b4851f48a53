/** Kills of workers, of their forkserver and of their runner: every run ends once, and only a run that was executed then is lost. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { newBatchId } from '../../../../src/domain/ids.ts';
import { descendants } from '../../../support/descendants.ts';
import { freshSite } from '../../../support/fresh-site.ts';
import type { FakeCoordinator, FakeJob } from '../../../support/fake-coordinator.ts';
import { SHARED } from '../../../support/runner-modes.ts';
import { lives, SIMULATION, type RunnerProcess, type Site } from '../../../support/runner-process.ts';

const SLOTS = 2;
const JOBS = 120;

describe('runner/launch/shared: kills', () => {
  let fake: FakeCoordinator;
  let site: Site;
  freshSite((it) => {
    ({ fake, site } = it);
    fake.isolation = 'shared';
  });
  before(function () {
    if (SHARED.missing !== undefined || !existsSync('/proc/self/environ')) return this.skip();
  });

  const args = [...SHARED.args, '--max-concurrent-jobs', String(SLOTS)];
  const add = (): FakeJob[] =>
    fake.add(...Array.from({ length: JOBS }, () => ({ environment: { BEHAVE: 'slow', SLOW_MS: '10' } })));
  const ended = (jobs: readonly FakeJob[]): FakeJob[] =>
    jobs.filter((it) => ['Completed', 'Failed'].includes(it.job.status));
  const attemptOf = ({ job }: FakeJob, attempt: number): string =>
    join(
      site.folder,
      'out',
      job.batch_id,
      String(job.run_config.run_id).padStart(8, '0'),
      `attempt-${String(attempt)}`,
    );
  const directoryOf = (it: FakeJob): string => attemptOf(it, it.attempt);
  const typesOf = (job: FakeJob): string => job.accepted.map((it) => it.type).join(' ');

  /** The workers of a runner, by their marker. */
  function workers({ process: { pid } }: RunnerProcess): number[] {
    return descendants(pid ?? NaN).filter((it) => {
      try {
        return readFileSync(`/proc/${String(it)}/environ`, 'latin1').includes('SVC_OUTPUT_DIR=worker ');
      } catch {
        return false;
      }
    });
  }

  function signal(runner: RunnerProcess, name: 'SIGSTOP' | 'SIGCONT'): void {
    for (const pid of workers(runner)) {
      try {
        process.kill(pid, name);
      } catch {
        // It has ended.
      }
    }
  }

  it('a runner that is stopped ends its workers, which wait for runs, without a word about lost ones', async () => {
    const runner = site.start(fake.url, args);
    const jobs = add();
    await fake.until('all have ended', () => ended(jobs).length === JOBS);
    expect(workers(runner)).to.not.equal([]);
    const pids = workers(runner);
    expect(await runner.end('SIGTERM')).to.equal(0);
    expect(runner.log).to.not.include('forkserver ended');
    while (pids.some(lives)) await pause(10);
  });

  it('a worker that is killed loses at most the run that it executes', async () => {
    const runner = site.start(fake.url, args);
    const jobs = add();
    await fake.until('some have ended', () => ended(jobs).length >= 20);
    const [first] = workers(runner);
    expect(first).to.be.a('number');
    process.kill(first ?? NaN, 'SIGKILL');
    await fake.until('all have ended', () => ended(jobs).length === JOBS);
    const failed = jobs.filter((it) => it.job.status === 'Failed');
    expect(failed.length).to.be.at.most(1);
    for (const it of failed) expect(it.accepted.at(-1)).to.include({ type: 'fail', reason: 'signal' });
    for (const it of jobs.filter((job) => !failed.includes(job))) {
      expect(typesOf(it)).to.match(/^((start release|hand_back) )*start complete$/);
      expect(it.accepted.filter(({ type }) => type === 'complete')).to.have.length(1);
    }
  });

  it('kill -9 of the runner: its workers end with it, and its successor executes what had no outcome', async () => {
    const first = site.start(fake.url, args);
    const jobs = add();
    await fake.until('some have ended', () => ended(jobs).length >= 20);
    const pids = workers(first);
    expect(pids.length).to.be.within(1, SLOTS);
    await first.end('SIGKILL');
    site.start(fake.url, args);
    await fake.until('all have ended', () => ended(jobs).length === JOBS);
    expect(jobs.map((it) => it.job.status)).to.deep.equal(jobs.map(() => 'Completed'));
    for (const it of jobs) expect(it.accepted.filter(({ type }) => type === 'complete')).to.have.length(1);
    expect(pids.filter(lives)).to.deep.equal([]);
    // Each attempt that was reported has the directory of its own.
    for (const it of jobs) expect(existsSync(directoryOf(it))).to.equal(true);
  });

  it('a lost lease ends the run that a worker executes, and the runs given to it are executed by another worker', async () => {
    const runner = site.start(fake.url, args);
    const batchId = newBatchId(0, randomBytes(6));
    const environment = { BEHAVE: 'slow', SLOW_MS: '40' };
    const jobs = fake.add(...Array.from({ length: JOBS }, () => ({ batchId, environment })));
    await fake.until('some have ended', () => ended(jobs).length >= 20);
    // Started at the coordinator: one is executed, others were given to a worker, which has not begun them, and is stopped meanwhile.
    let lost: FakeJob[] = [];
    while (lost.length < 4) {
      signal(runner, 'SIGSTOP');
      const started = jobs.filter((it) => it.job.status === 'Running');
      const unbegun = started.filter((it) => !existsSync(directoryOf(it))).slice(-3);
      lost = [...started.filter((it) => existsSync(directoryOf(it))).slice(-1), ...unbegun];
      if (lost.length === 4) break;
      signal(runner, 'SIGCONT');
      await pause(20);
      expect(ended(jobs).length, 'runs that are left').to.be.below(JOBS - 10);
    }
    for (const it of lost) fake.reassign(it);
    // It registers with its next request, and the answer names what it has lost.
    fake.forget();
    await runner.says('run killed: the coordinator has given it to another runner');
    signal(runner, 'SIGCONT');
    const others = jobs.filter((it) => !lost.includes(it));
    await fake.until('the others have ended', () => ended(others).length === others.length);
    expect(others.map((it) => it.job.status)).to.deep.equal(others.map(() => 'Completed'));
    for (const it of others) expect(typesOf(it)).to.match(/^((start release|hand_back) )*start complete$/);
    for (const it of lost) expect(typesOf(it)).to.equal('start');
    // A run that was taken back before it began has left nothing.
    expect(lost.some((it) => !existsSync(attemptOf(it, 1)))).to.equal(true);
  });

  it('runs of another engine have a process each, and their results say so', async () => {
    site.start(fake.url, ['--warm', '--entrypoint', SIMULATION]);
    const [job] = fake.add({ environment: { BEHAVE: 'succeed' } });
    await fake.until('it has ended', () => ended([job!]).length === 1);
    expect(job!.accepted.at(-1)).to.have.property('type', 'complete');
    expect(JSON.stringify(job!.accepted.at(-1))).to.include(
      'it had a process of its own: no shared interpreter could execute it; only a warm Python has them',
    );
  });
});
