/** Telemetry the whole way: a real simulation with a client of ours, a real runner, a Parquet file, a second implementation. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { COMPRESSIONS } from '../../../src/contract/enums.ts';
import type { OutcomeReport } from '../../../src/contract/types.ts';
import { packageRoot } from '../../../src/base/package.ts';
import { freshSite } from '../../support/fresh-site.ts';
import type { FakeCoordinator, FakeJob, JobSpec } from '../../support/fake-coordinator.ts';
import { lives, type Site } from '../../support/runner-process.ts';
import { readJournal } from '../../../src/runner/telemetry/journal.ts';
import { Rows } from '../../../src/runner/telemetry/rows.ts';
import { connect, readMetadata, readTable, send } from '../../runner/telemetry/support.ts';
import { python } from './telemetry/processes.ts';

const SIMULATIONS = join(packageRoot, 'test/support/simulations');
const SAMPLES = 1000;
const EPOCH = 1_700_000_000_123_456_789n;
const ODD = ['nan', 'inf', '-inf', '-0.0'];
const ALL = { sampling_rate_hz: 0, buffer_flush_interval_seconds: 1 };

/** Values as Python writes them, so that NaN and the sign of zero are seen. */
const READ = `
import json, sys, pyarrow.parquet as pq
t = pq.read_table(sys.argv[1])
print(json.dumps([[str(f.type) for f in t.schema], [str(v) for v in t['timestamp_ns'].to_pylist()], t['third'].to_pylist(), [repr(v) for v in t['odd'].to_pylist()]]))`;

type Ended = OutcomeReport;

