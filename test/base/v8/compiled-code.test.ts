/** V8's compiled code is kept in a folder that only its user can write to, or not at all. */
import { expect } from 'chai';
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepCompiledCode } from '../../../src/base/v8/compiled-code.ts';

const OWN = process.getuid?.() ?? 0;

describe('base/v8/compiled-code', () => {
  let parent: string;
  let kept: string[];
  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'simbatch-test-'));
    kept = [];
  });
  afterEach(() => rmSync(parent, { recursive: true }));

  const keep = (user: number | null, from = parent): string[] => {
    keepCompiledCode((folder) => kept.push(folder), from, user);
    return kept;
  };
  const folderOf = (user: number): string => join(parent, `simbatch-compiled-${String(user)}`);

  it('is made for its user alone, and used again', () => {
    expect(keep(OWN)).to.deep.equal([folderOf(OWN)]);
    expect(lstatSync(folderOf(OWN)).mode & 0o777).to.equal(0o700);
    expect(keep(OWN)).to.deep.equal([folderOf(OWN), folderOf(OWN)]);
  });

  const faults: [string, number, (folder: string) => void][] = [
    ["another user's", OWN + 1, (folder) => mkdirSync(folder, { mode: 0o700 })],
    ['open to its group', OWN, (folder) => (mkdirSync(folder), chmodSync(folder, 0o770))],
    ['open to all', OWN, (folder) => (mkdirSync(folder), chmodSync(folder, 0o707))],
    ['a link', OWN, (folder) => (mkdirSync(`${folder}-of-others`), symlinkSync(`${folder}-of-others`, folder))],
    ['a file', OWN, (folder) => writeFileSync(folder, '')],
  ];
  for (const [name, user, make] of faults) {
    it(`is not used where it is ${name}`, () => {
      make(folderOf(user));
      expect(keep(user)).to.deep.equal([]);
    });
  }

  it('is not needed: nothing is kept where it cannot be made, or by a Node that cannot keep code', () => {
    writeFileSync(join(parent, 'file'), '');
    expect(keep(OWN, join(parent, 'file'))).to.deep.equal([]);
    keepCompiledCode(null, join(parent, 'none'), OWN);
    expect(() => lstatSync(join(parent, 'none'))).to.throw('ENOENT');
  });

  it("has no number where the system has no users' numbers", () => {
    expect(keep(null)).to.deep.equal([join(parent, 'simbatch-compiled')]);
  });
});
