/** Tables on the terminal, of any length in constant memory: the first rows determine the widths. */
import { paint, type Tone } from './colour.ts';
import { fitColumns, GAP, type Fit, type Flexible } from './columns.ts';
import { printable } from './format.ts';
import { outputWidth, write } from './output.ts';
import { columnsOf, cutTo, wrap } from './screen.ts';

export interface Column extends Flexible {
  name: string;
  /** The name is a user's own and printed unchanged; other headings are in capitals. */
  verbatim?: boolean;
  align?: 'left' | 'right';
  /** Shown with `-f wide` only. */
  wide?: boolean;
  /** The meaning of a cell, which decides its colour. */
  tone?: (text: string) => Tone | undefined;
}

/** The lines of a cell, where it has several. */
export type Cell = string | number | readonly string[];

export interface TableOptions {
  /** Columns of the terminal. Default: no limit. */
  width?: number;
  /** True to show the columns of `-f wide` too. */
  isWide?: boolean;
}

/** The options of a table in the format of `--format`: as wide as the terminal, or everything with `wide`. */
export const tableOptions = (format: string): TableOptions =>
  format === 'wide' ? { isWide: true } : { width: outputWidth() };

/** Longest line of a cell; a longer one is cut with an ellipsis. */
const MAX_CELL = 500;

const linesOf = (cell: Cell): string[] =>
  (typeof cell === 'object' ? cell : [String(cell)]).map((line) => printable(line, MAX_CELL));

const headOf = ({ name, verbatim }: Column): string => (verbatim === true ? name : name.toUpperCase());

/** The columns that are shown, by index, and their widths, from the first rows. */
function layOut(columns: readonly Column[], rows: readonly (readonly Cell[])[], options: TableOptions): Fit {
  const { width = Number.POSITIVE_INFINITY, isWide = false } = options;
  const shown = columns.map((_, at) => at).filter((at) => isWide || columns[at]?.wide !== true);
  const natural = shown.map((at) =>
    Math.max(columnsOf(headOf(columns[at]!)), ...rows.flatMap((row) => linesOf(row[at] ?? '').map(columnsOf))),
  );
  const fit = fitColumns(
    shown.map((at) => columns[at]!),
    natural,
    width,
  );
  return { kept: fit.kept.map((at) => shown[at]!), widths: fit.widths };
}

function draw(columns: readonly Column[], rows: readonly (readonly Cell[])[], fit: Fit, hasHead: boolean): string {
  const shown = fit.kept.map((at, index) => ({ at, column: columns[at]!, width: fit.widths[index]! }));
  const drawn = rows.map((row) =>
    shown.map(({ at, column, width }) => {
      const lines = linesOf(row[at] ?? '');
      const tone = column.tone?.(lines.join(' '));
      return lines.map((line) => fill(line, column, width, tone));
    }),
  );
  if (hasHead) drawn.unshift(shown.map(({ column, width }) => [fill(headOf(column), column, width, 'faint')]));
  return drawn.flatMap((cells) => sideBySide(cells, fit.widths)).join('\n');
}

/** A line of a cell, cut to the width of its column and filled up to it. */
function fill(line: string, { align }: Column, width: number, tone: Tone | undefined): string {
  const text = cutTo(line, width);
  const gap = ' '.repeat(Math.max(0, width - columnsOf(text)));
  return align === 'right' ? gap + paint(text, tone) : paint(text, tone) + gap;
}

/** The lines of a row, as many as its highest cell has. */
function sideBySide(cells: readonly (readonly string[])[], widths: readonly number[]): string[] {
  const height = Math.max(0, ...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) =>
    cells
      .map((lines, index) => lines[at] ?? ' '.repeat(widths[index]!))
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}

/** Returns the table as lines. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: TableOptions = {},
): string {
  return draw(columns, rows, layOut(columns, rows, options), true);
}

/** The number of rows that were written, and the names of columns for which the terminal is too narrow. */
export interface WrittenTable {
  count: number;
  omitted: string[];
}

/** Rows that determine the widths. */
const ROWS_BEFORE_WIDTHS = 500;

/** Writes rows as they arrive; the first ones are buffered to determine the widths. */
export async function writeTable(
  columns: readonly Column[],
  rows: AsyncIterable<readonly Cell[]>,
  options: TableOptions = {},
): Promise<WrittenTable> {
  let fit: Fit | undefined;
  let held: (readonly Cell[])[] = [];
  let count = 0;
  const flush = async (): Promise<void> => {
    if (held.length === 0) return;
    const isFirst = fit === undefined;
    fit ??= layOut(columns, held, options);
    await write(`${draw(columns, held, fit, isFirst)}\n`);
    held = [];
  };
  for await (const row of rows) {
    count++;
    held.push(row);
    if (held.length >= ROWS_BEFORE_WIDTHS) await flush();
  }
  await flush();
  const omitted = columns.filter(
    (it, at) => fit !== undefined && (options.isWide === true || it.wide !== true) && !fit.kept.includes(at),
  );
  return { count, omitted: omitted.map(({ name }) => name) };
}

/** A name, its value, and the meaning of the value; without a value there is no line. */
export type Pair = readonly [name: string, value: string | number | undefined, tone?: Tone];

/** Returns pairs of name and value, one per line, the values in one column, each wrapped at `width` columns. */
export function renderPairs(pairs: readonly Pair[], width = Number.POSITIVE_INFINITY): string {
  const shown = pairs.filter(([, value]) => value !== undefined);
  const names = Math.max(0, ...shown.map(([name]) => columnsOf(name)));
  return shown
    .map(([name, value, tone]) => {
      const lines = wrap(printable(String(value), MAX_CELL), Math.max(20, width - names - 2), 0).split('\n');
      const head = `${paint(name, 'faint')}${' '.repeat(names - columnsOf(name) + 2)}`;
      return head + lines.map((line) => paint(line, tone)).join(`\n${' '.repeat(names + 2)}`);
    })
    .join('\n');
}
