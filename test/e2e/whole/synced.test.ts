/** The system calls of a coordinator, in order: each change is synced to the disk before its reply leaves. Needs strace. */
import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/base/package.ts';
import { Client } from '../../../src/client/client.ts';
import { study } from '../../support/studies.ts';
import { Site } from '../support.ts';

describe('a coordinator under strace', function () {
  it('syncs the log between the write of a change and its reply', async function () {
    const isTraceable = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;
    // Absent on most machines, and not permitted in most containers.
    if (!isTraceable) this.skip();
    const site = new Site();
    const trace = join(site.folder, 'trace');
    const program = [join(packageRoot, 'dist/bin/simbatch.js'), 'serve', '--port', '0', '--data-dir', site.dataDir];
    const options = ['-f', '-y', '-s', '40', '-e', 'trace=fdatasync,write,writev', '-o', trace];
    const child = spawn('strace', [...options, process.execPath, ...program], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
      const client = new Client({ endpoint: /http:\/\/[\d.:]+/.exec(line)?.[0] ?? '' });
      for (let at = 0; at < 5; at += 1) await client.submit(study({ runs: 3 }));
      const pid = Number(readFileSync(trace, 'utf8').split(' ', 1)[0]);
      process.kill(pid, 'SIGTERM');
      await once(child, 'close');
      const calls = readFileSync(trace, 'utf8').split('\n');
      // `-f` splits a call into two lines when another thread runs in between; its second line has its result.
      const log = /\d{6}\.log>/;
      const wanted: Record<string, (call: string) => boolean> = {
        written: (it) => log.test(it) && /\bwrite\(/.test(it) && it.includes('!submission!'),
        synced: (it) => /fdatasync(\(.*\d{6}\.log>\) += 0| resumed>\) += 0)/.test(it),
        replied: (it) => /writev?\(.*"HTTP\/1\.1 200/.test(it),
      };
      const order = calls.flatMap((call) => Object.keys(wanted).filter((name) => wanted[name]?.(call) === true));
      const first = order.indexOf('written');
      expect(order.slice(first, first + 15)).to.deep.equal(
        Array.from({ length: 5 }, () => ['written', 'synced', 'replied']).flat(),
      );
    } finally {
      child.kill('SIGKILL');
      await site.clean();
    }
  });
});
