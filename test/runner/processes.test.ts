/** How processes of a run are found and ended: cgroups, and machines that have neither cgroups nor `/proc`. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../src/base/clock.ts';
import { Cgroups, RunCgroup } from '../../src/runner/processes/cgroups.ts';
import { ProcessTable } from '../../src/runner/processes/proc-fs.ts';
import { openProcessTools } from '../../src/runner/processes/process-tools.ts';
import { silentLog } from '../../src/runner/log.ts';
import { Waits } from '../../src/runner/waits.ts';

describe('runner: processes', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-processes-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('knows nothing of processes without /proc', async () => {
    const table = new ProcessTable(join(folder, 'no-proc'));
    expect(table.isAvailable).to.equal(false);
    expect(table.processStart(process.pid)).to.equal(undefined);
    expect(await table.carriersOf(folder)).to.deep.equal([]);
    expect(table.living(process.pid)).to.deep.equal({ pid: process.pid, command: '', state: '' });
  });

  const machines: [what: string, files: Record<string, string>, why: RegExp][] = [
    ['without /proc', {}, /ENOENT/],
    [
      'with cgroups of version 1 only',
      { mountinfo: '1 2 0:1 / /cg rw - cgroup cgroup rw,cpu\n' },
      /no cgroup version 2/,
    ],
    [
      'whose process is in no cgroup of version 2',
      { mountinfo: '1 2 0:1 / /cg rw - cgroup2 cgroup2 rw\n', cgroup: '1:cpu:/x\n' },
      /in no cgroup of version 2/,
    ],
    [
      'whose cgroup cannot be read',
      { mountinfo: '1 2 0:1 / /cg rw - cgroup2 cgroup2 rw\n', cgroup: '0::/a\n' },
      /ENOENT/,
    ],
  ];
  for (const [what, files, why] of machines) {
    it(`a machine ${what} has no cgroups, and the reason is known`, () => {
      mkdirSync(join(folder, 'proc/self'), { recursive: true });
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'proc/self', name), text);
      expect(Cgroups.open('simbatch-test', folder)).to.match(why);
    });
  }

  it('cgroup required: refuses to start without, with the remedy', () => {
    if (typeof Cgroups.open(`simbatch-probe-${String(process.pid)}`) !== 'string') {
      const tools = openProcessTools('required', folder, silentLog);
      expect(tools.cgroups).not.to.equal(undefined);
      tools.cgroups?.close();
      return;
    }
    expect(() => openProcessTools('required', folder, silentLog)).to.throw(/runs cannot have cgroups: .*Delegate=yes/);
  });

  it('writes the limits of a container as the kernel reads them, and takes them back', () => {
    for (const name of ['cgroup.procs', 'memory.max', 'cpu.max', 'cgroup.events', 'memory.events'])
      writeFileSync(join(folder, name), '');
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
    const cgroup = new RunCgroup(folder);
    cgroup.limit({ memoryBytes: 512 << 20, cpuMilli: 1500 });
    expect([read('memory.max'), read('cpu.max')]).to.deep.equal(['536870912', '150000 100000']);
    expect(cgroup.exceededMemory).to.equal(false);
    writeFileSync(join(folder, 'memory.events'), 'low 0\noom 1\noom_kill 1\n');
    expect(cgroup.exceededMemory).to.equal(true);
    cgroup.reset();
    expect([read('memory.max'), read('cpu.max')]).to.deep.equal(['max', 'max']);
    cgroup.limit({});
    expect(cgroup.exceededMemory).to.equal(false);
  });

  it('a deadline ends the wait, not the operation, and the operation is known until it returns', async () => {
    const waits = new Waits(systemClock);
    const own = waits.child();
    let finish = (): void => {};
    const operation = new Promise<void>((resolve) => (finish = resolve));
    const failure = await own.within(10, 'reading', operation).catch((error: unknown) => error);
    expect(failure).to.have.property('message', 'reading did not finish within 0.01 s');
    expect([own.overdue, waits.overdue, waits.pending]).to.deep.equal([['reading'], ['reading'], 1]);
    finish();
    await waits.idle();
    expect([own.overdue, waits.overdue, waits.pending]).to.deep.equal([[], [], 0]);
    expect(await own.within(1000, 'reading', Promise.resolve(7))).to.equal(7);
  });
});
