/** `simbatch files`, `logs` and `fetch` against a real coordinator and a real runner. */
import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from '../../support/pool.ts';
import { simbatch, type Outcome } from '../../support/program.ts';
import { jobId } from '../../../src/domain/ids.ts';

describe('cli: files of runs', () => {
  let pool: Pool;
  let batchId: string;
  beforeEach(async () => {
    pool = await Pool.open();
    pool.site.start(pool.url, ['--serve-files']);
    batchId = await pool.submit('files', {}, { runs: 3 });
    for (const run of [0, 1, 2]) await pool.until(batchId, ['Completed'], run);
  });
  afterEach(() => pool.close());
  const command = (...args: string[]): Promise<Outcome> => simbatch([...args, '--endpoint', pool.url]);
  const folder = () => join(pool.site.folder, 'fetched');

  it('lists the files of a study, of runs, of kinds and of paths', async () => {
    const all = await command('files', 'latest');
    expect(all.code, all.stderr).to.equal(0);
    expect(all.stdout.match(/large\.bin/g)).to.have.length(3);
    expect(all.stdout).to.match(/^ +2  stdout\.log +stdout +26 B +2\d{3}-.* +runner r1$/m);
    expect(all.stderr).to.include('3 entries are not listed').and.include('(3 runs)');
    const some = await command('files', 'latest', '0,2', '--kind', 'artifact', '--path', 'deep/*.csv', '-o', 'json');
    const files = JSON.parse(some.stdout) as { run_id: number; path: string }[];
    expect(files.map((it) => [it.run_id, it.path])).to.deep.equal([
      [0, 'deep/er/grün % #1.csv'],
      [2, 'deep/er/grün % #1.csv'],
    ]);
    const names = await command('files', 'latest', '1', '-o', 'name');
    expect(names.stdout.split('\n')[0]).to.equal('deep/er/grün % #1.csv');
    expect((await command('files', 'latest', '5-3')).code).to.equal(64);
  });

  it('says of a run without output whether there may be some later', async () => {
    const silent = await pool.submit('hang', {}, { runs: 2, maxParallelJobs: 1 });
    await pool.until(silent, ['Running']);
    expect((await command('logs', silent, '0')).stderr).to.include('has printed nothing so far');
    const waiting = await command('logs', silent, '1');
    expect(waiting).to.include({ code: 0, stdout: '' });
    expect(waiting.stderr).to.include('the run waits for a runner');
    await pool.client.cancelBatch(silent);
  });

  it('prints the output of a run, its last lines, and what is added while it runs', async () => {
    expect((await command('logs', batchId, '1')).stdout).to.equal('printed by the simulation\n');
    expect((await command('logs', batchId, '1', '--stream', 'stderr')).stderr).to.include('has printed nothing');
    expect((await command('logs', batchId, '1', '--attempt', '9')).code).to.equal(66);
    const running = await pool.submit('chatter');
    await pool.until(running, ['Running']);
    const following = command('logs', running, '0', '--follow');
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await pool.client.cancelJob(jobId(running, 0));
    const { stdout, code } = await following;
    expect(code).to.equal(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).to.be.above(20);
    expect(lines).to.deep.equal(lines.map((_, index) => `line ${String(index)}`));
    const last = await command('logs', running, '0', '--tail', '2');
    // The runner ends a cancelled run at its next heartbeat.
    const [before, end] = last.stdout.match(/\d+/g)?.map(Number) ?? [];
    expect([before, end]).to.deep.equal([Number(end) - 1, end]);
    expect(end).to.be.at.least(lines.length - 1);
  });

  it('copies files once, continues what was interrupted, and overwrites nothing silently', async () => {
    const first = await command('fetch', 'latest', '--to', folder());
    expect(first.code, first.stderr).to.equal(0);
    expect(first.stdout).to.include('15 files (10.0 MiB) copied to');
    const copy = join(folder(), '00000001/large.bin');
    const list = await pool.client.files.list(jobId(batchId, 1));
    const original = list.files.find((it) => it.path === 'large.bin');
    const whole = readFileSync(original?.address ?? '');
    expect(readFileSync(copy).equals(whole)).to.equal(true);
    expect(statSync(copy).mtimeMs).to.be.closeTo(Date.parse(original?.modified_at ?? ''), 2);
    expect(readdirSync(folder(), { recursive: true }).filter((it) => String(it).endsWith('.part'))).to.deep.equal([]);
    const again = await command('fetch', 'latest', '--to', folder());
    expect(again.stdout).to.include('0 files (0 B) copied').and.include('15 files already there');

    writeFileSync(copy, 'my own notes');
    const kept = await command('fetch', 'latest', '--to', folder());
    expect([kept.code, readFileSync(copy, 'utf8')]).to.deep.equal([75, 'my own notes']);
    expect(kept.stderr).to.include('1 file differ').and.include('--overwrite');
    const replaced = await command('fetch', 'latest', '1', '--to', folder(), '--overwrite', '--kind', 'artifact');
    expect(replaced.code, replaced.stderr).to.equal(0);
    expect(readFileSync(copy).equals(whole)).to.equal(true);
  });

  it('continues an unfinished copy at its last byte', async () => {
    const opened = await pool.client.files.read(jobId(batchId, 0), 'large.bin');
    opened.close();
    const target = join(folder(), '00000000/large.bin');
    await command('fetch', 'latest', '0', '--to', folder(), '--path', 'empty.txt');
    const name = createHash('sha256').update(opened.version).digest('hex').slice(0, 12);
    // Bytes that are not those of the file show that the beginning was not read again.
    writeFileSync(`${target}.${name}.part`, Buffer.alloc(3_000_000, 'x'));
    expect((await command('fetch', 'latest', '0', '--to', folder(), '--path', 'large.bin')).code).to.equal(0);
    const bytes = readFileSync(target);
    expect(bytes.length).to.equal(3_500_000);
    expect([bytes[2_999_999], bytes[3_000_000], bytes[3_499_999]]).to.deep.equal([
      'x'.charCodeAt(0),
      3_000_000 % 251,
      3_499_999 % 251,
    ]);
    truncateSync(target, 0);
    expect(existsSync(`${target}.${name}.part`)).to.equal(false);
  });

  it('says which files were not copied when their runner is gone', async () => {
    await pool.site.stop();
    const isOffline = async (): Promise<boolean> => {
      const [runner] = (await pool.client.runners()).runners;
      return runner?.status === 'Offline';
    };
    while (!(await isOffline())) await sleep(20);
    const { code, stderr } = await command('fetch', 'latest', '0', '--to', folder());
    expect(code).to.equal(75);
    expect(stderr)
      .to.include('run 0: 5 files not copied: runner "r1" is gone')
      .and.include('the same command continues');
  });
});
