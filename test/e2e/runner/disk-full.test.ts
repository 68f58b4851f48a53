/** A full disk, for real: an output root on a small file system in memory, filled by the simulation. Needs the right to mount. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { freshSite } from '../../support/fresh-site.ts';
import type { FakeCoordinator, FakeJob } from '../../support/fake-coordinator.ts';
import type { Site } from '../../support/runner-process.ts';

const SIZE = '8m';

describe('runner: the disk is full', () => {
  let folder = '';
  let root = '';
  let fake: FakeCoordinator;
  let site: Site;

  before(function () {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-disk-'));
    root = join(folder, 'small');
    mkdirSync(root);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', root]).status === 0;
    // Only root may mount, and not in every container: a machine without it is not a failure of the tests.
    if (!mounted) {
      root = '';
      this.skip();
    }
  });
  after(() => {
    if (root !== '') spawnSync('umount', ['-l', root]);
    rmSync(folder, { recursive: true, force: true });
  });
  freshSite((it) => ({ fake, site } = it));

  const isOver = (job: FakeJob): boolean => ['Completed', 'Failed'].includes(job.job.status);

  function one(behaviour: string): FakeJob {
    const [job] = fake.add({ environment: { BEHAVE: behaviour } });
    if (job === undefined) throw new Error('no job');
    return job;
  }

  it("is reported as the machine's fault; every run is reported, and with space again the runner continues", async () => {
    const runner = site.start(fake.url, ['--output-root', root, '--max-concurrent-jobs', '1']);
    const before = one('succeed');
    await fake.until('one run is over', () => isOver(before));
    const during = one('fillDisk');
    await fake.until('the disk is full', () => isOver(during));
    expect(during.accepted.at(-1)).to.include({ type: 'fail', reason: 'infrastructure' });
    expect(during.accepted.at(-1))
      .to.have.property('error_message')
      .that.matches(/^the disk of .* is full; the simulation exited with code \d+\n.*ENOSPC/s);
    await runner.says('no new runs for');
    // Still full: the next run cannot even be prepared, and that is reported too.
    const on = one('succeed');
    await fake.until('it was tried', () => isOver(on));
    expect(on.accepted.map((it) => it.type)).to.deep.equal(['start', 'fail']);
    expect(on.accepted.at(-1)).to.include({ type: 'fail', reason: 'infrastructure' });
    expect(on.accepted.at(-1))
      .to.have.property('error_message')
      .that.matches(/the disk of .* is full|no space left/i);
    rmSync(join(root, during.job.batch_id), { recursive: true });
    const after = one('succeed');
    await fake.until('one run is over', () => isOver(after));
    expect(after.job.status).to.equal('Completed');
    expect(runner.process.exitCode).to.equal(null);
    expect(await runner.end('SIGTERM')).to.equal(0);
    expect(fake.signedOff).to.equal(1);
  });

  it('SIGTERM ends the runner while the disk is full, and its successor finds its state', async () => {
    const runner = site.start(fake.url, ['--output-root', root, '--max-concurrent-jobs', '2']);
    const during = one('fillDisk');
    await fake.until('the disk is full', () => isOver(during));
    // To the last byte, so that the spool cannot be opened anew either.
    spawnSync('sh', ['-c', 'cat /dev/zero > "$1/rest" 2> /dev/null; true', 'sh', root]);
    const tried = [one('succeed'), one('succeed')];
    await fake.until('they were tried', () => tried.every(isOver));
    expect(await runner.end('SIGTERM')).to.be.oneOf([0, 1]);
    const seen = fake.heartbeats;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(fake.heartbeats).to.equal(seen);
    rmSync(join(root, 'rest'));
    rmSync(join(root, during.job.batch_id), { recursive: true });
    site.start(fake.url, ['--output-root', root]);
    const after = one('succeed');
    await fake.until('one run is over', () => isOver(after));
    expect(after.job.status).to.equal('Completed');
  });
});
