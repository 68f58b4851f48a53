/** Tables on the terminal, of any length in constant memory: the first rows determine the widths. */
import Table from 'cli-table3';
import { printable } from './format.ts';
import { write } from './output.ts';

export interface Column {
  name: string;
  /** The name is a user's own and printed unchanged; other headings are in capitals. */
  verbatim?: boolean;
  align?: 'left' | 'right';
}

type Cell = string | number;

const NO_BORDERS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/** Longest cell; a longer one is cut with an ellipsis. */
const MAX_CELL = 72;

/** Returns the table as lines. With `widths`, of an earlier part of the same table, it has no heading. */
export function renderTable(columns: readonly Column[], rows: readonly (readonly Cell[])[], widths?: number[]): string {
  const texts = rows.map((row) => row.map((cell) => printable(String(cell), MAX_CELL)));
  const table = new Table({
    ...(widths === undefined
      ? { head: columns.map(({ name, verbatim }) => (verbatim === true ? name : name.toUpperCase())) }
      : { colWidths: widths }),
    colAligns: columns.map((column) => column.align ?? 'left'),
    chars: NO_BORDERS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
  });
  table.push(...texts);
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Writes rows as they arrive; the first `rowsBeforeWidths` are buffered to determine the widths. */
export async function writeTable(
  columns: readonly Column[],
  rows: AsyncIterable<readonly Cell[]>,
  rowsBeforeWidths = 500,
): Promise<number> {
  let widths: number[] | undefined;
  let held: (readonly Cell[])[] = [];
  let count = 0;
  const flush = async (): Promise<void> => {
    if (held.length === 0) return;
    await write(`${renderTable(columns, held, widths)}\n`);
    widths ??= columns.map((column, at) =>
      Math.max(column.name.length, ...held.map((row) => printable(String(row[at]), MAX_CELL).length)),
    );
    held = [];
  };
  for await (const row of rows) {
    count++;
    held.push(row);
    if (held.length >= rowsBeforeWidths) await flush();
  }
  await flush();
  return count;
}

/** Returns pairs of name and value, one per line, the values in one column. */
export function renderPairs(pairs: readonly (readonly [string, Cell | undefined])[]): string {
  const shown = pairs.filter((pair): pair is readonly [string, Cell] => pair[1] !== undefined);
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${printable(String(value), 500)}`).join('\n');
}
