// One run of the sounding-rocket study under simbatch, on nothing but Node: reads the run configuration, flies, writes
// metadata.json and trajectory.csv. The physics are in rocket.mjs. simulation.py does the same in Python.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fly, Rocket } from './rocket.mjs';

/** Parameters of a run, and the closed ranges in which the model is valid. */
const PARAMETERS = {
  total_impulse_ns: [1000, 500000],
  burn_time_s: [0.5, 60],
  propellant_mass_kg: [0.5, 300],
  dry_mass_kg: [1, 500],
  drag_scale: [0, 5],
  launch_elevation_deg: [60, 90],
  launch_azimuth_deg: [-360, 720],
  wind_speed_mps: [0, 40],
  wind_direction_deg: [-360, 720],
  turbulence_intensity: [0, 1],
  temperature_offset_k: [-60, 60],
  drogue_delay_s: [0, 600],
  main_altitude_m: [50, 5000],
  recovery_draw: [0, 1],
  site_altitude_m: [-400, 5000],
};

/** Reads the run configuration, and its seed as text: a seed may have more digits than a JavaScript number. */
function readRunConfig(path) {
  if (!path) throw new Error('SVC_RUN_CONFIG is not set: it names the JSON file with the run configuration');
  const text = readFileSync(path, 'utf8');
  const { run_id: runId, parameters } = JSON.parse(text);
  if (!Number.isInteger(runId)) throw new Error(`${path}: run_id must be an integer`);
  for (const [name, [min, max]] of Object.entries(PARAMETERS)) {
    const value = parameters?.[name];
    if (typeof value !== 'number') throw new Error(`${path}: parameter ${name} is missing or is not a number`);
    if (!(value >= min && value <= max)) throw new Error(`parameter ${name} is ${value}, must be in [${min}, ${max}]`);
  }
  return { runId, parameters, seed: /"seed"\s*:\s*(\d+)/.exec(text)?.[1] ?? '0' };
}

const speed = ([, , , ve, vn, vu]) => Math.sqrt(ve * ve + vn * vn + vu * vu);

/** Watches the flight: keeps the extremes, the rows of the trajectory, and passes samples to telemetry. */
function recorder(rocket, telemetry) {
  const peak = { q: 0, mach: 0, load: 0, speed: 0, loadPhase: 'rail' };
  const rows = ['time_s,phase,east_m,north_m,up_m,speed_mps,mach,dynamic_pressure_pa,load_g'];
  let nextRow = 0;
  let nextSample = 0;
  const observe = (phase, t, s, edge) => {
    const [, , , q, mach, load] = rocket.forces(phase, t, s);
    const v = speed(s);
    peak.q = Math.max(peak.q, q);
    peak.mach = Math.max(peak.mach, mach);
    peak.speed = Math.max(peak.speed, v);
    if (load > peak.load) [peak.load, peak.loadPhase] = [load, phase];
    if (edge || t >= nextRow - 1e-9) {
      const numbers = [s[0], s[1], s[2], v, mach, q, load].map((value) => value.toFixed(4));
      rows.push(`${t.toFixed(4)},${phase},${numbers.join(',')}`);
      nextRow = t + (phase === 'drogue' || phase === 'main' ? 1 : 0.1);
    }
    if (t >= nextSample - 1e-9) {
      telemetry({ t, altitude_m: s[2], velocity_mps: v, dynamic_pressure_pa: q, mach, load_g: load });
      nextSample = Math.max(nextSample + 0.05, t);
    }
  };
  return { observe, peak, rows };
}

/** One run: parameters in, the outputs of the study and the trajectory out. */
function simulate({ parameters, seed, runId }, telemetry) {
  const rocket = new Rocket(parameters, seed, runId);
  const { observe, peak, rows } = recorder(rocket, telemetry);
  const { recovery, railExit, burnout, apogee, landing } = fly(rocket, observe);
  const [east, north, , , , sinkRate] = landing.s;
  const outputs = {
    apogee_m: apogee.s[2],
    apogee_time_s: apogee.t,
    landing_east_m: east,
    landing_north_m: north,
    range_m: Math.sqrt(east * east + north * north),
    flight_time_s: landing.t,
    rail_exit_speed_mps: speed(railExit.s),
    burnout_speed_mps: speed(burnout.s),
    max_speed_mps: peak.speed,
    max_mach: peak.mach,
    max_dynamic_pressure_pa: peak.q,
    peak_load_g: peak.load,
    peak_load_phase: peak.loadPhase,
    impact_speed_mps: speed(landing.s),
    impact_sink_rate_mps: -sinkRate,
    recovery,
  };
  return { outputs, rows };
}

/** Returns a function that sends telemetry, or an empty function without a runner or the client library. */
async function openTelemetry() {
  if (!process.env.SVC_TELEMETRY_URL) return () => {};
  try {
    const simbatch = await import('../../clients/node/index.js');
    const run = simbatch.run();
    return ({ t, ...values }) => run.telemetry(values, { t });
  } catch {
    return () => {};
  }
}

try {
  const directory = process.env.SVC_OUTPUT_DIR;
  if (!directory) throw new Error('SVC_OUTPUT_DIR is not set: it names the directory for the results');
  const { outputs, rows } = simulate(readRunConfig(process.env.SVC_RUN_CONFIG), await openTelemetry());
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'trajectory.csv'), `${rows.join('\n')}\n`);
  // Written beside and renamed: an early reader finds no file or a complete one.
  writeFileSync(join(directory, 'metadata.json.part'), `${JSON.stringify(outputs, null, 2)}\n`);
  renameSync(join(directory, 'metadata.json.part'), join(directory, 'metadata.json'));
  console.log(
    `apogee ${outputs.apogee_m.toFixed(0)} m, landed ${outputs.range_m.toFixed(0)} m away (${outputs.recovery})`,
  );
} catch (error) {
  console.error(`sounding-rocket: ${error.message}`);
  process.exitCode = 2;
}
