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

/**
 * The lines at which a submission is written to the log and a request is answered, and those at which syncs of the log begin and end.
 * A call during which another thread runs has two lines, the second with its result; the coordinator also syncs on its own accord.
 */
function read(calls: readonly string[]): {
  written: number[];
  synced: { begin: number; end: number }[];
  replied: number[];
} {
  const linesOf = (isWanted: (call: string) => boolean): number[] =>
    calls.flatMap((call, at) => (isWanted(call) ? [at] : []));
  const begins = linesOf((it) => /\bfdatasync\(\d+<.*\d{6}\.log>/.test(it));
  const synced = begins.flatMap((begin) => {
    const [pid] = (calls[begin] ?? '').split(' ');
    const end = calls.findIndex((it, at) => at >= begin && it.startsWith(`${pid} `) && /fdatasync.*\) += 0$/.test(it));
    return end === -1 ? [] : [{ begin, end }];
  });
  return {
    written: linesOf((it) => /\bwrite\(\d+<.*\d{6}\.log>.*!submission!/.test(it)),
    synced,
    replied: linesOf((it) => /\bwritev?\(.*"HTTP\/1\.1 200/.test(it)),
  };
}

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
      const { written, synced, replied } = read(readFileSync(trace, 'utf8').split('\n'));
      expect(written).to.have.length(5);
      for (const [at, begin] of written.entries()) {
        const reply = replied.find((it) => it > begin) ?? Infinity;
        expect(reply, `the reply to submission ${at}`).to.be.below(written[at + 1] ?? Infinity);
        const isSynced = synced.some((it) => it.begin > begin && it.end < reply);
        expect(isSynced, `a sync of the log between lines ${begin} and ${reply} of ${trace}`).to.equal(true);
      }
    } finally {
      child.kill('SIGKILL');
      await site.clean();
    }
  });
});
