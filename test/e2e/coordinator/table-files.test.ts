/** Tables as files, read back by programs of others: pyarrow and DuckDB. Numbers are compared to the bit. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { textOf } from '../../../src/domain/runs/outputs.ts';
import { Scene } from '../../support/scene.ts';
import { bytesOf, flown, naiveRows, tableOf, type Row } from '../../coordinator/answers/table/flown-study.ts';

const SCRIPT = fileURLToPath(new URL('../../../../test/e2e/coordinator/read-files.py', import.meta.url));

interface Shown {
  columns: [name: string, type: string, nullable: boolean, metadata: Record<string, string>][];
  rows: unknown[][];
}
interface Duck {
  names: string[];
  types: string[];
  rows: unknown[][];
}
type Read = Record<'arrow' | 'parquet' | 'csv', Shown> & Record<`duckdb_${'parquet' | 'csv' | 'arrow'}`, Duck>;

/** Reads the files; undefined when the machine has no such programs, unless everything is required. */
function readFiles(folder: string): Read | undefined {
  const files = ['csv', 'parquet', 'arrow'].map((it) => join(folder, `runs.${it}`));
  const { stdout, stderr, status } = spawnSync('python3', [SCRIPT, ...files], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const isMissing = status === null || stderr.includes('ModuleNotFoundError');
  if (isMissing && process.env['SIMBATCH_REQUIRE_ALL'] !== '1') return undefined;
  if (status !== 0) throw new Error(`python3 with pyarrow and duckdb is required, or it failed: ${stderr}`);
  // A number that is not finite would not be JSON.
  return JSON.parse(stdout) as Read;
}

const ARROW_TYPES: Record<string, string> = {
  integer: 'int32',
  number: 'double',
  boolean: 'bool',
  time: 'timestamp[ms, tz=UTC]',
  text: 'string',
  mixed: 'string',
};
const DUCK_TYPES: Record<string, string> = {
  integer: 'INTEGER',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  time: 'TIMESTAMP WITH TIME ZONE',
  text: 'VARCHAR',
  mixed: 'VARCHAR',
};

describe('coordinator/answers/table files', function () {
  let scene: Scene;
  let folder: string;
  let columns: { name: string; type: string; units: string | null; description: string | null }[];
  let rows: Row[];
  let read: Read;
  before(async function () {
    scene = await Scene.open();
    folder = mkdtempSync(join(tmpdir(), 'simbatch-table-'));
    await scene.register('a', { slots: 500 });
    const batchId = await flown(scene, { runs: 120, claimed: 100 });
    for (const format of ['csv', 'parquet', 'arrow'] as const) {
      const { bytes } = await bytesOf(scene, { batchId, format });
      writeFileSync(join(folder, `runs.${format}`), bytes);
    }
    const found = readFiles(folder);
    if (found === undefined) return this.skip();
    read = found;
    rows = await naiveRows(scene, batchId);
    columns = (await tableOf(scene, batchId, { limit: 1 })).columns;
    return undefined;
  });
  after(async () => {
    await scene.api.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The rows as a file with typed columns has them. */
  const expected = (change: (value: unknown, type: string) => unknown = (it) => it): unknown[][] =>
    rows.map((row) =>
      columns.map(({ name, type }) => {
        const value = row[name] ?? null;
        return change(type === 'mixed' ? textOf(value) : value, type);
      }),
    );

  for (const format of ['parquet', 'arrow'] as const) {
    it(`${format}: pyarrow reads types, units and every value`, () => {
      const { columns: found, rows: values } = read[format];
      const units = (it: (typeof columns)[number]): Record<string, string> => ({
        ...(it.units === null ? {} : { units: it.units }),
        ...(it.description === null ? {} : { description: it.description }),
      });
      expect(found.map(([name, type, , metadata]) => [name, type, metadata])).to.deep.equal(
        columns.map((it) => [it.name, ARROW_TYPES[it.type], units(it)]),
      );
      expect(found.filter(([, , isNullable]) => !isNullable).map(([name]) => name)).to.deep.equal([
        'run_id',
        'replicate',
        'batch_id',
        'job_id',
        'status',
        'class',
        'attempt',
      ]);
      expect(values).to.deep.equal(expected());
    });

    it(`${format}: DuckDB reads types and every value`, () => {
      const { names, types, rows: values } = read[`duckdb_${format}`];
      expect(names).to.deep.equal(columns.map((it) => it.name));
      expect(types).to.deep.equal(columns.map((it) => DUCK_TYPES[it.type]));
      const milliseconds = (value: unknown, type: string): unknown =>
        type === 'time' && value !== null ? Date.parse(value as string) : value;
      expect(values).to.deep.equal(expected(milliseconds));
    });
  }

  /** CSV protects spreadsheets: a text that they would evaluate begins with an apostrophe. */
  const asCsv = (value: unknown, type: string): unknown =>
    typeof value === 'string' && type !== 'mixed' && /^\s*[=+\-@]/.test(value) ? `'${value}` : value;

  it('CSV: pyarrow and DuckDB read the header and every value', () => {
    const names = columns.map((it) => (/^\s*[=+\-@]/.test(it.name) ? `'${it.name}` : it.name));
    expect(read.csv.columns.map(([name]) => name)).to.deep.equal(names);
    // DuckDB leaves out blanks at the end of a name in a CSV header.
    expect(read.duckdb_csv.names).to.deep.equal(names.map((it) => it.trimEnd()));
    const of = (all: readonly unknown[][], type: (it: string) => boolean): unknown[][] =>
      all.map((row) => row.filter((_, at) => type(columns[at]!.type)));
    const isText = (type: string): boolean => type === 'text';
    const isNumber = (type: string): boolean => ['integer', 'number', 'boolean'].includes(type);
    const wanted = expected(asCsv);
    expect(of(read.csv.rows, isNumber)).to.deep.equal(of(wanted, isNumber));
    expect(of(read.csv.rows, isText)).to.deep.equal(of(wanted, isText));
    expect(of(read.duckdb_csv.rows, isNumber)).to.deep.equal(of(wanted, isNumber));
    expect(of(read.duckdb_csv.rows, isText)).to.deep.equal(of(wanted, isText));
  });
});
