/** Folders of attempts that are archived: no link in them is followed, with and without paths of descriptors. */
import { expect } from 'chai';
import { closeSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OpenFolder } from '../../../../src/runner/files/archive/open-folder.ts';
import { LinkInPath } from '../../../../src/runner/files/open-below.ts';
import { AttemptFolder } from './support.ts';

describe('runner/files/archive/open-folder', () => {
  let folder: AttemptFolder;
  let elsewhere: string;
  beforeEach(() => {
    folder = new AttemptFolder();
    folder.write({ 'a/b/f.txt': 'own', 'g.txt': 'own' });
    elsewhere = join(folder.root, 'elsewhere');
    mkdirSync(join(elsewhere, 'b'), { recursive: true });
    for (const path of ['f.txt', 'b/f.txt']) writeFileSync(join(elsewhere, path), 'other');
    symlinkSync(elsewhere, folder.at('link'));
    symlinkSync(join(elsewhere, 'f.txt'), folder.at('f.txt'));
  });
  afterEach(() => folder.remove());

  for (const [how, descriptors] of [
    ['through the open folder', undefined],
    ['compared afterwards, as on systems without /proc', '/nowhere'],
  ] as const) {
    const opened = (): OpenFolder => OpenFolder.open(folder.directory, descriptors);
    const textOf = (fd: number): string => {
      const text = readFileSync(fd, 'utf8');
      closeSync(fd);
      return text;
    };

    it(`opens files and folders and follows no link: ${how}`, () => {
      const root = opened();
      const below = root.folder('a').folder('b');
      expect(textOf(below.file('f.txt'))).to.equal('own');
      expect(readFileSync(below.at('f.txt'), 'utf8')).to.equal('own');
      expect(() => root.folder('link'))
        .to.throw()
        .with.property('code')
        .that.is.oneOf(['ELOOP', 'ENOTDIR']);
      expect(() => root.file('f.txt'))
        .to.throw()
        .with.property('code', 'ELOOP');
      expect(() => root.folder('g.txt'))
        .to.throw()
        .with.property('code', 'ENOTDIR');
    });

    it(`reads no other file when a folder was exchanged for a link since it was opened: ${how}`, () => {
      const root = opened();
      const a = root.folder('a');
      renameSync(folder.at('a'), folder.at('kept'));
      symlinkSync(elsewhere, folder.at('a'));
      try {
        expect(textOf(a.folder('b').file('f.txt'))).to.equal('own');
      } catch (error) {
        expect(error).to.be.instanceOf(LinkInPath);
      }
      expect(() => root.folder('a'))
        .to.throw()
        .with.property('code')
        .that.is.oneOf(['ELOOP', 'ENOTDIR']);
    });
  }
});
