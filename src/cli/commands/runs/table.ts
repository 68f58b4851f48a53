/** `simbatch table`: the runs of a study as a table for people, or as JSON, NDJSON, CSV, Parquet or Arrow. */
import { extname } from 'node:path';
import { Command, Option } from 'commander';
import type { Client } from '../../../client/client.ts';
import { LIMITS } from '../../../contract/limits.ts';
import { TABLE_FORMATS, type TableFormat } from '../../../contract/enums.ts';
import type { StudyTable, TableColumn, Uuid } from '../../../contract/types.ts';
import { textOf } from '../../../domain/outputs.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { connect, endpointOption, integerBetween, texts } from '../../options.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { formatNumber, plural, printable } from '../../terminal/format.ts';
import { type Put, writeFileFrom } from '../../terminal/output-file.ts';
import { note, write, writeJson, writeLine } from '../../terminal/output.ts';
import { type Column, writeTable } from '../../terminal/table.ts';
import { given } from '../analysis/answer-command.ts';
import { summaryLines } from '../analysis/summary.ts';

const FORMATS = ['table', ...TABLE_FORMATS] as const;
type Format = (typeof FORMATS)[number];

interface TableFlags {
  endpoint?: string;
  columns?: string[];
  where?: string;
  sort?: string[];
  limit?: number;
  family?: boolean;
  format?: Format;
  output?: string;
  summary?: boolean;
}

export function tableCommand(): Command {
  return new Command('table')
    .description('the runs of a study, one row each: states, parameters, outputs')
    .argument('<batch>', BATCH_ARGUMENT)
    .addOption(new Option('--columns <names>', 'only these, by comma or repetition').argParser(texts))
    .option('--where <condition>', 'only these runs, such as "outputs.miss_m > 50 and class = ok"')
    .addOption(new Option('--sort <columns>', 'such as -outputs.miss_m: descending').argParser(texts))
    .addOption(new Option('--limit <n>', 'at most this many runs').argParser(integerBetween(1, 2 ** 31 - 1)))
    .option('--family', 'with the extensions and reruns of the study: the latest of each run')
    .addOption(new Option('--format <format>', 'how to print').choices(FORMATS))
    .option('-o, --output <file>', 'write to this file, in the format of its extension; or a format, to print in it')
    .option('--summary', 'statistics of the outputs instead of the runs, as table or json')
    .addOption(endpointOption())
    .action(async (reference: string, flags: TableFlags) => {
      const { format, file } = destinationOf(flags);
      const client = await connect(flags);
      const batchId = await resolveBatch(client, reference);
      if (flags.summary === true) return showSummary(client, batchId, format);
      if (format === 'table') return showTable(client, batchId, flags);
      const fill = async (put: Put): Promise<void> => {
        for await (const piece of runsAs(client, batchId, format, flags)) await put(piece);
      };
      return file === undefined ? fill(write) : writeFileFrom(file, fill);
    });
}

const EXTENSIONS: Readonly<Record<string, TableFormat>> = {
  '.json': 'json',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.csv': 'csv',
  '.parquet': 'parquet',
  '.arrow': 'arrow',
  '.arrows': 'arrow',
};

const isFormat = (text: string): text is Format => (FORMATS as readonly string[]).includes(text);

/** `--output` is a format, as with the other commands, or a file. @throws Failure when the options contradict each other */
function destinationOf({ format, output, summary = false }: TableFlags): { format: Format; file: string | undefined } {
  const isNamed = output !== undefined && isFormat(output);
  if (isNamed && format !== undefined && format !== output)
    throw new Failure(EXIT.usage, `the format is given twice: ${format} and ${output}; give one`);
  const file = isNamed ? undefined : output;
  const chosen = format ?? (isNamed ? output : file === undefined ? 'table' : EXTENSIONS[extname(file).toLowerCase()]);
  if (chosen === undefined)
    throw new Failure(EXIT.usage, `the format of ${file} is unknown: give --format ${TABLE_FORMATS.join(', ')}`);
  if (summary && ((chosen !== 'table' && chosen !== 'json') || file !== undefined))
    throw new Failure(EXIT.usage, '--summary is printed as table or json');
  if (chosen === 'table' && file !== undefined)
    throw new Failure(EXIT.usage, `a table cannot be written to a file: give --format ${TABLE_FORMATS.join(', ')}`);
  if ((chosen === 'parquet' || chosen === 'arrow') && file === undefined && process.stdout.isTTY)
    throw new Failure(
      EXIT.usage,
      `${chosen} is binary and not for a terminal: give --output FILE, or redirect it with > FILE`,
    );
  return { format: chosen, file };
}

