/** Processes that survive their run or its runner are ended, and never those of others. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { sleep, systemClock } from '../../../src/base/clock.ts';
import { silentLog } from '../../../src/runner/log.ts';
import { ProcessTable } from '../../../src/runner/processes/proc-fs.ts';
import { killOrphans, ProcessScope } from '../../../src/runner/processes/process-scope.ts';
import { lives } from '../../support/runner-process.ts';

const table = new ProcessTable();

describe('runner: processes that are left', () => {
  let folder: string;
  /** A process that a test has left, perhaps because its time was over. */
  let member: number | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-orphans-'));
    member = undefined;
  });
  afterEach(() => {
    if (member !== undefined && lives(member)) process.kill(member, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  it('kills an orphan, and never the process that has got its pid since', async function () {
    if (table.processStart(process.pid) === undefined) return this.skip();
    const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
    await once(child, 'spawn');
    const pid = Number(child.pid);
    const start = table.processStart(pid);
    const record = { job_id: 'j', attempt: 1, directory: join(folder, 'no-such'), pid };
    expect((await killOrphans(systemClock, table, { ...record, pidStart: `${String(start)}0` })).killed).to.equal(0);
    expect((await killOrphans(systemClock, table, record)).killed).to.equal(0);
    expect(lives(pid)).to.equal(true);
    expect((await killOrphans(systemClock, table, { ...record, pidStart: String(start) })).killed).to.equal(1);
    expect(lives(pid)).to.equal(false);
  });

  it('kills an orphan that left its group, by its output directory', async function () {
    if (table.processStart(process.pid) === undefined) return this.skip();
    const env = { ...process.env, SVC_OUTPUT_DIR: folder };
    const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore', env });
    await once(child, 'spawn');
    const record = { job_id: 'j', attempt: 1, directory: folder };
    expect((await killOrphans(systemClock, table, record)).killed).to.equal(1);
    expect(lives(Number(child.pid))).to.equal(false);
  });

  const means: [name: string, end: (scope: ProcessScope) => unknown][] = [
    ['kill', (scope) => scope.kill()],
    ['clear', (scope) => scope.clear(systemClock, false)],
  ];
  for (const [name, end] of means) {
    it(`${name} ends members of the group that have dropped its environment`, async function () {
      if (process.platform !== 'linux') this.skip();
      const scope = new ProcessScope({ table: new ProcessTable(), cgroups: undefined }, silentLog, folder, {});
      const leader = scope.launch(() =>
        spawn('sh', ['-c', 'env -i sleep 600 & echo $!; wait'], {
          detached: true,
          stdio: ['ignore', 'pipe', 'ignore'],
          env: { PATH: process.env.PATH, SVC_OUTPUT_DIR: folder },
        }),
      );
      const [text] = (await once(leader.stdout, 'data')) as [Buffer];
      member = Number(text.toString());
      expect(lives(member)).to.equal(true);
      await end(scope);
      // Without a limit of its own: a machine that is busy takes its time, and a member that was missed lives for ever.
      while (lives(member)) await sleep(systemClock, 10);
    });
  }
});
