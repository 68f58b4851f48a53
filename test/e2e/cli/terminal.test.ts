/** The program in a terminal of 80x24: every table fits, findings are replaced, colours, questions. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { columnsOf } from '../../../src/cli/terminal/screen.ts';
import { serving, simbatch, type Serving } from '../../support/program.ts';
import { inTerminal, needTerminal, plain } from '../../support/terminal.ts';
import { RunnerProcess } from '../../support/cli-runner.ts';

const STUDY = `name: a study with a name that has more characters than fit in one column
config:
  simulation: { name: toy }
  monte_carlo: { runs: 12, sampling_method: monte_carlo, seed: 1 }
  dispersions:
    mass_of_the_vehicle_at_lift_off_kg: { distribution: { type: normal, mean: 10, std_dev: 1 }, units: kg }
  compute: { max_retries: 0 }
requirements:
  - { name: it stays below the limit of the structure, output: double_mass, condition: '< 50', probability: 0.5 }
`;

const SIMULATION = `
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
const { run_id, parameters } = JSON.parse(readFileSync(process.env.SVC_RUN_CONFIG, 'utf8'));
if (run_id % 2 === 1) { console.error('Traceback: the solver did not converge after many iterations in step', run_id); process.exit(3); }
const mass = parameters.mass_of_the_vehicle_at_lift_off_kg;
const outputs = { double_mass: 2 * mass };
for (const name of ['maximum_dynamic_pressure_pa', 'apogee_above_the_launcher_m', 'range_of_the_landing_point_m']) outputs[name] = mass * 1234.5;
writeFileSync(join(process.env.SVC_OUTPUT_DIR, 'metadata.json'), JSON.stringify(outputs));
`;

const ESCAPE = '\u001b';

describe('cli: in a terminal', function () {
  let folder: string;
  let server: Serving;
  let runner: RunnerProcess;
  const env = (): Record<string, string> => ({ SVC_ENDPOINT: server.url });

  before(async function () {
    needTerminal(this);
    folder = mkdtempSync(join(tmpdir(), 'simbatch-terminal-'));
    writeFileSync(join(folder, 'study.yaml'), STUDY);
    writeFileSync(join(folder, 'toy.mjs'), SIMULATION);
    server = await serving(['--data-dir', join(folder, 'data')]);
  });

  after(async () => {
    await runner?.stop();
    await server?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  it('shows in watch why nothing runs, and replaces it by progress and verdicts when it does', async () => {
    expect((await simbatch(['submit', join(folder, 'study.yaml')], env())).code).to.equal(0);
    let started: Promise<RunnerProcess> | undefined;
    const act = (): void => {
      started = RunnerProcess.start(server.url, join(folder, 'toy.mjs'), join(folder, 'out'));
    };
    const { code, screen } = await inTerminal(['watch', 'latest'], { env: env(), seen: { text: /NOT RUNNING/, act } });
    runner = (await started)!;
    expect(plain(screen)).to.match(/0% 0\/12 {2}none running/);
    expect(plain(screen)).to.match(/NOT RUNNING: no runner has registered/);
    const last = screen.split(`${ESCAPE}[0J`).at(-2) ?? '';
    expect(plain(last), 'the last block').to.match(/^100% 12\/12 {2}6 failed {2}Completed {2}█{16}\n$/);
    expect(plain(screen).replaceAll(/\s+/g, ' ')).to.match(
      /Completed in \S+ - 6 Completed, 6 Failed 6 x crashed: .*solver did not converge/,
    );
    expect(code, 'not shown').to.equal(5);
  });

  const tables = [
    'studies',
    'status',
    'status latest',
    'runs',
    'runs latest',
    'runs latest --status Failed',
    'run latest/0',
    'run latest/1',
    'runners',
    'summary latest',
    'verdict latest',
    'why latest',
    'sensitivity latest double_mass',
    'worst latest double_mass',
    'convergence latest double_mass',
    'diff latest latest',
    'results latest',
    'results latest --where class=crashed',
  ];
  for (const command of tables) {
    it(`fits 80 columns: ${command}`, async () => {
      const { screen } = await inTerminal(command.split(' '), { env: env() });
      const lines = plain(screen).trimEnd().split('\n');
      expect(lines.length).to.be.above(0);
      // A command to copy is not broken, and a word is not cut.
      const long = lines.filter((line) => columnsOf(line) > 80 && !/^\s*(file +)?\S+$|simbatch replay/.test(line));
      expect(long).to.deep.equal([]);
    });
  }

  it('cuts nothing in a pipe, and shows everything with -f wide', async () => {
    const piped = await simbatch(['runs', 'latest', '--status', 'Failed'], env());
    expect(piped.stdout).to.include('after many iterations').and.not.include('…');
    const wide = await inTerminal(['runs', 'latest', '-o', 'wide'], { env: env() });
    expect(plain(wide.screen)).to.match(
      /^STUDY +RUN +JOB +STATUS +RETRIES +RUNNER +TOOK +ENDED +ENDED AT \(UTC\) +ERROR\n/,
    );
  });

  it('has colours in a terminal only, unless an option or a variable decides otherwise', async () => {
    const coloured = `${ESCAPE}[32mCompleted${ESCAPE}[39m`;
    expect((await inTerminal(['studies'], { env: env() })).screen).to.include(coloured);
    expect((await inTerminal(['studies'], { env: { ...env(), NO_COLOR: '1' } })).screen).to.not.include(ESCAPE);
    expect((await inTerminal(['studies', '--color', 'never'], { env: env() })).screen).to.not.include(ESCAPE);
    expect((await simbatch(['studies'], env())).stdout).to.not.include(ESCAPE);
    expect((await simbatch(['studies'], { ...env(), FORCE_COLOR: '1' })).stdout).to.include(coloured);
    expect((await simbatch(['studies', '--color', 'always'], env())).stdout).to.include(coloured);
    const file = join(folder, 'studies.txt');
    await inTerminal(['studies', '-f', file], { env: env() });
    expect(readFileSync(file, 'utf8'))
      .to.match(/Completed/)
      .and.not.include(ESCAPE);
  });

  it('has each format of a list, and writes it to a file', async () => {
    const json = JSON.parse((await simbatch(['studies', '-o', 'json'], env())).stdout) as { id: string }[];
    const { id } = json[0]!;
    expect((await simbatch(['studies', '-o', 'name'], env())).stdout).to.equal(`${id}\n`);
    expect((await simbatch(['studies', '-o', 'ndjson'], env())).stdout.trim().split('\n')).to.have.length(1);
    expect((await simbatch(['studies', '-o', 'csv'], env())).stdout).to.match(
      /^study,id,name,owner,status,runs,.*\r\n.*,12,/,
    );
    const file = join(folder, 'runs.csv');
    expect((await simbatch(['runs', 'latest', '-f', file], env())).stdout).to.equal('');
    expect(readFileSync(file, 'utf8').split('\r\n')).to.have.length(14);
    expect((await simbatch(['results', 'latest', '--limit', '2', '-o', 'name'], env())).stdout).to.equal(
      `${id}/0\n${id}/1\n`,
    );
    const failed = await simbatch(['runs', 'none', '-f', file], env());
    expect([failed.code, readFileSync(file, 'utf8').split('\r\n').length], 'the file stays').to.deep.equal([66, 14]);
  });

  it('prints errors as problems with -f json', async () => {
    const problemOf = async (...args: string[]): Promise<[number | null, Record<string, unknown>, string]> => {
      const { code, stdout, stderr } = await simbatch(args, env());
      return [code, JSON.parse(stderr) as Record<string, unknown>, stdout];
    };
    const absent = '01a1fd51-c34f-8cf4-b177-584200000000';
    const [code, problem, stdout] = await problemOf('status', absent, '-o', 'json');
    expect([code, stdout]).to.deep.equal([66, '']);
    expect(problem).to.include({ code: 'unknown-batch', exit_code: 66, status: 404 });
    expect((await problemOf('status', '--bad', '-o', 'json'))[1]).to.include({ code: 'usage', exit_code: 64 });
    expect((await problemOf('runs', 'nowhere', '--output=ndjson'))[1]).to.include({ code: 'missing', exit_code: 66 });
    const [, invalid] = await problemOf('submit', '--check', join(folder, 'toy.mjs'), '-o', 'json');
    expect(invalid).to.include({ code: 'invalid', exit_code: 65 });
    expect(invalid['errors']).to.be.an('array');
  });

  it('draws the open studies and the pool on the whole screen, and leaves it with q', async () => {
    const { code, screen } = await inTerminal(['top'], { env: env(), typed: [[/q: quit/, 'q']] });
    expect(code).to.equal(0);
    expect(screen.startsWith(`${ESCAPE}[?1049h`), 'enters the other screen').to.equal(true);
    expect(screen.trimEnd().endsWith(`${ESCAPE}[?1049l`), 'leaves it').to.equal(true);
    const text = plain(screen);
    expect(text)
      .to.match(/0\/2 slots in use {2}0 open studies/)
      .and.match(/toy-1 +Idle/)
      .and.match(/Completed +12 +6/);
    expect(text.split('\n').filter((line) => columnsOf(line) > 80)).to.deep.equal([]);
    expect((await simbatch(['top'], env())).code, 'no terminal').to.equal(64);
  });

  it('writes a report of a study into a file, and not to a terminal', async () => {
    const file = join(folder, 'report.html');
    expect((await simbatch(['report', 'latest', '-o', file], env())).code).to.equal(0);
    const text = readFileSync(file, 'utf8');
    expect(text)
      .to.match(/^<!doctype html>/i)
      .and.match(/it stays below the limit of the structure: not enough runs/);
    expect(text)
      .to.match(/solver did not converge/)
      .and.match(/Distribution of double_mass/)
      .and.match(/<\/html>\s*$/);
    const shown = await inTerminal(['report', 'latest'], { env: env() });
    expect([shown.code, plain(shown.screen).includes('give -o report.html')]).to.deep.equal([64, true]);
  });

  it('waits for studies, shows a study as it was submitted, gives its address, and checks the pool', async () => {
    const waited = await simbatch(['wait', 'latest', 'latest', '-o', 'name'], env());
    expect([waited.code, waited.stdout.split('\n').length, waited.stderr]).to.deep.equal([5, 3, '']);
    // The runner must not execute the runs before the study is paused.
    expect((await simbatch(['drain', 'toy-1'], env())).code).to.equal(0);
    const paused = (await simbatch(['submit', join(folder, 'study.yaml'), '-o', 'name'], env())).stdout.trim();
    await simbatch(['pause', paused], env());
    expect((await simbatch(['resume', 'toy-1'], env())).code).to.equal(0);
    const late = await simbatch(['wait', paused, '--timeout', '1s'], env());
    expect([late.code, late.stderr.includes('has not ended after 1s: it continues')]).to.deep.equal([75, true]);
    const detail = (await simbatch(['study', paused], env())).stdout;
    expect(detail).to.match(new RegExp(`^study +${paused}\nname +a study[^]*^paused `, 'm'));
    expect((await simbatch(['status', paused], env())).stdout.split('\n')[1]).to.equal(detail.split('\n')[1]);
    const file = join(folder, 'again.yaml');
    await simbatch(['study', 'show', paused, '-f', file], env());
    expect((await simbatch(['submit', '--check', file])).stdout).to.match(
      /valid - 12 runs of "a study .*with the seed 1/s,
    );
    expect((await simbatch(['open', `${paused}/3`, '--print'], env())).stdout).to.match(
      new RegExp(`^${server.url}/#/jobs/${paused.slice(0, 28)}00000004\n$`),
    );
    expect((await simbatch(['cancel', paused, '--yes'], env())).code).to.equal(0);
    expect((await simbatch(['delete', paused, '--yes'], env())).code).to.equal(0);
    const healthy = await simbatch(['doctor'], env());
    expect(healthy.code, healthy.stdout).to.equal(0);
    expect(healthy.stdout).to.match(
      /^ok +coordinator .*\nok +clock .* is within a second of .*\nok +credentials .*\nok +runners +room for 2 runs/m,
    );
    const away = await simbatch(['doctor', '-o', 'json', '--endpoint', 'http://127.0.0.1:9']);
    const { checks } = JSON.parse(away.stdout) as { checks: { check: string; state: string }[] };
    expect([away.code, checks.at(-1)?.state]).to.deep.equal([1, 'fault']);
  });

  it('writes CSV and JSON without control characters to a terminal, and every byte as it is elsewhere', async () => {
    const hostile = `name: "e\\x1b]0;x\\x07 c\\u009b2J b\\u202e"\nconfig:\n  simulation: { name: none }\n  monte_carlo: { runs: 1, seed: 1 }\n  dispersions: { a: { distribution: { type: uniform, min: 0, max: 1 } } }\n`;
    writeFileSync(join(folder, 'hostile.yaml'), hostile);
    const id = (await simbatch(['submit', join(folder, 'hostile.yaml'), '-o', 'name'], env())).stdout.trim();
    const name = 'e\u001b]0;x\u0007 c\u009b2J b\u202e';
    for (const format of ['csv', 'json', 'ndjson']) {
      const args = ['studies', '-o', format];
      const { screen } = await inTerminal(args, { env: env() });
      // eslint-disable-next-line no-control-regex -- finding control characters is the purpose
      expect(screen, format).not.to.match(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e]/);
      expect(screen, format).to.include('c\\u009b2J b\\u202e');
      const { stdout } = await simbatch(args, env());
      expect(stdout, format).to.include('c\u009b2J b\u202e');
      if (format !== 'json') continue;
      const names = (text: string): string[] => (JSON.parse(text) as { name: string }[]).map((it) => it.name);
      expect(names(screen)).to.deep.equal(names(stdout)).and.to.include(name);
    }
    expect((await simbatch(['cancel', id, '--yes'], env())).code).to.equal(0);
    expect((await simbatch(['delete', id, '--yes'], env())).code).to.equal(0);
  });

  it('asks before it cancels, deletes and forgets, and changes nothing on a no', async () => {
    await runner.stop();
    const submitted = await simbatch(['submit', join(folder, 'study.yaml'), '-o', 'name'], env());
    const id = submitted.stdout.trim();
    const answer = (keys: string, ...args: string[]) => inTerminal(args, { env: env(), typed: [[/\[y\/N\] /, keys]] });
    const no = await answer('\r', 'cancel', id);
    expect(plain(no.screen)).to.match(/^Cancel study \S{13} "a study .*": 12 runs that have not ended\? \[y\/N\] /);
    expect([no.code, plain(no.screen).includes('nothing was changed')]).to.deep.equal([130, true]);
    expect((await simbatch(['status', id], env())).stdout).to.include('Pending');
    const yes = await answer('y\r', 'cancel', id);
    expect([yes.code, plain(yes.screen).includes('is Cancelled')]).to.deep.equal([0, true]);
    expect((await inTerminal(['delete', 'latest'], { env: env() })).code, 'latest needs --yes').to.equal(64);
    expect((await answer('yes\r', 'delete', id)).code).to.equal(0);
    expect((await answer('y\r', 'forget', 'toy-1')).code).to.equal(0);
    expect((await simbatch(['runners'], env())).stdout).to.equal('');
  });
});
