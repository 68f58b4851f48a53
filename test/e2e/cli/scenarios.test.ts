/** Cells of scenarios and epistemic inputs on the command line, with a real coordinator: `ask pbox`, `compare --level`, and what they refuse. */
import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunnerProcess } from '../../support/cli-runner.ts';
import { serving, simbatch, type Outcome, type Serving } from '../../support/program.ts';
import { study } from '../../support/studies.ts';

/** `y` is the sample of the run and the bias, and 10 more in a storm; `z` grows faster there. */
const SIMULATION = `
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
const { parameters, metadata } = JSON.parse(readFileSync(process.env.SVC_RUN_CONFIG, 'utf8'));
const y = metadata.sample + parameters.bias + (metadata.scenario.wind === 'storm' ? 10 : 0);
writeFileSync(join(process.env.SVC_OUTPUT_DIR, 'metadata.json'), JSON.stringify({ y, z: metadata.sample * (metadata.scenario.wind === 'storm' ? 2 : 1) }));
`;
const SAMPLES = 4;

describe('cli: scenarios', () => {
  let folder: string;
  let server: Serving;
  let runner: RunnerProcess | undefined;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-cells-'));
    server = await serving(['--data-dir', join(folder, 'data')]);
    await writeFile(join(folder, 'toy.mjs'), SIMULATION);
    const asked = study({
      simulation: 'toy',
      runs: SAMPLES,
      config: {
        scenarios: { wind: { calm: {}, storm: {}, gale: {} }, skip: [{ wind: 'gale', bias: '-1' }] },
        epistemic: { bias: { interval: [-1, 1], levels: 2 } },
      },
      requirements: [{ name: 'small', output: 'y', condition: '< 10', probability: 0.5 }],
    });
    await writeFile(join(folder, 'study.json'), JSON.stringify(asked));
    runner = await RunnerProcess.start(server.url, join(folder, 'toy.mjs'), join(folder, 'out'));
    const submitted = await run('submit', join(folder, 'study.json'), '--watch');
    expect(submitted.stdout, submitted.stderr).to.match(/20 Completed/);
  });
  after(async () => {
    await runner?.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const run = (...args: string[]): Promise<Outcome> => simbatch(args, { SVC_ENDPOINT: server.url });
  const cellsOf = (text: string): string[][] => text.split('\n').map((line) => line.trim().split(/\s{2,}/));

  it('are counted by --check, with the runs that a requirement takes in each', async () => {
    const { stdout } = await run('submit', join(folder, 'study.json'), '--check');
    expect(stdout)
      .to.match(/valid - 20 runs of .*, \d+ inputs?$/m)
      .and.include('It has 5 cells, of bias (2 levels) x wind (3 levels), 1 skipped;')
      .and.match(/It is judged by 1 requirement in each cell, met when every cell is met/)
      .and.match(/^ {2}small +5 +8 +11 +13  cannot be met by 4 runs in each cell$/m);
    const checked = JSON.parse((await run('submit', join(folder, 'study.json'), '--check', '-o', 'json')).stdout);
    expect(checked).to.deep.include({ runs: 20, cells: 5 });
  });

  it('are columns of the table, and named for a run with its sample', async () => {
    const { stdout } = await run('table', 'latest', '--where', "wind = storm and bias = '1'");
    const [head, first] = cellsOf(stdout);
    expect(head!.slice(0, 5)).to.deep.equal(['run_id', 'class', 'execution_secs [s]', 'bias', 'wind']);
    expect([0, 1, 3, 4].map((at) => first![at])).to.deep.equal(['3', 'ok', '1', 'storm']);
    expect((await run('run', 'latest/8')).stdout).to.match(/^scenario +bias=1, wind=storm, sample 1$/m);
    const byWind = (await run('verdict', 'latest', '--by', 'wind')).stdout;
    expect(cellsOf(byWind).find(([wind]) => wind === 'storm')?.[1]).to.equal('2');
    expect(byWind).to.include('estimate, lower, upper: each the least of the cells of a row');
    expect((await run('verdict', 'latest', '--by', 'bias,wind')).stdout).to.not.include('of the cells of a row');
    const refused = await run('verdict', 'latest', '--by', 'rain');
    expect([refused.code, refused.stderr.trim()]).to.deep.equal([
      65,
      'simbatch: by names "rain", which is not an axis of the study; name one of bias, wind',
    ]);
  });

  it('print the bounds of an output with the cell of each, and the curves at values', async () => {
    const { code, stdout, stderr } = await run('ask', 'pbox', 'latest', 'y', '--at', '2.5,11.5', '--quantiles', '0.5');
    expect(code, stderr).to.equal(0);
    const rows = cellsOf(stdout);
    const mean = rows.filter(([figure]) => figure === 'mean').map((it) => [it[1], it[2], it.at(-1)]);
    expect(mean).to.deep.equal([
      ['least', '0.5', 'bias=-1, wind=calm'],
      ['greatest', '12.5', 'bias=1, wind=storm'],
    ]);
    expect(rows.filter(([figure]) => figure === 'passing small').map((it) => it[2])).to.deep.equal(['0 %', '100 %']);
    // With a bias of -1 calm runs are -1 to 2, and with a bias of 1 storms are 11 to 14.
    expect(rows.filter(([figure]) => figure!.startsWith('y <='))).to.deep.equal([
      ['y <= 2.5', '0 %', '100 %'],
      ['y <= 11.5', '25 %', '100 %'],
    ]);
    expect(stdout).to.include('inner approximation of the intervals of bias');
    const within = await run('ask', 'pbox', 'latest', 'y', '--within', 'wind:calm', '-o', 'json');
    expect(JSON.parse(within.stdout)).to.deep.include({ cells: 2, within: { wind: 'calm' } });
  });

  it('compare two levels by sample, also with other failing runs and another confidence', async () => {
    const { code, stdout, stderr } = await run('compare', 'latest', '--level', 'wind:calm', '--with', 'wind:storm');
    expect(code, stderr).to.equal(0);
    expect(stdout).to.include('wind=storm minus wind=calm, by sample, averaged over 2 pairs of cells; 4 pairs');
    expect(
      cellsOf(stdout)
        .find(([output]) => output === 'y')
        ?.slice(0, 4),
    ).to.deep.equal(['y', '4', '0', '10']);
    const flips = async (...options: string[]) => {
      const { stdout: text } = await run('compare', 'latest', '--level', 'bias:-1', '--with', 'bias:1.0', ...options);
      return text.split('\n').filter((line) => /^(broke|mended)/.test(line));
    };
    // The last sample of a storm with a bias of 1 has 3 + 10 + 1.
    expect(await flips('--failing', 'outputs.y > 13.5 and outputs.y < 15')).to.deep.equal(['broke: samples 3']);
    expect(await flips('--failing', 'outputs.y > 99')).to.deep.equal([]);
    const range = async (confidence: string): Promise<[number, number]> => {
      const asked = ['--level', 'wind:calm', '--with', 'wind:storm', '--confidence', confidence, '-o', 'json'];
      const answer = JSON.parse((await run('compare', 'latest', ...asked)).stdout);
      return answer.outputs.find((it: { name: string }) => it.name === 'z').interval;
    };
    const [wide, narrow] = [await range('0.99'), await range('0.5')];
    expect(wide[1] - wide[0]).to.be.greaterThan(2 * (narrow[1] - narrow[0]));
  });

  it('count the cells that one of the levels alone has', async () => {
    const { stdout } = await run('compare', 'latest', '--level', 'wind:calm', '--with', 'wind:gale');
    expect(stdout)
      .to.include('wind=gale minus wind=calm, by sample; 4 pairs')
      .and.match(/1 cell that only one of the levels has/);
  });

  for (const [name, args, code, text] of [
    [
      'an axis that is not of the study',
      ['rain:calm', 'wind:storm'],
      65,
      'level names "rain", which is not an axis of the study; name one of bias, wind',
    ],
    [
      'a level that is not of the axis',
      ['wind:calm', 'wind:strom'],
      65,
      'with names "strom", which is not a level of wind; did you mean "storm"?',
    ],
    ['one level twice', ['wind:calm', 'wind:calm'], 65, 'level and with are both calm; name two levels'],
    [
      'levels of two axes',
      ['wind:calm', 'bias:1'],
      65,
      'with is of the axis bias and level of wind; name two levels of one axis',
    ],
    [
      'a level without its axis',
      ['calm', 'wind:storm'],
      65,
      'level is "calm", which has no axis; write axis:level, such as bias:-1',
    ],
  ] as const)
    it(`refuse ${name}, with the remedy`, async () => {
      const [level, other] = args;
      const refused = await run('compare', 'latest', '--level', level, '--with', other);
      expect([refused.code, refused.stdout], refused.stderr).to.deep.equal([code, '']);
      expect(refused.stderr).to.include(text);
    });

  for (const [name, args, text] of [
    ['one level alone', ['--level', 'wind:calm'], '--level and --with are two levels of one axis: give both'],
    ['failing runs without levels', ['--failing', 'failed'], '--failing is for two levels: give --level and --with'],
    ['a confidence without levels', ['--confidence', '0.9'], '--confidence is for two levels'],
    [
      'the name of no study',
      ['--level', 'wind:calm', '--with', 'wind:storm', '-o', 'name'],
      '-f name prints a new study',
    ],
    ['to be watched', ['--level', 'wind:calm', '--with', 'wind:storm', '--watch'], 'cannot be used with option'],
  ] as const)
    it(`refuse ${name} as a usage`, async () => {
      const refused = await run('compare', 'latest', ...args);
      expect([refused.code, refused.stdout], refused.stderr).to.deep.equal([64, '']);
      expect(refused.stderr).to.include(text);
    });

  it('refuse bounds of an output or within levels that the study does not have', async () => {
    const output = await run('ask', 'pbox', 'latest', 'speed');
    expect([output.code, output.stdout], output.stderr).to.deep.equal([65, '']);
    expect(output.stderr).to.match(/speed.*(y|outputs)/);
    const level = await run('ask', 'pbox', 'latest', 'y', '--within', 'wind:strom');
    expect([level.code, level.stderr]).to.satisfy(
      ([code, text]: [number, string]) =>
        code === 65 && text.includes('within names "strom", which is not a level of wind'),
    );
    expect((await run('ask', 'pbox', 'latest')).code).to.equal(64);
  });
});
