/** `simbatch run`: executes a study file on this machine, or shows one run with its parameters, attempts and result. */
import { extname } from 'node:path';
import { Option } from 'commander';
import type { Command } from 'commander';
import { runIdOf } from '../../../domain/ids.ts';
import { ApiError, type Client } from '../../../client/client.ts';
import type {
  Attempt,
  Job,
  JobHistory,
  JobResult,
  LiveTelemetry,
  ReportedResult,
  TelemetryCounts,
  Termination,
  Uuid,
} from '../../../contract/types.ts';
import { scenarioText } from '../../../domain/scenarios/cells.ts';
import { formatDuration, formatNumber, formatTimestamp, printable } from '../../terminal/format.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { clientCommand, connect, integerBetween } from '../../options.ts';
import { paint, statusTone } from '../../terminal/colour.ts';
import { outputWidth, writeJson, writeLine } from '../../terminal/output.ts';
import { JOB_ARGUMENT, resolveJob } from '../../study/references.ts';
import { renderPairs, renderTable, type Column, type Pair } from '../../terminal/table.ts';

type RunFlags = Parameters<(typeof import('./local/run-study.ts'))['runStudy']>[1];

/** More simulations at once than any machine executes. */
const MOST_WORKERS = 10_000;

export function runCommand(): Command {
  const command = clientCommand(
    'run',
    'execute a study file here, with a coordinator, a runner and the dashboard of its own; or show one run with its parameters, attempts and result',
  ).argument('<study file|run>', `a study file (.yaml, .yml, .json); or ${JOB_ARGUMENT}`);
  for (const option of STUDY_OPTIONS) command.addOption(option);
  return command.action(async (reference: string, flags: RunFlags) => {
    if (isStudyFile(reference)) {
      const { runStudy } = await import('./local/run-study.ts');
      return runStudy(reference, flags);
    }
    refuseStudyOptions(command, reference);
    const client = await connect(flags);
    const jobId = await resolveJob(client, reference);
    const [job, history, result] = await Promise.all([
      client.job(jobId),
      client.jobHistory(jobId),
      resultOf(client, jobId),
    ]);
    const live = job.status === 'Running' ? await liveOf(client, jobId) : undefined;
    if (flags.format === 'json') {
      return writeJson({ job, history, result, ...(typeof live === 'object' ? { live_telemetry: live } : {}) });
    }
    await writeLine(renderPairs(jobPairs(job), outputWidth()));
    await section('parameters', parameterLines(job));
    await section('attempts', attemptLines(history, job.reused_from !== undefined));
    if (live !== undefined) await section('live telemetry', typeof live === 'string' ? live : liveLines(live));
    if (result !== null) await section('result', resultLines(result));
  });
}

/** The options of a study file; a run takes none of them. */
const STUDY_OPTIONS = [
  new Option(
    '--entrypoint <path>',
    'the simulation (default: a file beside the study with its name, as simbatch init writes it)',
  ),
  new Option('--workers <n>', 'runs at once (default: CPU cores)').argParser(integerBetween(1, MOST_WORKERS)),
  new Option('--continue', 'continue the study of the same design in place of another one'),
  new Option('--strict', 'exit with 3 when the study is Completed but runs failed'),
  new Option('--exit', 'end with the study; else, on a terminal, the dashboard stays until Ctrl-C'),
  new Option('--no-browser', 'open no browser'),
  new Option('--python-executable <program>', 'interpreter of Python simulations (default: python3, then python)'),
];

/** True for an argument that names a study file and not a run. */
const isStudyFile = (reference: string): boolean =>
  ['.yaml', '.yml', '.json'].includes(extname(reference).toLowerCase());

function refuseStudyOptions(command: Command, reference: string): void {
  const given = STUDY_OPTIONS.filter((it) => command.getOptionValueSource(it.attributeName()) === 'cli');
  if (given.length > 0)
    throw new Failure(
      EXIT.usage,
      `${given.map((it) => it.long).join(', ')}: only a study file takes it, and ${reference} names a run; give a file .yaml, .yml or .json`,
    );
}

