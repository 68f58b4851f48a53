/** The example study: equal flights in both languages, physics checked by hand, clear errors, a valid study. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { startCollector } from '../clients/collector.ts';
import { root, runProgram } from '../clients/program.ts';

const folder = `${root}examples/sounding-rocket/`;
const example = JSON.parse(readFileSync(`${folder}example-run.json`, 'utf8')) as {
  run_id: number;
  parameters: Record<string, number>;
  metadata: Record<string, unknown>;
};
const NODE = [process.execPath, `${folder}simulation.mjs`];
const PYTHON = ['python3', `${folder}simulation.py`];

const withParameters = (changes: Record<string, number>, run: number = example.run_id) => ({
  ...example,
  run_id: run,
  parameters: { ...example.parameters, ...changes },
});
const fly = async (changes: Record<string, number>): Promise<Record<string, number>> => {
  const ended = await runProgram({ command: NODE, config: withParameters(changes) });
  expect(ended.stderr).to.equal('');
  return ended.metadata as Record<string, number>;
};

function needsPython(context: Mocha.Context): void {
  if (spawnSync('python3', ['--version']).status === 0) return;
  if (process.env.SIMBATCH_REQUIRE_ALL === '1') throw new Error('python3 is needed');
  context.skip();
}

describe('examples/sounding-rocket', () => {
  const flights: [string, object | string][] = [
    ['as in the file', example],
    [
      'in a gale, the seed as long as can be',
      JSON.stringify(withParameters({ wind_speed_mps: 12, turbulence_intensity: 0.4 }, 399)).replace(
        /"seed":\d+/,
        '"seed":9223372036854775807',
      ),
    ],
    ['no parachute', withParameters({ recovery_draw: 0.005 })],
    ['the main lost, the drogue late', withParameters({ recovery_draw: 0.02, drogue_delay_s: 6 })],
    ['the main late', withParameters({ recovery_draw: 0.05 })],
    ['a study without a seed', { ...example, metadata: {} }],
  ];
  for (const [name, config] of flights) {
    it(`is the same in Python and in Node: ${name}`, async function () {
      needsPython(this);
      const [node, python] = [
        await runProgram({ command: NODE, config }),
        await runProgram({ command: PYTHON, config }),
      ];
      expect(node.code).to.equal(0);
      expect(python.code).to.equal(0);
      expect(Object.keys(node.metadata ?? {})).to.deep.equal(Object.keys(python.metadata ?? {}));
      for (const [output, value] of Object.entries(node.metadata ?? {})) {
        const other = python.metadata?.[output];
        if (typeof value === 'number') expect(other, output).to.be.closeTo(value, 1e-9 * Math.max(Math.abs(value), 1));
        else expect(other, output).to.equal(value);
      }
      expect(node.stdout).to.equal(python.stdout);
      expect(node.trajectory?.split('\n').length).to.equal(python.trajectory?.split('\n').length);
    });
  }

  it('climbs as high as the rocket equation predicts without air', async () => {
    const p = example.parameters;
    const outputs = await fly({ drag_scale: 0, wind_speed_mps: 0, launch_elevation_deg: 90, site_altitude_m: 0 });
    const [thrust, flow] = [p.total_impulse_ns! / p.burn_time_s!, p.propellant_mass_kg! / p.burn_time_s!];
    const [exhaust, full, empty] = [thrust / flow, p.dry_mass_kg! + p.propellant_mass_kg!, p.dry_mass_kg!];
    const g = 9.80665;
    const speed = exhaust * Math.log(full / empty) - g * p.burn_time_s!;
    const height = exhaust * (p.burn_time_s! - (empty / flow) * Math.log(full / empty)) - (g * p.burn_time_s! ** 2) / 2;
    expect(outputs.burnout_speed_mps).to.be.closeTo(speed, 1e-6);
    expect(outputs.apogee_m).to.be.closeTo(height + speed ** 2 / (2 * g), 1e-3);
    expect(outputs.range_m).to.be.lessThan(1e-3);
  });

  it('descends at the terminal speed of its parachutes in still air', async () => {
    const outputs = await fly({ wind_speed_mps: 0, site_altitude_m: 0, temperature_offset_k: 0, drag_scale: 0 });
    const terminal = Math.sqrt((2 * example.parameters.dry_mass_kg! * 9.80665) / (1.225 * (17 + 1.1)));
    expect(outputs.impact_speed_mps).to.be.closeTo(terminal, 0.01);
  });

  it('has the same gusts in a retry, and different ones in other runs', async () => {
    const land = async (run: number) =>
      (await runProgram({ command: NODE, config: withParameters({}, run) })).metadata?.landing_east_m;
    expect(await land(1)).to.equal(await land(1));
    expect(await land(1)).to.not.equal(await land(2));
  });

  const faults: [string, unknown, RegExp][] = [
    ['a parameter is missing', { ...example, parameters: { drag_scale: 1 } }, /parameter total_impulse_ns is missing/],
    ['a parameter is impossible', withParameters({ burn_time_s: -1 }), /burn_time_s is -1, must be in \[0\.5, 60\]/],
    ['the motor is too weak', withParameters({ total_impulse_ns: 1000 }), /does not leave the rail/],
    ['the file is not JSON', '{', /./],
    ['there is no run configuration', undefined, /SVC_RUN_CONFIG is not set/],
  ];
  for (const [name, config, message] of faults) {
    it(`exits with 2 and one line when ${name}`, async function () {
      for (const command of [NODE, PYTHON]) {
        if (command === PYTHON) needsPython(this);
        const ended = await runProgram({ command, config });
        expect(ended.code).to.equal(2);
        expect(ended.stderr)
          .to.match(/^sounding-rocket: .*\n$/)
          .and.to.match(message);
        expect(ended.metadata).to.equal(undefined);
      }
    });
  }

  it('sends telemetry where there is a runner: twenty samples per second on the way up', async () => {
    const collector = await startCollector();
    try {
      const ended = await runProgram({ command: NODE, config: example, telemetryUrl: collector.url });
      const peak = Math.max(...collector.samples.map(({ values }) => values.dynamic_pressure_pa ?? 0));
      const climbing = collector.samples.filter((sample) => BigInt(sample.timestamp_ns) < 10_000_000_000n);
      expect(climbing.length).to.be.within(195, 205);
      expect(peak).to.be.closeTo(ended.metadata?.max_dynamic_pressure_pa as number, 500);
    } finally {
      collector.close();
    }
  });

  it('the study disperses exactly what a run needs, around the example run', () => {
    const study = parse(readFileSync(`${folder}study.yaml`, 'utf8')) as {
      config: { dispersions: Record<string, unknown>; simulation: { name: string } };
    };
    expect(Object.keys(study.config.dispersions)).to.have.members(Object.keys(example.parameters));
    expect(study.config.simulation.name).to.equal(example.metadata.simulation_name);
  });
});
