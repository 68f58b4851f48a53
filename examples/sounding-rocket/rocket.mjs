// The flight of a sounding rocket: 3-D point mass, RK4, from the launch rail to the ground. Physics only: nothing here
// reads a file or knows of simbatch. rocket.py is the same model in Python; both must give the same numbers.
import { createHash } from 'node:crypto';

const GRAVITY = 9.80665; // m/s2
const GAS_CONSTANT = 287.05287; // J/(kg K), dry air
const BODY_AREA = (Math.PI / 4) * 0.16 ** 2; // m2, a body of 160 mm
const RAIL_LENGTH = 8; // m
const DROGUE = { cda: 1.1, inflation: 0.4 }; // m2, s
const MAIN = { cda: 17, inflation: 1.2 };
const GUST = { spacing: 25, nodes: 601, length: 120 }; // m, count, m (correlation length)
const LATE_MAIN_ALTITUDE = 120; // m above ground
/** Drag coefficient over Mach number, to be read with linear interpolation. */
const DRAG_CURVE = [
  [0, 0.46],
  [0.6, 0.44],
  [0.9, 0.5],
  [1.05, 0.68],
  [1.2, 0.66],
  [1.6, 0.56],
  [2, 0.5],
  [3, 0.42],
];
const radians = (degrees) => (degrees * Math.PI) / 180;

/** Standard normal numbers that depend only on the study's seed and the run: a retry meets the same gusts. */
function gaussians(seed, runId) {
  let state = createHash('sha256').update(`${seed}/${runId}`).digest().readUInt32BE(0);
  const uniform = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let z = Math.imul(state ^ (state >>> 15), state | 1) >>> 0;
    z = (z ^ (z + (Math.imul(z ^ (z >>> 7), z | 61) >>> 0))) >>> 0;
    return ((z ^ (z >>> 14)) >>> 0) / 4294967296;
  };
  // Box-Muller
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** Wind [east, north] in m/s at each node of height: power law, jet, veer, and gusts correlated over height. */
function windProfile(p, gaussian) {
  const keep = Math.exp(-GUST.spacing / GUST.length);
  const fresh = Math.sqrt(1 - keep * keep);
  let [along, across] = [gaussian(), gaussian()];
  return Array.from({ length: GUST.nodes }, (_, i) => {
    const height = i * GUST.spacing;
    let mean = p.wind_speed_mps * (Math.min(Math.max(height, 2), 1000) / 10) ** 0.14;
    mean *= 1 + (0.12 * Math.min(Math.max(height - 1000, 0), 11000)) / 1000;
    const sigma = p.turbulence_intensity * mean * Math.exp(-height / 2000);
    const from = radians(p.wind_direction_deg + (8 * Math.min(height, 12000)) / 1000);
    const [u, v] = [mean + sigma * along, sigma * across];
    along = keep * along + fresh * gaussian();
    across = keep * across + fresh * gaussian();
    return [-u * Math.sin(from) + v * Math.cos(from), -u * Math.cos(from) - v * Math.sin(from)];
  });
}

function interpolate(curve, x) {
  for (let i = 1; i < curve.length; i += 1) {
    const [x0, y0] = curve[i - 1];
    const [x1, y1] = curve[i];
    if (x < x1) return y0 + ((y1 - y0) * (x - x0)) / (x1 - x0);
  }
  return curve.at(-1)[1];
}

/** Density in kg/m3 and speed of sound in m/s, ISA with a temperature offset at unchanged pressure. */
function atmosphere(heightAsl, offset) {
  const standard = heightAsl < 11000 ? 288.15 - 0.0065 * heightAsl : 216.65;
  const pressure =
    heightAsl < 11000
      ? 101325 * (standard / 288.15) ** 5.255877
      : 22632.06 * Math.exp((-GRAVITY * (heightAsl - 11000)) / (GAS_CONSTANT * 216.65));
  const temperature = standard + offset;
  return [pressure / (GAS_CONSTANT * temperature), Math.sqrt(1.4 * GAS_CONSTANT * temperature)];
}

/** The rocket, the air around it, and its parachutes: all inputs of the equation of motion. */
export class Rocket {
  /** p: the run's parameters; seed (text) and runId decide the gusts. */
  constructor(p, seed, runId) {
    this.p = p;
    this.wind = windProfile(p, gaussians(seed, runId));
    this.thrust = p.total_impulse_ns / p.burn_time_s;
    this.massFlow = p.propellant_mass_kg / p.burn_time_s;
    const elevation = radians(p.launch_elevation_deg);
    const azimuth = radians(p.launch_azimuth_deg);
    this.rail = [Math.cos(elevation) * Math.sin(azimuth), Math.cos(elevation) * Math.cos(azimuth), Math.sin(elevation)];
    this.drogueAt = Infinity;
    this.mainAt = Infinity;
  }

  /** Drag area of the open canopies in m2; a canopy grows linearly while it fills. */
  canopy(t) {
    let cda = 0;
    if (t > this.drogueAt) cda += DROGUE.cda * Math.min((t - this.drogueAt) / DROGUE.inflation, 1);
    if (t > this.mainAt) cda += MAIN.cda * Math.min((t - this.mainAt) / MAIN.inflation, 1);
    return cda;
  }

