/** Real runner processes execute real simulations for a coordinator over real HTTP. */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { stringifyExact } from '../../../src/base/json/json-writing.ts';
import type { Report, ReportedResult } from '../../../src/contract/types.ts';
import { packageRoot } from '../../../src/base/package.ts';
import { FakeCoordinator } from '../../support/fake-coordinator.ts';
import type { FakeJob, JobSpec } from '../../support/fake-coordinator.ts';
import { MODES, SHARED } from '../../support/runner-modes.ts';
import type { RunnerMode } from '../../support/runner-modes.ts';
import { lives, Site } from '../../support/runner-process.ts';
import type { RunnerProcess } from '../../support/runner-process.ts';

type Failure = Extract<Report, { type: 'fail' }>;

function resultOf(job: FakeJob): ReportedResult {
  const last = job.accepted.at(-1);
  if (last === undefined || !('result' in last) || last.result === undefined) throw new Error('no result');
  return last.result;
}
function failureOf(job: FakeJob): Failure {
  const last = job.accepted.at(-1);
  if (last?.type !== 'fail') throw new Error(`it did not fail: ${JSON.stringify(last)}`);
  return last;
}

for (const mode of [...MODES, SHARED]) {
  describe(`runner: one job, ${mode.name}`, () => {
    suite(mode);
  });
}

