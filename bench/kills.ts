/**
 * `node dist/bench/kills.js [KILLS] [SEED]`: kills coordinator, runners and simulations of the sounding-rocket study with SIGKILL and
 * compares all results bit by bit with an undisturbed execution. Needs about 2 s for each kill on two cores. `KILLS_RUNNER`: further
 * options of the runners, with spaces between, such as `--warm`. `KILLS_MODEL=short`: a Python model of 10 to 50 ms instead, which runners claim ahead.
 */
import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../src/base/package.ts';
import { loadStudy } from '../src/cli/study/check-study.ts';
import { isPassed, reportText } from '../src/cli/selftest/report.ts';
import { trial } from '../src/cli/selftest/selftest.ts';
import type { Trial } from '../src/cli/selftest/selftest.ts';
import { toyStudy, writeObservedEntrypoint } from '../src/cli/selftest/toy-study.ts';

const EXAMPLE = join(packageRoot, 'examples', 'sounding-rocket');
const SHORT_MODEL = fileURLToPath(new URL('../../bench/kills/short.py', import.meta.url));
const RUNS = 200;
/** So many short runs that one execution of the study has time for several kills. */
const SHORT_RUNS = 1_000;
const SLOTS = 3;
/** A killed simulation uses up a retry. */
const RETRIES = 1_000;

const kills = Number(process.argv[2] ?? 200);
const seed = Number(process.argv[3] ?? 20260301);
const model = process.env['KILLS_MODEL'] ?? '';
if (model !== '' && model !== 'short') throw new Error(`KILLS_MODEL is ${model}; leave it out, or set it to short`);
const isShort = model === 'short';

async function rocket(): Promise<Trial['submission']> {
  const { submission } = await loadStudy(join(EXAMPLE, 'study.yaml'));
  submission.config.monte_carlo.runs = RUNS;
  submission.config.compute.max_retries = RETRIES;
  // The sample that ends a run early depends on the time, so the outputs of such a run are not a function of its parameters.
  submission.config.early_termination.enabled = false;
  return submission;
}

/** A copy, which belongs to the folder of the test as an observed entrypoint does. */
function writeShortEntrypoint(folder: string): string {
  const path = join(folder, 'short.py');
  copyFileSync(SHORT_MODEL, path);
  chmodSync(path, 0o755);
  return path;
}

const submission = isShort ? toyStudy(SHORT_RUNS) : await rocket();

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());
let phase = '';
const report = await trial(
  {
    dir: process.env['BENCH_DIR'] ?? tmpdir(),
    kills,
    runs: submission.config.monte_carlo.runs,
    seed,
    keep: false,
    signal: interrupted.signal,
    progress: (name, done, total) => {
      if (name !== phase || (name === 'kills' && done % 20 === 0)) console.error(`${name} ${done}/${total}`);
      phase = name;
    },
  },
  (folder) => ({
    submission,
    entrypoint: isShort
      ? writeShortEntrypoint(folder)
      : writeObservedEntrypoint(folder, join(EXAMPLE, 'simulation.mjs')),
    slots: SLOTS,
    runnerOptions: (process.env['KILLS_RUNNER'] ?? '').split(' ').filter((it) => it !== ''),
  }),
);
console.log(reportText(report));
const victims = ['coordinator', 'runner', 'simulation'] as const;
console.log(
  victims
    .map((it) => `${it}: ${report.disturbed.kills.filter(({ point }) => point.victim === it).length} kills`)
    .join(', '),
);
const waits = report.disturbed.kills.filter(({ waiting }) => waiting > 0);
const waited = waits.reduce((sum, { waiting }) => sum + waiting, 0);
console.log(
  `claimed and not started when their runner or the coordinator was killed: ${waited} runs, at ${waits.length} kills`,
);
if (!isPassed(report)) process.exitCode = 1;
