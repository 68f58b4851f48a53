/** Messages of the real program when a file cannot be written: one row each. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeFailure } from '../../../src/cli/terminal/failure-text.ts';
import { asUnwritable, writeFileFrom } from '../../../src/cli/terminal/output-file.ts';
import { packageRoot } from '../../../src/base/package.ts';
import { serving, simbatch, type Serving } from '../../support/program.ts';

const STUDY = join(packageRoot, 'examples', 'sounding-rocket', 'study.yaml');
const COMMANDS: Record<string, string[]> = {
  backup: ['backup'],
  'snapshot export': ['snapshot', 'export'],
  'sample as csv': ['sample', STUDY, '--format', 'csv', '-o'],
  'sample as parquet': ['sample', STUDY, '--format', 'parquet', '-o'],
};

describe('cli/terminal/output-file', function () {
  let folder: string;
  let server: Serving;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-unwritable-'));
    await writeFile(join(folder, 'a-file'), '');
    server = await serving(['--data-dir', join(folder, 'data')]);
  });
  after(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const places: [name: string, said: string, except?: string][] = [
    [
      'none/x',
      'cannot write HERE/none/x: the folder HERE/none does not exist; make it first, or name a file elsewhere (ENOENT)',
    ],
    [
      'none/',
      'cannot write HERE/none/: the folder HERE/none/ does not exist; make it first, or name a file elsewhere (ENOENT)',
    ],
    [
      'a-file/x',
      'cannot write HERE/a-file/x: a part of HERE/a-file is a file and not a folder; name a file elsewhere (ENOTDIR)',
    ],
    // A backup creates a file in a folder.
    ['data', 'cannot write HERE/data: it is a folder; name a file in it (EISDIR)', 'backup'],
    [
      'n'.repeat(300),
      `cannot write HERE/${'n'.repeat(300)}: the name is too long; choose a shorter one (ENAMETOOLONG)`,
    ],
  ];
  for (const [command, args] of Object.entries(COMMANDS)) {
    for (const [name, said] of places.filter((place) => place[2] !== command)) {
      it(`${command} to ${name.slice(0, 10)}`, async () => {
        const ended = await simbatch([...args, `${folder}/${name}`], { SVC_ENDPOINT: server.url });
        expect(ended.stderr).to.equal(`simbatch: ${said.replaceAll('HERE', folder)}\n`);
        expect(ended.code).to.equal(73);
        expect(await readdir(folder)).to.have.members(['a-file', 'data']);
      });
    }
  }

  const codes: [code: string, said: RegExp][] = [
    ['EACCES', /^cannot write \S+x: this user may not write this file; name a file elsewhere, or have it allowed/],
    ['EROFS', /^cannot write \S+x: the folder \S+ is on a read-only file system/],
    ['ENOSPC', /^cannot write \S+x: no space is left there; make room/],
  ];
  for (const [code, said] of codes) {
    it(`${code} names the user's file, not the file of the error`, () => {
      const error = Object.assign(new Error(code), { code, path: `${folder}/x.partial` });
      const { exitCode, lines } = describeFailure(asUnwritable(`${folder}/x`, error));
      expect(lines).to.have.length(1);
      expect(lines[0]).to.match(said).and.not.include('.partial');
      expect(exitCode).to.equal(73);
    });
  }

  it('begins no work for a file that cannot be opened', async () => {
    let isBegun = false;
    const fill = async (): Promise<void> => {
      isBegun = true;
    };
    const path = join(folder, 'none', 'x');
    const error: unknown = await writeFileFrom(path, fill).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message').that.includes(`cannot write ${path}`);
    expect(isBegun).to.equal(false);
  });

  it('returns other errors unchanged', () => {
    for (const error of [new Error('x'), Object.assign(new Error('x'), { code: 'ECONNRESET' }), undefined])
      expect(asUnwritable('/x', error)).to.equal(error);
  });
});
