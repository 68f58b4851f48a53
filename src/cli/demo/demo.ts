/**
 * The demo: a coordinator and two runners, as separate processes, fly the sounding-rocket study. It ends with a summary of
 * the study and leaves no process running.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { Client } from '../../client/client.ts';
import { clientOf } from '../../client/http-fetch.ts';
import type { BatchStatusResponse, Job, StudySummary, Uuid } from '../../contract/types.ts';
import { packageRoot } from '../../base/package.ts';
import { loadStudy } from '../study/check-study.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { describeFailure } from '../terminal/failure-text.ts';
import { formatDuration, plural } from '../terminal/format.ts';
import { histogramLines } from './histogram.ts';
import { note, outputWidth, writeLine, writeText } from '../terminal/output.ts';
import { renderPairs, tableOptions, type Pair } from '../terminal/table.ts';
import { follow } from '../progress/follow.ts';
import { formatCounts } from '../progress/progress-text.ts';
import { NumberSeries } from '../../analysis/numeric/statistics.ts';
import { summaryLines } from '../study/summary-lines.ts';
import { outputsOf } from '../../domain/runs/outputs.ts';
import { writeFileFrom } from '../terminal/output-file.ts';
import { sleep, systemClock } from '../../base/clock.ts';
import { Processes } from '../processes.ts';

const EXAMPLE = join(packageRoot, 'examples', 'sounding-rocket');
const RUNNERS = ['demo-1', 'demo-2'];
/** The output that is drawn as a histogram. */
const SHOWN_OUTPUT = 'range_m';

/** Takes half a minute on two cores. */
export const DEFAULT_RUNS = 150;

/** Runs the demo; artifacts and results are written to `output/` in the current directory. `runs` is the size of the study. */
export async function demo(runs = DEFAULT_RUNS): Promise<ExitCode> {
  const interrupted = new AbortController();
  // The controller is aborted at the end too: a pending request to the coordinator must not delay the end of the demo.
  const ending = new AbortController();
  const processes = new Processes();
  const onSignal = (): void => {
    if (interrupted.signal.aborted) processes.kill();
    interrupted.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  const storeDir = await mkdtemp(join(tmpdir(), 'simbatch-demo-'));
  try {
    return await fly(processes, storeDir, AbortSignal.any([interrupted.signal, ending.signal]), runs);
  } catch (error) {
    const { exitCode, lines } = describeFailure(error, process.env['SVC_DEBUG'] !== undefined);
    note(`demo: ${interrupted.signal.aborted ? 'stopped' : lines.join('\n')}`);
    return interrupted.signal.aborted ? EXIT.interrupted : exitCode;
  } finally {
    ending.abort();
    await processes.stop();
    await rm(storeDir, { recursive: true, force: true });
  }
}

async function fly(processes: Processes, storeDir: string, signal: AbortSignal, runs: number): Promise<ExitCode> {
  const outputDir = join(
    process.cwd(),
    'output',
    `demo-${new Date(systemClock.now()).toISOString().slice(0, 19).replaceAll(/[:T]/g, '-')}`,
  );
  await mkdir(outputDir, { recursive: true });
  const { submission } = await loadStudy(join(EXAMPLE, 'study.yaml'));
  // `runs` and not `runs_override`: the first runs of a larger Latin hypercube are not a Latin hypercube.
  submission.config.monte_carlo.runs = runs;

  const startedMs = systemClock.now();
  const endpoint = await processes.startCoordinator(storeDir);
  await writeLine(`coordinator  ${endpoint} (store in ${storeDir})`);
  for (const id of RUNNERS)
    processes.start(`runner ${id}`, runnerArgs(id, outputDir), { SVC_ENDPOINT: endpoint, SVC_RUNNER_GRACE_SECS: '1' });
  const client = clientOf({ endpoint });
  const { batch_id: batchId, total_jobs } = await client.submit(submission);
  await writeLine(
    `study        ${submission.name}: ${plural(total_jobs, 'run')}, ${submission.config.monte_carlo.sampling_method}`,
  );
  await Promise.race([waitForRunners(client, signal), processes.died]);
  await writeLine(`runners      ${RUNNERS.join(', ')}: processes of their own, one simulation at a time each\n`);

  const ended = await Promise.race([follow(client, batchId, signal), processes.died]);
  const tookSecs = (systemClock.now() - startedMs) / 1000;
  const csv = join(outputDir, 'results.csv');
  await writeRunsFile(client, batchId, csv);
  const { shown, results } = await shownValues(client, batchId);
  await report(ended, await client.analysis.ask('summary', batchId), shown, tookSecs);
  const unexpected = await unexpectedFailures(client, ended);
  await listLocations(client, ended, outputDir, csv);
  if (ended.batch.status !== 'Completed' || unexpected.length > 0 || results !== total_jobs) {
    for (const job of unexpected.slice(0, 5))
      note(`unexpected: run ${job.run_config.run_id}: ${job.error_message ?? job.status}`);
    throw new Failure(
      EXIT.failed,
      `the study ended unexpectedly: ${ended.batch.status}, ${formatCounts(ended.jobs_by_status)}`,
    );
  }
  return EXIT.ok;
}

function runnerArgs(id: string, outputDir: string): string[] {
  const engine = ['--engines', 'sounding-rocket', '--entrypoint', join(EXAMPLE, 'simulation.mjs')];
  return [
    'runner',
    '--runner-id',
    id,
    '--max-concurrent-jobs',
    '1',
    ...engine,
    '--warm',
    '--output-root',
    join(outputDir, id),
    '--serve-files',
    '--log-level',
    'warn',
  ];
}

async function waitForRunners(client: Client, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { runners } = await client.runners();
    if (runners.length === RUNNERS.length) return;
    await sleep(systemClock, 100, signal);
  }
}

