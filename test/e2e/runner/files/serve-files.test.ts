/** Files of runs, read through a real coordinator from the runner that has them. */
import { expect } from 'chai';
import { appendFileSync, existsSync, mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ApiError } from '../../../../src/client/client.ts';
import type { Job, OpenFile } from '../../../../src/client/client.ts';
import { MAX_READINGS } from '../../../../src/coordinator/files/runner/file-requests.ts';
import { systemClock } from '../../../../src/base/clock.ts';
import { Spool } from '../../../../src/runner/spool.ts';
import { Waits } from '../../../../src/runner/waits.ts';
import { Pool } from '../../../support/pool.ts';
import { post } from '../../../support/http.ts';

const LARGE = Buffer.from(Uint8Array.from({ length: 3_500_000 }, (_, index) => index % 251));

async function bytesOf({ content }: OpenFile): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces);
}

const refusal = (reading: Promise<unknown>): Promise<ApiError> =>
  reading.then(
    () => expect.fail('not refused'),
    (error: unknown) => error as ApiError,
  );

describe('runner/files: files of runs read from their runner', () => {
  let pool: Pool;
  beforeEach(async () => {
    pool = await Pool.open();
  });
  afterEach(() => pool.close());

  const start = (...args: string[]) => pool.site.start(pool.url, ['--serve-files', ...args]);
  async function finished(behave = 'files', environment: Record<string, string> = {}): Promise<Job> {
    return await pool.until(await pool.submit(behave, environment), ['Completed', 'Failed']);
  }
  const read = async (job: Job, path: string, options = {}) =>
    await bytesOf(await pool.client.files.read(job.id, path, options));
  const addressOf = async (job: Job, path: string): Promise<string> => {
    const { files } = await pool.client.files.list(job.id);
    return files.find((it) => it.path === path)?.address ?? '';
  };

  it('lists the regular files with kind and size, and counts what it leaves out', async () => {
    start();
    const job = await finished();
    const list = await pool.client.files.list(job.id);
    expect(list).to.include({ job_id: job.id, attempt: 1, runner_id: 'r1', is_readable: true });
    expect(list.files.map(({ path, kind, bytes, place }) => ({ path, kind, bytes, place }))).to.deep.equal([
      { path: 'deep/er/grün % #1.csv', kind: 'artifact', bytes: 8, place: 'runner' },
      { path: 'empty.txt', kind: 'artifact', bytes: 0, place: 'runner' },
      { path: 'large.bin', kind: 'artifact', bytes: LARGE.length, place: 'runner' },
      { path: 'page.html', kind: 'artifact', bytes: 25, place: 'runner' },
      { path: 'stdout.log', kind: 'stdout', bytes: 26, place: 'runner' },
    ]);
    expect(list.notes.join()).to.include('3 entries are not listed: symbolic links, special files');
  });

  it('reads whole files and ranges, byte for byte, with several readers at once', async () => {
    start();
    const job = await finished();
    expect((await read(job, 'deep/er/grün % #1.csv')).toString()).to.equal('a,b\n1,2\n');
    expect((await read(job, 'empty.txt')).length).to.equal(0);
    const ranges = [
      [0, undefined],
      [5, 12],
      [1_048_570, 2_097_160],
      [3_499_990, undefined],
      [-7, undefined],
      [-9_000_000, undefined],
      [3_000_000, 9_000_000],
    ] as const;
    const all = await Promise.all(
      ranges.map(
        async ([from, end]) => await read(job, 'large.bin', end === undefined ? { start: from } : { start: from, end }),
      ),
    );
    for (const [index, [from, end]] of ranges.entries()) {
      expect(LARGE.subarray(from, end).equals(all[index] ?? Buffer.alloc(0)), ranges[index]?.join()).to.equal(true);
    }
  });

  it('answers like a web server: HEAD, 206, 416, entity tags, and nothing that a browser executes', async () => {
    start();
    const job = await finished();
    const url = `${pool.url}/jobs/${job.id}/files/page.html`;
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).to.deep.equal([200, '25']);
    const page = await fetch(url);
    expect(await page.text()).to.equal('<script>alert(1)</script>');
    expect(page.headers.get('content-type')).to.equal('application/octet-stream');
    expect(page.headers.get('content-disposition')).to.match(/^attachment/);
    expect(page.headers.get('content-security-policy')).to.include('sandbox');
    // More often than files can be read at once: an answer without content frees its place.
    for (let count = 0; count <= MAX_READINGS; count++) {
      const known = await fetch(url, { headers: { 'if-none-match': page.headers.get('etag') ?? '' } });
      expect(known.status).to.equal(304);
    }
    const part = await fetch(url, { headers: { range: 'bytes=1-6' } });
    expect([part.status, part.headers.get('content-range'), await part.text()]).to.deep.equal([
      206,
      'bytes 1-6/25',
      'script',
    ]);
    for (const range of ['bytes=25-', 'bytes=-0']) {
      const beyond = await fetch(url, { headers: { range } });
      const { code } = (await beyond.json()) as { code: string };
      expect([beyond.status, code], range).to.deep.equal([416, 'range-not-satisfiable']);
    }
    const image = await fetch(`${pool.url}/jobs/${job.id}/files/deep%2Fer%2Fgr%C3%BCn%20%25%20%231.csv`);
    expect([image.status, image.headers.get('content-type')]).to.deep.equal([200, 'text/csv; charset=utf-8']);
  });

  it('reads no link, no pipe and nothing outside of the attempt', async () => {
    start();
    const job = await finished();
    const outside = [
      '../attempt-1.run_config.json',
      'deep/../../attempt-1.run_config.json',
      '/etc/passwd',
      'deep//er',
      '.',
      'deep/',
    ];
    for (const path of ['link.txt', 'folder/passwd', 'pipe', 'deep']) {
      const error = await refusal(pool.client.files.read(job.id, path));
      expect([error.status, error.code], path).to.deep.equal([409, 'artifact-not-uploaded']);
    }
    for (const path of [...outside, 'absent', 'a\0b', 'x'.repeat(5000)]) {
      const response = await fetch(`${pool.url}/jobs/${job.id}/files/${encodeURIComponent(path)}`);
      expect([response.status, path]).to.deep.equal([404, path]);
    }
    // The folder of a listed file is exchanged for a link after the end of the run.
    const folder = dirname(await addressOf(job, 'deep/er/grün % #1.csv'));
    const secret = join(pool.site.folder, 'secret');
    mkdirSync(secret);
    writeFileSync(join(secret, 'grün % #1.csv'), 'secret');
    renameSync(folder, `${folder}-away`);
    symlinkSync(secret, folder);
    const error = await refusal(pool.client.files.read(job.id, 'deep/er/grün % #1.csv'));
    expect(error.message).to.include('a folder of its path is a symbolic link');
  });

  it('reads the output of failed attempts and of runs that are still running', async () => {
    start();
    const failed = await finished('files', { EXIT_CODE: '3' });
    expect((await read(failed, 'stdout.log', { attempt: 1 })).toString()).to.equal('printed by the simulation\n');
    const error = await refusal(pool.client.files.read(failed.id, 'stdout.log', { attempt: 2 }));
    expect([error.code, error.message.includes('those from 1 to 1 are known')]).to.deep.equal(['unknown-file', true]);
    const running = await pool.until(await pool.submit('chatter'), ['Running']);
    let text = '';
    // The log is made while the start is being reported.
    while (!text.includes('line 20\n')) text = await read(running, 'stdout.log').then(String, () => '');
    expect(text).to.match(/^line 0\nline 1\n/);
  });

  it('names runner and path when the runner serves no files or is gone', async () => {
    const runner = pool.site.start(pool.url);
    const job = await finished();
    const list = await pool.client.files.list(job.id);
    expect(list.is_readable).to.equal(false);
    expect(list.notes[0]).to.equal('runner "r1" does not serve files; start it with --serve-files');
    const large = list.files.find((it) => it.path === 'large.bin');
    expect(large).to.deep.include({ kind: 'artifact', place: 'runner' }).and.not.have.property('bytes');
    const error = await refusal(pool.client.files.read(job.id, 'large.bin'));
    expect([error.status, error.code]).to.deep.equal([409, 'artifact-not-uploaded']);
    expect(error.message).to.include(large?.address).and.include('runner "r1"').and.include('--serve-files');
    await runner.end('SIGTERM');
    const gone = await refusal(pool.client.files.read(job.id, 'large.bin'));
    expect(gone.message).to.include('runner "r1" is gone').and.include(large?.address);
  });

  it('says that the runner has deleted the folder of an old run', async () => {
    const runner = start();
    const job = await finished();
    const address = await addressOf(job, 'large.bin');
    await runner.end('SIGTERM');
    // As if the run had ended two days ago.
    const outputRoot = join(pool.site.folder, 'out');
    const spool = await Spool.openLeft(outputRoot, 'r1', new Waits(systemClock));
    const [ended] = await spool.ends.before(Infinity, 1);
    await spool.ends.forget([ended!]);
    await spool.close();
    const atMs = systemClock.now() - 2 * 86_400_000;
    const earlier = { ...systemClock, now: () => atMs };
    const former = await Spool.openLeft(outputRoot, 'r1', new Waits(earlier));
    former.finished({ ...ended!.ref, directory: dirname(address) });
    await former.close();
    writeFileSync(join(outputRoot, '.simbatch-runner', 'instant'), String(systemClock.now()));
    const again = start('--keep-days', '1');
    await again.says('deleted the folders of 1 run (3.3 MiB) that ended more than 1 day ago');
    expect(existsSync(address)).to.equal(false);
    let error = await refusal(pool.client.files.read(job.id, 'large.bin'));
    // It begins to serve files when it has registered.
    while (error.code === 'artifact-not-uploaded') error = await refusal(pool.client.files.read(job.id, 'large.bin'));
    expect(error.code).to.equal('unknown-file');
    expect(error.message).to.match(
      /is not on runner "r1": the runner deleted the folder of this attempt at \d.*Z, since it ended more than 1 day before \(--keep-days\)/,
    );
    const { notes, is_readable } = await pool.client.files.list(job.id);
    expect(is_readable).to.equal(false);
    expect(notes[0]).to.include('runner "r1" cannot list its files: the runner deleted the folder of this attempt at ');
  });

  it('refuses files above the limit of the runner', async () => {
    start('--serve-files-max-gb', '0.001');
    const job = await finished();
    const error = await refusal(pool.client.files.read(job.id, 'large.bin'));
    expect(error.message)
      .to.include('it has 3500000 bytes, more than 1073741 bytes')
      .and.include('--serve-files-max-gb');
    expect((await read(job, 'empty.txt')).length).to.equal(0);
  });

  it('cuts the answer when the file changes or its runner dies, and a reader that leaves frees its place', async () => {
    const runner = start();
    const job = await finished();
    const address = await addressOf(job, 'large.bin');
    const changing = await pool.client.files.read(job.id, 'large.bin');
    const pieces = changing.content[Symbol.asyncIterator]();
    await pieces.next();
    appendFileSync(address, 'more');
    expect(await refusal(drain(pieces))).to.be.an('error');
    for (let count = 0; count < 70; count++) {
      const left = await pool.client.files.read(job.id, 'large.bin');
      for await (const _ of left.content) break;
    }
    const dying = await pool.client.files.read(job.id, 'large.bin');
    const rest = dying.content[Symbol.asyncIterator]();
    await rest.next();
    await runner.end('SIGKILL');
    // Two parts of it are in the coordinator; the connection may hold the remainder.
    const outcome = await drain(rest).catch((error: unknown) => error);
    if (typeof outcome === 'number') expect(outcome).to.be.at.most(LARGE.length);
    else expect(outcome).to.be.an('error');
    unlinkSync(address);
  });

  it('refuses parts without a request and those of another runner process', async () => {
    start();
    await finished();
    const answered = await fetch(`${pool.url}/runners/r1/file-parts?request=none&size=1&version=1`, { method: 'POST' });
    expect(await answered.json()).to.deep.equal({ accepted: false });
    const foreign = await post(`${pool.url}/runners/r1/file-requests`, { instance: 'other', holding: [] });
    expect(((await foreign.json()) as { code: string }).code).to.equal('wrong-instance');
    const unnamed = await fetch(`${pool.url}/runners/r1/file-parts?request=none`, { method: 'POST' });
    expect(unnamed.status).to.equal(400);
  });
});

async function drain(pieces: AsyncIterator<Uint8Array>): Promise<number> {
  let length = 0;
  for (;;) {
    const { done, value } = await pieces.next();
    if (done === true) return length;
    length += value.length;
  }
}
