/** The table of boundaries in docs/security.md: each row names its tests, and each of them exists and has tests. */
import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/package.ts';

/** Where tests are, and a file that has some. */
const TESTS = [
  { place: /^test\/.*\.test\.ts$/, has: /\bit\(/ },
  { place: /^clients\/python\/tests\/test_\w+\.py$/, has: /^def test_/m },
];
const isThere = (path: string): boolean => existsSync(join(packageRoot, path));
const textOf = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

describe('conventions/boundaries', () => {
  const text = textOf('docs/security.md');
  const [, section = ''] = /\n## Boundaries\n([^]*?)\n## /.exec(text) ?? [];
  const rows = section
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) => line.split('|').map((cell) => cell.trim()));

  it('has a table of boundaries, with who crosses each', () => {
    expect(rows.length).to.be.greaterThan(20);
    for (const [, boundary, crossedBy] of rows) expect([boundary, crossedBy]).not.to.include('');
  });

  it('names tests that exist for each boundary', () => {
    const missing: string[] = [];
    for (const [, boundary = '', , tests = ''] of rows) {
      const files = [...tests.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
      if (files.length === 0) missing.push(`${boundary}: names no test`);
      for (const path of files) {
        const isTest = TESTS.some(({ place, has }) => place.test(path) && isThere(path) && has.test(textOf(path)));
        if (!isTest) missing.push(`${boundary}: ${path}`);
      }
    }
    expect(missing).to.deep.equal([]);
  });
});
