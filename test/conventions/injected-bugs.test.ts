/** Injected bugs of the tests of the night fit the program of today: these run seldom, and a bug whose text is gone proves nothing. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/base/package.ts';
import { keys } from '../../src/coordinator/kernel/storage/keys.ts';
import { withBug, type InjectedBug } from '../night/injected-bugs/injected-bug.ts';
import { INJECTED_BUGS } from '../night/injected-bugs/list.ts';
import { LAUNCHER_MUTATIONS } from '../sim/launcher/mutations.ts';
import { MUTATIONS } from '../sim/mutations.ts';
import { filesIn } from './files.ts';

const sourceOf = (compiled: string): string => join(packageRoot, compiled.replace(/\.js$/, '.ts'));

const read = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');

/** True where the test file has a test with the title: as its words, or made of a template and words of the file. */
function hasTitle(text: string, title: string): boolean {
  if (text.includes(title)) return true;
  const templates = [...text.matchAll(/\bit\(\s*`([^`]+)`/g)].map(([, it = '']) => it.split(/\$\{[^}]*\}/));
  return templates.some((parts) => {
    const words = parts.map((it) => it.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    const [, ...filled] = new RegExp(`^${words.join('(.+)')}$`).exec(title) ?? [];
    return filled.length > 0 && filled.every((it) => text.includes(it));
  });
}

/** Why the bug cannot be injected, or not be found; undefined where it can. */
function faultOf(bug: InjectedBug): string | undefined {
  const { file, find, replace, test, title } = bug;
  // Compiled files of sources that are gone may be left in dist/.
  if (!existsSync(sourceOf(file))) return `${file} has no source`;
  if (find === replace) return 'it changes nothing';
  try {
    withBug(bug, read(join(packageRoot, 'dist', file)));
  } catch (error) {
    return (error as Error).message;
  }
  return hasTitle(read(sourceOf(`test/${test}`)), title) ? undefined : `${test} has no test "${title}"`;
}

describe('conventions/injected-bugs', () => {
  it('have their text exactly once in the program, and the test that must find them', () => {
    expect(INJECTED_BUGS).to.have.length.above(50);
    const faults = INJECTED_BUGS.flatMap((it) => faultOf(it) ?? []);
    expect(faults).to.deep.equal([]);
  });

  it('are told apart from those that do not fit', () => {
    const bug = INJECTED_BUGS[0]!;
    const faults = [
      { ...bug, find: 'a text that no file has' },
      { ...bug, find: ';' },
      { ...bug, replace: bug.find },
      { ...bug, file: 'src/gone.js' },
      { ...bug, test: 'gone.test.js' },
      { ...bug, title: 'a title that no test has' },
    ].map(faultOf);
    const expected = [/ 0 times/, / \d+ times/, /changes nothing/, /no source/, /has no test/, /has no test/];
    expect(faultOf(bug)).to.equal(undefined);
    for (const [at, pattern] of expected.entries()) expect(faults[at]).to.match(pattern);
  });

  it('of the simulation replace members that exist', () => {
    // A patch of a missing member throws.
    for (const { patch } of [...MUTATIONS, ...LAUNCHER_MUTATIONS]) patch?.()();
  });

  it('of the simulation change records that exist', () => {
    const files = filesIn(['test/sim'], 'mutations.ts');
    const kinds = files.flatMap(({ text }) => [...text.matchAll(/'!([a-z-]+)!'/g)].map(([, kind = '']) => kind));
    expect(kinds).to.have.length.above(10);
    expect(kinds.filter((it) => !Object.hasOwn(keys, it))).to.deep.equal([]);
  });
});
