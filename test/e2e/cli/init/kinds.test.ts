/** `simbatch init` of ten kinds of simulations, from fixtures: inputs, one run with its outputs, and a study that is valid. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Context } from 'mocha';
import { parse } from 'yaml';
import { packageRoot } from '../../../../src/base/package.ts';
import { simbatch } from '../../../support/program.ts';

const FIXTURES = join(packageRoot, 'test/e2e/cli/init/fixtures');

interface Kind {
  kind: string;
  /** The words after `init`. */
  words: string[];
  /** With its units, where they are known. */
  inputs: Record<string, number | string>;
  /** Outputs of a run in which nothing varies but `vary`. */
  outputs: string[];
  vary: string;
  /** Values in the printed line of outputs. */
  printed?: string;
  /** A command that succeeds where the machine has the needed program. */
  needs?: [string, ...string[]];
  prepare?: (folder: string) => void;
  /** Expected in the notes. */
  said?: RegExp;
}

/** A stand-in for an interpreter that this machine need not have: it prints what the real one prints for the copied script. */
const octave = (folder: string): void => {
  const file = join(folder, 'octave-cli');
  writeFileSync(
    file,
    '#!/bin/sh\nfor last; do :; done\nawk \'/^R =/ { r = $3 } /^C =/ { c = $3 } END { print "tau = " r * c }\' "$last"\n',
  );
  chmodSync(file, 0o755);
};

/** An FMU without a model in it, and a stand-in for FMPy that the adapter finds beside itself. */
const heater = (folder: string): void => {
  const made = "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'w').write(sys.argv[2], 'modelDescription.xml')";
  spawnSync('python3', ['-c', made, join(folder, 'heater.fmu'), join(folder, 'heater.xml')]);
  writeFileSync(
    join(folder, 'fmpy.py'),
    'def simulate_fmu(path, start_values, output, stop_time):\n    assert stop_time == 60 and path.endswith("heater.fmu")\n    return {name: [293, 400, 293 + start_values["power"]] for name in output}\n',
  );
};

const KINDS: Kind[] = [
  {
    kind: 'argparse in a loop',
    words: ['glide.py'],
    inputs: { height: 1000, glide_ratio: 30, wind: -2, steps: 100 },
    vary: 'height=2000..2000,wind=-3',
    outputs: ['Range', 'Time_aloft'],
    printed: 'Range = 52800, Time_aloft = 2400',
    said: /glide\.py is started once/,
  },
  {
    kind: 'click',
    words: ['queue.py'],
    inputs: { arrivals: 0.8, service: 1, servers: 1 },
    vary: 'service=1.6,servers=2|2',
    outputs: ['load', 'waiting_mean_min'],
    printed: 'load = 0.25',
    needs: ['python3', '-c', 'import click'],
  },
  {
    kind: 'JSON',
    words: ['tank.json', '--', 'python3', 'tank.py', '{file}'],
    inputs: { volume_m3: 12, thickness_mm: 8, opening: 0.35, steps_0: 1, steps_1: 2 },
    vary: 'thickness_mm=16,opening=0.5',
    outputs: ['emptied_s', 'stress_mpa'],
    printed: 'emptied_s = 12, stress_mpa = 6.25',
  },
  {
    kind: 'YAML',
    words: ['pendulum.yaml', '--force', '--file', 'swing-study.yaml', '--', 'node', 'pendulum.mjs'],
    inputs: { length: 1, mass: 0.5, damping: 0.001 },
    vary: 'length=4,damping=1e-7',
    outputs: ['t', 'angle'],
    printed: 't = 4.01213, angle = 1e-7',
  },
  {
    kind: 'namelist',
    words: ['pipe.nml', '--', './pipe.sh', '{file}'],
    inputs: { velocity: 1.5, diameter: 0.2, roughness: 4.5e-5, cells: 200, density: 998.2 },
    vary: 'velocity=3',
    outputs: ['PRESSURE_LOSS'],
    printed: 'PRESSURE_LOSS = 4491.9',
  },
  {
    kind: 'a function',
    words: ['spring.py', '--set', 'mass=2'],
    inputs: { mass: 2, stiffness: 200, amplitude: 0.1, cycles: 3 },
    vary: 'mass=8,cycles=1|1',
    outputs: ['period_s', 'energy_j', 'converged'],
    printed: 'period_s = 1.25664, energy_j = 1, converged = 1',
  },
  {
    kind: 'a program in C',
    words: ['--', './throw', '{speed=30}', '{angle=40}'],
    inputs: { speed: 30, angle: 40 },
    vary: 'speed=40',
    outputs: ['range_m'],
    printed: 'range_m = 160.621',
    needs: ['cc', '--version'],
    prepare: (folder) =>
      expect(spawnSync('cc', ['-o', join(folder, 'throw'), join(folder, 'throw.c'), '-lm']).status).to.equal(0),
  },
  {
    kind: 'Octave, with a stand-in for its interpreter',
    words: ['rc.m'],
    inputs: { R: 1000, C: 1.5e-6 },
    vary: 'R=2000,C=1e-7',
    outputs: ['tau'],
    printed: 'tau = 0.0002',
    prepare: octave,
  },
  {
    kind: 'Node',
    words: ['orbit.mjs'],
    inputs: { altitude: 400, mass: 5.972e24 },
    vary: 'altitude=35786',
    outputs: ['period'],
    printed: 'period = 86143.3',
  },
  {
    kind: 'an FMU, with a stand-in for FMPy',
    words: ['heater.fmu'],
    inputs: { power: '1500 W', u: '0.5 1', stages: 2 },
    vary: 'power=7',
    outputs: ['T', 'T_max', 'T_min'],
    printed: 'T = 300, T_max = 400, T_min = 293',
    prepare: heater,
    said: /outputs in the model description: T;/,
  },
];

