/** Runs of a runner with `artifacts: archive`: their files on the disk, and the same files for their readers. */
import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../../../src/base/package.ts';
import type { ApiError, Job } from '../../../../src/client/client.ts';
import { JobState, UNFINISHED } from '../../../../src/runner/files/archive/archive-job.ts';
import { writeArchive } from '../../../../src/runner/files/archive/write-archive.ts';
import { AttemptFolder } from '../../../runner/files/archive/support.ts';
import type { FakeCoordinator, FakeJob } from '../../../support/fake-coordinator.ts';
import { FakeS3, KEY } from '../../../support/fake-s3.ts';
import { freshSite } from '../../../support/fresh-site.ts';
import { openBelow } from '../../../support/open-files.ts';
import { Pool } from '../../../support/pool.ts';
import { MODES, SHARED } from '../../../support/runner-modes.ts';
import { simbatch } from '../../../support/program.ts';
import type { Site } from '../../../support/runner-process.ts';
import { BUCKET, readWhole, STORAGE, storeOf, untilRefused, untilUploaded } from '../../object-store/uploads.suite.ts';

/** The files of the simulation `files`, as its runner lists them. */
const LISTED = [
  ['deep/er/grün % #1.csv', 'artifact', 8],
  ['empty.txt', 'artifact', 0],
  ['large.bin', 'artifact', 3_500_000],
  ['page.html', 'artifact', 25],
  ['stdout.log', 'stdout', 26],
];

