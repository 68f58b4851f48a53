/** Files of runs read without a coordinator: the table is the one of the records, and doubts are said. */
import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { stringify } from 'yaml';
import { runClassOf } from '../../../src/analysis/table/run-class.ts';
import { type RunRecord, RunTableBuilder } from '../../../src/analysis/table/table-builder.ts';
import { STUDY_KEY } from '../../../src/analysis/table/described-study.ts';
import { csvField } from '../../../src/base/text/csv.ts';
import { fileAnalysis } from '../../../src/cli/offline/file-analysis.ts';
import { judgeStudy } from '../../../src/analysis/requirements/verdicts.ts';
import { type FileStudy, readFileStudy } from '../../../src/cli/offline/file-study.ts';
import { Failure } from '../../../src/cli/failure.ts';
import type { BatchSubmission } from '../../../src/contract/types.ts';
import { studySampler } from '../../../src/domain/sampling/sampler.ts';
import { uniformSource } from '../../analysis/synthetic.ts';
import { study } from '../../support/studies.ts';

const BATCH = '019a1fd4-3f00-8000-8000-000000000000';
const RULE = { variable: 'max nz', condition: '> 3.8' };

const submission: BatchSubmission = {
  ...study({
    runs: 60,
    config: { early_termination: { enabled: true, check_frequency_hz: 1, conditions: [{ ...RULE, description: '' }] } },
  }),
  requirements: [{ name: 'close', output: 'miss', condition: '< 50', probability: 0.5 }],
  outputs: { miss: { units: 'm' } },
};

/** One run of each class, and completed ones with outputs of each kind. */
function records(): RunRecord[] {
  const uniform = uniformSource(5);
  const sampler = studySampler(submission.config, submission.config.monte_carlo.seed!);
  return Array.from({ length: 60 }, (_, row): RunRecord => {
    const shared = { row, batchId: BATCH, parameters: sampler.parameters(row), executionSecs: uniform() };
    if (row === 7) return { ...shared, status: 'Failed', reason: 'exit', errorMessage: 'exit code 3: "no\n, way"' };
    if (row === 8) return { ...shared, status: 'Failed', reason: 'infrastructure', errorMessage: 'disk full' };
    if (row === 9) return { row, batchId: BATCH, status: 'Cancelled', parameters: shared.parameters };
    if (row === 10) return { ...shared, status: 'Timeout', errorMessage: '=1+2' };
    const outputs = [
      ['miss', 100 * uniform()],
      ['hit', uniform() < 0.5],
      ['phase', row % 2 === 0 ? 'early, "a"' : '-late'],
    ] as const;
    if (row % 9 === 3) return { ...shared, status: 'Failed', reason: 'early_termination', outputs, terminatedBy: RULE };
    return {
      ...shared,
      status: 'Completed',
      outputs: row === 20 ? outputs.slice(1) : outputs,
      telemetryLost: row === 30,
    };
  });
}

const COLUMNS = [
  'run_id',
  'batch_id',
  'status',
  'class',
  'reason',
  'execution_secs',
  'error_message',
  'terminated_by',
  'telemetry_lost',
  'parameters.wind',
  'parameters.mass',
  'outputs.miss',
  'outputs.hit',
  'outputs.phase',
];

/** The value of a run in a column; undefined where it has none. */
function valueOf(record: RunRecord, column: string): unknown {
  const { row, status, reason, parameters = {}, outputs = [] } = record;
  const [group, name = ''] = column.split('.');
  if (group === 'parameters') return parameters[name];
  if (group === 'outputs') return new Map(outputs).get(name);
  const values: Record<string, unknown> = {
    run_id: row,
    batch_id: BATCH,
    status,
    class: runClassOf(status, reason),
    reason: reason ?? undefined,
    execution_secs: record.executionSecs,
    error_message: record.errorMessage ?? undefined,
    terminated_by: record.terminatedBy && `${record.terminatedBy.variable} ${record.terminatedBy.condition}`,
    telemetry_lost: record.telemetryLost === true ? 3 : 0,
  };
  return values[column];
}

