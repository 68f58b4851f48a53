/** Rows of points from a file or standard input: CSV with the names in its first row, a JSON list of objects, or an object a line. */
import { isJsonObject } from '../../base/json/json-object.ts';
import { lossyFault } from '../../base/json/json-loss.ts';
import { INT32_MAX } from '../../contract/limits.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { readTextFile } from '../study/check-study.ts';
import { csvRows } from '../study/column-file.ts';
import { plural } from '../terminal/format.ts';

/** The numbers of a row by name. */
export type Row = Record<string, number>;

/** The rows of a file. */
export interface FileRows {
  rows: Row[];
  /** The draw of each row, null where it gives none; absent without a column of draws. */
  draws?: (number | null)[];
  /** The place of a row in the file, such as `rows.csv:7`. */
  placeOf: (row: number) => string;
}

/** A row as it is written, with the line or the place where it begins. */
interface Written {
  place: string;
  cells: Readonly<Record<string, unknown>>;
}

/** Faults beyond this many are only counted. */
const MAX_FAULTS = 20;
const DECIMAL = /^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/;

/**
 * Reads all rows; `-` is standard input. `draws` names the column of the draws.
 * @throws Failure with the place of every fault
 */
export async function readRows(file: string, draws?: string): Promise<FileRows> {
  const source = file === '-' ? '<stdin>' : file;
  const text = await readTextFile(file);
  const written = /^\uFEFF?\s*[[{]/.test(text) ? jsonRows(text, source) : fromCsv(text, source);
  if (written.length === 0) throw new Failure(EXIT.invalid, `${source} has no row: give at least one`);
  const faults: string[] = [];
  const rows = written.map(({ place, cells }) => {
    const row: Row = {};
    for (const [name, cell] of Object.entries(cells)) {
      if (name === draws) continue;
      const value = numberOf(cell);
      if (typeof value === 'number') row[name] = value;
      else faults.push(`  ${place}: ${JSON.stringify(name)} ${value}`);
    }
    return row;
  });
  const given = draws === undefined ? undefined : written.map((it) => drawOf(it, draws, faults));
  if (faults.length > 0) {
    const lines = faults.slice(0, MAX_FAULTS);
    if (faults.length > lines.length) lines.push(`  and ${faults.length - lines.length} more`);
    throw new Failure(EXIT.invalid, `${source} has ${plural(faults.length, 'fault')}`, lines);
  }
  const placeOf = (row: number): string => written[row]?.place ?? source;
  return { rows, placeOf, ...(given === undefined ? {} : { draws: given }) };
}

/** The number, or the fault as a phrase. */
function numberOf(cell: unknown): number | string {
  if (cell === '' || cell === null) return 'is empty; every row gives it';
  const isDecimal = typeof cell === 'string' && DECIMAL.test(cell);
  const value = isDecimal ? Number(cell) : cell;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  return `is ${shown(cell)}; it must be a finite number`;
}

function drawOf({ place, cells }: Written, name: string, faults: string[]): number | null {
  const cell = cells[name];
  if (cell === '' || cell === null || cell === undefined) return null;
  const value = numberOf(cell);
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= INT32_MAX) return value;
  faults.push(
    `  ${place}: the draw ${JSON.stringify(name)} is ${shown(cell)}; it must be a whole number from 0, or empty`,
  );
  return null;
}

const shown = (cell: unknown): string => (typeof cell === 'string' ? JSON.stringify(cell.slice(0, 40)) : typeof cell);

function fromCsv(text: string, source: string): Written[] {
  let names: string[] | undefined;
  const written: Written[] = [];
  for (const { line, cells } of csvRows(text)) {
    const trimmed = cells.map((it) => it.trim());
    if (names === undefined) {
      names = trimmed;
      const faulty = names.find((name, at) => name === '' || names!.indexOf(name) !== at);
      if (faulty !== undefined) {
        const why =
          faulty === '' ? 'has a column without a name' : `has more than one column ${JSON.stringify(faulty)}`;
        throw new Failure(EXIT.invalid, `${source}:${line}: ${why}; its first row must name the columns`);
      }
      continue;
    }
    if (trimmed.length === 1 && trimmed[0] === '') continue;
    if (trimmed.length !== names.length) {
      const counts = `has ${plural(trimmed.length, 'cell')} and the first row names ${plural(names.length, 'column')}`;
      throw new Failure(EXIT.invalid, `${source}:${line}: ${counts}; give one cell for each`);
    }
    written.push({
      place: `${source}:${line}`,
      cells: Object.fromEntries(names.map((name, at) => [name, trimmed[at]])),
    });
  }
  return written;
}

function jsonRows(text: string, source: string): Written[] {
  const bare = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const isList = bare.trimStart().startsWith('[');
  const written: Written[] = [];
  const take = (value: unknown, place: string): void => {
    if (!isJsonObject(value)) {
      throw new Failure(EXIT.invalid, `${place}: must be an object with the number of each chosen parameter`);
    }
    written.push({ place, cells: value });
  };
  const parsed = (piece: string, place: string): unknown => {
    let value: unknown;
    try {
      value = JSON.parse(piece);
    } catch (error) {
      throw new Failure(EXIT.invalid, `${place}: is not valid JSON: ${(error as Error).message}`);
    }
    const loss = lossyFault(piece, value, { numbers: true, infinite: true });
    if (loss === undefined) return value;
    throw new Failure(EXIT.invalid, `${place}: ${loss.pointer} ${loss.detail}`);
  };
  if (isList) {
    for (const [row, value] of (parsed(bare, source) as unknown[]).entries()) take(value, `${source}: row ${row}`);
    return written;
  }
  for (const [index, line] of bare.split('\n').entries()) {
    if (line.trim() !== '') take(parsed(line, `${source}:${index + 1}`), `${source}:${index + 1}`);
  }
  return written;
}
