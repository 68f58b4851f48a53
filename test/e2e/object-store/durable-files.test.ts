/** Files that outlive their runner's allocation: an ephemeral runner stays for them, and a push sends what it left. */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../../src/base/package.ts';
import { FakeS3, KEY } from '../../support/fake-s3.ts';
import { Pool } from '../../support/pool.ts';
import { STORAGE, storeOf } from './uploads.suite.ts';

const PROGRAM = join(packageRoot, 'dist/bin/simbatch.js');

describe('runner: files of an ephemeral runner', () => {
  let s3: FakeS3;
  let pool: Pool;
  beforeEach(async () => {
    s3 = await FakeS3.start();
    pool = await Pool.open({ objectStore: storeOf({ endpoint: s3.url, credentials: KEY }) });
  });
  afterEach(async () => {
    await pool.close();
    await s3.stop();
  });

  const finding = async (batchId: string) =>
    (await pool.client.findings(batchId)).find(({ code }) => code === 'files-not-sent');
  async function until(holds: () => Promise<boolean>): Promise<void> {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
  }
  async function push(...args: string[]): Promise<{ code: number | null; text: string }> {
    const child = spawn(process.execPath, [PROGRAM, 'files', 'push', ...args], {
      cwd: pool.site.folder,
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (text += piece.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, text };
  }

  it('stays with files to send, claims no runs and says so, and leaves when they are sent', async () => {
    s3.fault = () => 503;
    const args = [
      '--ephemeral',
      '--idle-exit',
      '1s',
      '--max-lifetime',
      '10m',
      '--lifetime-margin',
      '1s',
      '--grace-secs',
      '0',
    ];
    const batchId = await pool.submit('succeed', {}, STORAGE);
    const runner = pool.site.start(pool.url, args);
    await pool.until(batchId, ['Completed']);
    await runner.says('claims no runs');
    await until(async () => (await pool.client.runner('r1')).leaving !== undefined);
    const { accepting_jobs, leaving, status } = await pool.client.runner('r1');
    expect([accepting_jobs, leaving, status]).to.deep.equal([
      false,
      'it sends the files of 1 run to the object store',
      'Idle',
    ]);
    const other = await pool.submit('succeed', {}, STORAGE);
    await until(async () => (await finding(batchId)) !== undefined);
    expect((await finding(batchId))?.message).to.include(
      `on runner r1 (machine ${hostname()}) in ${pool.site.folder}/out/`,
    );
    s3.fault = () => undefined;
    expect(await runner.exit()).to.equal(0);
    expect(runner.log).to.include('signed off');
    expect(await finding(batchId)).to.equal(undefined);
    expect((await pool.until(other, ['Pending', 'Claimed', 'Running', 'Completed'])).status).to.equal('Pending');
  });

  it('leaves on a signal while it stays; a push sends what it left, once, and names what is gone or has changed', async () => {
    s3.fault = () => 503;
    const args = ['--ephemeral', '--idle-exit', '1s', '--max-lifetime', '10m', '--grace-secs', '1'];
    const batchId = await pool.submit('files', { LARGE_BYTES: String(10 << 20) }, STORAGE);
    const runner = pool.site.start(pool.url, args);
    const job = await pool.until(batchId, ['Completed']);
    expect((await push('--output-root', 'out')).text).to.match(
      /^runner r1: it is running here, and sends its files itself/,
    );
    await runner.says('claims no runs');
    expect(await runner.end('SIGTERM')).to.equal(0);
    expect(runner.log).to.match(/the files of 1 run are not sent, and stay in .*simbatch files push --output-root/);
    const found = await finding(batchId);
    expect(found?.message).to.match(/^\d+ files of 1 run are not in the object store: .*: the runner is gone$/);

    const away = await push('--output-root', 'out');
    expect(away.code, away.text).to.equal(1);
    expect(away.text).to.match(/^runner r1: \d+ files left: /);
    const folder = join(pool.site.folder, 'out', batchId, '00000000/attempt-1');
    rmSync(join(folder, 'empty.txt'));
    writeFileSync(join(folder, 'page.html'), 'other');
    s3.fault = () => undefined;
    expect(await push('ffff', '--output-root', 'out')).to.deep.equal({ code: 0, text: 'no files wait here\n' });
    const none = await push('ffff', '--output-root', 'out', '-o', 'json', '--endpoint', pool.url);
    expect(JSON.parse(none.text)).to.deep.equal({ runners: [] });
    const sent = await push(batchId, '--output-root', 'out');
    expect(sent.code, sent.text).to.equal(1);
    expect(sent.text).to.match(/^runner r1: \d+ files sent, 2 files lost\n/);
    expect(sent.text).to.include(`${folder}/empty.txt: it is not there any more`);
    expect(sent.text).to.include(`${folder}/page.html: it has changed since the run ended`);
    expect(await finding(batchId)).to.equal(undefined);
    const { upload } = await pool.client.jobResult(job.id);
    expect(upload?.failed).to.have.length(2);
    expect(upload?.waiting).to.equal(undefined);
    const requests = s3.requests.length;
    expect(await push('--output-root', 'out')).to.deep.equal({ code: 0, text: 'no files wait here\n' });
    expect(s3.requests).to.have.length(requests);
    expect((await push('--output-root', 'elsewhere')).code).to.equal(66);
    expect((await push('latest')).code).to.equal(64);
  });
});
