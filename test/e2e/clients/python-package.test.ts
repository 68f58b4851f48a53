/** The Python package as a whole: its own tests and its types on each Python, its wheel. */
import { spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { root } from './program.ts';

/** No limit on a busy machine: the suite takes some minutes on two cores. */
const SUITE_MS = 2_600_000;
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

/** The interpreters that the package is tested on: the ordinary one, and those that the gate keeps beside it for the oldest and the newest Python. */
function interpreters(): string[] {
  const kept = readdirSync(root)
    .filter((name) => name.startsWith('.venv-3.'))
    .map((name) => join(root, name, 'bin/python3'));
  return ['python3', ...kept];
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs tests of the package; simulations and notebooks that start `python3` get the same interpreter. */
async function pytest(executable: string, chosen: readonly string[]): Promise<Ended> {
  const environment =
    executable === 'python3'
      ? {}
      : // The real simulators of the examples are installed for the ordinary Python alone.
        { PATH: `${dirname(executable)}:${process.env.PATH}`, SIMBATCH_REQUIRE_ALL: '' };
  const child = spawn(executable, ['-B', '-m', 'pytest', '-q', '-rs', '-p', 'no:cacheprovider', ...chosen], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: SUITE_MS,
    env: { ...process.env, ...environment, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const output = await text(child.stdout);
  return { code: (await closed)[0], output };
}

/** The tests that need a coordinator are executed on the ordinary Python, and on the others a few of them (`ON_EACH_PYTHON` in conftest.py). */
const suite = (executable: string): Promise<Ended> =>
  pytest(executable, executable === 'python3' ? ['tests'] : ['-m', 'not coordinator', 'tests']);

async function oneByOne(executables: readonly string[]): Promise<Ended[]> {
  const ends = [];
  for (const it of executables) ends.push(await suite(it));
  return ends;
}

describe('the Python package', function () {
  this.timeout(SUITE_MS);

  it('passes its own tests on each Python, all of them where everything is demanded', async function () {
    // A machine may be busy.
    this.timeout(2_700_000);
    const pythons = interpreters();
    for (const it of pythons) needs(this, 'pytest, cloudpickle, pandas, polars, pyarrow, scipy, tqdm', it);
    const [ordinary = 'python3', ...others] = pythons;
    // The whole suite waits for time limits and for the start of programs; those of the others, which have less to do, fill that.
    const [first, rest] = await Promise.all([suite(ordinary), oneByOne(others)]);
    const ends = [first, ...rest];
    for (const [index, { code, output }] of ends.entries()) {
      const message = `${pythons[index]}: ${output}`;
      expect(code, message).to.equal(0);
      const [, passed] = /(\d+) passed/.exec(output) ?? [];
      expect(Number(passed), message).to.be.at.least(150);
      const skipped = output.split('\n').filter((it) => it.startsWith('SKIPPED'));
      const unforeseen = skipped.filter((it) => !it.includes("which the tests' set-up leaves out"));
      if (process.env.SIMBATCH_REQUIRE_ALL === '1' && index === 0) expect(unforeseen).to.deep.equal([]);
    }
  });

  it('is a pool for BoTorch and Ax, in the environment that the gate keeps for PyTorch', async function () {
    const kept = join(root, '.venv-torch/bin/python3');
    const executable = existsSync(kept) ? kept : 'python3';
    needs(this, 'pytest, cloudpickle, botorch, ax', executable);
    const { code, output } = await pytest(executable, ['tests/test_points.py', '-k', 'botorch or ax']);
    expect(code, output).to.equal(0);
    expect(output).to.match(/^2 passed, /m);
  });

  it('runs a study on Python 3.9 without any other package', function () {
    const candidates = [...interpreters(), 'python3.9'];
    const oldest = candidates.find((it) => python(['--version'], it).stdout?.startsWith('Python 3.9'));
    // Few machines have it: the gate tests it where it is installed.
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

  it('is typed: mypy --strict finds nothing on the oldest and the newest Python', function () {
    // The types of pandas and NumPy take mypy most of a minute to read; mypy finds out by itself which of its notes still hold.
    const known = join(root, 'node_modules/.cache/simbatch/mypy');
    const [ordinary = 'python3', ...others] = interpreters();
    for (const [index, executable] of (others.length > 1 ? others : [ordinary, ...others]).entries()) {
      needs(this, 'mypy', executable);
      const { status, stdout, stderr } = python(['-m', 'mypy', '--cache-dir', join(known, `${index}`)], executable);
      expect(status, stdout + stderr).to.equal(0);
      expect(stdout).to.match(/no issues found in \d{2} source files/);
    }
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
      for (const file of [
        'py.typed',
        '_run.py',
        'study/study.py',
        'points/rows.py',
        'evaluator/calls.py',
        'evaluator/make.py',
        'local/supervisor.py',
        'functions/execute.py',
      ])
        expect(list).to.include(`simbatch/${file}`);
      expect(list).to.not.include('tests/');
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
