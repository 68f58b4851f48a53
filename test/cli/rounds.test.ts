/** The commands of adaptive studies: rows from files, rounds appended once, and the results of a round. */
import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Throat } from '../support/throat.ts';

const YAML = `config:
  simulation: {name: throat}
  monte_carlo: {runs: 2000, sampling_method: adaptive, seed: 7}
  adaptive: {algorithm: external}
  dispersions:
    r: {distribution: {type: chosen, lower: 0.1, upper: 0.4}, units: m}
    wind: {distribution: {type: normal, mean: 0, std_dev: 3}, units: m/s}
`;

describe('cli/commands/rounds', () => {
  let folder: string;
  let throat: Throat;
  let batch: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-cli-rounds-'));
    throat = await Throat.open();
    await writeFile(join(folder, 'study.yaml'), YAML);
  });
  beforeEach(async () => {
    batch = (await simbatch('submit', join(folder, 'study.yaml'), '-o', 'name')).stdout.trim();
  });
  after(async () => {
    await throat.close();
    await rm(folder, { recursive: true });
  });

  const simbatch = (...args: string[]) => throat.simbatch(...args);
  async function file(name: string, text: string): Promise<string> {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  }
  const rowsOf = async (round: number): Promise<unknown> => {
    const { results } = (await throat.client.rounds.results(batch, round)) as {
      results?: { parameters: { r: number }; draw: number }[];
    };
    return results?.map(({ parameters: { r }, draw }) => [r, draw]);
  };
  const work = () => throat.work();

  it('says of a study file its budget, the names that rows choose, and that it waits for rows', async () => {
    const { code, stdout } = await simbatch('submit', '--check', join(folder, 'study.yaml'));
    expect(code).to.equal(0);
    expect(stdout)
      .to.match(/up to 2000 runs/)
      .and.to.match(/Each row chooses r; the study gives wind/)
      .and.to.match(/waits for rows/);
    const shown = (await simbatch('status', batch)).stdout;
    expect(shown).to.match(/^rounds +0, with 0 of up to 2000 runs$/m);
    expect(shown).to.match(/^waiting +for rows since .*simbatch append \S+ rows\.csv --key NAME/m);
    expect(shown).to.not.match(/time left|progress/);
  });

  it('appends rows of CSV, of a JSON list and of JSON lines, with draws; and the same again changes nothing', async () => {
    const csv = await file('rows.csv', '\uFEFFr,whose\r\n0.22,7\r\n"0.25",\r\n\r\n');
    const first = await simbatch('append', batch, csv, '--key', 'g0', '--draws', 'whose');
    expect(first.stdout, first.stderr).to.match(/^round 0: 2 runs \(0-1\), digest [0-9a-f]{64}\n$/);
    const again = await simbatch('append', batch, csv, '--key', 'g0', '--draws', 'whose');
    expect(again.stdout).to.match(/^nothing was appended: the study has these rows as round 0: 2 runs/);
    const list = await file('rows.json', '[{"r": 0.3}]');
    expect(JSON.parse((await simbatch('append', batch, list, '--round', '1', '-o', 'json')).stdout)).to.include({
      round: 1,
    });
    const lines = await file('rows.jsonl', '{"r": 1e-1}\n\n{"r": 0.4}\n');
    expect((await simbatch('append', batch, lines, '--key', 'g2', '--label', 'two')).code).to.equal(0);
    await work();
    expect(await rowsOf(0)).to.deep.equal([
      [0.22, 7],
      [0.25, 1],
    ]);
    expect(await rowsOf(2)).to.deep.equal([
      [0.1, 3],
      [0.4, 4],
    ]);
    const listed = JSON.parse((await simbatch('rounds', batch, '--from', '1', '-o', 'json')).stdout);
    expect(listed.map((it: any) => [it.round, it.key, it.label, it.counts])).to.deep.equal([
      [1, null, null, { ok: 1 }],
      [2, 'g2', 'two', { ok: 1, crashed: 1 }],
    ]);
    expect((await simbatch('rounds', batch, '--limit', '1')).stdout)
      .to.match(/2 +3-4 +g2 +two +1 ok, 1 crashed/)
      .and.not.match(/g0/);
    expect((await simbatch('rounds', 'verify', batch)).stdout).to.match(
      /^identical: 3 rounds with 5 runs, head [0-9a-f]{64}\n$/,
    );
  });

  it('waits for a round, prints its runs, and exits with 3 where one failed and --strict asks', async () => {
    const rows = await file('rows.csv', 'r\n0.2\n0.4\n');
    await simbatch('append', batch, rows, '--key', 'g0');
    const waiting = simbatch('append', batch, rows, '--key', 'g0', '--wait', '--strict', '-o', 'csv');
    await work();
    const { code, stdout, stderr } = await waiting;
    expect(code, stderr).to.equal(3);
    const [head = '', ...runs] = stdout.trim().split('\r\n');
    const column = head.split(',').indexOf('outputs.y');
    expect(runs.map((line) => line.split(',')[column])).to.deep.equal(['0.04000000000000001', '']);
    expect(stderr).to.match(/round 0: 2 of 2 runs ended {2}1 ok {2}1 crashed/);
    expect((await simbatch('append', batch, rows, '--key', 'g0', '--wait')).code).to.equal(0);
  });

  it('says what continues when it is stopped, and the same command takes the wait up again', async () => {
    const rows = await file('rows.csv', 'r\n0.2\n');
    const { code, stderr } = await throat.stopped('append', batch, rows, '--key', 'g0', '--wait');
    expect(code, stderr).to.equal(130);
    expect(stderr)
      .to.contain('the runs of round 0 continue: the same command waits for them again and appends nothing twice')
      .and.to.contain(`simbatch rounds ${batch}`);
    await work();
    const again = await simbatch('append', batch, rows, '--key', 'g0', '--wait');
    expect(again.code, again.stderr).to.equal(0);
    expect(again.stderr).to.match(/nothing was appended: the study has these rows as round 0/);
  });

  it('closes a study once, which then takes no further rows', async () => {
    const rows = await file('rows.csv', 'r\n0.2\n');
    await simbatch('append', batch, rows, '--key', 'g0');
    expect((await simbatch('close', batch)).stdout).to.match(/is closed: 1 round, 1 run, Pending; it ends when/);
    expect((await simbatch('close', batch)).code).to.equal(0);
    expect(await simbatch('append', batch, rows, '--key', 'g1')).to.include({ code: 75 });
    expect(await simbatch('append', batch, rows, '--key', 'g0'), 'a repeat').to.include({ code: 0 });
    await work();
  });

  const refused: [string, string, string[], number, RegExp][] = [
    ['no key and no number', 'r\n0.2\n', [], 64, /give --key NAME or --round N/],
    ['a format of runs without --wait', 'r\n0.2\n', ['--key', 'a', '-o', 'csv'], 64, /for the runs that --wait prints/],
    ['text in a cell', 'r\n0.2\n0x10\n', ['--key', 'a'], 65, /rows\.csv:3: "r" is "0x10"/],
    ['NaN', 'r\nNaN\n', ['--key', 'a'], 65, /:2: "r" is "NaN"; it must be a finite number/],
    ['an infinite number', 'r\n1e999\n', ['--key', 'a'], 65, /:2: "r" is "1e999"/],
    [
      'a number out of bounds, with its line',
      'r\n0.2\n\n0.5\n',
      ['--key', 'a'],
      65,
      /rows\.csv:4: "r" is 0\.5; the upper bound is 0\.4/,
    ],
    [
      'another name',
      '{"r": 0.2}\n{"rr": 0.2}\n',
      ['--key', 'a'],
      65,
      /:2: "rr" is not a chosen parameter.*did you mean "r"/,
    ],
    ['a row with fewer cells', 'r,s\n0.2\n', ['--key', 'a'], 65, /:2: has 1 cell and the first row names 2 columns/],
    ['a column twice', 'r,r\n1,2\n', ['--key', 'a'], 65, /:1: has more than one column "r"/],
    ['a negative draw', 'r,d\n0.2,-1\n', ['--key', 'a', '--draws', 'd'], 65, /:2: the draw "d" is "-1"/],
    ['a member given twice', '[{"r":0.2,"r":0.3}]', ['--key', 'a'], 65, /rows\.csv: \/0\/r /],
    ['an empty file', '', ['--key', 'a'], 65, /has no row/],
    [
      'more rows than a round has',
      `r\n${'0.2\n'.repeat(10_001)}`,
      ['--key', 'a'],
      65,
      /has 10001 rows; a round takes up to 10000/,
    ],
    ['a drawn parameter', 'r,wind\n0.2,1\n', ['--key', 'a'], 65, /:2: "wind" is drawn by the study/],
  ];
  for (const [what, text, flags, exitCode, message] of refused) {
    it(`refuses ${what}`, async () => {
      const { code, stderr } = await simbatch('append', batch, await file('rows.csv', text), ...flags);
      expect(stderr).to.match(message);
      expect(code).to.equal(exitCode);
      expect((await throat.client.batch(batch)).batch.total_jobs).to.equal(0);
    });
  }
});