async function resultOf(client: Client, jobId: Uuid): Promise<JobResult | null> {
  try {
    return await client.jobResult(jobId);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'result-not-ready') return null;
    throw error;
  }
}

/** The live telemetry, or why there is none; undefined where the study does not ask for it, or the run has ended by now. */
async function liveOf(client: Client, jobId: Uuid): Promise<LiveTelemetry | string | undefined> {
  try {
    return await client.files.liveTelemetry(jobId);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 'live-telemetry-unavailable') return error.message;
    // `not-found`: a coordinator of an older version.
    if (['live-telemetry-off', 'run-not-running', 'not-found'].includes(error.code)) return undefined;
    throw error;
  }
}

/** Columns by which a section is indented. */
const INDENT = 2;

async function section(title: string, lines: string): Promise<void> {
  if (lines !== '') await writeLine(`\n${paint(title, 'strong')}\n${lines.replaceAll(/^/gm, ' '.repeat(INDENT))}`);
}

function jobPairs(job: Job): Pair[] {
  const { run_config: run } = job;
  return [
    ['run', `${job.batch_id}/${run.run_id}`],
    ['job', job.id],
    ['status', job.status, statusTone(job.status)],
    ['simulation', `${run.metadata.simulation_name} ${run.metadata.simulation_version}`],
    [
      'sampling',
      `${run.metadata.sampling_method}${run.metadata.seed === undefined ? '' : `, seed ${run.metadata.seed}`}`,
    ],
    ['scenario', run.metadata.scenario && `${scenarioText(run.metadata.scenario)}, sample ${run.metadata.sample}`],
    ['retries', `${job.retries} of ${job.max_retries}`],
    ['time limit', job.timeout_secs === 0 ? 'none' : formatDuration(job.timeout_secs)],
    ['runner', job.assigned_runner],
    ['submitted', formatTimestamp(job.created_at)],
    ['claimed', job.claimed_at && formatTimestamp(job.claimed_at)],
    ['started', job.started_at && formatTimestamp(job.started_at)],
    ['ended', job.completed_at && formatTimestamp(job.completed_at)],
    [
      'result of',
      job.reused_from && `${job.reused_from.batch_id}/${runIdOf(job.reused_from.job_id)}, which was executed`,
    ],
    ['error', job.error_message, 'bad'],
  ];
}

// Parameters with all digits, so that they can be copied to repeat the run by hand.
const parameterLines = (job: Job): string =>
  renderPairs(
    Object.entries(job.run_config.parameters).map(([name, value]) => [printable(name), String(value)] as const),
    outputWidth() - INDENT,
  );

const ATTEMPTS: readonly Column[] = [
  { name: 'attempt', align: 'right' },
  { name: 'runner', shrink: 8 },
  { name: 'claimed (UTC)', rank: 1 },
  { name: 'ran', align: 'right' },
  { name: 'outcome', tone: (text) => (text === 'completed' ? 'good' : text === 'open' ? 'active' : 'bad') },
  { name: 'message', shrink: 30 },
];

function attemptLines(history: JobHistory, isReused: boolean): string {
  const row = ({ attempt, runner_id, claimed_at, outcome, message = '', ...rest }: Attempt): (string | number)[] => {
    const { started_at, ended_at } = rest;
    const took =
      started_at === undefined || ended_at === undefined
        ? undefined
        : (Date.parse(ended_at) - Date.parse(started_at)) / 1000;
    return [attempt, runner_id, formatTimestamp(claimed_at), formatDuration(took), outcome ?? 'open', message];
  };
  if (history.attempts.length === 0) return isReused ? 'none: it was not executed' : 'none yet';
  const table = renderTable(ATTEMPTS, history.attempts.map(row), { width: outputWidth() - INDENT });
  return history.attempts_omitted > 0 ? `${history.attempts_omitted} earlier attempts are not shown\n${table}` : table;
}

