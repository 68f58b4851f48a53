/** Prints a list in every format that lists have: for people, for programs, and the names alone. */
import { csvField } from '../../base/csv.ts';
import { note, write, writeJsonArray, writeJsonLines, writeLine } from './output.ts';
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
  await write(`${columns.map(({ key }) => key).join(',')}\r\n`);
  for await (const item of items) await write(`${columns.map((it) => csvField(it.value(item))).join(',')}\r\n`);
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
  if (omitted.length > 0) note(`without ${omitted.join(', ')}, for which the terminal is too narrow: -o wide`);
  return count;
}

/** The items of an array, as lists take them. */
export async function* each<T>(items: Iterable<T>): AsyncGenerator<T> {
  for (const item of items) yield item;
}
