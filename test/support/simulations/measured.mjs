// A simulation that sends telemetry with the Node client: MEASURE selects the mode, SAMPLES the number.
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run as open } from '../../../clients/node/index.js';

// Before the run is opened, as it reads the environment then.
if (process.env.MEASURE === 'plain') delete process.env.SVC_TELEMETRY_TOKEN;
const run = open();
const count = Number(process.env.SAMPLES ?? 1000);

const measures = {
  // The same values as measured.py.
  table() {
    for (let i = 0; i < count; i += 1) {
      const odd = [NaN, Infinity, -Infinity, -0][i % 4];
      run.telemetry({ third: i / 3, odd }, { timestampNs: 1_700_000_000_123_456_789n + BigInt(i) * 1_000_003n });
    }
    run.result({ sent: count });
  },
  flood() {
    for (let i = 0; i < count; i += 1) run.telemetry({ a: i, b: -i }, { t: i / 1000 });
    run.close();
    run.result({ dropped: run.droppedSamples });
  },
  // Every sample of `b` is older than the 32,768 values of `a` before it.
  late() {
    for (let i = 0; i < 70_000; i += 1) run.telemetry({ a: i }, { t: 100 + i / 1000 });
    for (let i = 0; i < 10; i += 1) run.telemetry({ b: i }, { t: i });
    run.close();
    run.result({ sent: 70_010 });
  },
  // Reports that everything was sent, and continues for ever.
  forever() {
    for (let i = 0; i < count; i += 1) run.telemetry({ a: i }, { t: i / 1000 });
    writeFileSync(join(run.outputDir, 'pids.json'), JSON.stringify([process.pid]));
    setInterval(() => existsSync('/'), 1000);
  },
  // Sends without the token, as a plain gRPC client does, once the file `url` with its telemetry's address is gone.
  plain() {
    const file = join(run.outputDir, 'url');
    writeFileSync(`${file}.part`, process.env.SVC_TELEMETRY_URL);
    renameSync(`${file}.part`, file);
    while (existsSync(file)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    for (let i = 0; i < count; i += 1) run.telemetry({ a: i }, { t: i / 1000 });
  },
  // Everything has been sent when an uncatchable signal kills it.
  shot() {
    for (let i = 0; i < count; i += 1) run.telemetry({ a: i }, { t: i / 1000 });
    run.close();
    process.kill(process.pid, 'SIGKILL');
  },
};

measures[process.env.MEASURE ?? 'table']();
