/** `simbatch table`: the runs of a study as a table for people, or as JSON, NDJSON, CSV, Parquet or Arrow. */
import { Option, type Command } from 'commander';
import { given } from '../../../base/given.ts';
import type { Client } from '../../../client/client.ts';
import { LIMITS } from '../../../contract/limits.ts';
import { RUN_COLUMN_NAMES, TABLE_FORMATS, type TableFormat } from '../../../contract/enums.ts';
import type { StudyTable, TableColumn, Uuid } from '../../../contract/types.ts';
import { textOf } from '../../../domain/runs/outputs.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { clientCommand, connect, integerBetween, texts, type ClientFlags } from '../../options.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { formatNumber, plural, printable } from '../../terminal/format.ts';
import { statusTone, type Tone } from '../../terminal/colour.ts';
import { note, writeData, writeJson, writeLine, writeText } from '../../terminal/output.ts';
import { tableOptions, type Column, writeTable } from '../../terminal/table.ts';
import { answerLines, answerOf } from '../../progress/answer-line.ts';
import { summaryLines } from '../../study/summary-lines.ts';

/** The formats of runs. */
export const RUN_FORMATS = ['table', 'wide', ...TABLE_FORMATS, 'name'] as const;
type Format = (typeof RUN_FORMATS)[number];

export interface TableFlags extends ClientFlags {
  columns?: string[];
  where?: string;
  sort?: string[];
  limit?: number;
  family?: boolean;
  format: Format;
  summary?: boolean;
}

export function tableCommand(): Command {
  return clientCommand('table', 'the runs of a study, one row each: states, reasons, parameters, outputs', RUN_FORMATS)
    .argument('<study>', BATCH_ARGUMENT)
    .addOption(new Option('--columns <names>', 'only these, by comma or repetition').argParser(texts))
    .option('--where <condition>', 'only these runs, such as "outputs.miss_m > 50 and class = ok"')
    .addOption(new Option('--sort <columns>', 'such as -outputs.miss_m: descending').argParser(texts))
    .addOption(new Option('--limit <n>', 'at most this many runs').argParser(integerBetween(1, 2 ** 31 - 1)))
    .option('--family', 'with the extensions and reruns of the study: the latest of each run')
    .option('--summary', 'statistics of the outputs instead of the runs, as table or json')
    .action(async (reference: string, flags: TableFlags) => {
      const { format, summary = false } = flags;
      if (summary && format !== 'table' && format !== 'wide' && format !== 'json')
        throw new Failure(EXIT.usage, '--summary is printed as table or json');
      const client = await connect(flags);
      const batchId = await resolveBatch(client, reference);
      return summary ? showSummary(client, batchId, format) : showRuns(client, batchId, flags);
    });
}

