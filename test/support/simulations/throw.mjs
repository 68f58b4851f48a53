// A throw without drag, sent with the Node client at 100 Hz until it is below the ground. SIM_THROW=given: it gives histories itself; printed: it prints.
import { run as open } from '../../../clients/node/index.js';

const run = open();
const [speed, gravity] = [40, 9.80665];
const mode = process.env.SIM_THROW ?? 'plain';
for (let step = 0, z = 0; z >= 0; step += 1) {
  const t = step / 100;
  z = speed * t - (gravity / 2) * t * t;
  run.telemetry({ z, vz: speed - gravity * t }, { t });
}
if (mode === 'printed') process.stdout.write('landed\n');
run.result({ landed: true, ...(mode === 'twice' ? { apogee: 1 } : {}) });
if (mode === 'given') run.history('own', Float64Array.of(1, NaN, 3));
if (mode === 'short') run.history('own', [1, null]);
