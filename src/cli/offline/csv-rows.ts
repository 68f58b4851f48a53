/** A CSV file (RFC 4180) as a table of runs, read as a stream. Cells become numbers, `true` and `false`, or text. */
import { createReadStream } from 'node:fs';
import type { RowBatch, RowsFile } from '../../base/tables/rows.ts';
import { valueOf } from './rows.ts';

const ROWS_PER_BATCH = 4096;
/** A longer record is a file of another kind. */
const MAX_RECORD_CHARS = 64 * 1024 * 1024;

/** Reads the names of the columns. @throws Error when the file is not UTF-8 text, or its first record does not name the columns. */
export async function openCsv(path: string): Promise<RowsFile> {
  const names = await namesOf(path);
  return { names, described: () => undefined, batches: (columns = names) => batchesOf(path, names, columns) };
}

async function namesOf(path: string): Promise<string[]> {
  for await (const { cells } of records(path)) {
    const twice = cells.find((name, at) => cells.indexOf(name) !== at);
    if (twice !== undefined) throw new Error(`it has more than one column ${JSON.stringify(twice)}`);
    return cells;
  }
  throw new Error('it is empty');
}

async function* batchesOf(
  path: string,
  names: readonly string[],
  columns: readonly string[],
): AsyncGenerator<RowBatch> {
  const places = columns.map((name) => names.indexOf(name));
  const begin = (): unknown[][] => columns.map(() => []);
  let values = begin();
  let count = 0;
  let isHead = true;
  for await (const { line, cells } of records(path)) {
    if (isHead) {
      isHead = false;
      continue;
    }
    if (cells.length !== names.length)
      throw new Error(`line ${line} has ${cells.length} cells, the first one names ${names.length} columns`);
    places.forEach((place, at) => values[at]!.push(valueOf(cells[place]!)));
    if (++count < ROWS_PER_BATCH) continue;
    yield { count, columns: new Map(columns.map((name, at) => [name, values[at]!])) };
    [values, count] = [begin(), 0];
  }
  if (count > 0) yield { count, columns: new Map(columns.map((name, at) => [name, values[at]!])) };
}

interface CsvRecord {
  /** The line in which the record begins, from 1. */
  line: number;
  cells: string[];
}

/** Yields the records of the file and skips empty lines. */
async function* records(path: string): AsyncGenerator<CsvRecord> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  let rest = '';
  const parse = function* (text: string): Generator<CsvRecord> {
    for (let from = 0; from < text.length;) {
      const end = endOfRecord(text, from);
      if (end === -1) {
        rest = text.slice(from);
        if (rest.length > MAX_RECORD_CHARS) throw new Error(`the record in line ${line} does not end`);
        return;
      }
      const record = text.slice(from, text[end - 1] === '\r' ? end - 1 : end);
      if (record !== '') yield { line, cells: cellsOf(record, line) };
      line += 1 + countOf(record, '\n');
      from = end + 1;
    }
    rest = '';
  };
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }))
    yield* parse(rest + decoder.decode(chunk as Uint8Array, { stream: true }));
  yield* parse(`${rest}${decoder.decode()}\n`);
  if (rest.trim() !== '') throw new Error(`a quoted cell in line ${line} does not end`);
}

/** The place of the line feed that ends a record: the first one outside of quotes; -1 where there is none. */
function endOfRecord(text: string, from: number): number {
  let isQuoted = false;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) isQuoted = !isQuoted;
    else if (code === 0x0a && !isQuoted) return at;
  }
  return -1;
}

function cellsOf(record: string, line: number): string[] {
  if (!record.includes('"')) return record.split(',');
  const cell = /"((?:[^"]|"")*)"(?=,|$)|([^,"]*)(?=,|$)/y;
  const cells: string[] = [];
  for (let at = 0; at <= record.length; at++) {
    cell.lastIndex = at;
    const found = cell.exec(record);
    if (found === null) throw new Error(`line ${line} has a cell with a quote in its middle`);
    const [whole, quoted, plain] = found;
    cells.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'));
    at += whole.length;
  }
  return cells;
}

function countOf(text: string, character: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count++;
  return count;
}