/** Prints the selected runs in the format of the flags. */
export async function showRuns(client: Client, batchId: Uuid, flags: TableFlags): Promise<void> {
  const { format } = flags;
  if (format === 'table' || format === 'wide') return showTable(client, batchId, flags);
  if (format === 'name') return showNames(client, batchId, flags);
  for await (const piece of runsAs(client, batchId, format, flags)) await writeData(piece);
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

async function showSummary(client: Client, batchId: Uuid, format: Format): Promise<void> {
  const summary = await client.analysis.ask('summary', batchId);
  if (format === 'json') return writeJson(summary);
  const first = answerLines(await answerOf(client, batchId));
  return writeText([...first, ...summaryLines(summary, tableOptions(format))]);
}

/** Runs read at once. */
const PAGE = 500;
/** Outputs in a table without `--columns`: more are not readable side by side. */
const SHOWN_OUTPUTS = 6;
const SHOWN = new Set(['run_id', 'class', 'execution_secs']);
/** Why runs failed: shown where any did. */
const WHERE_PRESENT = new Set(['reason', 'terminated_by', 'error_message']);

async function showTable(client: Client, batchId: Uuid, flags: TableFlags): Promise<void> {
  const isWide = flags.format === 'wide';
  const { first, rows } = await openRows(client, batchId, flags);
  for (const { message } of first.warnings) note(`note: ${printable(message)}`);
  const shown = isWide ? first.columns : shownColumns(first, flags);
  async function* cells(): AsyncGenerator<string[]> {
    for await (const row of rows) yield shown.map((it) => cellText(row[it.name], it));
  }
  const named = flags.columns !== undefined;
  const columns = shown.map((it, at) => columnOf(it, named ? undefined : at));
  const { count, omitted } = await writeTable(columns, cells(), tableOptions(isWide ? 'wide' : 'table'));
  if (count === 0)
    note(flags.where === undefined ? 'the study has no runs' : `none of ${plural(first.of, 'run')} is selected`);
  else if (count < first.matched) note(`${count} of ${plural(first.matched, 'run')} shown`);
  const missing = outputsIn(first.columns) - outputsIn(shown) + omitted.filter((it) => it.startsWith(OUTPUT)).length;
  if (missing > 0) note(`${plural(missing, 'further output')}: name them with --columns, or see all with -f wide`);
  const rest = omitted.filter((it) => !it.startsWith(OUTPUT));
  if (rest.length > 0) note(`without ${rest.join(', ')}, for which the terminal is too narrow: -f wide`);
}

/** The first page, and all rows up to the limit as they arrive. */
async function openRows(
  client: Client,
  batchId: Uuid,
  flags: TableFlags,
): Promise<{ first: StudyTable; rows: AsyncGenerator<StudyTable['rows'][number]> }> {
  const limit = flags.limit ?? Infinity;
  const query = { ...queryOf(flags), limit: Math.min(PAGE, limit) };
  const first = await client.analysis.tablePage(batchId, query);
  async function* rows(): AsyncGenerator<StudyTable['rows'][number]> {
    let page = first;
    for (let left = limit; ;) {
      const shown = page.table.rows.slice(0, left);
      yield* shown;
      left -= shown.length;
      if (page.next === undefined || left === 0) return;
      page = await client.analysis.tablePage(batchId, { ...query, cursor: page.next });
    }
  }
  return { first: first.table, rows: rows() };
}

/** The names of the runs, as other commands take them. */
async function showNames(client: Client, batchId: Uuid, flags: TableFlags): Promise<void> {
  const { rows } = await openRows(client, batchId, { ...flags, columns: ['batch_id', 'run_id'] });
  for await (const row of rows) await writeLine(`${String(row['batch_id'])}/${String(row['run_id'])}`);
}

const OUTPUT = 'outputs.';
const outputsIn = (columns: readonly TableColumn[]): number =>
  columns.filter((it) => it.name.startsWith(OUTPUT)).length;

/** True for the column of an axis of scenarios. */
const isAxis = ({ name }: TableColumn): boolean =>
  !RUN_COLUMN_NAMES.some((it) => it === name) && !name.startsWith(OUTPUT) && !name.startsWith('parameters.');

/** The run, the cell, its state, why it failed where any did, and the first outputs. */
function shownColumns({ columns, rows }: StudyTable, { columns: named }: TableFlags): TableColumn[] {
  if (named !== undefined) return columns;
  const outputs = new Set(columns.filter((it) => it.name.startsWith(OUTPUT)).slice(0, SHOWN_OUTPUTS));
  const isPresent = ({ name }: TableColumn): boolean => rows.some((it) => it[name] !== null && it[name] !== undefined);
  return columns.filter(
    (it) => SHOWN.has(it.name) || isAxis(it) || (WHERE_PRESENT.has(it.name) && isPresent(it)) || outputs.has(it),
  );
}

/** The name as conditions have it, with its units. A column without `place` was asked for and stays. */
function columnOf({ name, type, units }: TableColumn, place: number | undefined): Column {
  const text = units === null ? name : `${name} [${units}]`;
  const isText = type !== 'number' && type !== 'integer';
  return {
    name: printable(text),
    verbatim: true,
    align: isText ? 'left' : 'right',
    ...(isText && name !== 'class' && name !== 'status' ? { shrink: name === 'error_message' ? 30 : 20 } : {}),
    ...(place === undefined || name === 'run_id' || name === 'class' ? {} : { rank: rankOf(name, place) }),
    ...(name === 'class' ? { tone: classTone } : name === 'status' ? { tone: statusTone } : {}),
  };
}

/** The time gives way first, then the reason, which the class repeats, the last outputs, and the messages. */
const rankOf = (name: string, place: number): number =>
  name === 'execution_secs' ? 1000 : name === 'reason' ? 900 : name.startsWith(OUTPUT) ? 10 + place : 5;

const classTone = (text: string): Tone | undefined =>
  text === 'ok' ? 'good' : text === 'open' ? 'active' : text === 'cancelled' ? 'warning' : 'bad';

function cellText(value: unknown, { type }: TableColumn): string {
  if (typeof value === 'number') return type === 'integer' ? String(value) : formatNumber(value);
  return textOf(value) ?? '-';
}