const queryOf = ({ columns, where, sort, family }: TableFlags) =>
  given({ columns, where, sort, family: family === true ? ('true' as const) : undefined });

/** The bytes of a table. With a limit beyond one page it is read to the limit, which pages cannot be in every format. */
function runsAs(client: Client, batchId: Uuid, format: TableFormat, flags: TableFlags): AsyncIterable<Uint8Array> {
  const { limit } = flags;
  if (limit !== undefined && limit > LIMITS.pageSize)
    throw new Failure(EXIT.usage, `--limit is at most ${LIMITS.pageSize} in a file; select runs with --where`);
  return client.analysis.table(batchId, { ...queryOf(flags), format, ...given({ limit }) });
}

/** The runs of a study as a CSV file. */
export async function writeRunsFile(client: Client, batchId: Uuid, path: string): Promise<void> {
  await writeFileFrom(path, async (put) => {
    for await (const piece of client.analysis.table(batchId, { format: 'csv' })) await put(piece);
  });
}

async function showSummary(client: Client, batchId: Uuid, format: Format): Promise<void> {
  const summary = await client.analysis.summary(batchId);
  if (format === 'json') return writeJson(summary);
  for (const line of summaryLines(summary)) await writeLine(line);
}

/** Runs read at once. */
const PAGE = 500;
/** Without `--columns`: more outputs are not readable side by side. */
const SHOWN_OUTPUTS = 6;
const SHOWN = new Set(['run_id', 'class', 'execution_secs']);

async function showTable(client: Client, batchId: Uuid, flags: TableFlags): Promise<void> {
  const limit = flags.limit ?? Infinity;
  const size = Math.min(PAGE, limit);
  const query = { ...queryOf(flags), limit: size };
  const first = await client.analysis.tablePage(batchId, query);
  for (const { message } of first.table.warnings) note(`note: ${printable(message)}`);
  const { columns, omitted } = shownColumns(first.table, flags);
  async function* rows(): AsyncGenerator<string[]> {
    let page = first;
    for (let left = limit; ;) {
      const shown = page.table.rows.slice(0, left);
      for (const row of shown) yield columns.map((it) => cellText(row[it.name], it));
      left -= shown.length;
      if (page.next === undefined || left === 0) return;
      page = await client.analysis.tablePage(batchId, { ...query, cursor: page.next });
    }
  }
  const count = await writeTable(columns.map(heading), rows());
  if (count === 0)
    note(flags.where === undefined ? 'the study has no runs' : `none of ${plural(first.table.of, 'run')} is selected`);
  else if (count < first.table.matched) note(`${count} of ${plural(first.table.matched, 'run')} shown`);
  if (omitted > 0)
    note(`${plural(omitted, 'further output')}: name them with --columns, or write a file with --output runs.csv`);
}

function shownColumns(
  { columns, rows }: StudyTable,
  { columns: named }: TableFlags,
): { columns: TableColumn[]; omitted: number } {
  if (named !== undefined) return { columns, omitted: 0 };
  const outputs = columns.filter((it) => it.name.startsWith('outputs.'));
  const hasErrors = rows.some((it) => it['error_message'] !== null);
  const shown = new Set(outputs.slice(0, SHOWN_OUTPUTS));
  return {
    columns: [
      ...columns.filter((it) => SHOWN.has(it.name) || shown.has(it)),
      ...columns.filter((it) => hasErrors && it.name === 'error_message'),
    ],
    omitted: outputs.length - shown.size,
  };
}

/** The name as conditions have it, with its units. */
function heading({ name, type, units }: TableColumn): Column {
  const text = units === null ? name : `${name} [${units}]`;
  return { name: printable(text), verbatim: true, align: type === 'number' || type === 'integer' ? 'right' : 'left' };
}

function cellText(value: unknown, { type }: TableColumn): string {
  if (typeof value === 'number') return type === 'integer' ? String(value) : formatNumber(value);
  return textOf(value) ?? '-';
}
