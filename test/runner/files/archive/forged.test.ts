/** Files named files.zip that a simulation has written: none of them leads out of itself, and none is taken for the archive of the run. */
import { expect } from 'chai';
import { readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import { commentOf, JobState } from '../../../../src/runner/files/archive/archive-job.ts';
import { writeArchive } from '../../../../src/runner/files/archive/write-archive.ts';
import { seededRandom } from '../../../support/simulated-clock.ts';
import { AttemptFolder } from './support.ts';

/** An archive of members, with names of equal length exchanged afterwards. */
async function zipOf(
  members: Readonly<Record<string, string>>,
  comment: string,
  { exchange = ['', ''], compress = false }: { exchange?: [string, string]; compress?: boolean } = {},
): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [path, text] of Object.entries(members)) zip.addBuffer(Buffer.from(text), path, { compress });
  zip.end({ comment, forceZip64Format: false });
  const bytes = await buffer(zip.outputStream);
  const [from, to] = exchange;
  return from === '' ? bytes : Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1');
}

describe('runner/files/archive: forged archives', () => {
  let folder: AttemptFolder;
  let comment: string;
  beforeEach(() => {
    folder = new AttemptFolder();
    comment = commentOf(folder.directory);
  });
  afterEach(() => folder.remove());

  it('of a simulation or of another run are files like others', async () => {
    for (const other of ['', 'mine', commentOf(join(folder.root, 'x/00000018/attempt-1'))]) {
      folder.write({ 'files.zip': await zipOf({ 'a.txt': 'a' }, other), 'b.txt': 'b' });
      const { files, notes } = await folder.list();
      expect(
        files.map((it) => it.path),
        other,
      ).to.deep.equal(['b.txt', 'files.zip']);
      expect(notes).to.deep.equal([]);
      expect(await folder.archived.part(folder.directory, 'a.txt', { offset: 0, length: 9, maxBytes: 9 })).to.equal(
        undefined,
      );
    }
  });

  const forged: Record<string, [make: () => Promise<Buffer>, why: string]> = {
    'a path out of the folder': [
      () => zipOf({ 'xx/passwd': 'x' }, comment, { exchange: ['xx/passwd', '../passwd'] }),
      'invalid relative path: ../passwd',
    ],
    'an absolute path': [
      () => zipOf({ 'xetc/passwd': 'x' }, comment, { exchange: ['xetc/passwd', '/etc/passwd'] }),
      'absolute path: /etc/passwd',
    ],
    'a path with a backslash': [
      () => zipOf({ 'a-b': 'x' }, comment, { exchange: ['a-b', 'a\\b'] }),
      String.raw`invalid characters in fileName: a\b`,
    ],
    'a path with a zero byte': [
      () => zipOf({ 'a-b': 'x' }, comment, { exchange: ['a-b', 'a\0b'] }),
      String.raw`the path "a\u0000b" has a zero byte`,
    ],
    'compressed members': [
      () => zipOf({ a: 'aaaaaaaaaaa' }, comment, { compress: true }),
      '"a" is compressed or encrypted',
    ],
    'no directory': [
      async () => {
        const bytes = await zipOf({ a: 'a' }, comment);
        return Buffer.concat([Buffer.alloc(bytes.length - 22 - comment.length), bytes.subarray(-22 - comment.length)]);
      },
      'invalid central directory file header signature: 0x0',
    ],
  };
  for (const [what, [make, why]] of Object.entries(forged))
    it(`with ${what} and the comment of the run are listed as a file, with a note, and nothing in them is read`, async () => {
      folder.write({ 'files.zip': await make() });
      const { files, notes } = await folder.list();
      expect(files.map((it) => it.path)).to.deep.equal(['files.zip']);
      expect(notes).to.deep.equal([`files.zip is not readable as an archive: ${why}`]);
      expect(await folder.read('a')).to.equal(`unreadable: files.zip is not readable as an archive: ${why}`);
    });

  it('with a member whose record is elsewhere are refused, and an archive that is a link is not opened', async () => {
    folder.write({ 'a.txt': 'aaa', 'b.txt': 'b' });
    await writeArchive(folder.directory, [], new JobState());
    const bytes = readFileSync(folder.at('files.zip'));
    bytes.fill(0, 0, 4);
    writeFileSync(folder.at('files.zip'), bytes);
    const { files } = await folder.list();
    const broken = await Promise.all(files.map((it) => folder.read(it.path)));
    expect(broken).to.include('unreadable: files.zip is damaged: a member is not where its directory says');
    const other = new AttemptFolder(join(folder.root, 'other'));
    symlinkSync(folder.at('files.zip'), other.at('files.zip'));
    expect(await other.archived.open(other.directory, folder.directory)).to.equal(undefined);
    symlinkSync(folder.directory, join(folder.root, 'attempt-1'));
    expect(await folder.archived.open(join(folder.root, 'attempt-1'), folder.directory)).to.equal(undefined);
  });

  it('with any byte of their directory changed are read as archives or refused, with each path below the folder', async () => {
    folder.write({ 'a.txt': 'aaa', 'b/c.txt': 'c'.repeat(1000) });
    await writeArchive(folder.directory, [], new JobState());
    const bytes = readFileSync(folder.at('files.zip'));
    const random = seededRandom(17);
    let refused = 0;
    for (let round = 0; round < 1_000; round++) {
      const damaged = Buffer.from(bytes);
      for (let count = 0; count <= round % 3; count++)
        damaged[1_100 + Math.floor(random() * (bytes.length - 1_100 - comment.length))] = Math.floor(random() * 256);
      folder.write({ 'files.zip': damaged });
      // A version that differs each time, as that of a file that was written a second later.
      utimesSync(folder.at('files.zip'), round, round);
      const { files, notes } = await folder.list();
      expect(
        files.every(({ path, modified_ms }) => !/^[/]|[.][.]/.test(path) && Number.isFinite(modified_ms)),
      ).to.equal(true);
      if (notes[0]?.includes('not readable') === true) refused += 1;
      else
        for (const it of files)
          await folder.archived.part(folder.directory, it.path, { offset: 0, length: 9e5, maxBytes: 1e9 });
    }
    expect(refused).to.be.within(100, 900);
  });
});