describe('runner: files of runs in archives', () => {
  let pool: Pool;
  let s3: FakeS3 | undefined;
  afterEach(async () => {
    await pool.close();
    await s3?.stop();
    s3 = undefined;
  });

  const finished = async (environment: Record<string, string> = {}, options = {}): Promise<Job> =>
    await pool.until(await pool.submit('files', environment, options), ['Completed', 'Failed']);
  const folderOf = (job: Job): string => join(pool.site.folder, 'out', job.batch_id, '00000000');
  const entriesOf = (job: Job): string[] =>
    readdirSync(folderOf(job), { withFileTypes: true, recursive: true })
      .filter((it) => !it.parentPath.includes('attempt-1/folder'))
      .map((it) => join(it.parentPath, it.name).slice(folderOf(job).length + 1))
      .sort();
  const refusal = (job: Job, path: string): Promise<ApiError> =>
    pool.client.files.read(job.id, path).then(
      () => expect.fail('not refused'),
      (error: unknown) => error as ApiError,
    );

  it('are one file on the disk, and for readers the files that they were, byte for byte', async () => {
    pool = await Pool.open();
    const plain = pool.site.start(pool.url, ['--serve-files']);
    const before = await finished();
    const contents = new Map<string, Buffer>();
    for (const [path] of LISTED) contents.set(String(path), await readWhole(pool.client, before, String(path)));
    await plain.end('SIGTERM');
    pool.site.start(pool.url, ['--serve-files', '--artifacts', 'archive']);
    const after = await finished();
    const outside = [
      'attempt-1',
      'attempt-1.run_config.json',
      'attempt-1/folder',
      'attempt-1/link.txt',
      'attempt-1/pipe',
    ];
    expect(entriesOf(before)).to.have.length(12);
    expect(entriesOf(after)).to.deep.equal([...outside, 'attempt-1/files.zip'].sort());
    const { output_files, metadata } = await pool.client.jobResult(after.id);
    const archive = join(folderOf(after), 'attempt-1/files.zip');
    expect(output_files).to.deep.equal([archive]);
    expect(metadata).to.deep.equal({
      simbatch_notes: [
        '3 entries are not listed: symbolic links, special files or too deep directories',
        '3 entries stayed beside files.zip: links, special files or too deep folders',
      ],
    });
    const list = await pool.client.files.list(after.id);
    expect(list.files.map(({ path, kind, bytes }) => [path, kind, bytes])).to.deep.equal(LISTED);
    expect(list.notes[0]).to.equal('the files are in files.zip of the folder, which can be read too');
    for (const [path, content] of contents) {
      expect((await readWhole(pool.client, after, path)).equals(content), path).to.equal(true);
      const part = await readWhole(pool.client, after, path, Math.floor(content.length / 3));
      expect(part.equals(content.subarray(Math.floor(content.length / 3))), path).to.equal(true);
    }
    expect((await readWhole(pool.client, after, 'files.zip')).equals(readFileSync(archive))).to.equal(true);
    const none = await refusal(after, 'none.txt');
    expect([none.code, none.message.endsWith('is not on runner "r1": there is no such file')]).to.deep.equal([
      'unknown-file',
      true,
    ]);
    const logs = await simbatch(['logs', after.batch_id, '0', '--endpoint', pool.url]);
    expect(logs.stdout).to.equal('printed by the simulation\n');
    const to = join(pool.site.folder, 'fetched');
    const fetched = await simbatch(['fetch', after.batch_id, '--to', to, '--endpoint', pool.url]);
    expect(fetched.code, fetched.stderr).to.equal(0);
    const found = readdirSync(to, { recursive: true, encoding: 'utf8' });
    for (const [path, content] of contents) {
      const copy = found.find((it) => it.endsWith(path));
      expect(readFileSync(join(to, copy ?? '')).equals(content), path).to.equal(true);
    }
    const failed = await finished({ EXIT_CODE: '3' });
    expect((await readWhole(pool.client, failed, 'stdout.log')).toString()).to.equal('printed by the simulation\n');
    expect(entriesOf(failed)).to.deep.equal(entriesOf(after));
  });

  it('leaves the files of a simulation that wrote files.zip, and says so in the result', async () => {
    pool = await Pool.open();
    pool.site.start(pool.url, ['--serve-files', '--artifacts', 'archive']);
    const own = join(pool.site.folder, 'files.zip');
    const other = join(pool.site.folder, 'a.csv');
    writeFileSync(own, 'its own');
    writeFileSync(other, 'a');
    const batch = await pool.submit('copies', { COPIES: `${own},${other}` });
    const job = await pool.until(batch, ['Completed', 'Failed']);
    const { output_files, metadata } = await pool.client.jobResult(job.id);
    expect(output_files.map((it) => it.slice(folderOf(job).length))).to.deep.equal([
      '/attempt-1/a.csv',
      '/attempt-1/files.zip',
    ]);
    expect(metadata['simbatch_notes']).to.deep.equal([
      'its files are not in an archive: the simulation wrote files.zip itself; give that file another name',
    ]);
    expect((await readWhole(pool.client, job, 'files.zip')).toString()).to.equal('its own');
    expect((await pool.client.files.list(job.id)).files.map((it) => it.path)).to.deep.equal(['a.csv', 'files.zip']);
  });

  for (const { name, args, isolation, missing } of [...MODES, SHARED])
    it(`are one file of a run that is executed ${name}`, async function () {
      pool = await Pool.open();
      if (missing !== undefined) return this.skip();
      pool.site.start(pool.url, ['--serve-files', '--artifacts', 'archive', ...args]);
      const config = { compute: isolation === undefined ? {} : { isolation } };
      const job = await pool.until(await pool.submit('succeed', {}, { config }), ['Completed', 'Failed']);
      const { output_files, metadata } = await pool.client.jobResult(job.id);
      expect(metadata).to.include({ run_id: 0 });
      expect(output_files).to.deep.equal([join(folderOf(job), 'attempt-1/files.zip')]);
      expect(entriesOf(job)).to.include('attempt-1/files.zip').and.not.to.include('attempt-1/metadata.json');
      expect(JSON.parse(String(await readWhole(pool.client, job, 'metadata.json')))).to.include({ run_id: 0 });
    });

  it('wait as one file for a store that is away, and are pushed without their runner', async () => {
    s3 = await FakeS3.start();
    s3.fault = () => 503;
    pool = await Pool.open({ objectStore: storeOf({ endpoint: s3.url, credentials: KEY }) });
    const runner = pool.site.start(pool.url, ['--artifacts', 'archive']);
    const job = await finished({}, STORAGE);
    expect((await untilRefused(pool.client, job)).upload).to.include({ files: 0, waiting: 1 });
    await runner.end('SIGKILL');
    s3.fault = () => undefined;
    const pushed = await simbatch(['files', 'push', '--output-root', join(pool.site.folder, 'out')]);
    expect(pushed.code, pushed.stderr).to.equal(0);
    const archive = readFileSync(join(folderOf(job), 'attempt-1/files.zip'));
    expect((await readWhole(pool.client, job, 'files.zip')).equals(archive)).to.equal(true);
  });

  it('are one object of the store; a reader of a member that no runner sends learns its address', async () => {
    s3 = await FakeS3.start();
    pool = await Pool.open({ objectStore: storeOf({ endpoint: s3.url, credentials: KEY }) });
    const runner = pool.site.start(pool.url, ['--artifacts', 'archive']);
    const job = await finished({}, STORAGE);
    const { output_files, upload } = await untilUploaded(pool.client, job);
    const address = `s3://${BUCKET}/team a/x/${job.batch_id}/0/attempt-1/files.zip`;
    expect(output_files).to.deep.equal([address]);
    expect(upload).to.deep.equal({ files: 1, failed: [] });
    expect([...s3.objects.keys()].filter((it) => it.includes('attempt-1/'))).to.have.length(1);
    const archive = readFileSync(join(folderOf(job), 'attempt-1/files.zip'));
    expect((await readWhole(pool.client, job, 'files.zip')).equals(archive)).to.equal(true);
    const unserved = await refusal(job, 'stdout.log');
    expect(unserved.message).to.include(
      `runner "r1" does not serve files; start it with --serve-files; the result names ${JSON.stringify(address)}, which may have it: read that`,
    );
    await runner.end('SIGTERM');
    expect((await refusal(job, 'stdout.log')).message)
      .to.include(`is gone; `)
      .and.include(address);
  });
});

