/** The table of boundaries in docs/security.md: each row names its tests, and each of them exists and has tests. */
import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/package.ts';

describe('conventions/boundaries', () => {
  const text = readFileSync(join(packageRoot, 'docs/security.md'), 'utf8');
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
        const isTest = path.startsWith('test/') && path.endsWith('.test.ts') && existsSync(join(packageRoot, path));
        if (!isTest || !/\bit\(/.test(readFileSync(join(packageRoot, path), 'utf8')))
          missing.push(`${boundary}: ${path}`);
      }
    }
    expect(missing).to.deep.equal([]);
  });
});
