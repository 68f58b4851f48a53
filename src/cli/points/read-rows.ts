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

/** A row as it is written, with the line where it begins, or its number in a list. */
interface Written {
  at: number;
  cells: readonly (readonly [name: string, cell: unknown])[];
}

/** Faults beyond this many are only counted. */
const MAX_FAULTS = 20;
const DECIMAL = /^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/;

/**
 * Reads all rows; `-` is standard input. `draws` names the column of the draws. Takes about 100 bytes a row of memory besides the file.
 * @throws Failure with the place of every fault
 */
export async function readRows(
  file: string,
  { draws, maxBytes }: { draws?: string; maxBytes?: number } = {},
): Promise<FileRows> {
  const source = file === '-' ? '<stdin>' : file;
  const text = await readTextFile(file, maxBytes);
  const isJson = /^\uFEFF?\s*[[{]/.test(text);
  const isList = isJson && /^\uFEFF?\s*\[/.test(text);
  const placeAt = (at: number): string => (isList ? `${source}: row ${at}` : `${source}:${at}`);
  const rows: Row[] = [];
  const places: number[] = [];
  const given: (number | null)[] = [];
  const faults = new FileFaults();
  for (const { at, cells } of isJson ? jsonRows(text, source, isList) : fromCsv(text, source)) {
    const row: Row = {};
    let draw: unknown;
    for (const [name, cell] of cells) {
      if (name === draws) {
        draw = cell;
        continue;
      }
      const value = numberOf(cell);
      if (typeof value === 'number') row[name] = value;
      else faults.add(`${placeAt(at)}: ${JSON.stringify(name)} ${value}`);
    }
    rows.push(row);
    places.push(at);
    if (draws !== undefined) given.push(drawOf(draw, draws, (fault) => faults.add(`${placeAt(at)}: ${fault}`)));
  }
  if (rows.length === 0) throw new Failure(EXIT.invalid, `${source} has no row: give at least one`);
  faults.throwIfAny(source);
  const placeOf = (row: number): string => (places[row] === undefined ? source : placeAt(places[row]));
  return { rows, placeOf, ...(draws === undefined ? {} : { draws: given }) };
}

/** The faults of a file: the first ones, and how many there are. */
class FileFaults {
  readonly #lines: string[] = [];
  #count = 0;

  add(fault: string): void {
    this.#count += 1;
    if (this.#lines.length < MAX_FAULTS) this.#lines.push(`  ${fault}`);
  }

  throwIfAny(source: string): void {
    if (this.#count === 0) return;
    const more = this.#count - this.#lines.length;
    const lines = more > 0 ? [...this.#lines, `  and ${more} more`] : this.#lines;
    throw new Failure(EXIT.invalid, `${source} has ${plural(this.#count, 'fault')}`, lines);
  }
}

/** The number, or the fault as a phrase. */
function numberOf(cell: unknown): number | string {
  if (cell === '' || cell === null) return 'is empty; every row gives it';
  const isDecimal = typeof cell === 'string' && DECIMAL.test(cell);
  const value = isDecimal ? Number(cell) : cell;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  return `is ${shown(cell)}; it must be a finite number`;
}

function drawOf(cell: unknown, name: string, report: (fault: string) => void): number | null {
  if (cell === '' || cell === null || cell === undefined) return null;
  const value = numberOf(cell);
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= INT32_MAX) return value;
  report(`the draw ${JSON.stringify(name)} is ${shown(cell)}; it must be a whole number from 0, or empty`);
  return null;
}

const shown = (cell: unknown): string => (typeof cell === 'string' ? JSON.stringify(cell.slice(0, 40)) : typeof cell);

function* fromCsv(text: string, source: string): Generator<Written> {
  let names: string[] | undefined;
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
    yield { at: line, cells: names.map((name, at) => [name, trimmed[at]] as const) };
  }
}

function* jsonRows(text: string, source: string, isList: boolean): Generator<Written> {
  const bare = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const written = (value: unknown, at: number, place: string): Written => {
    if (!isJsonObject(value)) {
      throw new Failure(EXIT.invalid, `${place}: must be an object with the number of each chosen parameter`);
    }
    return { at, cells: Object.entries(value) };
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
    for (const [at, value] of (parsed(bare, source) as unknown[]).entries())
      yield written(value, at, `${source}: row ${at}`);
    return;
  }
  let line = 0;
  for (const piece of linesOf(bare)) {
    line += 1;
    const place = `${source}:${line}`;
    if (piece.trim() !== '') yield written(parsed(piece, place), line, place);
  }
}

function* linesOf(text: string): Generator<string> {
  for (let from = 0; from <= text.length;) {
    const end = text.indexOf('\n', from);
    yield text.slice(from, end < 0 ? text.length : end);
    if (end < 0) return;
    from = end + 1;
  }
}
