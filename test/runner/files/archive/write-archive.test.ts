/** Archives of the files of attempts: what they have, what stays beside them, and what is undone. */
import { expect } from 'chai';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { systemClock } from '../../../../src/base/clock.ts';
import { JobState, UNFINISHED, type Phase } from '../../../../src/runner/files/archive/archive-job.ts';
import { FoundMembers } from '../../../../src/runner/files/archive/find-members.ts';
import { OpenFolder } from '../../../../src/runner/files/archive/open-folder.ts';
import { unpack } from '../../../../src/runner/files/archive/unpack.ts';
import { writeArchive } from '../../../../src/runner/files/archive/write-archive.ts';
import { openBelow } from '../../../support/open-files.ts';
import { AttemptFolder } from './support.ts';

const LARGE = Buffer.from(Uint8Array.from({ length: 3_500_000 }, (_, index) => index % 251));
const FILES = {
  'metadata.json': '{"apogee": 3}',
  'stdout.log': 'line 1\nline 2\n',
  'empty.txt': '',
  'large.bin': LARGE,
  'deep/er/grün % #1.csv': 'a,b\n1,2\n',
};

/** Calls `then` when a phase begins. */
class WatchedState extends JobState {
  readonly #then: (phase: Phase) => void;

  constructor(then: (phase: Phase) => void) {
    super();
    this.#then = then;
  }

  override advance(from: Phase, to: Phase): boolean {
    const hasBegun = super.advance(from, to);
    if (hasBegun) this.#then(to);
    return hasBegun;
  }
}