const resultLines = (result: JobResult): string =>
  renderPairs([['success', String(result.success)], ...resultPairs(result)]);

/** The members of a result, one per line: duration, values, derived outputs without one, samples, files. */
export function resultPairs(result: ReportedResult): Pair[] {
  const { execution_time_secs, metadata, output_files, telemetry, telemetry_data, would_terminate } = result;
  const missing = Object.entries(result.derived_missing ?? {});
  const values = Object.entries(metadata).map(([name, value]): Pair => [
    printable(name),
    typeof value === 'number' ? formatNumber(value, 10) : typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return [
    ['ran', formatDuration(execution_time_secs)],
    ...values,
    ...missing.map(([name, why]): Pair => [printable(name), `no value: ${printable(why)}`]),
    ['telemetry', telemetry_data ?? undefined],
    ['samples', telemetry === undefined ? undefined : countsOf(telemetry)],
    ['would have ended', would_terminate === undefined ? undefined : hitOf(would_terminate)],
    ...output_files.map((file): Pair => ['file', file]),
  ];
}

function countsOf({ samples, lost, refused, seen }: TelemetryCounts): string {
  const counts = [`${samples}`, ...(lost > 0 ? [`${lost} lost`] : []), ...(refused > 0 ? [`${refused} refused`] : [])];
  return `${counts.join(', ')}${seen.length === 0 ? '' : ` (${printable(seen.join(', '))})`}`;
}

const hitOf = ({ variable, condition, value, time_s }: Termination): string =>
  printable(`${variable} ${condition}: ${value === null ? 'infinite' : value} at ${time_s} s`);

const VARIABLES: readonly Column[] = [
  { name: 'variable', shrink: 12 },
  { name: 'samples', align: 'right' },
  { name: 'latest', align: 'right' },
  { name: 'least', align: 'right' },
  { name: 'greatest', align: 'right' },
  { name: 'ends the run', shrink: 12 },
];

/** The points of a view have the least and the greatest value of all samples, and the latest one. */
function liveLines({ variables, conditions, shadow, hit, omitted, lost, refused }: LiveTelemetry): string {
  const rows = variables.map(({ name, samples, values, reversals }) => [
    name,
    samples,
    // Points are in the order of time: the last one is the latest unless the time ran backwards.
    ...[reversals > 0 ? undefined : values.at(-1), least(values), greatest(values)].map((it) =>
      it === undefined ? '' : formatNumber(it),
    ),
    conditions.flatMap((it) => (it.variable === name ? [it.condition] : [])).join(', '),
  ]);
  const named = new Set(variables.filter(({ values }) => values.length > 0).map(({ name }) => name));
  const odd = variables.reduce((sum, it) => sum + it.not_finite, 0);
  return [
    variables.length === 0
      ? 'no sample has come yet'
      : renderTable(VARIABLES, rows, { width: outputWidth() - INDENT }).trimEnd(),
    ...conditions
      .filter((it) => !named.has(it.variable))
      .map((it) => printable(`no number of ${it.variable} has come: ${it.condition} has judged nothing`)),
    ...(shadow && conditions.length > 0 ? ['the conditions are in shadow and end no run'] : []),
    ...(hit === undefined ? [] : [`met: ${hitOf(hit)}`]),
    ...variables
      .filter((it) => it.reversals > 0)
      .map((it) =>
        printable(`the time of ${it.name} ran backwards ${it.reversals} times: its latest value is unknown`),
      ),
    ...(odd > 0 ? [`${odd} values are NaN or infinite and are left out`] : []),
    ...(omitted > 0 ? [`${omitted} more variables have no place in the view`] : []),
    ...(lost > 0 || refused > 0 ? [`${lost} samples were lost and ${refused} refused`] : []),
  ].join('\n');
}

const least = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : Math.min(...values);
const greatest = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : Math.max(...values);