describe('runner: archives and time limits', () => {
  let fake: FakeCoordinator;
  let site: Site;
  freshSite((it) => ({ fake, site } = it));

  it('leave the files of a run as they are that ends near its limit: its outcome must be reported in time', async () => {
    const simulation = join(site.folder, 'two.mjs');
    writeFileSync(
      simulation,
      `import { writeFileSync } from 'node:fs';
       for (const name of ['a', 'b']) writeFileSync(process.env.SVC_OUTPUT_DIR + '/' + name, name);
       setTimeout(() => {}, 1_900);`,
    );
    site.start(fake.url, ['--artifacts', 'archive', '--entrypoint', simulation]);
    // The second one may be killed at its limit.
    const [early, late] = fake.add({ timeoutSecs: 600 }, { timeoutSecs: 2 });
    const isOver = (it: FakeJob | undefined): boolean => ['complete', 'fail'].includes(it?.accepted.at(-1)?.type ?? '');
    await fake.until('both are over', () => isOver(early) && isOver(late));
    const filesOf = (it: FakeJob | undefined): string[] => {
      const last = it?.accepted.at(-1);
      return last !== undefined && 'result' in last
        ? (last.result?.output_files ?? []).map((file) => basename(file))
        : [];
    };
    expect(filesOf(early)).to.deep.equal(['files.zip']);
    expect(filesOf(late)).to.deep.equal(['a', 'b']);
    expect(JSON.stringify(late?.accepted.at(-1))).to.include(
      'its files are not in an archive: the time limit of the run was near',
    );
  });
});

