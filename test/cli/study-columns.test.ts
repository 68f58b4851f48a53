/** Columns of CSV and Parquet files in study files. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { stringify } from 'yaml';
import { csvColumn } from '../../src/cli/study/column-file.ts';
import { loadStudy } from '../../src/cli/study/check-study.ts';
import { Failure } from '../../src/cli/failure.ts';
import { study } from '../support/studies.ts';

describe('cli/study/column-file', () => {
  it('reads a column of CSV', () => {
    const rows: [string, string, number[]][] = [
      ['a,b\n1,2\n3,4\n', 'b', [2, 4]],
      ['a,b\r\n1,2\r\n3,4', 'a', [1, 3]],
      ['\uFEFFmass\n1e3\n', 'mass', [1000]],
      ['"a, ""x""",b\n-1.5,"2"\n', 'a, "x"', [-1.5]],
      ['note,b\n"two\nlines",7\n', 'b', [7]],
      ['a , b\n 1 , 2 \n\n', 'b', [2]],
      ['a\n', 'a', []],
    ];
    for (const [text, column, expected] of rows) expect(csvColumn(text, column), text).to.deep.equal(expected);
  });

  it('names what is wrong with a CSV file, with the line', () => {
    const rows: [string, string, string][] = [
      ['', 'a', 'is empty; its first row must name the columns'],
      ['a,b\n1,2\n', 'c', 'has no column "c"; it has "a", "b"'],
      ['a,a\n1,2\n', 'a', 'has more than one column "a"'],
      ['a,b\n1,2\n3\n', 'b', 'has in line 3 a "b" that is empty; it must be a finite number'],
      ['a,b\n"x\ny",2\n1,two\n', 'b', 'has in line 4 a "b" that is "two"; it must be a finite number'],
      ['a\n1e999\n', 'a', 'has in line 2 a "a" that is "1e999"; it must be a finite number'],
      ['a\n"1"x\n', 'a', 'has in line 2 a "a" that is "\\"1\\"x"; it must be a finite number'],
    ];
    for (const [text, column, expected] of rows) expect(csvColumn(text, column), text).to.equal(expected);
  });

  it('ends for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', 'a', '1', ' ') }), (text) => {
        expect(csvColumn(`a\n${text}`, 'a')).to.be.an(Array.isArray(csvColumn(`a\n${text}`, 'a')) ? 'array' : 'string');
      }),
    );
  });
});

describe('cli/study/study-columns', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-columns-'));
    await writeFile(join(folder, 'cases.csv'), 'run,mass\n0,1.5\n1,2.5\n2,3.5\n');
    const columnData = [
      { name: 'speed', data: Float64Array.of(4, 2, 9), type: 'DOUBLE' as const },
      { name: 'n', data: BigInt64Array.of(1n, 2n, 3n), type: 'INT64' as const },
      { name: 'label', data: ['a', 'b', 'c'], type: 'STRING' as const },
    ];
    await writeFile(join(folder, 'wind.parquet'), new Uint8Array(parquetWriteBuffer({ columnData })));
  });
  after(() => rm(folder, { recursive: true }));

  /** Loads a study file in the folder with these distributions of mass and wind. */
  async function load(mass: object, wind: object = { type: 'fixed', value: 1 }) {
    const submission = study({ runs: 3, config: {} }) as unknown as { config: { dispersions: object } };
    submission.config.dispersions = {
      mass: { distribution: mass, units: '' },
      wind: { distribution: wind, units: '' },
    };
    const file = join(folder, 'study.yaml');
    await writeFile(file, stringify(submission));
    return loadStudy(file);
  }
  const faultsOf = async (mass: object): Promise<string[]> => {
    try {
      await load(mass);
      return [];
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return error.details.map((line) =>
        line.replaceAll(folder, '.').replace(/^.*?study\.yaml:\d+:\d+: \/config\/dispersions\//, ''),
      );
    }
  };

  it('become the numbers of the distribution, relative to the study file', async () => {
    const { submission } = await load(
      { type: 'table', file: 'cases.csv', column: 'mass' },
      { type: 'empirical', file: 'wind.parquet', column: 'speed' },
    );
    expect(submission.config.dispersions['mass']!.distribution).to.deep.equal({
      type: 'table',
      values: [1.5, 2.5, 3.5],
    });
    expect(submission.config.dispersions['wind']!.distribution).to.deep.equal({ type: 'empirical', data: [4, 2, 9] });
    const integers = await load({ type: 'table', file: 'wind.parquet', column: 'n' });
    expect(integers.submission.config.dispersions['mass']!.distribution).to.deep.equal({
      type: 'table',
      values: [1, 2, 3],
    });
  });

  const refused: [object, string][] = [
    [{ type: 'table', file: 'none.csv', column: 'mass' }, 'mass/distribution/file (./none.csv) cannot be read: ENOENT'],
    [
      { type: 'table', file: '.', column: 'mass' },
      'mass/distribution/file (.) cannot be read: it is not a regular file',
    ],
    [
      { type: 'table', file: 'cases.csv', column: 'mas' },
      'mass/distribution/file (./cases.csv) has no column "mas"; it has "run", "mass"',
    ],
    [
      { type: 'table', file: 'wind.parquet', column: 'mas' },
      'mass/distribution/file (./wind.parquet) has no column "mas"; it has "speed", "n", "label"',
    ],
    [
      { type: 'table', file: 'wind.parquet', column: 'label' },
      'mass/distribution/file (./wind.parquet) has in row 1 a "label" that is not a finite number',
    ],
    [{ type: 'table', file: 'cases.csv' }, 'mass/distribution/column is missing; it must be the name of a column'],
    [{ type: 'table', file: 3, column: 'mass' }, 'mass/distribution/file must be the path of a CSV or Parquet file'],
    [
      { type: 'table', file: 'cases.csv', column: 'mass', values: [1] },
      'mass/distribution/file is given beside `values`',
    ],
    [
      { type: 'normal', file: 'cases.csv', column: 'mass' },
      'mass/distribution/file is for a distribution of type table or empirical',
    ],
  ];
  for (const [mass, expected] of refused) {
    it(`refuses ${JSON.stringify(mass)}`, async () => {
      const faults = await faultsOf(mass);
      expect(faults).to.have.length(1);
      expect(faults[0]).to.include(expected);
    });
  }

  it('refuses a table with fewer numbers than runs', async () => {
    await writeFile(join(folder, 'short.csv'), 'mass\n1\n2\n');
    const [fault] = await faultsOf({ type: 'table', file: 'short.csv', column: 'mass' });
    expect(fault).to.include('mass/distribution/values has 2 numbers for 3 runs');
  });
});
