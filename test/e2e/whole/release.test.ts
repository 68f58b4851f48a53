/** `npm run release` in a clone: what it refuses, the dry run, and the release with its commit, its tag and its file. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot, packageVersion } from '../../../src/base/package.ts';

const NEXT = '99.0.0';

describe('e2e/release', function () {
  this.timeout(600_000);
  let clone = '';
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: clone, encoding: 'utf8' }).trim();

  before(() => {
    clone = mkdtempSync(join(tmpdir(), 'simbatch-clone-'));
    execFileSync('git', ['clone', '--quiet', '--shared', packageRoot, clone]);
    git('config', 'user.name', 'A');
    git('config', 'user.email', 'a@example.org');
    // The programs of this commit; building them again would take as long as everything else here.
    for (const name of ['bin', 'kit', 'library']) {
      const built = join(packageRoot, 'dist', name);
      if (existsSync(built)) cpSync(built, join(clone, 'dist', name), { recursive: true });
    }
    cpSync(join(packageRoot, 'package.json'), join(clone, 'package.json'));
    for (const name of ['bin/release.mjs', 'bin/release-files.mjs']) cpSync(join(packageRoot, name), join(clone, name));
    writeFileSync(
      join(clone, 'CHANGELOG.md'),
      '# Changelog\n\n## 0.1.0 (not yet released)\n\n### Added\n\n* All of it.\n',
    );
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '-m', 'as it is here');
    git('tag', 'v98.0.0');
  });
  after(() => {
    if (clone !== '') rmSync(clone, { recursive: true, force: true });
  });

  function release(args: readonly string[], path?: string): { status: number | null; output: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/release.mjs', '--no-build', ...args], {
      cwd: clone,
      encoding: 'utf8',
      env: path === undefined ? process.env : { ...process.env, PATH: `${path}:${process.env['PATH'] ?? ''}` },
    });
    return { status, output: `${stdout}${stderr}` };
  }

  const REFUSED: [string, string[], RegExp][] = [
    ['no version', [], /one version is needed/],
    ['a version of other form', ['1.2'], /"1\.2" is not a version; give three numbers/],
    ['an earlier version', ['0.0.1'], /0\.0\.1 is before \d+\.\d+\.\d+; give that or a later one/],
    ['a tag that is there', ['98.0.0'], /the tag v98\.0\.0 is there already/],
  ];
  for (const [what, args, expected] of REFUSED) {
    it(`refuses ${what}`, () => {
      const { status, output } = release(args);
      expect(status).to.equal(1);
      expect(output).to.match(expected);
    });
  }

  it('refuses a work tree with changes', () => {
    writeFileSync(join(clone, 'README.md'), 'changed');
    const { status, output } = release([NEXT]);
    git('checkout', '--quiet', 'README.md');
    expect({ status, output }).to.satisfy(
      () => status === 1 && /has changes; commit them:\nM README.md/.test(output),
      output,
    );
  });

  it('refuses a changelog without notes', () => {
    const text = readFileSync(join(clone, 'CHANGELOG.md'), 'utf8');
    writeFileSync(join(clone, 'CHANGELOG.md'), text.replace(/### Added[^]*/, ''));
    const { status, output } = release([NEXT, '--dry-run']);
    writeFileSync(join(clone, 'CHANGELOG.md'), text);
    expect({ status, output }).to.satisfy(() => status === 1 && output.includes('has no notes'), output);
  });

  it('installs the packed file and flies the demo in a dry run, which changes nothing', function () {
    const before = git('rev-parse', 'HEAD');
    const { status, output } = release([NEXT, '--dry-run']);
    const isOffline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH/.test(output);
    if (status !== 0 && isOffline && process.env['SIMBATCH_REQUIRE_ALL'] === undefined) this.skip();
    expect(status, output).to.equal(0);
    expect(output).to.match(/simbatch demo 6 [^]*dry run: v99\.0\.0 would change package\.json, [^]*\* All of it\./);
    expect([git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag')]).to.deep.equal([before, '', 'v98.0.0']);
  });

  /** An `npm` that packs little, and installs a program in place of the file: the dry run packs and installs all. */
  function quickNpm(program: string): string {
    const folder = join(clone, '.git', 'programs');
    const made = 'node_modules/.bin/simbatch';
    mkdirSync(folder, { recursive: true });
    const lines = [
      '#!/bin/sh',
      'case "$1 $PWD" in',
      `pack*/package) tar -czf "$5/simbatch-${NEXT}.tgz" . ;;`,
      'pack*) git archive --prefix=package/ -o "$5/first.tgz" HEAD clients package.json && echo first.tgz ;;',
      `*) mkdir -p node_modules/.bin && printf '#!/bin/sh\\n%s\\n' '${program}' > ${made} && chmod +x ${made} ;;`,
      'esac',
    ];
    writeFileSync(join(folder, 'npm'), lines.join('\n'), { mode: 0o755 });
    return folder;
  }

  it('refuses a file whose program does not run, and changes nothing', () => {
    const { status, output } = release([NEXT], quickNpm(`[ "$1" = --version ] && echo ${NEXT}`));
    expect(status, output).to.equal(1);
    expect(output).to.match(/release failed: simbatch demo 6:/);
    expect([git('status', '--porcelain'), git('tag')]).to.deep.equal(['', 'v98.0.0']);
  });

  it('commits, tags and keeps the file', () => {
    const { status, output } = release([NEXT], quickNpm(`echo ${NEXT}`));
    expect(status, output).to.equal(0);
    expect(git('log', '-1', '--format=%s')).to.equal(`release: ${NEXT}`);
    expect(git('rev-parse', `v${NEXT}^{commit}`)).to.equal(git('rev-parse', 'HEAD'));
    expect(git('tag', '--list', '--format=%(contents)', `v${NEXT}`)).to.include('### Added\n\n* All of it.');
    expect(git('status', '--porcelain')).to.equal('');
    expect(existsSync(join(clone, 'dist', 'release', `simbatch-${NEXT}.tgz`))).to.equal(true);
    expect(git('grep', '--fixed-strings', '--files-with-matches', NEXT).split('\n')).to.include.members([
      'CHANGELOG.md',
      'clients/node/package.json',
      'clients/python/pyproject.toml',
      'clients/python/simbatch/__init__.py',
      'package-lock.json',
      'package.json',
    ]);
    expect(git('show', `HEAD~1:package.json`)).to.include(`"version": "${packageVersion}"`);
  });
});
