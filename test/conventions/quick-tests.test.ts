/** `npm test` needs nothing but Node: a test that starts a program is in test/e2e, or in test/night. */
import { dirname, join, normalize } from 'node:path/posix';
import { expect } from 'chai';
import { filesIn } from './files.ts';

/** Modules that start programs. */
const STARTS = /from '(?:node:child_process|playwright-core)'/;
/** Tests that ask programs which every clone has: git, and the checker of layers. */
const ALLOWED = [/^test\/conventions\//];

describe('conventions/quick-tests', () => {
  const files = new Map(filesIn(['test']).map(({ path, text }) => [path, text]));

  /** The path from a file to the module that starts programs, if there is one. Types are not loaded. */
  function wayToPrograms(path: string, seen = new Set<string>()): string[] | undefined {
    const text = files.get(path);
    if (text === undefined || seen.has(path)) return undefined;
    seen.add(path);
    if (STARTS.test(text)) return [path];
    for (const [, name = ''] of text.matchAll(/(?:import|export) (?!type\b)[^;]*?from '(\.[^']+)'/g)) {
      const way = wayToPrograms(normalize(join(dirname(path), name)), seen);
      if (way !== undefined) return [path, ...way];
    }
    return undefined;
  }

  const tests = [...files.keys()].filter((it) => it.endsWith('.test.ts'));
  const isElsewhere = (path: string): boolean => /^test\/(e2e|night)\//.test(path);

  it('start no program', () => {
    const quick = tests.filter((it) => !isElsewhere(it) && !ALLOWED.some((pattern) => pattern.test(it)));
    expect(quick).to.have.length.above(150);
    expect(quick.flatMap((it) => wayToPrograms(it)?.join(' > ') ?? [])).to.deep.equal([]);
  });

  it('are told apart from those of test/e2e, of which most import what starts programs', () => {
    const e2e = tests.filter((it) => it.startsWith('test/e2e/'));
    expect(e2e.filter((it) => wayToPrograms(it) !== undefined)).to.have.length.above(e2e.length * 0.8);
  });
});
