/** The scope of a run ends its first process, and sends no signal to a process or group whose leader's pid another process has meanwhile. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { systemClock } from '../../../../src/base/clock.ts';
import { silentLog } from '../../../../src/runner/log.ts';
import { ProcessTable } from '../../../../src/runner/processes/proc-fs.ts';
import { ProcessScope } from '../../../../src/runner/processes/process-scope.ts';
import { lives } from '../../../support/runner-process.ts';

describe('runner/processes/process-scope: a process that was just forked', () => {
  it('is ended before it has made a group of its own', async () => {
    const child = spawn('sleep', ['300'], { stdio: 'ignore' });
    const tools = { table: new ProcessTable(), cgroups: undefined };
    const scope = new ProcessScope(tools, silentLog, '/no/such/directory', {});
    scope.adopt(child.pid ?? 0);
    scope.kill();
    expect(await once(child, 'exit')).to.deep.equal([null, 'SIGKILL']);
  });
});

describe('runner/processes/process-scope: a pid that is used again', () => {
  for (const [what, starts, survives] of [
    ['of the run', ['boot:1', 'boot:1'], false],
    ['of another', ['boot:1', 'boot:2'], true],
  ] as const) {
    it(`a process ${what} ${survives ? 'is not' : 'is'} ended`, async () => {
      const other = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' });
      const pid = other.pid ?? 0;
      let reads = 0;
      class Table extends ProcessTable {
        override processStart(): string {
          reads += 1;
          return starts[Math.min(reads, starts.length) - 1] ?? '';
        }
      }
      const tools = { table: new Table(), cgroups: undefined };
      const scope = new ProcessScope(tools, silentLog, '/no/such/directory', {});
      scope.adopt(pid);
      scope.kill();
      if (!survives) await once(other, 'exit');
      expect(await scope.clear(systemClock, false)).to.deep.equal([]);
      expect(lives(pid)).to.equal(survives);
      other.kill('SIGKILL');
    });
  }
});