describe('runner/files/archive/write-archive', () => {
  let folder: AttemptFolder;
  beforeEach(() => (folder = new AttemptFolder()));
  afterEach(() => folder.remove());

  const write = (keep: string[] = [], state = new JobState(), freeBytes?: () => number) =>
    writeArchive(folder.directory, keep, state, freeBytes);
  /** That all files are as they were. */
  const expectUnchanged = (files: Readonly<Record<string, string | Buffer>> = FILES): void => {
    for (const [path, content] of Object.entries(files))
      expect(readFileSync(folder.at(path)).equals(Buffer.from(content)), path).to.equal(true);
    expect(existsSync(folder.at(UNFINISHED))).to.equal(false);
  };

  it('has the files byte for byte with their times and modes, and nothing else is left', async () => {
    folder.write(FILES);
    chmodSync(folder.at('stdout.log'), 0o751);
    utimesSync(folder.at('stdout.log'), 1e9, 1e9);
    expect(await write()).to.deep.equal({ type: 'archived', kept: [], notes: [] });
    expect(folder.entries()).to.deep.equal(['files.zip']);
    const { files, notes } = await folder.list();
    expect(files.map(({ path, bytes }) => [path, bytes])).to.deep.equal([
      ['deep/er/grün % #1.csv', 8],
      ['empty.txt', 0],
      ['large.bin', LARGE.length],
      ['metadata.json', 13],
      ['stdout.log', 14],
    ]);
    expect(files.at(-1)?.modified_ms).to.equal(1e12);
    expect(notes).to.deep.equal(['the files are in files.zip of the folder, which can be read too']);
    const archive = (await folder.archived.open(folder.directory))!;
    const to = folder.at('unpacked');
    await unpack(archive, to, () => {});
    await archive.file.close();
    for (const [path, content] of Object.entries(FILES))
      expect(readFileSync(`${to}/${path}`).equals(Buffer.from(content)), path).to.equal(true);
    expect([statSync(`${to}/stdout.log`).mode & 0o777, statSync(`${to}/stdout.log`).mtimeMs]).to.deep.equal([
      0o751, 1e12,
    ]);
  });

  it('is read by ranges, from the end, and to the end', async () => {
    folder.write(FILES);
    await write();
    for (const [offset, length] of [
      [0, 10],
      [1_048_570, 1_048_576],
      [3_499_990, 100],
      [-7, 100],
      [-9_000_000, 20],
      [4_000_000, 10],
    ] as const) {
      const from = offset < 0 ? Math.max(0, LARGE.length + offset) : offset;
      const part = await folder.archived.part(folder.directory, 'large.bin', { offset, length, maxBytes: 1e9 });
      if (part === undefined || 'fault' in part) return expect.fail('not read');
      expect([part.offset, part.size]).to.deep.equal([from, LARGE.length]);
      expect(LARGE.subarray(from, from + length).equals(part.bytes), String(offset)).to.equal(true);
    }
    expect(await folder.read('empty.txt')).to.equal('');
    expect(await folder.archived.part(folder.directory, 'none', { offset: 0, length: 1, maxBytes: 9 })).to.equal(
      undefined,
    );
    const refused = await folder.archived.part(folder.directory, 'large.bin', { offset: 0, length: 1, maxBytes: 9 });
    expect(refused).to.have.property('fault', 'too-large');
  });

  it('leaves what is read by its path, links, and names that it cannot have, and says so', async () => {
    folder.write({ ...FILES, 'telemetry.parquet': 'PAR1', 'back\\slash.txt': 'b', 'deep/C:x': 'fine' });
    symlinkSync('/etc/passwd', folder.at('link'));
    symlinkSync('/nowhere', folder.at('deep/folder'));
    writeFileSync(Buffer.concat([Buffer.from(folder.at('bad-')), Buffer.from([0xff])]), 'x');
    const outcome = await write(['telemetry.parquet']);
    if (outcome.type !== 'archived') return expect.fail(outcome.why);
    expect([...outcome.kept].sort()).to.deep.equal(['back\\slash.txt', 'bad-\ufffd', 'telemetry.parquet']);
    expect(outcome.notes).to.deep.equal([
      '2 entries stayed beside files.zip: links, special files or too deep folders',
      '2 entries stayed beside files.zip: their names do not fit into an archive',
    ]);
    expect(folder.entries()).to.deep.equal([
      'back\\slash.txt',
      'bad-\ufffd',
      'deep',
      'deep/folder',
      'files.zip',
      'link',
      'telemetry.parquet',
    ]);
    expect(await folder.read('deep/C:x')).to.equal('fine');
  });

  it('keeps empty folders as members, and makes none of a folder without files', async () => {
    mkdirSync(folder.at('a/b'), { recursive: true });
    folder.write({ 'f.txt': 'f' });
    expect(await write()).to.deep.include({ type: 'archived', kept: [] });
    expect(folder.entries()).to.deep.equal(['files.zip']);
    expect(readFileSync(folder.at('files.zip')).includes('a/b/')).to.equal(true);
    const other = new AttemptFolder();
    other.write({ 'telemetry.parquet': 'PAR1' });
    expect(await writeArchive(other.directory, ['telemetry.parquet'], new JobState())).to.deep.equal({
      type: 'unchanged',
    });
    expect(other.entries()).to.deep.equal(['telemetry.parquet']);
    other.remove();
  });

  for (const name of ['files.zip', UNFINISHED])
    it(`leaves all files as they are where the simulation wrote a file ${name}`, async () => {
      folder.write({ ...FILES, [name]: 'its own' });
      expect(await write()).to.deep.equal({
        type: 'unchanged',
        why: `the simulation wrote ${name} itself; give that file another name`,
      });
      for (const [path, content] of Object.entries({ ...FILES, [name]: 'its own' }))
        expect(readFileSync(folder.at(path)).equals(Buffer.from(content)), path).to.equal(true);
      expect(await folder.archived.open(folder.directory)).to.equal(undefined);
    });

  it('needs room on the disk before it begins, and leaves some', async () => {
    folder.write(FILES);
    expect(await write([], new JobState(), () => 4_000_000)).to.deep.equal({
      type: 'unchanged',
      why: 'it needs 3.3 MiB, and the disk has 3.8 MiB free',
    });
    expectUnchanged();
  });

  it('is undone when it is cancelled, at each of its steps until it has its name', async () => {
    let steps = 0;
    for (let cancelAt = 1; ; cancelAt++) {
      folder.write(FILES);
      steps = 0;
      const state = new JobState();
      const step = state.step.bind(state);
      state.step = () => {
        steps += 1;
        if (steps === cancelAt) state.cancel();
        step();
      };
      const { type } = await write([], state);
      if (type === 'archived') break;
      expectUnchanged();
      expect(folder.entries()).to.deep.equal(['deep', 'deep/er', ...Object.keys(FILES)].sort());
      // The reader and the writer each end by their next step.
      expect(steps).to.be.at.most(cancelAt + 2);
    }
    // Seven entries, five files, the pieces of the large one, and the writes.
    expect(steps).to.be.greaterThan(25);
    expect(openBelow(folder.root)).to.deep.equal([]);
  });

  it('is undone when it is cancelled just before it has its name, and not later', async () => {
    folder.write(FILES);
    const state = new JobState();
    const advance = state.advance.bind(state);
    state.advance = (from, to) => {
      if (to === 'renaming') state.cancel();
      return advance(from, to);
    };
    expect(await write([], state)).to.have.property('type', 'unchanged');
    expectUnchanged();
    const late = new JobState();
    expect(await write([], late)).to.have.property('type', 'archived');
    expect([late.cancel(), late.phase]).to.deep.equal([false, 'deleting']);
  });

  it('keeps a file that was written to after it was read, and readers get the later content', async () => {
    folder.write(FILES);
    const change = (phase: Phase): void => {
      if (phase === 'deleting') folder.write({ 'stdout.log': 'later' });
    };
    const outcome = await write([], new WatchedState(change));
    expect(outcome).to.deep.equal({
      type: 'archived',
      kept: ['stdout.log'],
      notes: ['1 file of files.zip could not be deleted: stdout.log: it changed after the run had ended'],
    });
    const { files } = await folder.list();
    expect(files.filter((it) => it.path === 'stdout.log').map((it) => it.bytes)).to.deep.equal([5]);
  });

  it('is not made of files that change before they are read, and replaces no file that appears', async () => {
    folder.write(FILES);
    const changing = await write([], new JobState(), () => {
      folder.write({ 'stdout.log': 'changed' });
      return Infinity;
    });
    expect(changing).to.deep.equal({ type: 'unchanged', why: 'stdout.log changed after the run had ended' });
    expectUnchanged({ ...FILES, 'stdout.log': 'changed' });
    const appearing = new WatchedState((phase) => {
      if (phase === 'renaming') folder.write({ 'files.zip': 'its own' });
    });
    expect(await write([], appearing)).to.deep.equal({
      type: 'unchanged',
      why: 'files.zip was written after the run had ended',
    });
    expectUnchanged({ ...FILES, 'stdout.log': 'changed', 'files.zip': 'its own' });
  });

  it('has 10,000 files in a folder, and readers find each', async () => {
    mkdirSync(folder.at('many'));
    for (let count = 0; count < 10_000; count++) writeFileSync(folder.at(`many/${String(count)}`), String(count));
    expect(await write()).to.deep.equal({ type: 'archived', kept: [], notes: [] });
    expect(folder.entries()).to.deep.equal(['files.zip']);
    for (const it of [0, 1, 5_000, 9_999]) expect(await folder.read(`many/${String(it)}`)).to.equal(String(it));
    expect((await folder.list()).files.length).to.be.greaterThan(1_000);
  });

  it('is not made of more files than an archive can have', () => {
    folder.write(FILES);
    const root = OpenFolder.open(folder.directory);
    const found = (most: number): FoundMembers => new FoundMembers(root, [], () => {}, most);
    expect(found(5).count).to.equal(5);
    expect(() => found(4)).to.throw('it has more than 4 files, the most of an archive');
    mkdirSync(folder.at('empty'));
    expect(found(6).count).to.equal(6);
    root.close();
  });

  it('lets the loop of a reader turn after each 200 members', async () => {
    for (let count = 0; count < 1_000; count++) writeFileSync(folder.at(String(count)), '');
    await write();
    const file = await open(folder.at('files.zip'));
    let turns = 0;
    const clock = { soon: (then: () => void) => ((turns += 1), systemClock.soon(then)) };
    const { membersOf } = await import('../../../../src/runner/files/archive/read-archive.ts');
    const members = await membersOf(file, statSync(folder.at('files.zip')).size, clock);
    await file.close();
    expect([members.size, turns]).to.deep.equal([1_000, 5]);
    expect(readdirSync(folder.directory)).to.deep.equal(['files.zip']);
  });
});
