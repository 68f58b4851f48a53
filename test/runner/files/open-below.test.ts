/** Files are opened below a directory and nowhere else, also while folders and links are exchanged. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { LinkInPath, openBelow } from '../../../src/runner/files/open-below.ts';

describe('runner/files/open-below', () => {
  let folder: string;
  let root: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-open-'));
    root = join(folder, 'attempt-1');
    mkdirSync(join(root, 'a/b'), { recursive: true });
    mkdirSync(join(folder, 'elsewhere'));
    writeFileSync(join(root, 'a/b/f.txt'), 'own');
    writeFileSync(join(folder, 'elsewhere/f.txt'), 'other');
    symlinkSync(join(folder, 'elsewhere'), join(root, 'link'));
    symlinkSync(join(folder, 'elsewhere/f.txt'), join(root, 'f.txt'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function textOf(path: string, descriptors?: string, directory = root): Promise<string> {
    const file = await openBelow(directory, path, descriptors);
    try {
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  }
  const faultOf = (path: string, descriptors?: string, directory?: string): Promise<string> =>
    textOf(path, descriptors, directory).catch((error: NodeJS.ErrnoException) =>
      error instanceof LinkInPath ? 'link' : (error.code ?? String(error)),
    );

  for (const [how, descriptors] of [
    ['folder by folder', undefined],
    ['compared afterwards, as on systems without /proc', '/nowhere'],
  ] as const) {
    it(`opens regular files and follows no link: ${how}`, async () => {
      expect(await textOf('a/b/f.txt', descriptors)).to.equal('own');
      expect(await faultOf('link/f.txt', descriptors)).to.equal('link');
      expect(await faultOf('f.txt', descriptors)).to.equal('ELOOP');
      expect(await faultOf('a/none/f.txt', descriptors)).to.equal('ENOENT');
      expect(await faultOf('a/b/f.txt/g', descriptors)).to.equal('ENOTDIR');
    });
  }

  it('opens nothing through a directory that is a link itself', async () => {
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'attempt-2'));
    expect(await faultOf('f.txt', undefined, join(folder, 'attempt-2'))).to.equal('link');
  });

  it('reads no other file while a folder and a link change places', async () => {
    mkdirSync(join(root, 'x'));
    writeFileSync(join(root, 'x/f.txt'), 'own');
    const places = [join(root, 'x'), join(root, 'kept'), join(root, 'link')] as const;
    let isOver = false;
    const exchange = (async () => {
      while (!isOver) {
        renameSync(places[0], places[1]);
        symlinkSync(join(folder, 'elsewhere'), places[0]);
        await turn();
        rmSync(places[0]);
        renameSync(places[1], places[0]);
        await turn();
      }
    })();
    const seen = new Set<string>();
    for (let count = 0; count < 2000; count++) seen.add(await textOf('x/f.txt').catch(() => 'refused'));
    isOver = true;
    await exchange;
    expect([...seen])
      .to.include.members(['own', 'refused'])
      .and.not.to.include('other');
  });
});
