/** Parquet files of tables are byte for byte those that the library writes from lists of values. */
import { expect } from 'chai';
import { parquetMetadata, type SchemaElement } from 'hyparquet';
import { ByteWriter, type ColumnSource, ParquetWriter } from 'hyparquet-writer';
import { Chunk } from '../../../../src/analysis/export/chunk.ts';
import type { Column } from '../../../../src/analysis/export/columns.ts';
import { parquetEncoder } from '../../../../src/coordinator/answers/worker/formats/parquet.ts';
import { textOf } from '../../../../src/domain/outputs.ts';

type Type = Column['type'];
type Value = string | number | boolean | null | unknown[];

/** A column by its type and the value of each row; numbers for times and integers. */
interface Case {
  type: Type;
  isRequired?: true;
  of: (row: number) => Value;
}

const CASES: Record<string, Case> = {
  'integers from zero': { type: 'integer', isRequired: true, of: (row) => row },
  'integers of one value': { type: 'integer', isRequired: true, of: () => 7 },
  'negative integers': { type: 'integer', isRequired: true, of: (row) => -row - 1 },
  numbers: { type: 'number', of: (row) => Math.sin(row) * 100 },
  'numbers with gaps': { type: 'number', of: (row) => (row % 3 === 1 ? null : row / 7) },
  'numbers with long gaps': { type: 'number', of: (row) => (row % 40 < 25 ? null : row) },
  'one number': { type: 'number', of: (row) => (row === 0 ? 2.5 : null) },
  'no number': { type: 'number', of: () => null },
  'zeros of both signs': { type: 'number', of: (row) => (row % 2 === 0 ? -0 : 0) },
  infinities: { type: 'number', of: (row) => [Infinity, -Infinity, 5e-324, -1.7e308][row % 4]! },
  'numbers of one value': { type: 'number', of: () => Infinity },
  times: { type: 'time', of: (row) => 1_763_000_000_000 + row * 997 },
  'times with gaps': { type: 'time', of: (row) => (row % 5 === 0 ? null : 1_763_000_000_000 - row) },
  'times before the epoch': { type: 'time', of: (row) => -1 - row * 2 ** 33 },
  'no time': { type: 'time', of: () => null },
  booleans: { type: 'boolean', of: (row) => row % 3 === 0 },
  'booleans with gaps': { type: 'boolean', of: (row) => (row % 4 === 1 ? null : row % 3 === 0) },
  'required texts that differ': {
    type: 'text',
    isRequired: true,
    of: (row) => `job-${row.toString(16).padStart(8, '0')}`,
  },
  'texts in descending order': { type: 'text', of: (row) => `job-${String(99_999 - row)}` },
  'a required text in all rows': { type: 'text', isRequired: true, of: () => 'Completed' },
  'a text in all rows': { type: 'text', of: () => 'crashed' },
  'the empty text in all rows': { type: 'text', of: () => '' },
  'a text in all but the first row': { type: 'text', of: (row) => (row === 0 ? null : 'crashed') },
  'few texts': { type: 'text', of: (row) => ['exit', 'timeout', '', 'early_termination'][row % 4]! },
  'few texts with gaps': { type: 'text', of: (row) => [null, 'b', 'a', null, 'c'][row % 5]! },
  'texts that are rare': { type: 'text', of: (row) => (row === 1 ? 'once' : null) },
  'about as many texts as a dictionary is made for': { type: 'text', of: (row) => `text ${Math.floor(row / 3)}` },
  'long texts with one beginning': { type: 'text', of: (row) => `${'of the same length '.repeat(5)}${row}` },
  'no text': { type: 'text', of: () => null },
  'texts beyond ASCII': { type: 'text', of: (row) => `ünï ${row} \u{1f680}` },
  'few texts beyond ASCII': { type: 'text', of: (row) => ['\ue000', '\u{1f680}', 'a', '\ud800'][row % 4]! },
  'texts of several pages': { type: 'text', of: (row) => `${row}${'x'.repeat(900)}${row % 7}` },
  'values of several types': { type: 'mixed', of: (row) => [row, 'text', null, true, [row]][row % 5]! },
};

const columns = Object.entries(CASES).map(([name, { type, isRequired }]): Column => ({
  name,
  member: name,
  source: 'output',
  type,
  units: null,
  description: null,
  ...(isRequired === undefined ? {} : { isRequired }),
}));

/** Rows `from` to `to` of all columns. */
function fill(chunk: Chunk, from: number, to: number): void {
  chunk.clear();
  for (let row = from; row < to; row++) {
    const at = chunk.add();
    for (const [place, { of }] of Object.values(CASES).entries()) {
      const value = of(row);
      const { type, values } = chunk.cells[place]!;
      if (type === 'text' || type === 'mixed') values[at] = value;
      else values[at] = value === null ? Number.NaN : Number(value);
    }
  }
}

function concatenated(pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces));
}

const start = { batchId: 'b', warnings: [] };

function written(groups: readonly [from: number, to: number][]): Uint8Array {
  const chunk = new Chunk(columns, Math.max(1, ...groups.map(([from, to]) => to - from)));
  const encoder = parquetEncoder(columns, '{}');
  const pieces = [encoder.begin(start)];
  for (const [from, to] of groups) {
    fill(chunk, from, to);
    pieces.push(encoder.write(chunk));
  }
  pieces.push(encoder.end({ matched: 0, of: 0 }));
  return concatenated(pieces);
}

/** The value of a cell as the library takes it. */
function given({ type, of }: Case, row: number): unknown {
  const value = of(row);
  if (type === 'time' && value !== null) return BigInt(value as number);
  return type === 'mixed' ? textOf(value) : value;
}

/** The same groups by the library alone, with the schema and the metadata of the file. */
function libraryWritten(groups: readonly [from: number, to: number][], file: Uint8Array): Uint8Array {
  const { schema, key_value_metadata: kvMetadata = [] } = parquetMetadata(file.slice().buffer);
  const writer = new ByteWriter();
  const elements = schema.map((it): SchemaElement => ({ ...it }));
  const parquet = new ParquetWriter({ writer, schema: elements, codec: 'SNAPPY', createdBy: 'simbatch', kvMetadata });
  for (const [from, to] of groups) {
    const columnData = Object.entries(CASES).map(([name, it]): ColumnSource => ({
      name,
      data: Array.from({ length: to - from }, (_, at) => given(it, from + at)),
      ...(['integer', 'number', 'time'].includes(it.type) ? { encoding: 'PLAIN' } : {}),
    }));
    void parquet.write({ columnData, rowGroupSize: to - from });
  }
  void parquet.finish();
  return writer.getBytes().slice();
}

describe('coordinator/answers/table parquet bytes', () => {
  for (const [title, groups] of Object.entries({
    'a group of many rows': [[0, 2500]],
    'a group of one row': [[0, 1]],
    'groups of a few rows': [
      [0, 2],
      [2, 5],
      [5, 12],
      [12, 20],
      [20, 29],
    ],
    'groups of many rows and a short last one': [
      [0, 1500],
      [1500, 3000],
      [3000, 3003],
    ],
    'no rows': [],
  } satisfies Record<string, [number, number][]>)) {
    it(`writes the bytes of the library: ${title}`, () => {
      const file = written(groups);
      const expected = libraryWritten(groups, file);
      // Compared as buffers: a difference of a long file would be printed for minutes.
      expect(Buffer.compare(file, expected), `${file.length} and ${expected.length} bytes`).to.equal(0);
    });
  }
});
