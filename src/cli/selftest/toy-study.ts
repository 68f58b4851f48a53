/** The study of the selftest, and its simulation: a pure function of the parameters, in Node without dependencies. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BatchSubmission } from '../../contract/types.ts';

/** Seed of the study; it is the same in every selftest, so that the samples and outputs are, too. */
const STUDY_SEED = 20260301;
/** A killed simulation uses up a retry, and kills are the purpose. */
const MANY_RETRIES = 1_000;

/** Returns the study with this number of runs. */
export function toyStudy(runs: number): BatchSubmission {
  return {
    name: 'simbatch selftest',
    config: {
      simulation: { name: 'selftest', version: '1.0', duration_minutes: 1 },
      monte_carlo: { runs, sampling_method: 'latin_hypercube', seed: STUDY_SEED },
      dispersions: {
        growth: { distribution: { type: 'uniform', min: 3.6, max: 4 }, units: '' },
        start: { distribution: { type: 'beta', alpha: 2, beta: 3 }, units: '' },
        noise: { distribution: { type: 'normal', mean: 0, std_dev: 1 }, units: '' },
      },
      compute: {
        container: { image: 'none', cpu_request: '0', memory_request: '0' },
        max_parallel_jobs: 0,
        job_timeout_seconds: 0,
        max_retries: MANY_RETRIES,
      },
      early_termination: { enabled: false, check_frequency_hz: 1, conditions: [] },
      telemetry: {
        sampling_rate_hz: 1,
        variables: [],
        storage: { s3_bucket: '', s3_prefix: '', compression: 'none' },
        buffer_flush_interval_seconds: 1,
      },
    },
  };
}

/** The chaotic logistic map: a parameter that differs in its last bit changes every digit of the outputs. */
const SIMULATION = `
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { parameters, run_id } = JSON.parse(readFileSync(process.env.SVC_RUN_CONFIG, 'utf8'));
const directory = process.env.SVC_OUTPUT_DIR;
const rows = ['step,x'];
let x = parameters.start;
let sum = 0;
for (let step = 0; step < 20000; step += 1) {
  x = parameters.growth * x * (1 - x);
  sum += x * parameters.noise;
  if (step % 100 === 0) rows.push(step + ',' + x);
}
// The run takes long enough to be killed in the middle, and needs no processor time.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 40 + (run_id % 8) * 20);
const text = rows.join('\\n') + '\\n';
writeFileSync(join(directory, 'trajectory.csv'), text);
const outputs = { last: x, sum, digest: createHash('sha256').update(text).digest('hex'), parameters };
writeFileSync(join(directory, 'metadata.json.part'), JSON.stringify(outputs));
renameSync(join(directory, 'metadata.json.part'), join(directory, 'metadata.json'));
`;

/**
 * Writes the toy simulation into a folder.
 * @returns the path of an entrypoint for runners
 */
export function writeToySimulation(folder: string): string {
  const path = join(folder, 'toy-simulation.mjs');
  writeFileSync(path, SIMULATION);
  return writeObservedEntrypoint(folder, path);
}

/** Endings of the files that an observed simulation leaves beside its output directory: its process id, and a mark of its end. */
export const BEGUN = '.begun';
export const DONE = '.done';

/** Writes an entrypoint that executes the module and leaves files which say that it began and that it ended by itself. */
export function writeObservedEntrypoint(folder: string, simulation: string): string {
  const path = join(folder, 'observed-simulation.mjs');
  const lines = [
    "import { writeFileSync } from 'node:fs';",
    'const output = process.env.SVC_OUTPUT_DIR;',
    `writeFileSync(output + '${BEGUN}', String(process.pid));`,
    `process.on('exit', (code) => { if (code === 0) writeFileSync(output + '${DONE}', ''); });`,
    `await import(${JSON.stringify(pathToFileURL(simulation).href)});`,
  ];
  writeFileSync(path, `${lines.join('\n')}\n`);
  chmodSync(path, 0o755);
  return path;
}
