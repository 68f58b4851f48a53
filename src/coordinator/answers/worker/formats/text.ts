/** Tables of runs as text: CSV, NDJSON and JSON. */
import { csvField } from '../../../../base/text/csv.ts';
import { isoTime } from '../../../../analysis/export/iso-time.ts';
import { textOf } from '../../../../domain/runs/outputs.ts';
import type { Cells, Chunk, NumberCells } from '../../../../analysis/export/chunk.ts';
import type { Column } from '../../../../analysis/export/columns.ts';
import type { TableEncoder, TableEnd, TableStart } from './table-encoder.ts';
import { TextSink } from './text-sink.ts';

/** Writes the cell of a row. */
type CellWriter = (row: number, sink: TextSink) => void;

const COMMA = 44;

/** RFC 4180 with a header. Missing values are empty fields, an empty text is `""`; times are ISO 8601. */
export function csvEncoder(columns: readonly Column[]): TableEncoder {
  const header = `${columns.map(({ name }) => csvField(name)).join(',')}\r\n`;
  return textEncoder({
    begin: () => header,
    write: rowsOf((cells, column) => csvCell(cells, column), { before: '', after: '\r\n', names: [] }),
    end: () => '',
  });
}

/** One object a line, each with all columns. */
export function ndjsonEncoder(columns: readonly Column[]): TableEncoder {
  const write = rowsOf(jsonCell, { before: '{', after: '}\n', names: namesOf(columns) });
  return textEncoder({ begin: () => '', write, end: () => '' });
}

/** A `StudyTable`: its counts come last, since a stream knows them at its end. */
export function jsonEncoder(columns: readonly Column[]): TableEncoder {
  const between = ',\n';
  const write = rowsOf(jsonCell, { before: '{', after: `}${between}`, names: namesOf(columns) });
  let isFirst = true;
  return textEncoder({
    begin: ({ batchId, warnings }) => {
      const shown = columns.map(({ name, type, units, description }) => ({ name, type, units, description }));
      const head = JSON.stringify({ batch_id: batchId, warnings, columns: shown });
      return `${head.slice(0, -1)},"rows":[`;
    },
    write: (chunk, sink) => {
      sink.text(isFirst ? '\n' : between);
      isFirst = false;
      write(chunk, sink);
      // The last element of a list has no comma after it.
      sink.drop(between.length);
    },
    end: ({ matched, of }) => `\n],"matched":${matched},"of":${of}}\n`,
  });
}

const namesOf = (columns: readonly Column[]): string[] => columns.map(({ name }) => `${JSON.stringify(name)}:`);

function textEncoder(parts: {
  begin: (start: TableStart) => string;
  write: (chunk: Chunk, sink: TextSink) => void;
  end: (end: TableEnd) => string;
}): TableEncoder {
  const encoder = new TextEncoder();
  const sink = new TextSink();
  return {
    begin: (start) => encoder.encode(parts.begin(start)),
    write: (chunk) => {
      if (chunk.rows > 0) parts.write(chunk, sink);
      return sink.taken();
    },
    end: (end) => encoder.encode(parts.end(end)),
  };
}

/**
 * Returns a writer of rows; `before` and `after` are around each row, a name is before each cell. The writers of cells are made
 * once for each chunk.
 */
function rowsOf(
  writerOf: (cells: Cells, column: Column) => CellWriter,
  { before, after, names }: { before: string; after: string; names: readonly string[] },
): (chunk: Chunk, sink: TextSink) => void {
  let latest: { chunk: Chunk; writers: CellWriter[] } | undefined;
  return (chunk, sink) => {
    if (latest?.chunk !== chunk)
      latest = { chunk, writers: chunk.cells.map((cells, at) => writerOf(cells, chunk.columns[at]!)) };
    const { writers } = latest;
    for (let row = 0; row < chunk.rows; row++) {
      sink.text(before);
      for (let at = 0; at < writers.length; at++) {
        if (at > 0) sink.code(COMMA);
        const name = names[at];
        if (name !== undefined) sink.text(name);
        writers[at]!(row, sink);
      }
      sink.text(after);
    }
  };
}

function csvCell(cells: Cells, { isPlain }: Column): CellWriter {
  switch (cells.type) {
    case 'text':
      return textCell(cells.values, '', isPlain === true ? (text) => text : csvText);
    case 'mixed':
      return (row, sink) => {
        const value = cells.values[row];
        if (typeof value === 'number' || typeof value === 'boolean') sink.text(String(value));
        else {
          const text = textOf(value);
          if (text !== null) sink.text(csvText(text));
        }
      };
    case 'time':
      return numberCell(cells, '', (value, sink) => sink.text(isoTime(value)));
    case 'boolean':
      return numberCell(cells, '', (value, sink) => sink.text(value === 1 ? 'true' : 'false'));
    case 'integer':
    case 'number':
      return numberCell(cells, '', (value, sink) => sink.number(value));
  }
}

/** An empty text is quoted: an empty field is a missing value. */
const csvText = (text: string): string => (text === '' ? '""' : csvField(text));

function jsonCell(cells: Cells, { isPlain }: Column): CellWriter {
  switch (cells.type) {
    case 'text':
      return textCell(cells.values, 'null', isPlain === true ? (text) => `"${text}"` : JSON.stringify);
    case 'mixed':
      return (row, sink) => sink.text(JSON.stringify(cells.values[row]));
    case 'time':
      return numberCell(cells, 'null', (value, sink) => sink.text(`"${isoTime(value)}"`));
    case 'boolean':
      return numberCell(cells, 'null', (value, sink) => sink.text(value === 1 ? 'true' : 'false'));
    case 'integer':
    case 'number':
      return numberCell(cells, 'null', (value, sink) => sink.number(value));
  }
}

/** -0 is written as 0, as `JSON.stringify` does. */
function numberCell(
  { values }: NumberCells,
  missing: string,
  write: (value: number, sink: TextSink) => void,
): CellWriter {
  return (row, sink) => {
    const value = values[row]!;
    if (Number.isNaN(value)) sink.text(missing);
    else write(value, sink);
  };
}

/** Many rows have the text of the row before: its form is kept. */
function textCell(values: readonly (string | null)[], missing: string, write: (text: string) => string): CellWriter {
  let latest: string | null = null;
  let written = missing;
  return (row, sink) => {
    const text = values[row]!;
    if (text !== latest) {
      latest = text;
      written = text === null ? missing : write(text);
    }
    sink.text(written);
  };
}
