/** The lock file: it names no host, and it lists every optional dependency, so that `npm ci` works on each platform. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/base/package.ts';

interface LockFile {
  packages: Record<string, { resolved?: string; optionalDependencies?: Record<string, string> }>;
}

/** The names of the packages that a lock file lists, at any depth. */
const namesIn = ({ packages }: LockFile): Set<string> =>
  new Set(Object.keys(packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)));

describe('conventions/lock-file', () => {
  const lock = JSON.parse(readFileSync(join(packageRoot, 'package-lock.json'), 'utf8')) as LockFile;

  it('names no host', () => {
    expect(Object.entries(lock.packages).filter(([, { resolved }]) => resolved !== undefined)).to.deep.equal([]);
  });

  it('lists every optional dependency', () => {
    const locked = namesIn(lock);
    const wanted = Object.values(lock.packages).flatMap((it) => Object.keys(it.optionalDependencies ?? {}));
    expect(wanted).to.include('@swc/core-darwin-arm64');
    expect(wanted.filter((name) => !locked.has(name))).to.deep.equal([]);
  });
});
