/** `simbatch histories`: the histories of a study, or the values of one of them in all runs, as a table or a file. */
import { Option, type Command } from 'commander';
import { given } from '../../../base/given.ts';
import { linesFrom } from '../../../base/text/lines.ts';
import type { Client } from '../../../client/client.ts';
import { HISTORY_FORMATS, type HistoryFormat } from '../../../contract/enums.ts';
import type { HistoryBand, HistoryConfig, Uuid } from '../../../contract/types.ts';
import { historyName, pointsOf } from '../../../domain/histories/points.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { clientCommand, connect, integerBetween, type ClientFlags } from '../../options.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { formatNumber } from '../../terminal/format.ts';
import { note, writeData, writeJson, writeLine } from '../../terminal/output.ts';
import { renderTable, tableOptions, type Cell, type Column, writeTable } from '../../terminal/table.ts';
import { sparkline } from './sparkline.ts';

interface Flags extends ClientFlags {
  where?: string;
  family?: boolean;
  wide?: boolean;
  limit?: number;
}

const FORMATS = ['table', 'wide', 'json', ...HISTORY_FORMATS];
const isFile = (format: string): format is HistoryFormat => HISTORY_FORMATS.some((it) => it === format);
const SPARK_WIDTH = 24;

export function historiesCommand(): Command {
  return clientCommand('histories', 'the histories of a study, or the values of one of them in all runs', FORMATS)
    .argument('<study>', BATCH_ARGUMENT)
    .argument('[name]', 'a history: its values, one run a row, or in a file one run and time a row; without it a list')
    .option('--where <condition>', 'values of these runs only, such as "outputs.miss_m > 50 and class = ok"')
    .option('--wide', 'in a file one run a row, with its values at all times')
    .addOption(
      new Option('--limit <n>', 'at most this many runs in the table').argParser(integerBetween(1, 2 ** 31 - 1)),
    )
    .option('--family', 'with the extensions and reruns of the study: the latest of each run')
    .action(async (reference: string, name: string | undefined, flags: Flags) => {
      requireMeaning(name, flags);
      const client = await connect(flags);
      const batchId = await resolveBatch(client, reference);
      if (name === undefined) return showList(client, batchId, flags);
      if (!isFile(flags.format)) return showRuns(client, batchId, name, flags);
      const query = { ...queryOf(name, flags), format: flags.format, ...given({ wide: asText(flags.wide) }) };
      for await (const piece of client.analysis.histories(batchId, query)) await writeData(piece);
    });
}

/** @throws Failure for options that would be ignored */
function requireMeaning(name: string | undefined, { format, where, wide, limit }: Flags): void {
  const refuse = (said: string): never => {
    throw new Failure(EXIT.usage, said);
  };
  if (name === undefined) {
    if (isFile(format)) refuse(`-f ${format} is for the values of one history: name it after the study`);
    const extra =
      where !== undefined ? '--where' : wide === true ? '--wide' : limit === undefined ? undefined : '--limit';
    if (extra !== undefined) refuse(`${extra} is for the values of one history: name it after the study`);
    return;
  }
  if (format === 'json')
    refuse(`-f json is for the list of histories: write the values with -f ${HISTORY_FORMATS.join(', ')}`);
  if (wide === true && !isFile(format)) refuse(`--wide is for files: add -f ${HISTORY_FORMATS.join(', ')}`);
  if (limit !== undefined && isFile(format)) refuse('--limit is for the table: select runs of a file with --where');
}

const asText = (flag: boolean | undefined): 'true' | undefined => (flag === true ? 'true' : undefined);
const queryOf = (name: string, { where, family }: Flags) => ({ name, ...given({ where, family: asText(family) }) });

/** A history of a study. */
interface Listed {
  name: string;
  variable: string;
  units: string | null;
  points: number;
  from: number;
  to: number;
  interpolation: string;
  origin: string | null;
  /** Completed runs that have a value at the time at which most of them have one. */
  n: number;
  /** Completed runs without a value at the last time. */
  ended: number;
}