/** The values of the output that is drawn, and the number of results. */
async function shownValues(client: Client, batchId: Uuid): Promise<{ shown: NumberSeries; results: number }> {
  const shown = new NumberSeries();
  let results = 0;
  for await (const result of client.batchResults(batchId)) {
    results++;
    const value = result.success ? outputsOf(result.metadata).get(SHOWN_OUTPUT) : undefined;
    if (typeof value === 'number') shown.add(value);
  }
  return { shown, results };
}

async function report(
  ended: BatchStatusResponse,
  summary: StudySummary,
  shown: NumberSeries,
  tookSecs: number,
): Promise<void> {
  await writeLine(`\n${ended.batch.status} in ${formatDuration(tookSecs)}: ${formatCounts(ended.jobs_by_status)}`);
  await writeText(summaryLines(summary, tableOptions('table')));
  await writeLine(`\n${SHOWN_OUTPUT}: distance of the landing point from the launcher, in metres, and runs`);
  for (const line of histogramLines(shown)) await writeLine(`  ${line}`);
}

/** The runs of a study as a CSV file. */
async function writeRunsFile(client: Client, batchId: Uuid, path: string): Promise<void> {
  await writeFileFrom(path, async (put) => {
    for await (const piece of client.analysis.table(batchId, { format: 'csv' })) await put(piece);
  });
}

/** Failures other than the early termination that the study asks for. */
async function unexpectedFailures(client: Client, { batch }: BatchStatusResponse): Promise<Job[]> {
  const unexpected: Job[] = [];
  for await (const job of client.jobs({ batch_id: [batch.id], status: ['Failed', 'Timeout', 'Cancelled'] })) {
    const { attempts } = await client.jobHistory(job.id);
    if (attempts.at(-1)?.reason !== 'early_termination') unexpected.push(job);
  }
  return unexpected;
}

async function listLocations(
  client: Client,
  { batch }: BatchStatusResponse,
  outputDir: string,
  csv: string,
): Promise<void> {
  const here = (path: string): string => relative(process.cwd(), path);
  const pairs: Pair[] = [
    ['artifacts', `${here(outputDir)}/<runner>/: trajectory, telemetry (Parquet) and log of every run`],
    ['results', `${here(csv)}: parameters and outputs of every run`],
  ];
  const first = { batch_id: [batch.id], status: ['Completed'] } as const;
  for await (const { run_config, assigned_runner } of client.jobs(first, { pageSize: 1 })) {
    const { run_id } = run_config;
    const flown = `e.g. run ${run_id} (flown by ${assigned_runner ?? '?'})`;
    pairs.push(
      ['one run', `its parameters depend only on the study's seed and its number, ${flown}:`],
      ['', `simbatch sample ${here(join(EXAMPLE, 'study.yaml'))} -f ndjson | sed -n ${run_id + 1}p`],
    );
    break;
  }
  await writeLine(`\n${renderPairs(pairs, outputWidth())}`);
}
