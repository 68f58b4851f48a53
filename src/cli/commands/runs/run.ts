/** `simbatch run`: shows one run with its parameters, attempts and result. */
import type { Command } from 'commander';
import { ApiError, type Client } from '../../../client/client.ts';
import type {
  Attempt,
  Job,
  JobHistory,
  JobResult,
  TelemetryCounts,
  Termination,
  Uuid,
} from '../../../contract/types.ts';
import { formatDuration, formatNumber, formatTimestamp, printable } from '../../terminal/format.ts';
import { clientCommand, connect, type ClientFlags } from '../../options.ts';
import { paint, statusTone } from '../../terminal/colour.ts';
import { outputWidth, writeJson, writeLine } from '../../terminal/output.ts';
import { JOB_ARGUMENT, resolveJob } from '../../study/references.ts';
import { renderPairs, renderTable, type Column, type Pair } from '../../terminal/table.ts';

export function runCommand(): Command {
  return clientCommand('run', 'show one run with its parameters, attempts and result')
    .argument('<run>', JOB_ARGUMENT)
    .action(async (reference: string, flags: ClientFlags) => {
      const client = await connect(flags);
      const jobId = await resolveJob(client, reference);
      const [job, history, result] = await Promise.all([
        client.job(jobId),
        client.jobHistory(jobId),
        resultOf(client, jobId),
      ]);
      if (flags.output === 'json') return writeJson({ job, history, result });
      await writeLine(renderPairs(jobPairs(job), outputWidth()));
      await section('parameters', parameterLines(job));
      await section('attempts', attemptLines(history));
      if (result !== null) await section('result', resultLines(result));
    });
}

async function resultOf(client: Client, jobId: Uuid): Promise<JobResult | null> {
  try {
    return await client.jobResult(jobId);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'result-not-ready') return null;
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
    ['retries', `${job.retries} of ${job.max_retries}`],
    ['time limit', job.timeout_secs === 0 ? 'none' : formatDuration(job.timeout_secs)],
    ['runner', job.assigned_runner],
    ['submitted', formatTimestamp(job.created_at)],
    ['claimed', job.claimed_at && formatTimestamp(job.claimed_at)],
    ['started', job.started_at && formatTimestamp(job.started_at)],
    ['ended', job.completed_at && formatTimestamp(job.completed_at)],
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

function attemptLines(history: JobHistory): string {
  const row = ({ attempt, runner_id, claimed_at, outcome, message = '', ...rest }: Attempt): (string | number)[] => {
    const { started_at, ended_at } = rest;
    const took =
      started_at === undefined || ended_at === undefined
        ? undefined
        : (Date.parse(ended_at) - Date.parse(started_at)) / 1000;
    return [attempt, runner_id, formatTimestamp(claimed_at), formatDuration(took), outcome ?? 'open', message];
  };
  if (history.attempts.length === 0) return 'none yet';
  const table = renderTable(ATTEMPTS, history.attempts.map(row), { width: outputWidth() - INDENT });
  return history.attempts_omitted > 0 ? `${history.attempts_omitted} earlier attempts are not shown\n${table}` : table;
}

function resultLines(result: JobResult): string {
  const { success, execution_time_secs, metadata, output_files, telemetry, telemetry_data, would_terminate } = result;
  const values = Object.entries(metadata).map(([name, value]): [string, string] => [
    printable(name),
    typeof value === 'number' ? formatNumber(value, 10) : typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return renderPairs([
    ['success', String(success)],
    ['ran', formatDuration(execution_time_secs)],
    ...values,
    ['telemetry', telemetry_data ?? undefined],
    ['samples', telemetry === undefined ? undefined : countsOf(telemetry)],
    ['would have ended', would_terminate === undefined ? undefined : hitOf(would_terminate)],
    ...output_files.map((file): [string, string] => ['file', file]),
  ]);
}

function countsOf({ samples, lost, refused, seen }: TelemetryCounts): string {
  const counts = [`${samples}`, ...(lost > 0 ? [`${lost} lost`] : []), ...(refused > 0 ? [`${refused} refused`] : [])];
  return `${counts.join(', ')}${seen.length === 0 ? '' : ` (${printable(seen.join(', '))})`}`;
}

const hitOf = ({ variable, condition, value, time_s }: Termination): string =>
  printable(`${variable} ${condition}: ${value === null ? 'infinite' : value} at ${time_s} s`);