describe('cli/offline', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-offline-'));
  });
  after(() => rm(folder, { recursive: true }));

  const csv = async (rows: readonly RunRecord[], columns = COLUMNS): Promise<string> => {
    const lines = rows.map((row) => columns.map((it) => csvField(valueOf(row, it) as string | undefined)).join(','));
    const path = join(folder, 'runs.csv');
    await writeFile(path, `${[columns.join(','), ...lines].join('\r\n')}\r\n`);
    return path;
  };
  const parquet = async (rows: readonly RunRecord[], described = true): Promise<string> => {
    const kvMetadata = [{ key: STUDY_KEY, value: JSON.stringify({ ...submission, batch_id: BATCH, total_jobs: 60 }) }];
    const columnData = COLUMNS.map((name) => ({ name, data: rows.map((row) => valueOf(row, name)) }));
    const buffer = parquetWriteBuffer({ columnData, rowGroupSize: 16, ...(described ? { kvMetadata } : {}) });
    const path = join(folder, 'runs.parquet');
    await writeFile(path, new Uint8Array(buffer));
    return path;
  };
  const studyFile = async (change: (it: BatchSubmission) => void = () => {}): Promise<string> => {
    const changed = structuredClone(submission);
    change(changed);
    const path = join(folder, 'study.yaml');
    await writeFile(path, stringify(changed));
    return path;
  };
  const expected = () => {
    const builder = new RunTableBuilder({ batchId: BATCH, method: 'monte_carlo', runs: 60 });
    for (const record of records()) builder.add(record);
    return builder.build();
  };
  const refusal = async (work: Promise<unknown>): Promise<string> => {
    try {
      await work;
      return 'accepted';
    } catch (error) {
      expect(error).to.be.instanceOf(Failure);
      return (error as Failure).message.replaceAll(folder, '');
    }
  };
  const codes = ({ warnings }: Pick<FileStudy, 'warnings'>): string[] => warnings.map((it) => it.code);

  it('reads a Parquet file that describes its study into the table of the records, without a doubt', async () => {
    const found = await readFileStudy(await parquet(records()));
    expect(found.table).to.deep.equal(expected());
    expect(found.warnings).to.deep.equal([]);
    expect(found.submission.requirements).to.deep.equal(submission.requirements);
  });

  it('reads the cells of a study with scenarios, whose axes are columns of the file', async () => {
    const scenarios = { site: { north: {}, south: {} } };
    const path = join(folder, 'cells.csv');
    const lines = Array.from(
      { length: 120 },
      (_, run) => `${run},${run % 2 === 0 ? 'north' : 'south'},Completed,${run % 2}`,
    );
    await writeFile(path, `run_id,site,status,outputs.miss\n${lines.join('\n')}\n`);
    const changed = await studyFile((it) => (it.config.scenarios = scenarios));
    const { table } = await readFileStudy(path, changed);
    const requirement = { name: 'none', output: 'miss', condition: '< 1', probability: 0.9 };
    const [judged] = judgeStudy(table, [requirement], ['site']).requirements;
    expect(judged!.by!.map((it) => [it.scenario['site'], it.passed, it.failed])).to.deep.equal([
      ['north', 60, 0],
      ['south', 0, 60],
    ]);
  });

  it('reads a CSV file with its study file into the same table', async () => {
    const found = await readFileStudy(await csv(records()), await studyFile());
    expect(found.table).to.deep.equal(expected());
    expect(found.warnings).to.deep.equal([]);
  });

  it('reads rows in any order', async () => {
    const found = await readFileStudy(await csv(records().toReversed()), await studyFile());
    expect([...found.table.outputs.get('miss')!]).to.deep.equal([...expected().outputs.get('miss')!]);
    expect([...found.table.classes]).to.deep.equal([...expected().classes]);
  });

  it('says that the design is unknown where neither the file nor a study file holds it', async () => {
    const found = await readFileStudy(await parquet(records(), false));
    expect(found.table).to.deep.equal(expected());
    expect(codes(found)).to.deep.equal(['design-unknown']);
    const { warnings } = await fileAnalysis(found).ask('summary', BATCH);
    expect(codes({ warnings })[0]).to.equal('design-unknown');
  });

  it('counts the runs of the study that the file lacks as open', async () => {
    const found = await readFileStudy(
      await csv(records().filter((it) => it.status === 'Completed')),
      await studyFile(),
    );
    expect(codes(found)).to.deep.equal(['runs-absent']);
    const { requirements, excluded } = await fileAnalysis(found).ask('summary', BATCH);
    expect(excluded['open']).to.equal(11);
    expect(requirements[0]!.verdict).to.equal('open');
  });

  it('says that lost telemetry is unknown where a rule could end runs and the file has no column of it', async () => {
    const path = await csv(
      records(),
      COLUMNS.filter((it) => it !== 'telemetry_lost'),
    );
    expect(codes(await readFileStudy(path, await studyFile()))).to.deep.equal(['telemetry-unknown']);
  });

  it('answers a comparison of two files, with the doubts of each', async () => {
    const before = await readFileStudy(await parquet(records()));
    const changed = records().map((it) =>
      it.row === 0 ? { ...it, status: 'Failed' as const, reason: 'exit', errorMessage: 'exit code 1' } : it,
    );
    const after = await readFileStudy(await parquet(changed, false));
    const found = await fileAnalysis(before, after).ask('compare', BATCH, { with: BATCH });
    expect(found.paired && found.flips.broke).to.deep.equal([0]);
    expect(codes({ warnings: found.with.warnings })).to.include('design-unknown');
  });

  it('refuses an unknown output as the coordinator does', async () => {
    const analysis = fileAnalysis(await readFileStudy(await parquet(records())));
    expect(await refusal(analysis.ask('sensitivity', BATCH, { output: 'mis' }))).to.equal(
      'output not found: the study has no output "mis"; did you mean "miss"?',
    );
    expect(await refusal(analysis.ask('convergence', BATCH, { output: 'miss', quantity: 'p95x' }))).to.match(
      /did you mean/,
    );
  });

  it('refuses files and studies that do not fit, with the place and the remedy', async () => {
    const all = records();
    const other = (change: (it: BatchSubmission) => void) => studyFile(change);
    expect(await refusal(readFileStudy(join(folder, 'none.csv')))).to.match(
      /^\/none\.csv is not read: ENOENT.*simbatch table/,
    );
    expect(await refusal(readFileStudy(await csv(all, ['class', 'outputs.miss'])))).to.match(
      /is not a table of runs: it has no column "run_id"/,
    );
    expect(await refusal(readFileStudy(await csv([])))).to.match(/holds no run/);
    expect(await refusal(readFileStudy(await csv([...all, all[4]!])))).to.match(/holds run 4 twice/);
    const seed = await other((it) => (it.config.monte_carlo.seed = 43));
    expect(await refusal(readFileStudy(await csv(all), seed))).to.match(
      /does not fit the study of \/study\.yaml: run 0 has wind = .*, the study samples /,
    );
    const fewer = await other((it) => (it.config.monte_carlo.runs = 50));
    expect(await refusal(readFileStudy(await csv(all), fewer))).to.match(/run 50 is not one of its 50 runs/);
    const text = 'run_id,class,outputs.y\n0,ok,1\n1,okay,2\n';
    await writeFile(join(folder, 'odd.csv'), text);
    expect(await refusal(readFileStudy(join(folder, 'odd.csv')))).to.match(
      /has in row 2 the class "okay"; expected one of ok, terminated/,
    );
    await writeFile(join(folder, 'odd.csv'), 'run_id,class\n0,ok,1\n');
    expect(await refusal(readFileStudy(join(folder, 'odd.csv')))).to.match(/line 2 has 3 cells, the first one names 2/);
    await writeFile(join(folder, 'odd.csv'), 'run_id,class\n0,"ok\n');
    expect(await refusal(readFileStudy(join(folder, 'odd.csv')))).to.match(/a quoted cell in line 2 does not end/);
    await writeFile(join(folder, 'odd.csv'), Buffer.from([0x72, 0xff, 0xfe, 0x0a]));
    expect(await refusal(readFileStudy(join(folder, 'odd.csv')))).to.match(/is not read: .*valid.*/);
  });
});
