/**
 * How long a simulation lives that met a condition: from the moment before it sends the sample until its process group is
 * confirmed dead and its outcome is ready to be reported. Real processes under the runner's own code; the simulation
 * sends with the Node client, at moments that have nothing to do with the checks.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../src/base/package.ts';
import { AttemptActor } from '../src/runner/attempt-actor.ts';
import { ProcessTable } from '../src/runner/processes/proc-fs.ts';
import { ONLY_COLD } from '../src/runner/launch/launchers.ts';
import { Waits } from '../src/runner/waits.ts';
import { Attempt } from '../src/runner/attempt/run-attempt.ts';
import { inheritedEnvironment } from '../src/runner/launch/environment.ts';
import { systemClock } from '../src/base/clock.ts';
import { measure, type Measure } from './support/measure.ts';

const RUNS = 24;
const FREQUENCIES_HZ = [10, 100];
/** Beyond one period of the checks. */
const ALLOWED_MS = 100;

/** The value of the sample is the time at which it is sent, on the clock that all processes of a machine share. */
const SIMULATION = `
import { run as open } from ${JSON.stringify(pathToFileURL(join(packageRoot, 'clients/node/index.js')).href)};
const run = open();
const now = () => Number(process.hrtime.bigint()) / 1e6;
// The connection stands, and some telemetry has gone over it.
for (let i = 0; i < 20; i += 1) {
  run.telemetry({ altitude_m: 100 - i }, { t: i });
  await new Promise((resolve) => setTimeout(resolve, 10));
}
await new Promise((resolve) => setTimeout(resolve, run.parameters.delay_ms));
run.telemetry({ sent_at_ms: now() }, { t: 21 });
// It computes on, and sends on, until it is killed.
for (let i = 22; ; i += 1) {
  run.telemetry({ altitude_m: 0 }, { t: i });
  await new Promise((resolve) => setTimeout(resolve, 1));
}
`;

/** Milliseconds of one run; `delayMs` sets the sample between two checks. */
async function lifeAfterHitMs(folder: string, number: number, frequencyHz: number, delayMs: number): Promise<number> {
  const silent = (): void => {};
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  const name = `${String(frequencyHz)}-${String(number)}`;
  const actor = new AttemptActor({ job_id: name, attempt: 1 }, log);
  actor.send({ type: 'ACKNOWLEDGED' });
  const attempt = new Attempt(
    {
      clock: systemClock,
      log,
      launchers: ONLY_COLD,
      python: undefined,
      env: inheritedEnvironment(process.env),
      environmentAllowed: ['*'],
      waits: new Waits(systemClock),
      processes: { table: new ProcessTable(), cgroups: undefined },
      workingDirectory: folder,
    },
    {
      runConfig: {
        run_id: number,
        parameters: { delay_ms: delayMs },
        metadata: {
          simulation_name: 'bench',
          simulation_version: '1',
          duration_minutes: 1,
          sampling_method: 'monte_carlo',
          generated_at: new Date(0).toISOString(),
          seed: 1,
        },
      },
      telemetry: {
        sampling_rate_hz: 0,
        variables: [],
        storage: { s3_bucket: '', s3_prefix: '', compression: 'snappy' },
        buffer_flush_interval_seconds: 1,
      },
      earlyTermination: {
        enabled: true,
        check_frequency_hz: frequencyHz,
        conditions: [{ variable: 'sent_at_ms', condition: '> 0', description: '' }],
      },
      environment: null,
      limits: {},
      timeoutSecs: 60,
      engine: { name: '*', entrypoint: join(folder, 'simulation.mjs') },
      directory: join(folder, name),
      attempt: 1,
      runConfigPath: join(folder, `${name}.json`),
    },
    actor,
  );
  const end = await attempt.run();
  const deadAtMs = Number(process.hrtime.bigint()) / 1e6;
  const sentAtMs = end.type === 'fail' ? /sent_at_ms = (\S+)/.exec(end.error_message)?.[1] : undefined;
  if (sentAtMs === undefined) throw new Error(`it was not terminated early: ${JSON.stringify(end)}`);
  return deadAtMs - Number(sentAtMs);
}

export async function run(): Promise<Measure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'simbatch-bench-'));
  try {
    writeFileSync(join(folder, 'simulation.mjs'), SIMULATION);
    const lines: Measure[] = [];
    for (const frequencyHz of FREQUENCIES_HZ) {
      const periodMs = 1000 / frequencyHz;
      const lives: number[] = [];
      for (let number = 0; number < RUNS; number += 1) {
        lives.push(await lifeAfterHitMs(folder, number, frequencyHz, (number / RUNS) * periodMs));
      }
      const what = `early termination at ${String(frequencyHz)} Hz, sample to confirmed death`;
      const target = { atMost: periodMs + ALLOWED_MS };
      lines.push(measure(`${what}, median of ${String(RUNS)}`, 'ms', lives, target));
      lines.push(measure(`${what}, worst of ${String(RUNS)}`, 'ms', [Math.max(...lives)], target));
    }
    return lines;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