  /** [ax, ay, az, dynamic pressure, Mach, load in g] at time t of state s = [east, north, up, ve, vn, vu]. */
  forces(phase, t, s) {
    const { p } = this;
    const x = Math.min(Math.max(s[2] / GUST.spacing, 0), GUST.nodes - 1.000001);
    const i = Math.floor(x);
    const [w0, w1] = [this.wind[i], this.wind[i + 1]];
    const ue = s[3] - (w0[0] + (w1[0] - w0[0]) * (x - i));
    const un = s[4] - (w0[1] + (w1[1] - w0[1]) * (x - i));
    const uu = s[5];
    const airspeed = Math.sqrt(ue * ue + un * un + uu * uu);
    const [density, sound] = atmosphere(s[2] + p.site_altitude_m, p.temperature_offset_k);
    const mach = airspeed / sound;
    const q = 0.5 * density * airspeed * airspeed;
    const powered = phase === 'rail' || phase === 'boost';
    const burnt = Math.min(t, p.burn_time_s) * this.massFlow;
    const mass = p.dry_mass_kg + p.propellant_mass_kg - burnt;
    const drag = q * (BODY_AREA * p.drag_scale * interpolate(DRAG_CURVE, mach) + this.canopy(t));
    // The body points into the air that meets it (no attitude in a point mass); on the rail it cannot turn.
    const thrust = powered ? this.thrust : 0;
    const along = airspeed > 0 ? 1 / airspeed : 0;
    const nose = phase === 'rail' ? this.rail : [ue * along, un * along, uu * along];
    const ae = (thrust * nose[0] - drag * ue * along) / mass;
    const an = (thrust * nose[1] - drag * un * along) / mass;
    const au = (thrust * nose[2] - drag * uu * along) / mass;
    const load = Math.sqrt(ae * ae + an * an + au * au) / GRAVITY;
    if (phase !== 'rail') return [ae, an, au - GRAVITY, q, mach, load];
    const onRail = Math.max(ae * nose[0] + an * nose[1] + (au - GRAVITY) * nose[2], 0);
    return [onRail * nose[0], onRail * nose[1], onRail * nose[2], q, mach, load];
  }

  /** One classical Runge-Kutta step of h seconds. */
  step(phase, t, s, h) {
    const rate = (time, y) => {
      const f = this.forces(phase, time, y);
      return [y[3], y[4], y[5], f[0], f[1], f[2]];
    };
    const k1 = rate(t, s);
    const ahead = (k, by) => {
      const moved = s.map((y, i) => y + by * k[i]);
      return rate(t + by, moved);
    };
    const k2 = ahead(k1, h / 2);
    const k3 = ahead(k2, h / 2);
    const k4 = ahead(k3, h);
    return s.map((y, i) => y + (h / 6) * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]));
  }
}

/** Integrates one phase until `until` (s) or until `event(state)` falls to zero, which is located by bisection. */
function runPhase(rocket, phase, start, { dt, until = Infinity, event = () => 1 }, observe) {
  let { t, s } = start;
  for (;;) {
    const h = Math.min(dt, until - t);
    const next = rocket.step(phase, t, s, h);
    if (event(next) <= 0) {
      let [low, high] = [0, h];
      for (let i = 0; i < 48; i += 1) {
        const middle = (low + high) / 2;
        if (event(rocket.step(phase, t, s, middle)) <= 0) high = middle;
        else low = middle;
      }
      s = rocket.step(phase, t, s, high);
      t += high;
      observe(phase, t, s, true);
      return { t, s, met: true };
    }
    const last = t + h >= until;
    t = last ? until : t + h;
    s = next;
    observe(phase, t, s, last);
    if (last) return { t, s, met: false };
    if (t > 7200) throw new Error(`the flight does not end: still in phase ${phase} after two hours`);
  }
}

/** Faults of the recovery system: one run in a hundred loses every canopy, two the main one, four open it late. */
function recoveryOf(p) {
  if (p.recovery_draw < 0.01) return ['ballistic', Infinity, 0];
  if (p.recovery_draw < 0.03) return ['main failed', p.drogue_delay_s, 0];
  if (p.recovery_draw < 0.07) return ['main late', p.drogue_delay_s, LATE_MAIN_ALTITUDE];
  return ['nominal', p.drogue_delay_s, p.main_altitude_m];
}

const railLeft = (s) => RAIL_LENGTH - Math.sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
const above = (height) => (s) => s[2] - height;

/** Flies the whole flight and calls `observe` for every step. Returns the times of the phases. */
export function fly(rocket, observe) {
  const { p } = rocket;
  const [recovery, drogueDelay, mainAltitude] = recoveryOf(p);
  const start = { t: 0, s: [0, 0, 0, 0, 0, 0] };
  const enter = (phase, from, options) => runPhase(rocket, phase, from, options, observe);
  let now = enter('rail', start, { dt: 0.01, until: p.burn_time_s, event: railLeft });
  if (!now.met)
    throw new Error(`the rocket does not leave the rail: ${rocket.thrust.toFixed(0)} N of thrust are too little`);
  const railExit = now;
  now = enter('boost', now, { dt: 0.01, until: p.burn_time_s });
  const burnout = now;
  now = enter('coast', now, { dt: 0.02, event: (s) => s[5] });
  const apogee = now;
  now = enter('fall', now, { dt: 0.02, until: apogee.t + drogueDelay, event: above(mainAltitude) });
  if (drogueDelay < Infinity) rocket.drogueAt = now.t;
  if (!now.met) now = enter('drogue', now, { dt: 0.1, event: above(mainAltitude) });
  if (mainAltitude > 0) {
    rocket.mainAt = now.t;
    // Finer while the canopy fills: the deceleration is the stiffest part of the flight.
    now = enter('main', now, { dt: 0.02, until: now.t + MAIN.inflation, event: above(0) });
    if (!now.met) now = enter('main', now, { dt: 0.1, event: above(0) });
  }
  return { recovery, railExit, burnout, apogee, landing: now };
}
