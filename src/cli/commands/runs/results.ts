/** `simbatch results`: outputs of the runs of a study as a table, JSON, CSV or NDJSON, or their statistics. */
import { Option, type Command } from 'commander';
import type { Client } from '../../../client/client.ts';
import { runIdOf } from '../../../domain/ids.ts';
import { outputsOf, textOf } from '../../../domain/outputs.ts';
import { stringifyExact } from '../../../base/json-writing.ts';
import type { Job, JobResult, Uuid } from '../../../contract/types.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { formatDuration, formatNumber } from '../../terminal/format.ts';
import { clientCommand, connect, type ClientFlags } from '../../options.ts';
import { csvField } from '../../../base/csv.ts';
import { writeFileFrom } from '../../terminal/output-file.ts';
import { note, write, writeJson, writeJsonArray, writeLine } from '../../terminal/output.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { summaryLines } from '../analysis/summary.ts';
import { writeTable, type Column } from '../../terminal/table.ts';

const FORMATS = ['table', 'json', 'csv', 'ndjson'] as const;

interface ResultsFlags extends ClientFlags {
  format?: string;
  summary?: boolean;
  parameters?: boolean;
}

/** A result, with the sampled parameters of its run on request. */
interface Outcome {
  result: JobResult;
  parameters?: Record<string, number>;
}

export function resultsCommand(): Command {
  return clientCommand('results', 'print the results of a batch', FORMATS)
    .argument('<batch>', BATCH_ARGUMENT)
    .addOption(new Option('--format <format>', 'the same as --output').choices(FORMATS))
    .option('--summary', 'statistics of the outputs instead of the runs')
    .option('--parameters', "with csv, json and ndjson: each run's sampled parameters beside its results")
    .action(async (reference: string, flags: ResultsFlags) => {
      const format = flags.format ?? flags.output;
      if (flags.summary === true && format !== 'table' && format !== 'json')
        throw new Failure(EXIT.usage, '--summary is printed as table or json');
      if (flags.parameters === true && (format === 'table' || flags.summary === true)) {
        throw new Failure(EXIT.usage, '--parameters needs --output csv, json or ndjson');
      }
      const client = await connect(flags);
      const batchId = await resolveBatch(client, reference);
      if (flags.summary === true) return showSummary(client, batchId, format);
      return showResults(client, batchId, format, flags.parameters ?? false);
    });
}

async function showSummary(client: Client, batchId: Uuid, format: string): Promise<void> {
  const summary = await client.analysis.summary(batchId);
  if (format === 'json') return writeJson(summary);
  for (const line of summaryLines(summary)) await writeLine(line);
}

async function showResults(client: Client, batchId: Uuid, format: string, withParameters: boolean): Promise<void> {
  const outcomes = (): AsyncIterable<Outcome> => {
    const results = client.batchResults(batchId);
    return withParameters ? joined(results, client.jobs({ batch_id: [batchId] })) : alone(results);
  };
  switch (format) {
    case 'csv':
      return writeCsv(outcomes, write);
    case 'ndjson':
      for await (const outcome of outcomes()) await write(`${stringifyExact(flat(outcome))}\n`);
      return undefined;
    case 'json':
      return writeJsonArray(mapped(outcomes(), flat));
    default: {
      const count = await writeTable(
        COLUMNS,
        mapped(outcomes(), ({ result }) => tableRow(result)),
      );
      if (count > 0) return undefined;
      const { batch } = await client.batch(batchId);
      const isOpen = batch.status === 'Pending' || batch.status === 'Running';
      note(isOpen ? 'the batch has no results yet' : `the batch is ${batch.status} and has no results`);
    }
  }
  return undefined;
}

const flat = ({ result, parameters }: Outcome): object => ({
  ...result,
  ...(parameters === undefined ? {} : { parameters }),
});

async function* mapped<T, U>(items: AsyncIterable<T>, change: (item: T) => U): AsyncGenerator<U> {
  for await (const item of items) yield change(item);
}

async function* alone(results: AsyncIterable<JobResult>): AsyncGenerator<Outcome> {
  for await (const result of results) yield { result };
}

/** Joins both lists in one pass: both are in the order of the runs. */
async function* joined(results: AsyncIterable<JobResult>, jobs: AsyncIterable<Job>): AsyncGenerator<Outcome> {
  const rest = jobs[Symbol.asyncIterator]();
  try {
    for await (const result of results) {
      let next = await rest.next();
      while (next.done !== true && next.value.id < result.job_id) next = await rest.next();
      if (next.done === true || next.value.id !== result.job_id)
        throw new Error(`the coordinator lists a result of ${result.job_id}, but no such job`);
      yield { result, parameters: next.value.run_config.parameters };
    }
  } finally {
    await rest.return?.();
  }
}

const COLUMNS: readonly Column[] = [
  { name: 'run', align: 'right' },
  { name: 'result' },
  { name: 'ran', align: 'right' },
  { name: 'files', align: 'right' },
  { name: 'outputs' },
];

function tableRow(result: JobResult): (string | number)[] {
  const outputs = [...outputsOf(result.metadata)].map(
    ([name, value]) => `${name}=${typeof value === 'number' ? formatNumber(value) : textOf(value)}`,
  );
  const said = result.success ? outputs.join(' ') : (result.error_message ?? '');
  return [
    runIdOf(result.job_id),
    result.success ? 'ok' : 'failed',
    formatDuration(result.execution_time_secs),
    result.output_files.length,
    said,
  ];
}

/** The parameters and results of every run as a CSV file. */
export async function writeResultsFile(client: Client, batchId: Uuid, path: string): Promise<void> {
  await writeFileFrom(path, (put) =>
    writeCsv(() => joined(client.batchResults(batchId), client.jobs({ batch_id: [batchId] })), put),
  );
}

/** Reads the results twice, so that every output gets a column without holding the results in memory. */
async function writeCsv(outcomes: () => AsyncIterable<Outcome>, put: (text: string) => Promise<void>): Promise<void> {
  const parameterNames = new Set<string>();
  const outputNames = new Set<string>();
  for await (const { result, parameters } of outcomes()) {
    for (const name of Object.keys(parameters ?? {})) parameterNames.add(name);
    for (const name of outputsOf(result.metadata).keys()) outputNames.add(name);
  }
  const [inputs, outputs] = [[...parameterNames], [...outputNames]];
  const fixed = [
    'run_id',
    'job_id',
    'success',
    'execution_time_secs',
    'error_message',
    'telemetry_data',
    'output_files',
  ];
  // Prefixed, so that an input and an output of the same name have different columns.
  const heads = [...fixed, ...inputs.map((name) => `parameters.${name}`), ...outputs.map((name) => `metadata.${name}`)];
  await put(`${heads.map(csvField).join(',')}\r\n`);
  for await (const { result, parameters = {} } of outcomes()) {
    const { job_id, success, execution_time_secs, error_message = '', telemetry_data = '', output_files } = result;
    const values = outputsOf(result.metadata);
    const record = [
      runIdOf(job_id),
      job_id,
      success,
      execution_time_secs,
      error_message,
      telemetry_data,
      output_files.join(';'),
      ...inputs.map((name) => (Object.hasOwn(parameters, name) ? parameters[name] : undefined)),
      ...outputs.map((name) => textOf(values.get(name))),
    ];
    await put(`${record.map(csvField).join(',')}\r\n`);
  }
}
