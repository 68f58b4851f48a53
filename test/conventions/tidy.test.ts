import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/base/package.ts';
import { WIRING } from '../../src/coordinator/kernel/turn/wiring.ts';
import { filesIn, type SourceFile } from './files.ts';

/** Forbidden patterns, and the paths where they are allowed. A path that ends in `/` means the whole folder. */
const RULES: { what: string; pattern: RegExp; allowed: readonly string[] }[] = [
  {
    what: 'the clock',
    pattern: /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bhrtime\b/,
    allowed: ['src/base/clock.ts', 'bin/'],
  },
  {
    what: 'timers',
    pattern: /(?<![.\w])set(Timeout|Interval|Immediate)\(|timers\/promises/,
    allowed: ['src/base/clock.ts', 'bin/'],
  },
  {
    what: 'randomness',
    pattern: /\bMath\.random\b|\brandomBytes\b|\brandomUUID\b|\brandomInt\b/,
    allowed: ['src/base/clock.ts', 'bin/'],
  },
  { what: 'the environment', pattern: /\bprocess\.(env|argv)\b/, allowed: ['src/cli/', 'bin/'] },
  { what: 'the console', pattern: /\bconsole\./, allowed: ['src/cli/', 'bin/'] },
  { what: 'work left undone', pattern: /\b(TODO|FIXME|XXX)\b/, allowed: [] },
];

/** Longer than this, a file has more than one subject. Tables of data are exempt. */
const MAX_LINES = 320;
const DATA = ['src/domain/sampling/designs/joe-kuo.ts'];

const isAllowed = (path: string, allowed: readonly string[]): boolean =>
  allowed.some((it) => (it.endsWith('/') ? path.startsWith(it) : path === it));

/** The text without its comments, so that prose may speak of what code may not do. */
const code = ({ text }: SourceFile): string => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '');

describe('conventions/tidy', () => {
  const files = filesIn(['machines', 'src', 'bin']);

  for (const { what, pattern, allowed } of RULES) {
    it(`allows ${what} only in its modules`, () => {
      const offenders = files.filter((it) => pattern.test(what === 'work left undone' ? it.text : code(it)));
      expect(offenders.map((it) => it.path).filter((it) => !isAllowed(it, allowed))).to.deep.equal([]);
    });
  }

  it('has no file that is too long', () => {
    const long = files.filter((it) => it.text.split('\n').length > MAX_LINES + 1 && !DATA.includes(it.path));
    expect(long.map((it) => it.path)).to.deep.equal([]);
  });

  it('has a description at the start of every file', () => {
    const silent = files.filter((it) => !/^(#!.*\n)?\/(\*\*|\/) ?\S?/.test(it.text));
    expect(silent.map((it) => it.path)).to.deep.equal([]);
  });

  it('has every test that the documentation names', () => {
    const pages = ['docs/operations.md', 'ARCHITECTURE.md'].map((it) => readFileSync(join(packageRoot, it), 'utf8'));
    const named = pages.flatMap((page) => [...page.matchAll(/`(test\/[\w/.-]+)`/g)].map((it) => it[1] ?? ''));
    expect(named).to.have.length.above(20);
    expect(named.filter((it) => !existsSync(join(packageRoot, it)))).to.deep.equal([]);
  });

  it('has no hook of a page that depends on the columns of a table, which change without a render', () => {
    const pages = filesIn(['web/src'], '.tsx');
    // The dependencies are the last argument of a hook.
    const depends = pages.filter((it) => /\[[^\][()]*\btable\.\w[^\][()]*\]\)/.test(code(it)));
    expect(depends.map((it) => it.path)).to.deep.equal([]);
  });

  it('has a wiring row for every fact of a machine, and a fact for every row', () => {
    const shapes = /^machines\/(?:protocol|messages\/\w+|notification\/events)\.ts$/;
    const protocol = files.filter((it) => shapes.test(it.path)).map((it) => it.text);
    const emitted = new Set(
      [...protocol.join().matchAll(/'((?:job|batch|runner|notification|system|actor|deadline)\.[a-z-]+)'/g)].map(
        (it) => it[1],
      ),
    );
    expect(emitted.size).to.be.greaterThan(10);
    expect(new Set(Object.keys(WIRING))).to.deep.equal(emitted);
  });
});
