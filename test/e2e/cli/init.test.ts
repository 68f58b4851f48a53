/** `simbatch init` and `simbatch try`: from a script to a study file, and one run of it on this machine. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { simbatch } from '../../support/program.ts';

const DEFAULTS = `
import simbatch
KNOWN = {"speed_mps": 30.0, "angle deg": -40, "on: off": 0}
IGNORED = 7
run = simbatch.run(defaults=KNOWN)
raise SystemExit("init must not execute this")
`;
const ARGUMENTS = `
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--speed-mps", "-s", type=float, default=30.0)
parser.add_argument("--name", default="text")
parser.add_argument("--n", dest="count", type=int, default=3)
`;
const CONSTANTS = 'GRAVITY = 9.81\nMASS: float = -4e3\nname = 5\nLABEL = "x"\nFLAG = True\n';

describe('cli/init and try', function () {
  let folder = '';
  before(function () {
    if (spawnSync('python3', ['--version']).status === 0) return;
    if (process.env['SIMBATCH_REQUIRE_ALL'] === '1') throw new Error('python3 is needed');
    this.skip();
  });
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'simbatch-init-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const written = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const fixed = (values: Record<string, number>): object =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, { distribution: { type: 'fixed', value }, units: '' }]),
    );

  const scripts: [string, string, Record<string, number>, string][] = [
    ['defaults of simbatch.run', DEFAULTS, { speed_mps: 30, 'angle deg': -40, 'on: off': 0 }, '3 inputs'],
    ['argparse', ARGUMENTS, { speed_mps: 30, count: 3 }, '2 inputs'],
    ['constants', CONSTANTS, { GRAVITY: 9.81, MASS: -4000 }, '2 inputs'],
    ['nothing', 'print(1)\n', {}, '0 inputs'],
  ];
  for (const [title, source, values, words] of scripts) {
    it(`writes a valid study of the inputs in a script: ${title}`, async () => {
      const script = written('my sim.py', source);
      const made = await simbatch(['init', script]);
      expect(made, made.stderr).to.include({ code: 0 });
      expect(made.stdout).to.include(words).and.to.include('simbatch try');
      const file = join(folder, 'my sim.yaml');
      const study = parse(readFileSync(file, 'utf8')) as { config: { dispersions: object } };
      expect(study.config.dispersions).to.deep.equal(fixed(values));
      expect(made.stderr.includes('does not read its parameters')).to.equal(!source.includes('simbatch'));
      const checked = await simbatch(['submit', '--check', file]);
      expect(checked, checked.stderr).to.include({ code: 0 });
    });
  }

  it('replaces no file, and names faults of the script with their line', async () => {
    const script = written('sim.py', 'X = 1\n');
    written('sim.yaml', 'mine');
    expect(await simbatch(['init', script])).to.include({ code: 73 });
    expect(readFileSync(join(folder, 'sim.yaml'), 'utf8')).to.equal('mine');
    expect(await simbatch(['init', script, '--file', join(folder, 'other.yaml')])).to.include({ code: 0 });
    const broken = await simbatch(['init', written('broken.py', 'x = 1\ndef (')]);
    expect(broken.code).to.equal(65);
    expect(broken.stderr).to.match(/the script cannot be read: .*broken\.py:2: /);
    expect((await simbatch(['init', join(folder, 'absent.py')])).code).to.equal(66);
    expect((await simbatch(['init', written('sim.sh', '')])).code).to.equal(64);
  });

  it('executes a run of the file with its sampled parameters', async () => {
    const script = written(
      'sim.mjs',
      `import { readFileSync, writeFileSync } from 'node:fs';
       const { run_id, parameters } = JSON.parse(readFileSync(process.env.SVC_RUN_CONFIG, 'utf8'));
       writeFileSync(process.env.SVC_OUTPUT_DIR + '/metadata.json', JSON.stringify({ run_id, x: parameters.x }));`,
    );
    const made = await simbatch(['init', written('sim.py', 'X = 1\n')]);
    expect(made.code).to.equal(0);
    const study = join(folder, 'study.yaml');
    const text = readFileSync(join(folder, 'sim.yaml'), 'utf8');
    writeFileSync(
      study,
      text.replace(/X: \{ distribution: [^#]*/, "x: { distribution: { type: uniform, min: 0, max: 1 }, units: '' }  "),
    );
    const sampled = await simbatch(['sample', study, '--runs', '4', '--format', 'ndjson']);
    const expected = sampled.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { parameters: { x: number } });
    const order = [
      'try',
      study,
      '--run',
      '3',
      '--entrypoint',
      script,
      '--output-dir',
      join(folder, 'out'),
      '--quiet',
      '-o',
      'json',
    ];
    const tried = await simbatch(order);
    expect(tried, tried.stderr).to.include({ code: 0 });
    const end = JSON.parse(tried.stdout) as { result: { metadata: object } };
    expect(end.result.metadata).to.deep.equal({ run_id: 3, x: expected[3]?.parameters.x });
    const beyond = await simbatch(['try', study, '--run', '100', '--entrypoint', script]);
    expect(beyond.code).to.equal(66);
    expect(beyond.stderr).to.include('the study does not hold run 100 of its design of 100 runs');
    const problem = await simbatch(['try', study, '--run', '100', '--entrypoint', script, '-o', 'json']);
    expect(problem).to.include({ code: 66, stdout: '' });
    expect(JSON.parse(problem.stderr)).to.include({ code: 'missing', exit_code: 66 });
  });
});
