/** A `where` expression over chunks of rows. */
import { isoTime } from './iso-time.ts';
import { type WhereColumn, evaluateWhere } from '../where/evaluate.ts';
import type { Expression } from '../where/expression.ts';
import { parseWhere } from '../where/parse.ts';
import { resolveColumns } from '../where/resolve.ts';
import { numberOf, textOf } from '../../domain/runs/outputs.ts';
import type { Cells, Chunk } from './chunk.ts';
import type { Column } from './columns.ts';

/** The condition of a request: which columns it reads, and which rows of a chunk of these it selects. */
export interface Condition {
  columns: readonly Column[];
  /** 1 for each selected row. The chunk must have the condition's columns, in their order. */
  select(chunk: Chunk): Uint8Array;
}

/**
 * Reads a `where` expression. Numbers, integers and booleans (0 and 1) are numbers; times are ISO 8601 texts. A mixed output is a
 * number where any run has one, as in all statistics, else the JSON of its values.
 * @throws WhereError when it is not understood, names an unknown column or compares a column with a value of another type.
 */
export function readCondition(
  where: string,
  columns: readonly Column[],
  comparesAsNumbers: (column: Column) => boolean,
): Condition {
  const names = columns.map((it) => it.name);
  const expression = resolveColumns(parseWhere(where), names);
  // Against empty columns: names and types are checked before any row is read.
  const empty = new Map(columns.map((it): [string, WhereColumn] => [it.name, emptyColumn(it, comparesAsNumbers(it))]));
  evaluateWhere(expression, empty, 0);
  const byName = new Map(columns.map((it) => [it.name, it]));
  const used = Array.from(namesIn(expression), (name) => byName.get(name)!);
  const asNumbers = used.map(comparesAsNumbers);
  return {
    columns: used,
    select: (chunk) => {
      const cells = used.map((it, at): [string, WhereColumn] => [
        it.name,
        whereColumn(chunk.cells[at]!, chunk.rows, asNumbers[at]!),
      ]);
      return evaluateWhere(expression, new Map(cells), chunk.rows);
    },
  };
}

function namesIn(expression: Expression, names = new Set<string>()): Set<string> {
  switch (expression.kind) {
    case 'and':
    case 'or':
      for (const term of expression.terms) namesIn(term, names);
      return names;
    case 'not':
      return namesIn(expression.term, names);
    case 'compare':
    case 'in':
    case 'null':
      return names.add(expression.column);
  }
}

function emptyColumn({ type }: Column, asNumbers: boolean): WhereColumn {
  const isText = type === 'text' || type === 'time' || (type === 'mixed' && !asNumbers);
  if (isText) return { kind: 'text', codes: new Uint32Array(), values: [''] };
  return { kind: 'number', values: new Float64Array() };
}

function whereColumn(cells: Cells, rows: number, asNumbers: boolean): WhereColumn {
  switch (cells.type) {
    case 'text':
      return textColumn(rows, (row) => cells.values[row]!);
    case 'time':
      return textColumn(rows, (row) => (Number.isNaN(cells.values[row]!) ? null : isoTime(cells.values[row]!)));
    case 'mixed': {
      if (!asNumbers) return textColumn(rows, (row) => textOf(cells.values[row]));
      const values = Float64Array.from({ length: rows }, (_, row) => numberOf(cells.values[row]) ?? Number.NaN);
      return { kind: 'number', values };
    }
    case 'integer':
    case 'number':
    case 'boolean':
      return { kind: 'number', values: cells.values.subarray(0, rows) };
  }
}

function textColumn(rows: number, textAt: (row: number) => string | null): WhereColumn {
  const codes = new Uint32Array(rows);
  const values = [''];
  const known = new Map<string, number>();
  for (let row = 0; row < rows; row++) {
    const text = textAt(row);
    if (text === null) continue;
    let code = known.get(text);
    if (code === undefined) known.set(text, (code = values.push(text) - 1));
    codes[row] = code;
  }
  return { kind: 'text', codes, values };
}
