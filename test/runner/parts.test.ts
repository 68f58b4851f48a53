/** Parts of the runner by themselves: bounded capture, artifacts, the spool, the live line. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { ARTIFACT_LIMITS, collectArtifacts } from '../../src/runner/files/artifacts.ts';
import { LogFile, OutputCapture } from '../../src/runner/attempt/output-capture.ts';
import { CoordinatorConnection, type ConnectionOptions } from '../../src/runner/connection/coordinator-connection.ts';
import { silentLog } from '../../src/runner/log.ts';
import { Waits } from '../../src/runner/waits.ts';
import { readRunConfig } from '../../src/runner/local-run.ts';
import { Spool } from '../../src/runner/spool.ts';
import { systemClock, sleep } from '../../src/base/clock.ts';
import { batchesWhile } from '../support/level-batches.ts';

const waits = new Waits(systemClock);
const open = (root: string, own: { pid: number; instance: string }) => Spool.open(root, 'r', own, waits);
const codeOf = (opening: Promise<unknown>) => opening.then(String, (error: { code: string }) => error.code);

describe('runner: parts', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-parts-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  async function captured(chunks: string[], headBytes: number, tailBytes: number) {
    const stream = new PassThrough();
    const path = join(folder, 'stdout.log');
    const file = new LogFile(path);
    const capture = new OutputCapture(stream, file, { headBytes, tailBytes });
    for (const chunk of chunks) stream.write(chunk);
    stream.end();
    await capture.ended;
    await capture.finish();
    file.removeIfEmpty();
    return { text: existsSync(path) ? readFileSync(path, 'utf8') : undefined, capture };
  }

  const streams: [what: string, chunks: string[], head: number, tail: number, text: string | undefined][] = [
    ['nothing', [], 4, 4, undefined],
    ['less than the head', ['ab'], 4, 4, 'ab'],
    ['exactly the head', ['ab', 'cd'], 4, 4, 'abcd'],
    ['a little more than the head', ['abcd', 'ef'], 4, 4, 'abcdef'],
    ['head and tail exactly', ['abcdefgh'], 4, 4, 'abcdefgh'],
    ['one byte more', ['abcdefghi'], 4, 4, 'abcd\n[simbatch: 1 bytes left out here]\nfghi'],
    [
      'many small pieces',
      'abcdefghijklmnopqrstuvwxyz'.split(''),
      4,
      3,
      'abcd\n[simbatch: 19 bytes left out here]\nxyz',
    ],
    ['one large piece', ['abcdefghijklmnopqrstuvwxyz'], 4, 3, 'abcd\n[simbatch: 19 bytes left out here]\nxyz'],
  ];
  for (const [what, chunks, head, tail, text] of streams) {
    it(`captures ${what}`, async () => {
      expect((await captured(chunks, head, tail)).text).to.equal(text);
    });
  }

  const lastLines: [text: string, maxBytes: number, expected: string][] = [
    ['one\ntwo\n', 100, 'one\ntwo'],
    ['one\ntwo\n', 6, 'two'],
    ['\u001b[31mred\u001b[0m \u0007bell\n', 100, 'red bell'],
    ['é'.repeat(10) + '\nlast', 8, 'last'],
  ];
  for (const [text, maxBytes, expected] of lastLines) {
    it(`the last lines of ${JSON.stringify(text)} within ${String(maxBytes)} bytes`, async () => {
      const { capture } = await captured([text], 1000, 1000);
      expect(capture.lastLines(maxBytes)).to.equal(expected);
    });
  }

  it('creates a log only where there is nothing, and follows no link', async () => {
    const victim = join(folder, 'victim');
    writeFileSync(victim, 'untouched');
    symlinkSync(victim, join(folder, 'link'));
    symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'));
    for (const name of ['victim', 'link', 'dangling']) {
      const file = new LogFile(join(folder, name));
      await file.write(Buffer.from('printed'));
      expect(file.fault, name).to.have.property('code', 'EEXIST');
      await file.complete();
      expect(file.removeIfEmpty(), name).to.equal(false);
    }
    expect(readFileSync(victim, 'utf8')).to.equal('untouched');
    expect(existsSync(join(folder, 'nowhere'))).to.equal(false);
  });

  it('creates a log by its first byte', async () => {
    const [silent, loud] = [new LogFile(join(folder, 'silent')), new LogFile(join(folder, 'loud'))];
    const written = loud.write(Buffer.from('printed'));
    expect([silent.isOpen, loud.isOpen]).to.deep.equal([false, true]);
    await written;
    await Promise.all([silent.complete(), loud.complete()]);
    expect([silent.removeIfEmpty(), loud.removeIfEmpty()]).to.deep.equal([false, false]);
    expect([existsSync(silent.path), readFileSync(loud.path, 'utf8')]).to.deep.equal([false, 'printed']);
  });

  it('creates no log after it was discarded, and keeps one with output', async () => {
    const [late, early] = [new LogFile(join(folder, 'late')), new LogFile(join(folder, 'early'))];
    void early.write(Buffer.from('early'));
    await Promise.all([late.discard(), early.discard()]);
    await Promise.all([late.write(Buffer.from('late')), early.write(Buffer.from('late'))]);
    expect([existsSync(late.path), readFileSync(early.path, 'utf8')]).to.deep.equal([false, 'early']);
  });

  it('continues to read when the log cannot be written', async function () {
    if (!existsSync('/dev/full')) return this.skip();
    const file = new LogFile('/dev/full', { fd: openSync('/dev/full', 'w') });
    const stream = new PassThrough();
    const capture = new OutputCapture(stream, file, {
      headBytes: 1 << 20,
      tailBytes: 10,
    });
    for (let block = 0; block < 50; block++) stream.write(Buffer.alloc(64 << 10, 'x'));
    stream.end('the end');
    await capture.ended;
    await capture.finish();
    expect(capture.fault).to.have.property('code', 'ENOSPC');
    expect(capture.lastLines(7)).to.equal('the end');
  });

  it('bounds the list of artifacts and says how many it leaves out', async () => {
    for (let file = 0; file < 20; file++) writeFileSync(join(folder, `${String(file)}.dat`), '');
    const { files, notes } = await collectArtifacts(folder, undefined, { ...ARTIFACT_LIMITS, files: 7 });
    expect(files).to.have.length(7);
    expect(notes).to.deep.equal([`13 more files are in ${folder}; the list is limited`]);
  });

  it('goes no deeper than its limit, nor through a link', async () => {
    mkdirSync(join(folder, 'a/b/c'), { recursive: true });
    writeFileSync(join(folder, 'a/b/c/deep'), '');
    writeFileSync(join(folder, 'a/b/near'), '');
    symlinkSync('.', join(folder, 'loop'));
    const { files, notes } = await collectArtifacts(folder, undefined, { ...ARTIFACT_LIMITS, depth: 2 });
    expect(files).to.deep.equal([join(folder, 'a/b/near')]);
    expect(notes).to.have.length(1);
  });

  it('metadata.json has as many values as the limit, and not one more', async () => {
    const limits = { ...ARTIFACT_LIMITS, metadataValues: 3 };
    writeFileSync(join(folder, 'metadata.json'), '{"a":1,"b":{"c":2}}');
    expect((await collectArtifacts(folder, undefined, limits)).metadata).to.deep.equal({ a: 1, b: { c: 2 } });
    writeFileSync(join(folder, 'metadata.json'), '{"a":1,"b":{"c":2,"d":3}}');
    expect((await collectArtifacts(folder, undefined, limits)).metadata).to.deep.equal({});
  });

  it('metadata.json larger than the limit is not read', async () => {
    writeFileSync(join(folder, 'metadata.json'), JSON.stringify({ a: 'x'.repeat(100) }));
    const { metadata, notes } = await collectArtifacts(folder, undefined, { ...ARTIFACT_LIMITS, metadataBytes: 99 });
    expect(metadata).to.deep.equal({});
    expect(notes[0]).to.include('larger than 99 bytes');
  });

  it('metadata.json has histories beside its outputs, which do not count as their size', async () => {
    const limits = { ...ARTIFACT_LIMITS, metadataBytes: 25 };
    const histories = { 'h 1': [1, null, 2], h2: [] };
    const collected = async (content: object) => {
      writeFileSync(join(folder, 'metadata.json'), JSON.stringify(content));
      const { metadata, histories: found, notes } = await collectArtifacts(folder, undefined, limits);
      return { metadata, found, notes: notes.length };
    };
    expect(await collected({ a: 1, histories })).to.deep.equal({ metadata: { a: 1 }, found: histories, notes: 0 });
    expect(await collected({ a: 1 })).to.deep.equal({ metadata: { a: 1 }, found: undefined, notes: 0 });
    const other = { histories: { a: 1 } };
    expect(await collected(other)).to.deep.equal({ metadata: other, found: undefined, notes: 0 });
    expect(await collected({ a: 'x'.repeat(25), histories })).to.deep.include({ metadata: {}, notes: 1 });
  });

  it('keeps unsettled attempts and former instances in the spool', async () => {
    const attempt = { job_id: 'j', attempt: 1, directory: '/d', pid: 1, pidStart: 's' };
    const outcome = { type: 'fail', job_id: 'j', attempt: 1, reason: 'exit', error_message: 'x' } as const;
    const first = await open(folder, { pid: 1, instance: 'one' });
    await first.running(attempt);
    await first.ended(attempt, outcome);
    await first.running({ ...attempt, attempt: 2 });
    first.settled({ job_id: 'j', attempt: 2 });
    await first.registered();
    await first.close();
    const second = await open(folder, { pid: 2, instance: 'two' });
    expect(await second.leftovers()).to.deep.equal([{ ...attempt, outcome }]);
    expect(second.replaces).to.deep.equal(['one']);
    await second.close();
    const third = await open(folder, { pid: 3, instance: 'three' });
    expect(third.replaces).to.deep.equal(['two', 'one']);
    await third.signedOff();
    await third.close();
    const fourth = await open(folder, { pid: 4, instance: 'four' });
    expect(fourth.replaces).to.deep.equal([]);
    await fourth.close();
  });

  it('keeps a record that is written again after it was settled', async () => {
    const attempt = { job_id: 'j', attempt: 1, directory: '/d' };
    const other = { ...attempt, attempt: 2 };
    const first = await open(folder, { pid: 1, instance: 'one' });
    await Promise.all([first.running(attempt), first.running(other)]);
    first.settled(attempt);
    first.settled(other);
    expect(await first.leftovers()).to.deep.equal([]);
    await first.running(attempt);
    expect(await first.leftovers()).to.deep.equal([attempt]);
    await first.close();
    const second = await open(folder, { pid: 2, instance: 'two' });
    expect(await second.leftovers()).to.deep.equal([attempt]);
    await second.close();
  });

  it('deletes the records of settled attempts with the next write, or by itself soon', async () => {
    const written = await batchesWhile(async (groups) => {
      const spool = await open(folder, { pid: 1, instance: 'one' });
      await spool.running({ job_id: 'a', attempt: 1, directory: '' });
      spool.settled({ job_id: 'a', attempt: 1 });
      await spool.running({ job_id: 'b', attempt: 1, directory: '' });
      spool.settled({ job_id: 'b', attempt: 1 });
      while (groups.length < 3) await new Promise((resolve) => setTimeout(resolve, 10));
      await spool.close();
    });
    expect(written.map(({ operations }) => operations)).to.deep.equal([
      ['put a/1'],
      ['put b/1', 'del a/1'],
      ['del b/1'],
    ]);
  });

  it('replaces the file of instances atomically, so that a kill during the write loses none', async () => {
    const first = await open(folder, { pid: 1, instance: 'one' });
    const file = join(first.directory, 'process.json');
    const before = statSync(file).ino;
    await first.registered();
    // A file that is written in place would keep its inode, and be empty for a moment.
    expect(statSync(file).ino).to.not.equal(before);
    await first.close();
    writeFileSync(`${file}.part`, '{"format":');
    const second = await open(folder, { pid: 2, instance: 'two' });
    expect(second.replaces).to.deep.equal(['one']);
    await second.close();
  });

  it('refuses a spool that is open, and a spool that cannot be created', async () => {
    const spool = await open(folder, { pid: 1, instance: 'one' });
    expect(await codeOf(open(folder, { pid: 2, instance: 'two' }))).to.equal('store-locked');
    writeFileSync(join(folder, 'file'), '');
    expect(await codeOf(open(join(folder, 'file'), { pid: 2, instance: 'two' }))).to.equal('store-unusable');
    await spool.close();
  });

  it('sleeps until it is woken', async () => {
    const wake = new AbortController();
    const slept = sleep(systemClock, 2 ** 40, wake.signal);
    wake.abort();
    await slept;
    await sleep(systemClock, 2 ** 40, wake.signal);
  });

  const runConfigs: [text: string, pointers: string[]][] = [
    ['{"run_id":0,"parameters":{"a":1},"metadata":{"simulation_name":"s"}}', []],
    ['[]', ['']],
    ['{"run_id":1.5,"parameters":[],"metadata":{}}', ['/run_id', '/metadata/simulation_name', '/parameters']],
    ['{"run_id":1,"parameters":{"a/b":null,"c":1},"metadata":{"simulation_name":"s"}}', ['/parameters/a~1b']],
  ];
  for (const [text, pointers] of runConfigs) {
    it(`a run configuration ${text} has faults at ${JSON.stringify(pointers)}`, () => {
      let seen: string[] = [];
      try {
        readRunConfig(text, 'x.json');
      } catch (error) {
        seen = ((error as { faults?: { pointer: string }[] }).faults ?? []).map((fault) => fault.pointer);
      }
      expect(seen).to.deep.equal(pointers);
    });
  }

  it('logs an outage of the coordinator once, in one sentence', () => {
    const logged: string[] = [];
    const log = { ...silentLog, warn: (text: string) => void logged.push(text) };
    const link = new CoordinatorConnection({ log, clock: systemClock } as ConnectionOptions);
    for (const message of ['The token was revoked.', 'The token was revoked.']) link.wentWrong(new Error(message));
    expect(logged).to.deep.equal(['The token was revoked; running simulations continue, reports wait, retrying']);
    link.wentWell();
    link.wentWrong(new Error('no server'));
    expect(logged[1]).to.match(/^no server; running/);
  });

  it('a run configuration that is not JSON is refused by name', () => {
    expect(() => readRunConfig('{', 'x.json')).to.throw(/^x\.json is not JSON: /);
  });
});
