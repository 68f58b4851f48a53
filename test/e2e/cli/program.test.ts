/** The real program as a subprocess, with a real coordinator where it needs one; its messages for mistakes. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { parquetMetadata } from 'hyparquet';
import { packageRoot, packageVersion } from '../../../src/base/package.ts';

const PROGRAM = join(packageRoot, 'dist', 'bin', 'simbatch.js');
const STUDY = join(packageRoot, 'examples', 'sounding-rocket', 'study.yaml');

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** A simulation that writes one output, and fails for odd runs. */
const SIMULATION = `
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
const { run_id, parameters } = JSON.parse(readFileSync(process.env.SVC_RUN_CONFIG, 'utf8'));
if (run_id % 2 === 1) { console.error('odd run', run_id); process.exit(3); }
writeFileSync(join(process.env.SVC_OUTPUT_DIR, 'metadata.json'), JSON.stringify({ double_mass: 2 * parameters.mass }));
`;

const SMALL = `name: small
config:
  simulation: { name: toy, version: '1', duration_minutes: 1 }
  monte_carlo: { runs: 4, sampling_method: monte_carlo, seed: 9007199254740993 }
  dispersions:
    mass: { distribution: { type: normal, mean: 10, std_dev: 1 }, units: kg }
  compute:
    container: { image: none, cpu_request: 1m, memory_request: 1Mi }
    max_parallel_jobs: 0
    job_timeout_seconds: 60
    max_retries: 0
  early_termination: { enabled: false, check_frequency_hz: 1, conditions: [] }
  telemetry:
    sampling_rate_hz: 1
    variables: []
    storage: { s3_bucket: b, s3_prefix: p, compression: none }
    buffer_flush_interval_seconds: 1
`;