function suite(mode: RunnerMode): void {
  let fake: FakeCoordinator;
  let site: Site;
  let runner: RunnerProcess;
  before(async function () {
    if (mode.missing !== undefined) return this.skip();
    fake = await FakeCoordinator.start();
    if (mode.isolation !== undefined) fake.isolation = mode.isolation;
    site = new Site();
    runner = site.start(fake.url, mode.args, {
      SVC_TOKEN: 'very-secret',
      INHERITED: 'yes',
      KEPT_BACK: 'no',
      SVC_RUNNER_ENVIRONMENT_INHERITED: 'INHERITED',
    });
  });
  after(async () => {
    await site?.clean();
    await fake?.stop();
  });

  async function finished(spec: JobSpec): Promise<FakeJob> {
    const [job] = fake.add(spec);
    if (job === undefined) throw new Error('no job');
    await fake.until(`${stringifyExact(spec)} is over`, () => ['Completed', 'Failed'].includes(job.job.status));
    return job;
  }
  const behave = (name: string, more: JobSpec = {}): Promise<FakeJob> =>
    finished({ ...more, environment: { BEHAVE: name, ...more.environment } });

  function directoryOf(job: FakeJob): string {
    const run = String(job.job.run_config.run_id).padStart(8, '0');
    // A run that its worker had not begun when it ended is given out once more.
    return join(site.folder, 'out', job.job.batch_id, run, `attempt-${job.attempt}`);
  }
  it('is started, executed under the run contract and completed with its files and metadata', async () => {
    const job = await behave('succeed', { parameters: { mass: 2.25 }, seed: 9223372036854775807n });
    expect(job.accepted.map((it) => it.type)).to.deep.equal(['start', 'complete']);
    const directory = directoryOf(job);
    const result = resultOf(job);
    expect(result.metadata).to.deep.equal({ run_id: job.job.run_config.run_id, doubled: 4.5 });
    expect(result.output_files).to.deep.equal(
      ['environment.json', 'metadata.json', 'run_config.txt'].map((name) => join(directory, name)),
    );
    expect(result.execution_time_secs).to.be.a('number');
    const env = JSON.parse(readFileSync(join(directory, 'environment.json'), 'utf8')) as Record<string, string>;
    expect(env).to.include({ SVC_OUTPUT_DIR: directory, INHERITED: 'yes', BEHAVE: 'succeed' });
    expect(env['SVC_RUN_CONFIG']).to.be.a('string');
    expect(env).not.to.have.any.keys('SVC_TOKEN', 'KEPT_BACK');
    expect(JSON.stringify(env)).not.to.include('very-secret');
    const seen = readFileSync(join(directory, 'run_config.txt'), 'utf8');
    expect(seen).to.include('"seed":9223372036854775807');
    expect((JSON.parse(seen) as { parameters: unknown }).parameters).to.deep.equal({ mass: 2.25 });
  });

  it('sends the credential with every request and nowhere else', () => {
    expect([...fake.authorizations]).to.deep.equal(['Bearer very-secret']);
  });

  const failures: [behaviour: string, reason: string, message: RegExp, more?: JobSpec][] = [
    ['fail', 'exit', /exited with code 3\nfirst line\nthe reason is here$/],
    ['crash', 'signal', /killed by signal SIGSEGV \(segmentation fault\)/],
    ['hang', 'timeout', /time limit of 1 s/, { timeoutSecs: 1 }],
    ['stubborn', 'timeout', /time limit of 1 s/, { timeoutSecs: 1 }],
    ['succeed', 'invalid', /container\.environment sets "SVC_OUTPUT_DIR"/, { environment: { SVC_OUTPUT_DIR: '/' } }],
    ['succeed', 'invalid', /sets "PATH": this runner does not allow/, { environment: { PATH: '/tmp' } }],
    ['succeed', 'invalid', /sets "LD_PRELOAD"/, { environment: { LD_PRELOAD: '/tmp/x.so' } }],
    ['succeed', 'invalid', /sets "A=B": no environment/, { environment: { 'A=B': '1' } }],
    ['succeed', 'invalid', /zero byte/, { environment: { A: 'x\0y' } }],
  ];
  for (const [behaviour, reason, message, more] of failures) {
    it(`${behaviour}: fails with reason ${reason}, ${String(message)}`, async () => {
      const failure = failureOf(await behave(behaviour, more));
      expect(failure.reason).to.equal(reason);
      expect(failure.error_message).to.match(message);
    });
  }

  it('keeps the beginning and the end of a flood of output, within a bound', async () => {
    const job = await behave('flood');
    const log = join(directoryOf(job), 'stdout.log');
    expect(resultOf(job).output_files).to.deep.equal([log]);
    expect(statSync(log).size).to.be.lessThan(9 << 20);
    const text = readFileSync(log, 'latin1');
    expect(text)
      .to.match(/^the beginning\n/)
      .and.to.match(/\[simbatch: \d+ bytes left out here\]/);
    expect(text).to.match(/the end\n$/);
  });

  it('lists 10,000 artifacts', async () => {
    const { output_files } = resultOf(await behave('artifacts'));
    expect(output_files).to.have.length(10_000);
    expect(new Set(output_files).size).to.equal(10_000);
  });

  it('follows no symbolic link and says so', async () => {
    const job = await behave('links');
    const { output_files, metadata } = resultOf(job);
    expect(output_files).to.deep.equal([join(directoryOf(job), 'deep', 'real.csv')]);
    expect(metadata)
      .to.have.property('simbatch_notes')
      .that.matches(/3 entries are not listed/);
  });

  const metadata: [what: string, text: string, note: RegExp][] = [
    ['a list', '[1]', /must be a JSON object/],
    ['not JSON', '{"a": NaN}', /no NaN or Infinity/],
    ['deep nesting', '{"a":'.repeat(5000) + '1' + '}'.repeat(5000), /nested deeper/],
    ['empty', '', /not used/],
  ];
  for (const [what, text, note] of metadata) {
    it(`completes although metadata.json is ${what}, with a note`, async () => {
      const job = await behave('oddMetadata', { environment: { METADATA: text } });
      expect(job.job.status).to.equal('Completed');
      expect(resultOf(job).metadata).to.have.property('simbatch_notes').that.matches(note);
    });
  }

  it('keeps a member named __proto__ as a member', async () => {
    const text = '{"__proto__": {"a": 1}, "constructor": 2}';
    const job = await behave('oddMetadata', { environment: { METADATA: text } });
    expect(JSON.stringify(resultOf(job).metadata)).to.equal('{"__proto__":{"a":1},"constructor":2}');
  });

  it('kills the whole family on a time-out, also who left the group', async function () {
    if (!existsSync('/proc/self/environ')) return this.skip();
    const job = await behave('family', { timeoutSecs: 1 });
    const pids = JSON.parse(readFileSync(join(directoryOf(job), 'pids.json'), 'utf8')) as number[];
    expect(pids.map(lives)).to.deep.equal([false, false, false]);
  });

  it('leaves no process of the group after a successful end', async () => {
    const job = await behave('leaver');
    expect(job.job.status).to.equal('Completed');
    const pids = JSON.parse(readFileSync(join(directoryOf(job), 'pids.json'), 'utf8')) as number[];
    expect(pids.map(lives)).to.deep.equal([false, false]);
  });

  it('kills a run whose telemetry meets a condition, and keeps the telemetry', async () => {
    const job = await behave('dive', {
      environment: { PROTO: join(packageRoot, 'clients/telemetry.proto') },
      earlyTermination: {
        enabled: true,
        check_frequency_hz: 50,
        conditions: [{ variable: 'altitude', condition: '< 50', description: 'hit the ground' }],
      },
    });
    const failure = failureOf(job);
    expect(failure.reason).to.equal('early_termination');
    expect(failure.error_message).to.match(
      /^terminated early: hit the ground: altitude < 50 was met by altitude = 49 /,
    );
    const { telemetry_data, output_files } = resultOf(job);
    expect(telemetry_data).to.equal(join(directoryOf(job), 'telemetry.parquet'));
    expect(output_files).to.include(telemetry_data);
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(String(telemetry_data)) });
    expect(rows.map((row) => row['altitude'])).to.include(49);
  });

  it('kills a cancelled run, and reports nothing of it', async () => {
    const [job] = fake.add({ environment: { BEHAVE: 'stubborn' } });
    if (job === undefined) throw new Error('no job');
    await fake.until('it runs', () => job.job.status === 'Running');
    fake.cancel(job);
    const seen = fake.heartbeats;
    await fake.until('two heartbeats went by', () => fake.heartbeats > seen + 1);
    expect(job.accepted.map((it) => it.type)).to.deep.equal(['start']);
    const directory = directoryOf(job);
    const carriers = readdirSync('/proc').filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(directory);
      } catch {
        return false;
      }
    });
    expect(carriers).to.deep.equal([]);
  });

  it('executes no run that was reassigned between the claim and the start', async () => {
    let gave = false;
    const given: FakeJob[] = [];
    fake.fault = (path) => {
      if (path.endsWith('/reports') && !gave) {
        gave = true;
        for (const job of given) fake.reassign(job);
      }
      return undefined;
    };
    given.push(...fake.add({ environment: { BEHAVE: 'succeed' } }));
    await fake.until('the start was judged', () => gave);
    const next = await behave('succeed');
    fake.fault = () => undefined;
    expect(next.job.status).to.equal('Completed');
    expect(given[0]?.accepted).to.deep.equal([]);
    expect(existsSync(directoryOf(given[0] as FakeJob))).to.equal(false);
  });

  if (mode.isWarm) {
    it('had no run that was started cold', () => {
      expect(runner.log)
        .to.match(/engine \*: warm/)
        .and.not.to.match(/not warm|started cold/);
    });
  }
}
