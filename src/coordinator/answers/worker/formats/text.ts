/** Tables of runs as text: CSV, NDJSON and JSON. */
import { csvField } from '../../../../base/csv.ts';
import { isoTime } from '../../../../analysis/export/iso-time.ts';
import { textOf } from '../../../../domain/outputs.ts';
import type { Cells, Chunk } from '../../../../analysis/export/chunk.ts';
import type { Column } from '../../../../analysis/export/columns.ts';
import type { TableEncoder, TableEnd, TableStart } from './table-encoder.ts';

/** The text of the cell of a row. */
type CellWriter = (row: number) => string;

/** RFC 4180 with a header. Missing values are empty fields, an empty text is `""`; times are ISO 8601. */
export function csvEncoder(columns: readonly Column[]): TableEncoder {
  const write = rowsOf((cells, column) => csvCell(cells, column), '', '\r\n');
  return textEncoder({
    begin: () => `${columns.map(({ name }) => csvField(name)).join(',')}\r\n`,
    write: (chunk) => write(chunk),
    end: () => '',
  });
}

/** One object a line, each with all columns. */
export function ndjsonEncoder(columns: readonly Column[]): TableEncoder {
  const write = jsonRows(columns, '\n');
  return textEncoder({ begin: () => '', write, end: () => '' });
}

/** A `StudyTable`: its counts come last, since a stream knows them at its end. */
export function jsonEncoder(columns: readonly Column[]): TableEncoder {
  const write = jsonRows(columns, '');
  let isFirst = true;
  return textEncoder({
    begin: ({ batchId, warnings }) => {
      const shown = columns.map(({ name, type, units, description }) => ({ name, type, units, description }));
      const head = JSON.stringify({ batch_id: batchId, warnings, columns: shown });
      return `${head.slice(0, -1)},"rows":[`;
    },
    write: (chunk) => {
      const text = write(chunk);
      const separator = isFirst ? '\n' : ',\n';
      isFirst = false;
      return separator + text;
    },
    end: ({ matched, of }) => `\n],"matched":${matched},"of":${of}}\n`,
  });
}

function textEncoder(parts: {
  begin: (start: TableStart) => string;
  write: (chunk: Chunk) => string;
  end: (end: TableEnd) => string;
}): TableEncoder {
  const encoder = new TextEncoder();
  return {
    begin: (start) => encoder.encode(parts.begin(start)),
    write: (chunk) => encoder.encode(chunk.rows === 0 ? '' : parts.write(chunk)),
    end: (end) => encoder.encode(parts.end(end)),
  };
}

/** Returns a writer of rows; `before` and `after` are around each row. The writers of cells are made once for each chunk. */
function rowsOf(
  writerOf: (cells: Cells, column: Column, at: number) => CellWriter,
  before: string,
  after: string,
): (chunk: Chunk) => string {
  let latest: { chunk: Chunk; writers: CellWriter[] } | undefined;
  return (chunk) => {
    if (latest?.chunk !== chunk) {
      latest = { chunk, writers: chunk.cells.map((cells, at) => writerOf(cells, chunk.columns[at]!, at)) };
    }
    const { writers } = latest;
    const [first, ...rest] = writers;
    let text = '';
    for (let row = 0; row < chunk.rows; row++) {
      text += before + (first === undefined ? '' : first(row));
      for (let at = 0; at < rest.length; at++) text += `,${rest[at]!(row)}`;
      text += after;
    }
    return text;
  };
}

/** Rows as objects; without `lineEnd` they are elements of a list. */
function jsonRows(columns: readonly Column[], lineEnd: string): (chunk: Chunk) => string {
  const names = columns.map(({ name }) => `${JSON.stringify(name)}:`);
  const writerOf = (cells: Cells, column: Column, at: number): CellWriter => {
    const cell = jsonCell(cells, column);
    const name = names[at]!;
    return (row) => name + cell(row);
  };
  const write = rowsOf(writerOf, '{', lineEnd === '' ? '},\n' : `}${lineEnd}`);
  // The last element of a list has no comma after it.
  return lineEnd === '' ? (chunk) => write(chunk).slice(0, -2) : write;
}

function csvCell(cells: Cells, { isPlain }: Column): CellWriter {
  switch (cells.type) {
    case 'text':
      return textCell(cells.values, '', isPlain === true ? (text) => text : csvText);
    case 'mixed':
      return (row) => {
        const value = cells.values[row];
        if (typeof value === 'number' || typeof value === 'boolean') return String(value);
        const text = textOf(value);
        return text === null ? '' : csvText(text);
      };
    case 'time':
      return numberCell(cells.values, '', isoTime);
    case 'boolean':
      return numberCell(cells.values, '', (value) => (value === 1 ? 'true' : 'false'));
    case 'integer':
    case 'number':
      return numberCell(cells.values, '', String);
  }
}

/** An empty text is quoted: an empty field is a missing value. */
const csvText = (text: string): string => (text === '' ? '""' : csvField(text));

function jsonCell(cells: Cells, { isPlain }: Column): CellWriter {
  switch (cells.type) {
    case 'text':
      return textCell(cells.values, 'null', isPlain === true ? (text) => `"${text}"` : JSON.stringify);
    case 'mixed':
      return (row) => JSON.stringify(cells.values[row]);
    case 'time':
      return numberCell(cells.values, 'null', (value) => `"${isoTime(value)}"`);
    case 'boolean':
      return numberCell(cells.values, 'null', (value) => (value === 1 ? 'true' : 'false'));
    case 'integer':
    case 'number':
      return numberCell(cells.values, 'null', String);
  }
}

/** -0 is written as 0, as `JSON.stringify` does. */
function numberCell(values: Float64Array, missing: string, write: (value: number) => string): CellWriter {
  return (row) => {
    const value = values[row]!;
    return Number.isNaN(value) ? missing : write(value);
  };
}

/** Many rows have the text of the row before: its form is kept. */
function textCell(values: readonly (string | null)[], missing: string, write: (text: string) => string): CellWriter {
  let latest: string | null = null;
  let written = missing;
  return (row) => {
    const text = values[row]!;
    if (text === latest) return written;
    latest = text;
    written = text === null ? missing : write(text);
    return written;
  };
}
