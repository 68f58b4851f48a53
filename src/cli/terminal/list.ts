/** Prints a list in every format that lists have: for people, for programs, and the names alone; and the line for an empty list. */
import { csvField } from '../../base/text/csv.ts';
import { printable } from './format.ts';
import { note, writeData, writeJsonArray, writeJsonLines, writeLine } from './output.ts';
import { tableOptions, writeTable, type Cell, type Column } from './table.ts';

export const LIST_FORMATS = ['table', 'wide', 'json', 'ndjson', 'csv', 'name'] as const;

type Value = string | number | boolean | null | undefined;

/** A column of a list: `value` is that of CSV, under the name in snake_case; people get `cell` where there is one. */
export interface ListColumn<T> extends Column {
  /** Name in CSV. */
  key: string;
  value: (item: T) => Value;
  cell?: (item: T) => Cell;
}

export interface Listed<T> {
  columns: readonly ListColumn<T>[];
  /** The name of an item that other commands take. */
  nameOf: (item: T) => string;
  /** The line for people in place of an empty list. */
  none: string;
}

/** Prints the items as they arrive, in constant memory, and returns their number for people; 0 for the other formats. */
export async function printList<T>(
  format: string,
  items: AsyncIterable<T>,
  { columns, nameOf, none }: Listed<T>,
): Promise<number> {
  if (format === 'json') await writeJsonArray(items);
  else if (format === 'ndjson') await writeJsonLines(items);
  else if (format === 'name') for await (const item of items) await writeLine(nameOf(item));
  else if (format === 'csv') await writeCsv(items, columns);
  else return printTable(format === 'wide', items, columns, none);
  return 0;
}

async function writeCsv<T>(items: AsyncIterable<T>, columns: readonly ListColumn<T>[]): Promise<void> {
  await writeData(`${columns.map(({ key }) => key).join(',')}\r\n`);
  for await (const item of items) await writeData(`${columns.map((it) => csvField(it.value(item))).join(',')}\r\n`);
}

async function printTable<T>(
  isWide: boolean,
  items: AsyncIterable<T>,
  columns: readonly ListColumn<T>[],
  none: string,
): Promise<number> {
  async function* rows(): AsyncGenerator<Cell[]> {
    for await (const item of items) yield columns.map((it) => it.cell?.(item) ?? String(it.value(item) ?? '-'));
  }
  const { count, omitted } = await writeTable(columns, rows(), tableOptions(isWide ? 'wide' : 'table'));
  if (count === 0) note(none);
  if (omitted.length > 0) note(`without ${omitted.join(', ')}, for which the terminal is too narrow: -f wide`);
  return count;
}

/** The items of an array, as lists take them. */
export async function* each<T>(items: Iterable<T>): AsyncGenerator<T> {
  for (const item of items) yield item;
}

/** Remedy for an empty list of studies or runs. */
export const SUBMIT = 'submit a study with `simbatch submit STUDY`';

interface Filtered {
  /** Noun of the items, in the plural. */
  plural: string;
  /** The way to create an item. */
  remedy: string;
  /** Filters as option and values; a filter without values is inactive; `true`: the option takes none. */
  filters: Readonly<Record<string, readonly (string | number)[] | true | undefined>>;
}

/** Returns one line for an empty list, e.g. `no batches match --status Failed`. */
export function emptyList({ plural, remedy, filters }: Filtered): string {
  const given = Object.entries(filters).flatMap(([option, values = []]) =>
    values === true ? [option] : values.length === 0 ? [] : [`${option} ${values.join(',')}`],
  );
  return given.length === 0
    ? `there are no ${plural} yet; ${remedy}`
    : `no ${plural} match ${printable(given.join(' '))}`;
}