describe('cli/init of ten kinds', function () {
  let folder = '';
  before(function () {
    need(this, 'python3', '--version');
  });
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'simbatch-kinds-')));
    cpSync(FIXTURES, folder, { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  for (const { kind, words, inputs, vary, outputs, printed = '', needs, prepare, said } of KINDS) {
    it(`finds the inputs and, by one run, the outputs of ${kind}`, async function () {
      if (needs !== undefined) need(this, ...needs);
      prepare?.(folder);
      const env = { PATH: `${folder}:${process.env['PATH']}` };
      const require = `${outputs[0]} > -1e9`;
      const made = await simbatch(['init', '--vary', vary, '--require', require, ...words], env, folder);
      expect(made, made.stderr + made.stdout).to.include({ code: 0 });
      const given = Object.entries(inputs).map(([name, value]) => `${name} = ${value}`);
      expect(made.stdout).to.include(`: ${given.join(', ')}\n`);
      expect(made.stdout)
        .to.match(new RegExp(`${outputs.length} outputs?: `))
        .and.to.include(printed);
      for (const name of outputs) expect(made.stdout).to.include(`${name} = `);
      if (said !== undefined) expect(made.stderr).to.match(said);
      const [, file = ''] = /next: simbatch run (\S+)/.exec(made.stdout) ?? [];
      const text = readFileSync(join(folder, file), 'utf8');
      expect(text.trimEnd().split('\n').length, text).to.be.at.most(12);
      const study = parse(text) as { config: { dispersions: object }; requirements: object[] };
      expect(Object.keys(study.config.dispersions)).to.have.members(vary.split(',').map((it) => it.split('=')[0]));
      expect(study.requirements).to.have.length(1);
      const tried = await simbatch(['try', file, '--quiet', '-o', 'json'], env, folder);
      // The entrypoint is found beside the study, unless the study file has another name.
      if (!words.includes('--file')) expect(tried, tried.stderr).to.include({ code: 0 });
      const checked = await simbatch(['submit', '--check', file], {}, folder);
      expect(checked, checked.stderr).to.include({ code: 0 });
    });
  }
});

function need(context: Context, program: string, ...args: string[]): void {
  if (spawnSync(program, args).status === 0) return;
  if (process.env['SIMBATCH_REQUIRE_ALL'] === '1') throw new Error(`${program} ${args.join(' ')} fails: see .ci/run`);
  context.skip();
}
