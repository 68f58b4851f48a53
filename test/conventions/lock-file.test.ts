/** The lock file: it names no host, and it lists every optional dependency that the registry has. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/base/package.ts';

interface LockFile {
  packages: Record<string, { resolved?: string; optionalDependencies?: Record<string, string> }>;
}
const read = (folder: string): LockFile =>
  JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as LockFile;

/** The names of the packages that a lock file lists, at any depth. */
const namesIn = ({ packages }: LockFile): Set<string> =>
  new Set(Object.keys(packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)));

/** A package that the registry has. Without it in the answer, the registry was out of reach. */
const PROBE = 'prettier';

describe('conventions/lock-file', () => {
  const lock = read(packageRoot);

  it('names no host', () => {
    expect(Object.entries(lock.packages).filter(([, { resolved }]) => resolved !== undefined)).to.deep.equal([]);
  });

  // npm skips an optional dependency that the registry lacks, so resolving the missing ones shows which of them exist.
  it('lists every optional dependency that the registry has', function () {
    this.timeout(120_000);
    const locked = namesIn(lock);
    const wanted = Object.values(lock.packages).flatMap((it) => Object.entries(it.optionalDependencies ?? {}));
    const missing = Object.fromEntries(wanted.filter(([name]) => !locked.has(name)));
    const folder = mkdtempSync(join(tmpdir(), 'simbatch-lock-'));
    try {
      copyFileSync(join(packageRoot, '.npmrc'), join(folder, '.npmrc'));
      const optionalDependencies = { ...missing, [PROBE]: '*' };
      writeFileSync(
        join(folder, 'package.json'),
        JSON.stringify({ name: 'x', version: '1.0.0', optionalDependencies }),
      );
      execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts', '--force', '--loglevel=error'], {
        cwd: folder,
        stdio: 'pipe',
      });
      const found = namesIn(read(folder));
      if (!found.has(PROBE) && process.env['SIMBATCH_REQUIRE_ALL'] === undefined) this.skip();
      expect([...found], 'the registry answers').to.include(PROBE);
      expect(Object.keys(missing).filter((name) => found.has(name))).to.deep.equal([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