async function showList(client: Client, batchId: Uuid, flags: Flags): Promise<void> {
  const { config } = await client.submission(batchId);
  const listed: Listed[] = [];
  for (const history of config.histories ?? []) {
    const query = { history: historyName(history), quantiles: [0.5], ...given({ family: asText(flags.family) }) };
    listed.push(listedOf(history, await client.analysis.ask('band', batchId, query)));
  }
  if (flags.format === 'json') return writeJson(listed);
  if (listed.length === 0)
    return note('the study declares no histories: name telemetry variables in config.histories, docs/histories.md');
  return writeLine(renderTable(LIST_COLUMNS, listed.map(listRow), tableOptions(flags.format)));
}

/** A history with the counts of its band. */
export function listedOf(
  history: HistoryConfig,
  { n, ended, units }: Pick<HistoryBand, 'n' | 'ended' | 'units'>,
): Listed {
  const times = pointsOf(history.at);
  return {
    name: historyName(history),
    variable: history.variable,
    units,
    points: times.length,
    from: times[0]!,
    to: times.at(-1)!,
    interpolation: history.interpolation ?? 'linear',
    origin: history.origin ?? null,
    n: n.reduce((most, it) => Math.max(most, it), 0),
    ended: ended.at(-1) ?? 0,
  };
}

const right = (name: string, more: Partial<Column> = {}): Column => ({ name, align: 'right', ...more });

const LIST_COLUMNS: readonly Column[] = [
  { name: 'name' },
  { name: 'variable', rank: 3 },
  { name: 'units' },
  right('points'),
  right('from s', { rank: 2 }),
  right('to s', { rank: 2 }),
  right('runs'),
  right('ended'),
  { name: 'between samples', wide: true },
  { name: 'origin', wide: true },
];

const listRow = (it: Listed): Cell[] => [
  it.name,
  it.variable,
  it.units ?? '-',
  it.points,
  formatNumber(it.from, 6),
  formatNumber(it.to, 6),
  it.n,
  it.ended,
  it.interpolation,
  it.origin ?? '-',
];

/** A run as NDJSON has it. */
interface RunValues {
  run_id: number;
  replicate?: number;
  values: readonly (number | string | null)[];
}

async function showRuns(client: Client, batchId: Uuid, name: string, flags: Flags): Promise<void> {
  const query = { ...queryOf(name, flags), format: 'ndjson', wide: 'true' } as const;
  const { limit = Infinity, family = false } = flags;
  const columns: Column[] = [
    right('run'),
    ...(family ? [right('replicate', { rank: 1 })] : []),
    right('values'),
    right('first'),
    right('last'),
    right('least'),
    right('greatest'),
    { name: 'course', rank: 4 },
  ];
  let hasMore = false;
  async function* rows(): AsyncGenerator<Cell[]> {
    let shown = 0;
    for await (const line of linesFrom(client.analysis.histories(batchId, query))) {
      hasMore = shown === limit;
      if (hasMore) return;
      shown += 1;
      const run = JSON.parse(line) as RunValues;
      yield [run.run_id, ...(family ? [run.replicate ?? 0] : []), ...valueCells(run.values)];
    }
  }
  const { count } = await writeTable(columns, rows(), tableOptions(flags.format));
  if (count === 0) note('no run with values: none has ended, left any, or is selected');
  else if (hasMore) note(`the first ${count} runs are shown`);
}

/** Number of values, first, last, least, greatest, and their course as a line of characters. */
export function valueCells(values: RunValues['values']): Cell[] {
  const numbers = values.map((it) => (it === null ? null : Number(it)));
  const present = numbers.filter((it) => it !== null);
  const cells = [
    present[0],
    present.at(-1),
    ...(present.length === 0 ? [undefined, undefined] : [least(present), greatest(present)]),
  ];
  const finite = numbers.map((it) => (it !== null && Number.isFinite(it) ? it : null));
  const texts = cells.map((it) => (it === undefined ? '-' : Number.isFinite(it) ? formatNumber(it) : String(it)));
  return [present.length, ...texts, sparkline(finite, SPARK_WIDTH)];
}

const least = (values: readonly number[]): number => values.reduce((low, it) => Math.min(low, it), Infinity);
const greatest = (values: readonly number[]): number => values.reduce((high, it) => Math.max(high, it), -Infinity);
