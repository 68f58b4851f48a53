// The program of an extraction: reads the files of a finished run, changes its copies, and does what POST of the run's artifact says.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run as open } from '../../../clients/node/index.js';

const run = open();
const { SVC_PARENT_DIR: folder, SVC_PARENT_RESULT: path } = process.env;
const result = JSON.parse(readFileSync(path, 'utf8'));
const telemetry = readFileSync(join(folder, 'telemetry.parquet'));
run.result({
  run: result.run_id,
  landed: result.metadata.landed,
  files: readdirSync(folder).sort().join(' '),
  bytes: telemetry.length,
  magic: telemetry.subarray(0, 4).toString('latin1'),
});
writeFileSync(join(folder, 'telemetry.parquet'), 'changed');
writeFileSync(join(folder, 'added.txt'), 'more');
writeFileSync(join(process.env.SVC_OUTPUT_DIR, 'plot.txt'), 'a plot');
if (run.runId === 1) {
  process.stderr.write('no peak in this one\n');
  process.exit(3);
}
