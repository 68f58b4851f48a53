/** `simbatch init` and `simbatch try`: from a script to a study file, and one run of it on this machine. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { simbatch } from '../../../support/program.ts';
import { inTerminal, needTerminal } from '../../../support/terminal.ts';

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
      Object.entries(values).map(([name, value]) => [name, { distribution: { type: 'fixed', value } }]),
    );

  const scripts: [string, string, Record<string, number>, string][] = [
    ['defaults of simbatch.run', DEFAULTS, { speed_mps: 30, 'angle deg': -40, 'on: off': 0 }, '3 inputs'],
    ['argparse', ARGUMENTS, { speed_mps: 30, count: 3 }, '2 inputs'],
    ['constants', CONSTANTS, { GRAVITY: 9.81, MASS: -4000 }, '2 inputs'],
    ['nothing', 'print(1)\n', {}, '0 inputs'],
  ];
  for (const [title, source, values, words] of scripts) {
    it(`writes a valid study of the inputs in a script that is not started: ${title}`, async () => {
      const script = written('my sim.py', source);
      const made = await simbatch(['init', script, '--no-start']);
      expect(made, made.stderr).to.include({ code: 0 });
      expect(made.stdout)
        .to.include(words)
        .and.to.match(/^next: simbatch run /m);
      expect(made.stderr).to.include('nothing varies yet').and.to.not.include('is started');
      const file = join(folder, 'my-sim.yaml');
      const study = parse(readFileSync(file, 'utf8')) as { config: { dispersions: object } };
      expect(study.config.dispersions).to.deep.equal(fixed(values));
      const checked = await simbatch(['submit', '--check', file]);
      expect(checked, checked.stderr).to.include({ code: 0 });
    });
  }

  it('replaces no file without --force, and names faults of the script with their line', async () => {
    const script = written('sim.py', 'X = 1\nprint("y =", X)\n');
    written('sim.yaml', 'mine');
    expect(await simbatch(['init', script])).to.include({ code: 73 });
    expect(readFileSync(join(folder, 'sim.yaml'), 'utf8')).to.equal('mine');
    expect(existsSync(join(folder, 'sim.run.mjs'))).to.equal(false);
    expect(await simbatch(['init', script, '--file', join(folder, 'other.yaml')])).to.include({ code: 0 });
    const again = await simbatch(['init', script, '--file', join(folder, 'third.yaml')]);
    expect(again.code).to.equal(73);
    expect(again.stderr).to.match(/cannot write .*sim\.run\.mjs: it exists;.*--force/);
    expect(await simbatch(['init', script, '--force'])).to.include({ code: 0 });
    expect(readFileSync(join(folder, 'sim.yaml'), 'utf8')).to.not.equal('mine');
    const broken = await simbatch(['init', written('broken.py', 'x = 1\ndef (')]);
    expect(broken.code).to.equal(65);
    expect(broken.stderr).to.match(/cannot be read: .*broken\.py:2: /);
    expect((await simbatch(['init', join(folder, 'absent.py')])).code).to.equal(66);
  });

  it('refuses what it does not understand, with the remedy', async () => {
    const script = written('sim.py', 'def simulate(speed=30.0, n: int = 3, zero=0.0):\n    return speed\n');
    const init = async (...args: string[]): Promise<string> => {
      const { code, stderr } = await simbatch(['init', ...args], {}, folder);
      return `${code} ${stderr}`;
    };
    spawnSync('mkfifo', [join(folder, 'pipe.py')]);
    const cases: [string[], RegExp][] = [
      [['sim.py', '--vary', 'sped=5%'], /^64 .*no input sped; there are: speed, n, zero/],
      [['sim.py', '--vary', 'speed=lots'], /^64 .*speed: "lots" is not understood: write 5%/],
      [['sim.py', '--vary', 'speed=normal(1)'], /^64 .*write normal\(mean, std_dev\)/],
      [['sim.py', '--vary', 'zero=5%'], /^64 .*zero is 0.*zero=\+-1/],
      [['sim.py', '--vary', 'n=1..4'], /^64 .*n is a whole number.*n=1\|2\|4/],
      [['sim.py', '--vary', '3..4'], /^64 .*does not say which input/],
      [['sim.py', '--require', 'range'], /^64 .*not a requirement.*"range_m > 75"/],
      [['sim.py', '--probability', '1'], /^64 .*above 0 and below 1/],
      [['sim.py', '--set', 'm=1'], /^64 .*there is no input m/],
      [['sim.py:fly'], /^66 .*no function fly with parameters; it has: simulate/],
      [[written('case.json', '{"mass": 4}')], /^64 .*which program reads .*-- \.\/sim \{file\}/],
      [[written('bad.json', '{"mass": '), '--', 'cat', '{file}'], /^65 .*bad\.json is not JSON/],
      [['--', 'cat', '{speed}'], /^64 .*/],
      [['--', 'cat', '{speed=x}'], /^64 .*no number: write \{speed=30\}/],
      [[written('sim.sh', 'echo 1')], /^64 .*not a program.*\{speed=30\}/],
      [[written('Dockerfile', 'FROM scratch')], /^64 .*describes an image: build it/],
      [['pipe.py'], /^64 .*pipe\.py is not a file/],
      [[written('not.fmu', 'x')], /^65 .*not\.fmu cannot be read: it is not an FMU/],
    ];
    for (const [args, expected] of cases) expect(await init(...args), args.join(' ')).to.match(expected);
    expect(existsSync(join(folder, 'sim.run.py'))).to.equal(false);
    expect(script).to.include('sim.py');
  });

  it('ends with 3 and says how to write outputs where the first run, or that of try, gives none', async () => {
    written('quiet.py', 'def simulate(speed=30.0):\n    return None\n');
    const made = await simbatch(['init', 'quiet.py', '--vary', '5%'], {}, folder);
    expect(made.code).to.equal(3);
    expect(made.stderr).to.include('no output was found').and.to.include('metadata.json');
    const tried = await simbatch(['try', 'quiet.yaml', '--quiet'], {}, folder);
    expect(tried.code).to.equal(3);
    expect(tried.stderr).to.include('no output was found').and.to.include('metadata.json');
  });

  it('says why the first run failed, and ends with 1', async () => {
    written('sim.py', 'def simulate(speed=30.0):\n    raise ValueError("too fast")\n');
    const made = await simbatch(['init', 'sim.py', '--vary', '5%'], {}, folder);
    expect(made.code).to.equal(1);
    expect(made.stderr).to.match(/the run failed: .*too fast/);
    expect(made.stdout).to.include('next: simbatch run sim.yaml');
  });

  it('lists the arguments in the source of a script that does not come to them', async () => {
    written('late.py', `import time\nopen("trace", "w").close()\nimport nothing_of_the_kind\n${ARGUMENTS}`);
    const made = await simbatch(['init', 'late.py', '--no-run'], {}, folder);
    expect(made.code).to.equal(0);
    expect(made.stdout).to.include('2 inputs from the arguments of argparse: speed_mps = 30, count = 3');
    expect(made.stderr).to.match(/ended before it read its arguments \(.*nothing_of_the_kind.*those in its source/);
    // It worked in a folder of its own.
    expect(existsSync(join(folder, 'trace'))).to.equal(false);
  });

  it('fails a run of an input file that was changed since, and a study of unknown inputs', async () => {
    written('case.ini', '[a]\nmass = 4.0\n');
    written('sim.py', 'import sys\nprint("m =", open(sys.argv[1]).read().split()[-1])\n');
    const words = ['init', 'case.ini', '--vary', 'mass=5..5', '--', 'python3', 'sim.py', '{file}'];
    const made = await simbatch(words, {}, folder);
    expect(made, made.stderr).to.include({ code: 0 });
    expect(made.stdout).to.include('m = 5');
    expect(readFileSync(join(folder, 'case.ini'), 'utf8')).to.include('mass = 4.0');
    const study = readFileSync(join(folder, 'case.yaml'), 'utf8');
    written('case.yaml', study.replace('mass:', 'mas:'));
    const unknown = await simbatch(['try', 'case.yaml', '--quiet'], {}, folder);
    expect(unknown.code).to.equal(1);
    expect(unknown.stderr + unknown.stdout).to.include('the simulation has no input mas; it has mass');
    written('case.yaml', study);
    written('case.ini', '[a]\n\nmass = 4.0\n');
    const changed = await simbatch(['try', 'case.yaml', '--quiet'], {}, folder);
    expect(changed.code).to.equal(1);
    expect(changed.stderr + changed.stdout).to.match(
      /case\.ini:2:8: mass is not 4\.0 there any more: run simbatch init again/,
    );
  });

  it('asks three questions on a terminal, and again where an answer is not understood', async function () {
    needTerminal(this);
    const script = written(
      'throw.py',
      'def simulate(speed=30.0, angle=40.0):\n    return {"range_m": speed * angle, "t": 1}\n',
    );
    const { code, screen } = await inTerminal(['init', script], {
      columns: 200,
      typed: [
        [/1\. What varies.*\]/, 'speed=lots\r'],
        [/not understood[^]*1\. What varies.*\]/, 'speed=normal(30,1)\r'],
        [/2\. Which output.*range_m, t \[range_m\]/, '\r'],
        [/3\. What is OK.*\]/, '> 1000\r'],
      ],
    });
    expect(code, screen).to.equal(0);
    expect(screen).to.match(/one run, .*: 2 outputs: range_m = /);
    const study = parse(readFileSync(join(folder, 'throw.yaml'), 'utf8')) as { config: object; requirements: object[] };
    expect(study.config).to.have.deep.property('dispersions', {
      speed: { distribution: { type: 'normal', mean: 30, std_dev: 1 } },
    });
    expect(study.requirements).to.deep.equal([
      { name: 'range_m > 1000', output: 'range_m', condition: '> 1000', probability: 0.95 },
    ]);
  });

  it('executes a run of the file with its sampled parameters', async () => {
    const script = written(
      'sim.mjs',
      `import { readFileSync, writeFileSync } from 'node:fs';
       const { run_id, parameters } = JSON.parse(readFileSync(process.env.SVC_RUN_CONFIG, 'utf8'));
       writeFileSync(process.env.SVC_OUTPUT_DIR + '/metadata.json', JSON.stringify({ run_id, x: parameters.x }));`,
    );
    const made = await simbatch(['init', written('sim.py', 'X = 1\n'), '--no-run']);
    expect(made.code).to.equal(0);
    const study = join(folder, 'study.yaml');
    const text = readFileSync(join(folder, 'sim.yaml'), 'utf8');
    writeFileSync(
      study,
      text.replace(/X: \{ distribution: [^#]*/, 'x: { distribution: { type: uniform, min: 0, max: 1 } }  '),
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
