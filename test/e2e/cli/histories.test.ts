/** `simbatch histories` against the real program: the list, the values as a table and as files, and what it refuses. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { tableFromIPC } from '@uwdata/flechette';
import { parquetReadObjects } from 'hyparquet';
import { RunnerProcess } from '../../support/cli-runner.ts';
import { serving, simbatch, type Outcome, type Serving } from '../../support/program.ts';
import { study } from '../../support/studies.ts';

/** Run i has the values i, i + 0.5 and none; run 3 fails, and has none. */
const SIMULATION = `
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
const { run_id } = JSON.parse(readFileSync(process.env.SVC_RUN_CONFIG, 'utf8'));
if (run_id === 3) throw new Error('no solution');
const histories = { nz: [run_id, run_id + 0.5, null] };
writeFileSync(join(process.env.SVC_OUTPUT_DIR, 'metadata.json'), JSON.stringify({ miss: run_id, histories }));
`;
const HISTORIES = [{ name: 'nz', variable: 'nz_g', at: { from: 0, to: 1, step: 0.5 }, units: 'g' }];

describe('cli: histories', () => {
  let folder: string;
  let server: Serving;
  let runner: RunnerProcess | undefined;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-histories-'));
    server = await serving(['--data-dir', join(folder, 'data')]);
    await writeFile(join(folder, 'toy.mjs'), SIMULATION);
    const asked = study({ runs: 6, maxRetries: 0, config: { histories: HISTORIES } });
    const simulation = { ...asked.config.simulation, name: 'toy' };
    await writeFile(join(folder, 'study.json'), JSON.stringify({ ...asked, config: { ...asked.config, simulation } }));
    runner = await RunnerProcess.start(server.url, join(folder, 'toy.mjs'), join(folder, 'out'));
    const submitted = await run('submit', join(folder, 'study.json'), '--watch');
    expect(submitted.stdout, submitted.stderr).to.match(/5 Completed, 1 Failed/);
  });
  after(async () => {
    await runner?.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const run = (...args: string[]): Promise<Outcome> => simbatch(args, { SVC_ENDPOINT: server.url });
  const table = (text: string): string[][] =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => line.trim().split(/\s{2,}/));

  it('lists the histories of a study, also as JSON', async () => {
    const { stdout, code } = await run('histories', 'latest');
    expect(code).to.equal(0);
    expect(table(stdout)).to.deep.equal([
      ['NAME', 'VARIABLE', 'UNITS', 'POINTS', 'FROM S', 'TO S', 'RUNS', 'ENDED'],
      ['nz', 'nz_g', 'g', '3', '0', '1', '5', '5'],
    ]);
    const listed = JSON.parse((await run('histories', 'latest', '-o', 'json')).stdout) as object[];
    expect(listed).to.have.length(1);
    expect(listed[0]).to.include({ name: 'nz', n: 5, ended: 5, interpolation: 'linear', origin: null });
  });

  it('shows the values of a history, a run a row', async () => {
    const { stdout } = await run('histories', 'latest', 'nz');
    const rows = table(stdout);
    expect(rows[0]).to.deep.equal(['RUN', 'VALUES', 'FIRST', 'LAST', 'LEAST', 'GREATEST', 'COURSE']);
    expect(rows.slice(1).map((it) => it.slice(0, 4))).to.deep.equal(
      [0, 1, 2, 3, 4, 5].map((it) =>
        it === 3 ? ['3', '0', '-', '-'] : [String(it), '2', String(it), String(it + 0.5)],
      ),
    );
    const few = await run('histories', 'latest', 'nz', '--where', 'outputs.miss > 1', '--limit', '2', '--family');
    expect(table(few.stdout).map((it) => it.slice(0, 2))).to.deep.equal([
      ['RUN', 'REPLICATE'],
      ['2', '0'],
      ['4', '0'],
    ]);
    expect(few.stderr).to.equal('the first 2 runs are shown\n');
    expect((await run('histories', 'latest', 'nz', '--where', 'outputs.miss > 9')).stderr).to.match(
      /^no run with values/,
    );
  });

  it('writes the values to files by their extension', async () => {
    const file = (name: string): string => join(folder, name);
    for (const name of ['nz.csv', 'nz.ndjson', 'nz.parquet', 'nz.arrow', 'wide.csv'])
      expect(
        await run('histories', 'latest', 'nz', '-f', file(name), ...(name === 'wide.csv' ? ['--wide'] : [])),
      ).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    const rows = [0, 1, 2, 3, 4, 5].flatMap((it) => [
      [it, 0, it === 3 ? Number.NaN : it],
      [it, 0.5, it === 3 ? Number.NaN : it + 0.5],
      [it, 1, Number.NaN],
    ]);
    const shown = (values: readonly number[]): string => values.map((it) => (Number.isNaN(it) ? '' : it)).join(',');
    expect(await readFile(file('nz.csv'), 'utf8')).to.equal(
      `${['run_id,time,value', ...rows.map(shown)].join('\r\n')}\r\n`,
    );
    expect((await readFile(file('wide.csv'), 'utf8')).split('\r\n').slice(0, 2)).to.deep.equal([
      'run_id,0,0.5,1',
      '0,0,0.5,',
    ]);
    expect((await readFile(file('nz.ndjson'), 'utf8')).split('\n')[1]).to.equal('{"run_id":0,"time":0.5,"value":0.5}');
    const bytes = await readFile(file('nz.parquet'));
    const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    const parquet = await parquetReadObjects({ file: buffer });
    const arrow = tableFromIPC(await readFile(file('nz.arrow'))).toArray() as Record<string, number>[];
    for (const found of [parquet, arrow])
      expect(found.map((it) => [it['run_id'], it['time'], it['value']])).to.deep.equal(rows);
  });

  it('has its band in the report, and is named in a comparison', async () => {
    const file = join(folder, 'report.html');
    expect(await run('report', 'latest', '-f', file)).to.include({ code: 0, stderr: '' });
    const report = await readFile(file, 'utf8');
    expect(report).to.include('aria-label="Band of nz"').and.include('5 with a value at 0 s, 0 at 1 s');
    const { stdout } = await run('diff', 'latest', 'latest');
    expect(stdout).to.match(/^histories of both: nz; their bands: simbatch band (\S+) nz and simbatch band \1 nz$/m);
  });

  const REFUSED: [args: string[], code: number, said: RegExp][] = [
    [['nzz'], 65, /the study has no history "nzz"; did you mean "nz"\?/],
    [['nz', '--where', 'outputs.mis > 3'], 65, /outputs\.mis.*did you mean/],
    [['-o', 'nz.parquet'], 64, /-f parquet is for the values of one history: name it after the study/],
    [['--where', 'class = ok'], 64, /--where is for the values of one history/],
    [['--limit', '3'], 64, /--limit is for the values of one history/],
    [['--wide'], 64, /--wide is for the values of one history/],
    [['nz', '-f', 'json'], 64, /-f json is for the list of histories: write the values with -f ndjson, csv/],
    [['nz', '--wide'], 64, /--wide is for files: add -f ndjson/],
    [['nz', '--limit', '3', '-f', 'csv'], 64, /--limit is for the table: select runs of a file with --where/],
  ];
  for (const [args, code, said] of REFUSED)
    it(`refuses ${args.join(' ')}`, async () => {
      const refused = await run('histories', 'latest', ...args);
      expect(refused.stderr.replaceAll(/\s+/g, ' ')).to.match(said);
      expect(refused.code).to.equal(code);
      expect(refused.stdout).to.equal('');
    });

  it('says that a study declares none', async () => {
    await writeFile(join(folder, 'none.json'), JSON.stringify(study({ runs: 1 })));
    await run('submit', join(folder, 'none.json'));
    const { code, stdout, stderr } = await run('histories', 'latest');
    expect([code, stdout]).to.deep.equal([0, '']);
    expect(stderr).to.match(/^the study declares no histories/);
  });
});