describe('cli: the program', function () {
  let folder: string;
  const file = (name: string): string => join(folder, name);
  const children = new Set<ChildProcess>();

  function start(args: readonly string[], env: Record<string, string> = {}): ChildProcess {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', ...env },
    });
    children.add(child);
    child.on('exit', () => children.delete(child));
    return child;
  }

  async function simbatch(args: readonly string[], env: Record<string, string> = {}, input = ''): Promise<Ended> {
    const child = start(args, env);
    let [out, err] = ['', ''];
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.stdin!.end(input);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, out, err };
  }

  async function firstLine(child: ChildProcess): Promise<string> {
    for await (const line of createInterface({ input: child.stdout! })) return line;
    throw new Error('the program ended without a line');
  }

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-cli-'));
    writeFileSync(file('small.yaml'), SMALL);
    writeFileSync(file('toy.mjs'), SIMULATION);
    writeFileSync(file('a-file'), '');
  });

  after(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  describe('without a coordinator', () => {
    const unreachable = { SVC_ENDPOINT: 'http://127.0.0.1:9' };
    const TABLE: [string, string[], number, RegExp][] = [
      ['version', ['--version'], 0, new RegExp(`^${packageVersion}\n$`)],
      ['help', ['--help'], 0, /submit .*check and submit a study/],
      ['help of a command', ['help', 'submit'], 0, /--runs-override <n>/],
      ['nothing', [], 64, /Usage: simbatch/],
      ['a misspelt command', ['submti'], 64, /unknown command 'submti'\n\(Did you mean submit\?\)/],
      ['a misspelt option', ['jobs', '--satus', 'Failed'], 64, /unknown option '--satus'\n\(Did you mean --status\?\)/],
      ['an unknown status', ['jobs', '--status', 'Broken'], 64, /"Broken" is not one of Pending, Claimed/],
      ['a malformed number', ['serve', '--port', '70x'], 64, /whole number from 0 to 65535/],
      ['a reference that names nothing', ['status', 'x'], 66, /"x" names no study/],
      [
        'an unknown format',
        ['jobs', '-f', 'jsn'],
        64,
        /--format jsn is not a format of this command: give table, wide,/,
      ],
      ['a file of an unknown format', ['jobs', '-f', 'a.xlsx'], 64, /the format of a\.xlsx is unknown: give it with/],
      ['deleting what was latest a moment ago', ['delete', 'latest'], 64, /did not delete latest: .*--yes/],
      [
        'unreachable answers',
        ['status'],
        69,
        /^simbatch: cannot reach the coordinator at http:\/\/127\.0\.0\.1:9.*simbatch serve.*\n$/,
      ],
      ['an invalid endpoint', ['status', '--endpoint', 'ftp://x'], 78, /ftp:/],
      ['an open address', ['serve', '--host', '0.0.0.0'], 64, /--allow-unauthenticated/],
      [
        'a data directory that is a file',
        ['serve', '--port', '0', '--data-dir', 'a-file'],
        73,
        /^simbatch: .*a-file.*\n$/,
      ],
      ['a study that is not there', ['submit', 'none.yaml'], 66, /none\.yaml: no such file/],
      ['--strict alone', ['submit', 'small.yaml', '--strict'], 64, /--watch/],
      [
        'a valid study',
        ['submit', '--check', 'small.yaml'],
        0,
        /small\.yaml: valid - 4 runs of "small", 1 dispersion\n/,
      ],
      ['the example', ['submit', '--check', STUDY], 0, /valid - 400 runs/],
      ['completion', ['completion', 'bash'], 0, / complete -- /],
    ];
    for (const [name, args, code, text] of TABLE) {
      it(name, async () => {
        const ended = await simbatch(args, unreachable);
        expect(ended.out + ended.err).to.match(text);
        expect(ended.code).to.equal(code);
        expect(ended.err).to.not.match(/\n\s+at /);
      });
    }

    it('lists every fault of a study with its position', async () => {
      const ended = await simbatch(
        ['submit', '--check', '-'],
        {},
        SMALL.replace('runs: 4', 'runs: x').replace('1Mi', '1Mx'),
      );
      expect(ended.err.split('\n')).to.have.length(4);
      expect(ended.err).to.match(
        /^simbatch: <stdin> has 2 faults\n\s*<stdin>:4:24: \/config\/monte_carlo\/runs .*\n\s*<stdin>:8:\d+: \/config\/compute\/container\/memory_request /,
      );
      expect(ended.code).to.equal(65);
    });

    const part = 'the 2 runs are a random part of the 4-run Latin hypercube';
    const few = 'quasi_monte_carlo with 2 runs leaves parameters strongly correlated';
    const capped: [method: string, inFile: string, args: string[], warning: string][] = [
      ['latin_hypercube', '', ['sample', '--runs', '2'], `warning: --runs: ${part}`],
      ['latin_hypercube', 'runs_override: 3\n', ['sample', '--runs', '2'], `warning: --runs: ${part}`],
      ['latin_hypercube', 'runs_override: 2\n', ['sample'], `warning: <stdin>:1:16: /runs_override: ${part}`],
      ['latin_hypercube', '', ['submit', '--check', '--runs-override', '2'], `warning: --runs-override: ${part}`],
      ['quasi_monte_carlo', '', ['sample', '--runs', '2'], `warning: --runs: ${few}`],
      [
        'quasi_monte_carlo',
        '',
        ['sample'],
        'warning: <stdin>:4:24: /config/monte_carlo/runs: quasi_monte_carlo with 4 runs leaves',
      ],
    ];
    for (const [method, inFile, args, warning] of capped) {
      it(`${args.join(' ')} of ${method} with ${JSON.stringify(inFile)} warns where the runs were capped`, async () => {
        const text = inFile + SMALL.replace('sampling_method: monte_carlo', `sampling_method: ${method}`);
        const ended = await simbatch([...args, '-'], {}, text);
        expect(ended.err).to.satisfy((err: string) => err.startsWith(warning), ended.err);
        if (args.length > 1) expect(ended.err).to.not.include('/runs_override');
        expect(ended.code).to.equal(0);
      });
    }

    it('writes no binary data to a terminal', async function () {
      const inTerminal = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';
      const program = [process.execPath, PROGRAM, 'sample', STUDY, '--format', 'parquet'];
      const ended = spawnSync('python3', ['-c', inTerminal, ...program], { cwd: folder, encoding: 'utf8' });
      if (ended.error !== undefined && process.env['SIMBATCH_REQUIRE_ALL'] !== '1') this.skip();
      expect(ended.stdout).to.match(/Parquet is binary .*-o FILE,\s+or\s+redirect\s+it\s+with > FILE\r\n$/);
      expect(ended.status).to.equal(64);
    });

    it('samples the same in every format', async () => {
      const csv = await simbatch(['sample', 'small.yaml', '--format', 'csv']);
      const lines = await simbatch(['sample', 'small.yaml', '--format', 'ndjson', '--runs', '2']);
      const rows = csv.out.trim().split('\r\n');
      expect(rows[0]).to.equal('run_id,mass');
      expect(rows).to.have.length(5);
      const shown = lines.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { run_id: number; parameters: { mass: number } });
      expect(shown.map(({ run_id, parameters }) => `${run_id},${parameters.mass}`)).to.deep.equal(rows.slice(1, 3));
      expect((await simbatch(['sample', 'small.yaml', '--format', 'parquet', '-o', 'x.parquet'])).code).to.equal(0);
      const bytes = readFileSync(file('x.parquet'));
      const metadata = parquetMetadata(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
      expect([Number(metadata.num_rows), metadata.schema.map(({ name }) => name)]).to.deep.equal([
        4,
        ['root', 'run_id', 'mass'],
      ]);
    });

    it('ends quietly when the pipe is closed', async () => {
      const child = start(['sample', 'small.yaml', '--format', 'csv', '--seed', '1']);
      child.stdout!.destroy();
      const [code] = (await once(child, 'exit')) as [number | null];
      expect(code).to.equal(0);
    });

    it('telemetry of a directory without any says what that means', async () => {
      const { code, err } = await simbatch(['telemetry', '.', 'flushed.parquet']);
      expect([code, err]).to.deep.equal([
        66,
        'simbatch: no telemetry is being written in .: the run has sent none, or is over; then read its telemetry.parquet\n',
      ]);
      expect((await simbatch(['telemetry', 'absent', 'flushed.parquet'])).code).to.equal(66);
      expect((await simbatch(['telemetry', '.', 'small.yaml'])).err).to.match(/cannot write small.yaml: it exists/);
    });

    it('completes the values of options', async () => {
      for (const command of ['studies', 'batches', 'runs', 'jobs']) {
        const { out } = await simbatch(['complete', '--', command, '--status', '']);
        expect(out, command).to.contain('Completed').and.to.contain('Cancelled');
      }
    });

    it('completes commands', async () => {
      const { out } = await simbatch(['complete', '--', 'su']);
      expect(out).to.match(/^submit\t/m);
    });
  });

  describe('with a coordinator', () => {
    let coordinator: ChildProcess;
    const env: Record<string, string> = {};

    before(async () => {
      coordinator = start(['serve', '--port', '0', '--data-dir', 'data']);
      const line = await firstLine(coordinator);
      expect(line).to.match(/^simbatch is listening on http:\/\/127\.0\.0\.1:\d+ \(data in \.\/data\)$/);
      env['SVC_ENDPOINT'] = /http:\S+/.exec(line)![0];
    });

    const submitOne = 'submit a study with `simbatch submit STUDY`';
    const empty: [args: string, said: string][] = [
      ['batches', `there are no studies yet; ${submitOne}`],
      ['batches --status Failed,Running --name a', 'no studies match --status Failed,Running --name a'],
      ['jobs', `there are no runs yet; ${submitOne}`],
      ['jobs --limit 3', `there are no runs yet; ${submitOne}`],
      ['jobs --status Failed --runner r --run 0', 'no runs match --status Failed --runner r --run 0'],
      ['runners', 'there are no runners yet; start one with `simbatch runner`'],
      ['runners --tag lab', 'no runners match --tag lab'],
    ];
    for (const [args, said] of empty) {
      it(`${args} of an empty coordinator: ${said}`, async () => {
        expect(await simbatch(args.split(' '), env)).to.deep.equal({ code: 0, out: '', err: `${said}\n` });
      });
    }

    it('refuses a second coordinator the port and the data directory', async () => {
      const port = new URL(env['SVC_ENDPOINT']!).port;
      const samePort = await simbatch(['serve', '--port', port, '--data-dir', 'data-2']);
      expect([samePort.code, samePort.err]).to.deep.equal([
        73,
        `simbatch: Cannot listen: another program listens on 127.0.0.1:${port}; choose another --port, or stop that program.\n`,
      ]);
      const sameData = await simbatch(['serve', '--port', '0', '--data-dir', 'data']);
      expect(sameData.code).to.equal(73);
      expect(sameData.err).to.match(/^simbatch: another process uses the data directory .*\n$/);
    });

    it('explains why nothing runs, runs the study, and prints the results', async () => {
      const submitted = await simbatch(['submit', 'small.yaml', '-o', 'json', '--idempotency-key', 'once'], env);
      const { batch_id: batch } = JSON.parse(submitted.out) as { batch_id: string };
      const repeated = await simbatch(['submit', 'small.yaml', '-o', 'json', '--idempotency-key', 'once'], env);
      expect(repeated.out).to.equal(submitted.out);
      expect((await simbatch(['status'], env)).out).to.match(/NOT RUNNING: no runner has registered\n {4}-> start one/);
      expect((await simbatch(['status', 'latest'], env)).out).to.match(
        /4 Pending[^]*NOT RUNNING: no runner has registered/,
      );

      const runner = start(
        ['runner', '--runner-id', 'r', '--engines', 'toy', '--entrypoint', 'toy.mjs', '--output-root', 'out'],
        env,
      );
      const watched = await simbatch(['watch', batch, '--strict'], env);
      expect(watched.out).to.match(
        /^(?:Blocked|Running|Not OK): .*\nsmall: Completed in \S+ - 2 Completed, 2 Failed\n +2 x crashed: .*\nRerun the 2 that crashed: simbatch rerun \S{13} --failure-kind crashed\nWrite the report: simbatch report \S{13} -o report\.html\nNot OK: 2 of 4 runs did not complete: 2 runs crashed\.\n$/,
      );
      expect(watched.code).to.equal(3);
      expect((await simbatch(['watch', 'latest'], env)).code).to.equal(0);

      const jobs = await simbatch(['jobs', '-b', 'latest', '--status', 'failed'], env);
      expect(jobs.out.trim().split('\n')).to.have.length(3);
      const job = JSON.parse((await simbatch(['job', 'latest/1', '-o', 'json'], env)).out) as {
        job: { status: string };
        history: { attempts: unknown[] };
      };
      expect([job.job.status, job.history.attempts.length]).to.deep.equal(['Failed', 1]);
      expect((await simbatch(['job', 'latest/0'], env)).out).to.match(/seed 9007199254740993\n[^]*double_mass/);

      const csv = await simbatch(['results', 'latest', '--format', 'csv'], env);
      const [head, first] = csv.out.split('\r\n').map((line) => line.split(','));
      const mass = Number(first![head!.indexOf('parameters.mass')]);
      expect(Number(first![head!.indexOf('outputs.double_mass')])).to.equal(2 * mass);
      expect((await simbatch(['results', 'latest', '--summary'], env)).out).to.match(
        /^Not OK: .*\nstatistics of 2 of 4 runs: 2 crashed and left out\n[^]*double_mass +2 [^]*failures\n +2 x crashed: /,
      );
      const onMass = ['--on', 'double_mass', '--condition', '> 0', '--probability', '0.5'];
      const verdict = await simbatch(['verdict', 'latest', ...onMass], env);
      expect([verdict.code, verdict.out.split(';')[0]]).to.deep.equal([
        5,
        'double_mass > 0: not enough runs: double_mass > 0 with probability 50 % at 95 % confidence',
      ]);
      expect((await simbatch(['why', 'latest', '--failing', 'crahsed'], env)).err).to.contain(
        'did you mean "crashed"?',
      );
      const manifest = file('manifest.ndjson');
      await simbatch(['manifest', 'latest', '--file', manifest], env);
      expect((await simbatch(['manifest', 'verify', manifest, '--against', 'latest'], env)).out).to.match(
        /^valid: 4 runs .*\nthe same/,
      );
      expect((await simbatch(['results', 'latest', '-o', 'ndjson'], env)).out.trim().split('\n')).to.have.length(4);
      const heaviest = ['--where', 'class = ok', '--sort=-outputs.double_mass', '--limit', '1'];
      const shown = await simbatch(['table', 'latest', ...heaviest, '--columns', 'run_id,outputs.double_mass'], env);
      expect(shown.out).to.match(/^run_id +outputs\.double_mass\n +\d+ +[-\d.]+\n$/);
      expect(shown.err).to.equal('1 of 2 runs shown\n');
      expect((await simbatch(['table', 'latest'], env)).out).to.match(
        /^run_id +class +reason +execution_secs \[s\] +error_message +outputs\.double_mass\n/,
      );
      const runsFile = file('runs.parquet');
      await simbatch(['table', 'latest', '-o', runsFile], env);
      expect((await simbatch(['summary', '--from', runsFile], env)).out).to.match(
        /^Not OK: .*\nstatistics of 2 of 4 runs/,
      );
      const refusals: [string[], RegExp][] = [
        [['--columns', 'outputs.dubble_mass'], /did you mean "outputs\.double_mass"\?/],
        [['-o', file('runs.xlsx')], /the format of .*runs\.xlsx is unknown/],
        [['-o', 'csv', '--format', 'json'], /the format is given twice/],
        [['-o', 'csv', '-f', file('no/runs.csv')], /cannot write .*no\/runs\.csv: the folder .* does not exist/],
      ];
      for (const [args, expected] of refusals) {
        const refused = await simbatch(['table', 'latest', ...args], env);
        expect(refused.err).to.match(expected);
        expect(refused.code).to.not.equal(0);
      }

      expect((await simbatch(['drain', 'r', '--reason', 'new disk'], env)).out).to.equal('r is Drained\n');
      expect((await simbatch(['runners'], env)).out).to.match(/^r +Drained .*new disk$/m);
      await simbatch(['submit', 'small.yaml'], env);
      expect((await simbatch(['status', 'latest'], env)).out).to.match(
        /NOT RUNNING: the only runner connected for "toy" is drained \(new disk\)\n +-> resume one: simbatch resume r/,
      );
      const pending = await simbatch(['table', 'latest', '--columns', 'status,outputs.double_mass'], env);
      expect(pending.code).to.equal(65);
      expect(pending.err).to.include('the table has no column "outputs.double_mass"');
      expect((await simbatch(['table', 'latest', '--columns', 'status'], env)).out).to.match(
        /^status\n(Pending\n){4}$/,
      );
      const unasked = await simbatch(['cancel', 'latest'], env);
      expect(unasked.err).to.match(
        /^simbatch: did not cancel study \S{13} "small": 4 runs that have not ended: .* repeat with --yes\n$/,
      );
      expect(unasked.code).to.equal(64);
      expect((await simbatch(['cancel', 'latest', '--yes'], env)).out).to.match(/^study \S+ is Cancelled\n$/);
      expect((await simbatch(['table', 'latest', '--where', 'class = ok'], env)).err).to.equal(
        'none of 4 runs is selected\n',
      );
      expect((await simbatch(['watch', 'latest'], env)).code).to.equal(2);
      expect((await simbatch(['cancel', batch], env)).code).to.equal(75);
      expect((await simbatch(['resume', 'r'], env)).out).to.equal('r is Idle\n');
      expect((await simbatch(['job', 'latest/99'], env)).code).to.equal(66);
      runner.kill('SIGTERM');
      await once(runner, 'exit');
    });

    it('stops a study when its requirement is settled, shows the verdict live, and ends with it as its exit code', async () => {
      writeFileSync(file('good.mjs'), SIMULATION.replace('run_id % 2 === 1', 'run_id < 0'));
      const stopping = (condition: string): string => {
        const requirement = `{ name: heavy, output: double_mass, condition: '${condition}', probability: 0.5, confidence: 0.6 }`;
        const more = `requirements: [${requirement}]\npolicy: { stop_when: settled }\n`;
        return SMALL.replace('runs: 4', 'runs: 1000').replace('max_parallel_jobs: 0', 'max_parallel_jobs: 1') + more;
      };
      writeFileSync(file('met.yaml'), stopping('> 0'));
      writeFileSync(file('violated.yaml'), stopping('< 0'));
      const runner = start(['runner', '--runner-id', 's', '--entrypoint', 'good.mjs', '--output-root', 'out-3'], env);
      const met = await simbatch(['submit', 'met.yaml', '--watch'], env);
      expect(met.out).to.match(
        /: Completed in \S+ - \d+ Completed, \d+ Cancelled\nstopped: every requirement was settled at run 2\n[^]*heavy: met: [^]*; 3 of 3 runs passed, decided at run 2/,
      );
      expect(met.err).to.match(
        / {2}heavy: (open|met \(at run 2\)), \d of \d runs? passed, bounds [\d.]+ % and [\d.]+ %/,
      );
      expect(met.code).to.equal(0);
      expect((await simbatch(['status', 'latest'], env)).out).to.match(/^stopped +every requirement/m);
      const violated = await simbatch(['submit', 'violated.yaml', '--watch'], env);
      expect([violated.code, violated.out.includes('heavy: violated: ')]).to.deep.equal([4, true]);
      writeFileSync(file('open.yaml'), stopping('> 0').replace('runs: 1000', 'runs: 2'));
      expect((await simbatch(['submit', 'open.yaml', '--watch'], env)).code, 'not shown').to.equal(5);
      runner.kill('SIGTERM');
      await once(runner, 'exit');
    });

    it('says that a limit was never checked, and exits with 3 under --strict', async () => {
      const limit =
        "{ enabled: true, check_frequency_hz: 10, conditions: [{ variable: altitude, condition: '< 0', description: '' }] }";
      const limited = SMALL.replace('{ enabled: false, check_frequency_hz: 1, conditions: [] }', limit);
      writeFileSync(file('limited.yaml'), limited.replace('runs: 4', 'runs: 1'));
      const runner = start(['runner', '--runner-id', 'q', '--entrypoint', 'toy.mjs', '--output-root', 'out-2'], env);
      const watched = await simbatch(['submit', 'limited.yaml', '--watch', '--strict'], env);
      expect(watched.out).to.match(
        /Completed in \S+ - 1 Completed[^]*DOUBTFUL: the limit on "altitude" was never checked: none of 1 run sent a number of it\n {2}-> send/,
      );
      expect(watched.code).to.equal(3);
      expect((await simbatch(['watch', 'latest'], env)).code).to.equal(0);
      const status = await simbatch(['status', 'latest', '--strict'], env);
      expect([status.code, status.out.includes('DOUBTFUL: no telemetry came from 1 run')]).to.deep.equal([3, true]);
      const { findings, telemetry } = JSON.parse((await simbatch(['status', 'latest', '-o', 'json'], env)).out) as {
        findings: { code: string }[];
        telemetry: object;
      };
      expect(findings.map(({ code }) => code)).to.deep.equal(['condition-never-seen', 'telemetry-absent']);
      expect(telemetry).to.include({ reported_runs: 1, silent_runs: 1 });
      expect((await simbatch(['status', '--strict'], env)).code).to.equal(64);
      expect((await simbatch(['job', 'latest/0'], env)).out).to.match(/^ *samples +0$/m);
      runner.kill('SIGTERM');
      await once(runner, 'exit');
    });

    it('names the option that set the number of runs when the coordinator accepts fewer', async () => {
      const small = start(['serve', '--port', '0', '--data-dir', 'data-3', '--max-runs', '1']);
      const endpoint = /http:\S+/.exec(await firstLine(small))![0];
      const refused = await simbatch(['submit', 'small.yaml', '--runs-override', '2', '--endpoint', endpoint]);
      expect(refused).to.deep.equal({
        code: 65,
        out: '',
        err:
          'simbatch: the coordinator refused the study: 1 fault\n' +
          '--runs-override is 2; this coordinator takes studies of up to 1 runs: submit fewer, or start it with a higher --max-runs\n',
      });
      small.kill('SIGTERM');
      await once(small, 'exit');
    });

    it('stops in order on SIGTERM and keeps its data', async () => {
      coordinator.kill('SIGTERM');
      const [code] = (await once(coordinator, 'exit')) as [number | null];
      expect(code).to.equal(0);
      expect(existsSync(file('data'))).to.equal(true);
    });
  });
});