describe('runner: telemetry of a real simulation', () => {
  let fake: FakeCoordinator;
  let site: Site;
  freshSite((it) => ({ fake, site } = it));

  function start(simulation: 'measured.mjs' | 'measured.py') {
    const env = { PYTHONPATH: join(packageRoot, 'clients/python'), PYTHONDONTWRITEBYTECODE: '1' };
    return site.start(fake.url, ['--entrypoint', join(SIMULATIONS, simulation)], env);
  }
  const isOver = (job: FakeJob): boolean => ['Completed', 'Failed'].includes(job.job.status);
  function endOf(job: FakeJob): Ended {
    const last = job.accepted.at(-1);
    if (last?.type !== 'complete' && last?.type !== 'fail') throw new Error('it has not ended');
    return last;
  }
  function add(...specs: JobSpec[]): FakeJob[] {
    return fake.add(...specs.map((spec) => ({ ...spec, telemetry: { ...ALL, ...spec.telemetry } })));
  }
  const one = (spec: JobSpec): FakeJob => add(spec)[0] as FakeJob;
  const runOf = (job: FakeJob): string =>
    join(site.folder, 'out', job.job.batch_id, String(job.job.run_config.run_id).padStart(8, '0'));

  for (const simulation of ['measured.mjs', 'measured.py'] as const) {
    it(`${simulation}: each codec is read by pyarrow with equal values and exact nanoseconds`, async function () {
      if (python('print("true")') === undefined) return this.skip();
      start(simulation);
      const storage = COMPRESSIONS.map((compression) => ({ s3_bucket: '', s3_prefix: '', compression }));
      const jobs = add(...storage.map((it) => ({ telemetry: { storage: it } })));
      await fake.until('all are over', () => jobs.every(isOver));
      for (const [index, job] of jobs.entries()) {
        const { result } = endOf(job);
        expect(result?.metadata).to.deep.equal({ sent: SAMPLES });
        const file = result?.telemetry_data ?? '';
        expect(result?.output_files).to.include(file);
        const codec = ['UNCOMPRESSED', 'GZIP', 'SNAPPY', 'LZ4_RAW'][
          ['none', 'gzip', 'snappy', 'lz4'].indexOf(COMPRESSIONS[index] ?? '')
        ];
        expect(readMetadata(file).row_groups[0]?.columns[1]?.meta_data?.codec).to.equal(codec);
        expect(python(READ, file)).to.deep.equal([
          ['int64', 'double', 'double'],
          Array.from({ length: SAMPLES }, (_, i) => String(EPOCH + BigInt(i) * 1_000_003n)),
          Array.from({ length: SAMPLES }, (_, i) => i / 3),
          Array.from({ length: SAMPLES }, (_, i) => ODD[i % 4]),
        ]);
      }
    });
  }

  it('a flood of 1,000,000 samples is stored without a loss, and other runs are not held up', async () => {
    const runner = start('measured.mjs');
    const flood = one({ environment: { MEASURE: 'flood', SAMPLES: '1000000' } });
    await fake.until('it runs', () => flood.job.status === 'Running');
    const other = one({});
    await fake.until('both are over', () => isOver(flood) && isOver(other));
    expect([flood.job.status, other.job.status]).to.deep.equal(['Completed', 'Completed']);
    const { result } = endOf(flood);
    expect(result?.metadata).to.deep.equal({ dropped: 0 });
    expect(result?.telemetry).to.deep.equal({ seen: ['a', 'b'], samples: 1_000_000, lost: 0, refused: 0 });
    expect(Number(readMetadata(result?.telemetry_data ?? '').num_rows)).to.equal(1_000_000);
    expect(runner.process.exitCode).to.equal(null);
  });

  it('a simulation that dies by SIGKILL leaves all it had sent', async () => {
    start('measured.mjs');
    const job = one({ environment: { MEASURE: 'shot' }, telemetry: { buffer_flush_interval_seconds: 3600 } });
    await fake.until('it is over', () => isOver(job));
    const end = endOf(job);
    expect(end).to.include({ type: 'fail', reason: 'signal' });
    expect(await readTable(end.result?.telemetry_data ?? null)).to.have.length(SAMPLES);
  });

  it('early termination: says which condition, value and time, and keeps the samples up to it', async () => {
    start('measured.mjs');
    const job = one({
      environment: { MEASURE: 'forever' },
      telemetry: { buffer_flush_interval_seconds: 3600 },
      earlyTermination: {
        enabled: true,
        check_frequency_hz: 20,
        conditions: [{ variable: 'a', condition: '>= 250', description: 'too far' }],
      },
    });
    await fake.until('it is over', () => isOver(job));
    const end = endOf(job);
    expect(end).to.deep.include({
      type: 'fail',
      reason: 'early_termination',
      error_message: 'terminated early: too far: a >= 250 was met by a = 250 at telemetry time 0.25 s (250000000 ns)',
    });
    expect(end.result?.terminated_by).to.deep.equal({
      condition: '>= 250',
      variable: 'a',
      value: 250,
      time_s: 0.25,
      description: 'too far',
    });
    expect(end.result?.telemetry?.seen).to.deep.equal(['a']);
    expect(end.result?.execution_secs).to.be.within(0.01, 60);
    const rows = await readTable(end.result?.telemetry_data ?? null);
    expect(rows.slice(0, 251).map((row) => row.a)).to.deep.equal(Array.from({ length: 251 }, (_, i) => i));
  });

  it('early termination in shadow: the run completes, and the result says what would have ended it', async () => {
    start('measured.mjs');
    const conditions = [{ variable: 'third', condition: '> 10', description: 'high' }];
    const job = one({ earlyTermination: { enabled: true, check_frequency_hz: 1000, conditions, shadow: true } });
    await fake.until('it is over', () => isOver(job));
    const { result } = endOf(job);
    expect(job.job.status).to.equal('Completed');
    expect(result?.would_terminate).to.include({ variable: 'third', value: 31 / 3, condition: '> 10' });
    expect(result).to.not.have.property('terminated_by');
  });

  it('a run that sends nothing reports that no condition was judged', async () => {
    start('measured.mjs');
    const conditions = [{ variable: 'third', condition: '> 10', description: 'high' }];
    const job = one({
      environment: { SAMPLES: '0' },
      earlyTermination: { enabled: true, check_frequency_hz: 1000, conditions },
    });
    await fake.until('it is over', () => isOver(job));
    expect(endOf(job).result?.telemetry).to.deep.equal({ seen: [], samples: 0, lost: 0, refused: 0 });
  });

  it('samples of a process that is not of the run are refused and counted, its own without the token are taken', async function () {
    if (!existsSync('/proc/net/tcp')) return this.skip();
    start('measured.mjs');
    const job = one({ environment: { MEASURE: 'plain' } });
    const url = join(runOf(job), 'attempt-1', 'url');
    await fake.until('it waits', () => existsSync(url));
    const client = connect(readFileSync(url, 'utf8'));
    const sent = await send((done) => client.Stream(done), [{ values: { x: 1 } }]).catch(
      (error: Error) => error.message,
    );
    client.close();
    expect(sent).to.match(/PERMISSION_DENIED: a process that is not of this run needs SVC_TELEMETRY_TOKEN/);
    rmSync(url);
    await fake.until('it is over', () => isOver(job));
    expect(endOf(job).result?.telemetry).to.deep.equal({ seen: ['a'], samples: SAMPLES, lost: 0, refused: 1 });
  });

  it('early termination that is not enabled evaluates nothing', async () => {
    start('measured.mjs');
    const conditions = [{ variable: 'third', condition: '> 10', description: '' }];
    const job = one({ earlyTermination: { enabled: false, check_frequency_hz: 1000, conditions } });
    await fake.until('it is over', () => isOver(job));
    expect(job.job.status).to.equal('Completed');
  });

  it('kill -9 of the runner: telemetry is recovered, its process ends before the next attempt, the outcome before it delivered', async function () {
    if (!existsSync('/proc/self/environ')) return this.skip();
    const first = start('measured.mjs');
    const refused = fake.refuseOutcomes();
    const done = one({});
    // Its outcome is in the spool: it has been tried to report it.
    await fake.until('its outcome was refused twice', () => refused() > 1);
    fake.fault = () => undefined;
    const running = one({ environment: { MEASURE: 'forever' }, telemetry: { buffer_flush_interval_seconds: 0 } });
    await fake.until('it runs', () => running.job.status === 'Running');
    const directory = join(runOf(running), 'attempt-1');
    const pids = join(directory, 'pids.json');
    while (!existsSync(pids) || (await journaledRows(directory)) < SAMPLES) await pause();
    await first.end('SIGKILL');
    const [pid = 0] = JSON.parse(readFileSync(pids, 'utf8')) as number[];
    expect(pid).to.be.greaterThan(0);
    start('measured.mjs');
    await fake.until('it is executed again', () => running.attempt === 2 && running.accepted.length === 2);
    expect(lives(pid)).to.equal(false);
    expect(done.job.status).to.equal('Completed');
    expect(done.attempt).to.equal(1);
    expect(readdirSync(directory).filter((name) => name.startsWith('telemetry'))).to.deep.equal(['telemetry.parquet']);
    const rows = await readTable(join(directory, 'telemetry.parquet'));
    expect(rows.map((row) => row.a)).to.deep.equal(Array.from({ length: SAMPLES }, (_, i) => i));
  });
});

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

/** How many rows would survive the runner. */
async function journaledRows(directory: string): Promise<number> {
  const rows = new Rows();
  for (const frame of (await readJournal(directory))?.frames ?? []) frame.appendTo(rows);
  return rows.count;
}
