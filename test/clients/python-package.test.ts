/** The Python package as a whole: its own tests on this Python and on the oldest one, its types, its wheel. */
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from './program.ts';

const SUITE_MS = 900_000;
const folder = `${root}clients/python`;

function python(args: readonly string[], executable = 'python3', cwd = folder): SpawnSyncReturns<string> {
  return spawnSync(executable, ['-B', ...args], {
    cwd,
    encoding: 'utf8',
    timeout: SUITE_MS,
    env: { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' },
  });
}

/** Skips the test without these modules; where everything is demanded, that is a failure. */
function needs(context: Mocha.Context, modules: string, executable = 'python3'): void {
  if (python(['-c', `import ${modules}`], executable).status === 0) return;
  if (process.env.SIMBATCH_REQUIRE_ALL === '1') throw new Error(`${modules} are needed; see .ci/run`);
  context.skip();
}

/** The oldest Python that the package supports, where it is installed. */
function oldestPython(): string | undefined {
  const versions = join(homedir(), '.pyenv/versions');
  const own = existsSync(versions) ? readdirSync(versions).filter((name) => name.startsWith('3.9.')) : [];
  const candidates = ['python3.9', ...own.map((name) => join(versions, name, 'bin/python'))];
  return candidates.find((it) => spawnSync(it, ['--version'], { encoding: 'utf8' }).stdout?.startsWith('Python 3.9'));
}

describe('the Python package', function () {
  this.timeout(SUITE_MS);

  it('passes its own tests, all of them where everything is demanded', function () {
    needs(this, 'pytest, cloudpickle, pandas, polars, pyarrow, scipy, tqdm');
    const { status, stdout } = python(['-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'tests']);
    expect(status, stdout).to.equal(0);
    const [, passed, skipped = '0'] = /(\d+) passed(?:, (\d+) skipped)?/.exec(stdout) ?? [];
    expect(Number(passed), stdout).to.be.at.least(150);
    if (process.env.SIMBATCH_REQUIRE_ALL === '1') expect(skipped).to.equal('0');
  });

  it('runs a study on Python 3.9 without any other package', function () {
    const oldest = oldestPython();
    // Few machines have it; on them, and on those that build this project, it is tested.
    if (oldest === undefined) this.skip();
    const program = `
import simbatch as sb, sys
assert sys.version_info[:2] == (3, 9)
for name in sb.__all__:
    getattr(sb, name)
study = sb.Study("a", simulation="rocket", version="1", inputs={"x": sb.Normal(0, 1, lower=-1)}, runs=4, seed=1)
print(len(study.sample()), study)`;
    const { status, stdout, stderr } = python(['-S', '-c', program], oldest);
    expect(status, stderr).to.equal(0);
    expect(stdout).to.match(/^4 Study 'a': 4 runs, latin_hypercube, seed 1\n/);
  });

  it('is typed: mypy --strict finds nothing', function () {
    needs(this, 'mypy');
    const { status, stdout, stderr } = python(['-m', 'mypy', '--cache-dir', join(tmpdir(), 'simbatch-mypy')]);
    expect(status, stdout + stderr).to.equal(0);
    expect(stdout).to.match(/no issues found in \d{2} source files/);
  });

  it('is a wheel with all its modules and its types, without a required package', function () {
    needs(this, 'pip');
    const directory = mkdtempSync(join(tmpdir(), 'simbatch-wheel-'));
    try {
      // A copy: a build in the folder itself would leave its traces there.
      cpSync(folder, join(directory, 'package'), { recursive: true });
      const built = python(
        ['-m', 'pip', 'wheel', '--quiet', '--disable-pip-version-check', '--no-deps', '-w', 'wheels', './package'],
        'python3',
        directory,
      );
      if (built.status !== 0 && process.env.SIMBATCH_REQUIRE_ALL !== '1') this.skip();
      expect(built.status, built.stderr).to.equal(0);
      const [wheel = ''] = readdirSync(join(directory, 'wheels'));
      expect(wheel).to.match(/^simbatch-.*-py3-none-any\.whl$/);
      const list = python(['-m', 'zipfile', '-l', join('wheels', wheel)], 'python3', directory).stdout;
      for (const file of ['py.typed', '_run.py', 'study/study.py', 'local/supervisor.py', 'functions/execute.py'])
        expect(list).to.include(`simbatch/${file}`);
      expect(list).to.not.include('tests/');
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
