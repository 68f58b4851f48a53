/** The library in a package of its own, into which the packed files are unpacked: the typed client, and replays with mocha and chai. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { packageRoot, packageVersion } from '../../../src/base/package.ts';
import { recording } from '../../snapshots/support.ts';

const TEST = `
import { expect } from 'chai';
import { Client } from 'simbatch';
import { readSnapshot, replay } from 'simbatch/replay';

const recorded = (name) => new URL(import.meta.resolve('simbatch/snapshots/' + name));
describe('replays', () => {
  it('nothing with the client', () => {
    expect(new Client({ endpoint: 'http://127.0.0.1:1' }).submit).to.be.a('function');
  });
  for (const [what, source] of [
    ['a run', recorded('format-1/job-retried-then-completed.json')],
    ['a study', recorded('format-1/study-completed.json')],
    ['an allocation', recorded('launcher-1/allocation-works.json')],
    ['an export', 'study.json'],
  ]) {
    it(what, async () => {
      const { divergences, actors } = await replay(await readSnapshot(source));
      expect(divergences).to.deep.equal([]);
      expect(actors).to.be.greaterThan(0);
    });
  }
});
`;
const TYPES = `
import { Client } from 'simbatch';
import { readSnapshot, replay, type Divergence } from 'simbatch/replay';
// @ts-expect-error an endpoint is a text
new Client({ endpoint: 1 });
const report = await replay(await readSnapshot('study.json'));
const first: Divergence | undefined = report.divergences[0];
// @ts-expect-error a report has no such member
report.differences;
console.log(first?.where);
`;

/** Links a dependency of this checkout into another folder of packages: no registry is asked. */
function link(name: string, modules: string): void {
  mkdirSync(dirname(join(modules, name)), { recursive: true });
  symlinkSync(join(packageRoot, 'node_modules', name), join(modules, name));
}

/** An export in the layout of a file, with the records of a recorded study. */
function exported(): string {
  const { records } = recording('study-completed');
  const head = { format: 1, kind: 'export', made_by: 'simbatch', taken_at: '2026-01-01T00:00:00.000Z', batch_id: null };
  return JSON.stringify({ ...head, records });
}

describe('e2e/replay', () => {
  let folder = '';
  let modules = '';

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-replay-'));
    modules = join(folder, 'node_modules');
    const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
    execFileSync('npm', pack, { cwd: packageRoot, stdio: ['ignore', 'ignore', 'pipe'] });
    mkdirSync(join(modules, 'simbatch'), { recursive: true });
    const archive = join(folder, `simbatch-${packageVersion}.tgz`);
    execFileSync('tar', ['-xzf', archive, '--strip-components=1', '-C', join(modules, 'simbatch')]);
    const { dependencies } = JSON.parse(readFileSync(join(modules, 'simbatch', 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    for (const name of [...Object.keys(dependencies), 'mocha', 'chai', '@types/node']) link(name, modules);
    writeFileSync(join(folder, 'package.json'), '{ "name": "user", "private": true, "type": "module" }\n');
    writeFileSync(join(folder, 'replay.test.js'), TEST);
    writeFileSync(join(folder, 'types.mts'), TYPES);
    writeFileSync(join(folder, 'study.json'), exported());
  });
  after(() => {
    if (folder !== '') rmSync(folder, { recursive: true, force: true });
  });

  it('comes in a file without the compiled code of any Python', () => {
    const files = readdirSync(join(modules, 'simbatch', 'clients', 'python'), { recursive: true, encoding: 'utf8' });
    expect(files).to.include(join('simbatch', '_run.py'));
    expect(files.filter((it) => it.includes('__pycache__'))).to.deep.equal([]);
  });

  /** The output of mocha in the other package, and its exit code. */
  function test(): { status: number | null; output: string } {
    const mocha = join(modules, 'mocha', 'bin', 'mocha.js');
    const { status, stdout, stderr } = spawnSync(process.execPath, [mocha, 'replay.test.js'], {
      cwd: folder,
      encoding: 'utf8',
    });
    return { status, output: `${stdout}${stderr}` };
  }

  it('replays recordings and an export', () => {
    const { status, output } = test();
    expect(status, output).to.equal(0);
    expect(output).to.include('5 passing');
  });

  it('is typed', () => {
    const tsc = join(packageRoot, 'node_modules', '.bin', 'tsc');
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--skipLibCheck'];
    const { status, stdout } = spawnSync(tsc, [...options, '--types', 'node', 'types.mts'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(status, stdout).to.equal(0);
  });

  // machine, its compiled file, the state that is replaced, its replacement, and the tests that show it
  const CHANGES: [string, string, string, string, string[]][] = [
    ['a transition of a run', 'job.js', "target: 'Completed'", "target: 'Failed'", ['a run', 'a study', 'an export']],
    [
      'a transition of an allocation',
      'allocation/allocation.js',
      "target: 'Idle'",
      "target: 'Busy'",
      ['an allocation'],
    ],
  ];
  for (const [what, file, from, to, shown] of CHANGES) {
    it(`fails when ${what} is changed`, () => {
      const path = join(modules, 'simbatch', 'dist', 'library', 'machines', file);
      const text = readFileSync(path, 'utf8');
      expect(text).to.include(from);
      writeFileSync(path, text.replaceAll(from, to));
      const { status, output } = test();
      writeFileSync(path, text);
      expect(status).to.not.equal(0);
      for (const name of shown) expect(output).to.match(new RegExp(`\\d+\\) ${name}`));
    });
  }
});