/** A process that ends by SIGKILL before the step of this number. */
const KILLED = `
import { JobState } from '${pathToFileURL(join(packageRoot, 'dist/src/runner/files/archive/archive-job.js')).href}';
import { writeArchive } from '${pathToFileURL(join(packageRoot, 'dist/src/runner/files/archive/write-archive.js')).href}';
const [, directory, killAt] = process.argv;
let steps = 0;
const count = () => ++steps === Number(killAt) && process.kill(process.pid, 'SIGKILL');
class Steps extends JobState {
  step() { count(); super.step(); }
  advance(...phases) { count(); const has = super.advance(...phases); count(); return has; }
}
await writeArchive(directory, ['telemetry.parquet'], new Steps());
`;

describe('runner/files/archive: a process that is killed, and a full disk', () => {
  const FILES = {
    'metadata.json': '{}',
    'stdout.log': 'out',
    'large.bin': 'x'.repeat(100_000),
    'deep/a.csv': 'a',
    'deep/er/b.csv': 'b',
  };

  it('leaves each file in the folder, in the archive or in both, at any step of a kill', async () => {
    let kills = 0;
    for (let killAt = 1; ; killAt++) {
      const folder = new AttemptFolder();
      folder.write({ ...FILES, 'telemetry.parquet': 'PAR1' });
      const args = ['--input-type=module', '-e', KILLED, folder.directory, String(killAt)];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
      const { files, notes } = await folder.list();
      const paths = files.map((it) => it.path).filter((it) => it !== UNFINISHED && it !== 'telemetry.parquet');
      expect(paths, `${String(killAt)}: ${notes.join()}`).to.deep.equal(Object.keys(FILES).sort());
      const hasName = existsSync(folder.at('files.zip'));
      for (const [path, content] of Object.entries(FILES)) {
        const onDisk = existsSync(folder.at(path));
        expect(onDisk || hasName, path).to.equal(true);
        expect(onDisk ? readFileSync(folder.at(path), 'utf8') : await folder.read(path), path).to.equal(content);
      }
      // A name and its content are not both there before the archive is whole.
      expect(hasName && existsSync(folder.at(UNFINISHED))).to.equal(false);
      folder.remove();
      if (signal === null) {
        expect(code).to.equal(0);
        break;
      }
      kills += 1;
    }
    expect(kills).to.be.greaterThan(25);
  });

  describe('on a small disk', () => {
    let root = '';
    before(function () {
      root = mkdtempSync(join(tmpdir(), 'simbatch-disk-'));
      mkdirSync(join(root, 'small'));
      const args = ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', join(root, 'small')];
      // Only root may mount, and not in every container: a machine without it is not a failure of the tests.
      if (spawnSync('mount', args).status !== 0) this.skip();
    });
    after(() => {
      spawnSync('umount', ['-l', join(root, 'small')]);
      rmSync(root, { recursive: true, force: true });
    });

    for (const bytes of [4_500_000, 30_000])
      it(`is undone when the disk gets full: files of ${String(bytes)} bytes`, async () => {
        const folder = new AttemptFolder(join(root, 'small'));
        const files = Object.fromEntries(
          Array.from({ length: Math.floor(5_000_000 / bytes) }, (_, at) => [`f${String(at)}`, 'x'.repeat(bytes)]),
        );
        folder.write(files);
        const full = await writeArchive(folder.directory, [], new JobState(), () => Infinity);
        expect(full).to.deep.equal({ type: 'unchanged', why: 'the disk is full' });
        expect(openBelow(root)).to.deep.equal([]);
        expect(folder.entries()).to.deep.equal(Object.keys(files).sort());
        for (const [path, content] of Object.entries(files))
          expect(readFileSync(folder.at(path), 'utf8')).to.equal(content);
        const known = await writeArchive(folder.directory, [], new JobState());
        expect(known)
          .to.have.property('why')
          .that.matches(/^it needs 4[.]\d MiB, and the disk has .* free$/);
        rmSync(dirname(dirname(folder.directory)), { recursive: true });
      });
  });
});
