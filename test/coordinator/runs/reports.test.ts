/** Reports of runners and cancellations by clients: accepted, recognized as repeats, or refused without a change. */
import { expect } from 'chai';
import { jobId } from '../../../src/domain/ids.ts';
import { all, codeOf, ref, RESULT, Scene } from '../../support/scene.ts';

describe('coordinator/runs/reports', () => {
  let scene: Scene;
  let batch: string;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 4 });
    await scene.register('b', { slots: 4 });
    batch = await scene.submit({ runs: 4, maxRetries: 1 });
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  it('take a run from its claim to its result', async () => {
    await scene.claim('a');
    await scene.world.advance(1000);
    expect(await scene.start(batch, 0, 'a')).to.include({ status: 'Running', started_at: '2026-01-01T00:00:01.000Z' });
    await scene.world.advance(2000);
    expect(await scene.complete(batch, 0, 'a')).to.include({
      status: 'Completed',
      assigned_runner: 'a',
      completed_at: '2026-01-01T00:00:03.000Z',
    });
    expect(await scene.api.jobResult(jobId(batch, 0))).to.deep.equal({
      job_id: jobId(batch, 0),
      run_id: 0,
      status: 'Completed',
      reason: null,
      success: true,
      ...RESULT,
      error_message: null,
      telemetry_data: null,
    });
    expect(await scene.api.runner('a')).to.include({ status: 'Idle', total_jobs_completed: 1 });
  });

  it('requeue a failed run until its retries are used up; then it is Failed, with a result', async () => {
    await scene.running(batch, 0, 'a');
    expect(await scene.fail(batch, 0, 'a')).to.include({ status: 'Pending', retries: 1 });
    expect(await codeOf(scene.api.jobResult(jobId(batch, 0)))).to.equal('result-not-ready');
    await scene.running(batch, 0, 'b', 2);
    expect(await scene.fail(batch, 0, 'b', 2)).to.include({ status: 'Failed', retries: 1, error_message: 'broke' });
    expect(await scene.api.jobResult(jobId(batch, 0))).to.include({ success: false, error_message: 'broke' });
    const history = await scene.api.jobHistory(jobId(batch, 0));
    expect(history.attempts.map((it) => `${it.attempt} ${it.runner_id} ${it.outcome} ${it.reason}`)).to.deep.equal([
      '1 a failed exit',
      '2 b failed exit',
    ]);
  });

  it('hand back a run whose runner is stopped, as often as that happens, and count nothing', async () => {
    for (let attempt = 1; attempt <= 7; attempt += 1) {
      // Each time the other runner, to which a run that comes back goes first.
      const runner = attempt % 2 === 1 ? 'a' : 'b';
      await scene.running(batch, 0, runner, attempt);
      const release = {
        type: 'release' as const,
        job_id: jobId(batch, 0),
        attempt,
        message: 'it was stopped (SIGTERM)',
      };
      const ask = () => scene.api.reports(runner, { instance: scene.instance(runner), reports: [release] });
      expect(await ask()).to.deep.equal([{ job_id: jobId(batch, 0), status: 'Pending' }]);
      // The answer may have been lost.
      expect(await ask()).to.deep.equal([{ job_id: jobId(batch, 0), status: 'Pending' }]);
    }
    const history = await scene.api.jobHistory(jobId(batch, 0));
    expect(history).to.include({ retries: 0, losses: 0, infrastructure_faults: 0 });
    expect(history.attempts.map(({ outcome, reason, message }) => ({ outcome, reason, message }))).to.deep.equal(
      Array.from({ length: 7 }, (_, at) => ({
        outcome: 'released',
        reason: 'runner-stopped',
        message: `runner ${at % 2 === 0 ? 'a' : 'b'}: it was stopped (SIGTERM)`,
      })),
    );
    await scene.running(batch, 0, 'b', 8);
    const late = { type: 'release' as const, job_id: jobId(batch, 0), attempt: 8, message: 'x' };
    const [refused] = await scene.api.reports('a', { instance: scene.instance('a'), reports: [late] });
    expect(refused).to.have.nested.property('refusal.code', 'stale-attempt');
    expect(await scene.complete(batch, 0, 'b', 8)).to.include({ status: 'Completed' });
  });

  it('do not retry deterministic failures', async () => {
    for (const [run, reason, status] of [
      [0, 'early_termination', 'Failed'],
      [1, 'invalid', 'Failed'],
      [2, 'timeout', 'Timeout'],
    ] as const) {
      await scene.running(batch, run, 'a');
      expect(await scene.fail(batch, run, 'a', 1, reason)).to.include({ status, retries: 0 });
      const expected = { success: false, run_id: run, status, reason };
      expect(await scene.api.jobResult(jobId(batch, run))).to.include(expected);
      const listed = await all((await scene.api.batchResults(batch)).results);
      expect(listed.at(-1)).to.include(expected);
    }
    expect((await scene.api.batch(batch)).batch.failed_jobs).to.equal(3);
  });

  it('retry a failure whose error repeats once, not until no retry is left', async () => {
    await scene.api.cancelBatch(batch);
    const other = await scene.submit({ runs: 2, maxRetries: 5 });
    const message = (mass: number, directory: string): string =>
      `the simulation exited with code 1\nTraceback (most recent call last):\n  File "${directory}/sim.py", line 3\nValueError: mass ${mass}\nfreed ${mass} MB`;
    await scene.running(other, 0, 'a');
    expect(await scene.fail(other, 0, 'a', 1, 'exit', message(3, '/tmp/a'))).to.include({ status: 'Pending' });
    await scene.running(other, 0, 'b', 2);
    const ended = await scene.fail(other, 0, 'b', 2, 'exit', message(4.5, '/tmp/b'));
    expect(ended).to.include({ status: 'Failed', retries: 1 });
    // The first report is repeated, since its reply was lost.
    expect(await scene.fail(other, 0, 'b', 2, 'exit', message(4.5, '/tmp/b'))).to.deep.equal(ended);
    const { attempts } = await scene.api.jobHistory(jobId(other, 0));
    expect(attempts.map((it) => it.own_error)).to.deep.equal(['ValueError: mass …', 'ValueError: mass …']);
  });

  it('keep what the runner measured, and count each run once in the telemetry of its batch', async () => {
    await scene.api.cancelBatch(batch);
    const limited = await scene.submit({
      runs: 3,
      maxRetries: 1,
      config: {
        early_termination: {
          enabled: true,
          conditions: ['altitude', 'speed'].map((variable) => ({ variable, condition: '< 0', description: '' })),
        },
      },
    });
    const measured = {
      execution_secs: 1.25,
      telemetry: { seen: ['altitude', 'other'], samples: 400_000, lost: 326_000, refused: 1 },
      would_terminate: { condition: '< 0', variable: 'altitude', value: null, time_s: 0.5, description: '' },
    };
    const report = { runner_id: 'a', attempt: 1, result: { ...RESULT, ...measured } };
    await scene.running(limited, 0, 'a');
    await scene.api.complete(jobId(limited, 0), report);
    // A repeat, since the first reply may have been lost.
    await scene.api.complete(jobId(limited, 0), report);
    // An attempt that is tried again ends no run.
    await scene.running(limited, 1, 'a');
    await scene.api.fail(jobId(limited, 1), { ...report, reason: 'exit', error_message: 'broke' });
    expect(await scene.api.jobResult(jobId(limited, 0))).to.deep.include({ ...RESULT, ...measured });
    const expected = {
      reported_runs: 1,
      silent_runs: 0,
      lossy_runs: 1,
      samples_lost: 326_000,
      would_terminate_runs: 1,
      judged: [{ variable: 'altitude', runs: 1 }],
    };
    expect((await scene.api.batch(limited)).telemetry).to.deep.equal(expected);
    await scene.restart();
    expect((await scene.api.batch(limited)).telemetry).to.deep.equal(expected);
    expect(await scene.api.batch(batch)).to.not.have.property('telemetry');
  });

  it('are refused without a change when they are not of the current attempt', async () => {
    await scene.claim('a');
    await scene.start(batch, 0, 'a');
    const before = new Map(scene.store.disk);
    const table: [string, Promise<unknown>, string][] = [
      ['an attempt to come', scene.complete(batch, 0, 'a', 2), 'stale-attempt'],
      ['another runner', scene.complete(batch, 0, 'b'), 'stale-attempt'],
      ['unknown', scene.fail(batch, 0, 'ghost'), 'stale-attempt'],
      ['an untouched run', scene.start(batch, 1, 'a'), 'stale-attempt'],
      ['no such run', scene.start(batch, 4, 'a'), 'unknown-job'],
      ['no such batch', scene.start(batch.replace('0', 'f'), 0, 'a'), 'unknown-job'],
      ['no id at all', scene.api.start('../meta', { runner_id: 'a', attempt: 1 }), 'unknown-job'],
      ['the batch itself', scene.api.start(batch, { runner_id: 'a', attempt: 1 }), 'unknown-job'],
    ];
    for (const [name, asked, code] of table) expect(await codeOf(asked), name).to.equal(code);
    expect(scene.store.disk).to.deep.equal(before);
  });

  it('are refused in a state that does not allow them', async () => {
    await scene.claim('a');
    expect(await codeOf(scene.complete(batch, 0, 'a')), 'not started').to.equal('illegal-transition');
    expect(await codeOf(scene.fail(batch, 0, 'a')), 'not started').to.equal('illegal-transition');
    await scene.start(batch, 0, 'a');
    await scene.complete(batch, 0, 'a');
    expect(await codeOf(scene.fail(batch, 0, 'a')), 'over').to.equal('illegal-transition');
    expect(await codeOf(scene.api.cancelJob(jobId(batch, 0))), 'over').to.equal('illegal-transition');
  });

  it('get the first answer again when they are exact repeats', async () => {
    await scene.running(batch, 0, 'a');
    await scene.fail(batch, 0, 'a');
    await scene.running(batch, 0, 'b', 2);
    const before = new Map(scene.store.disk);
    expect(await codeOf(scene.start(batch, 0, 'b', 2))).to.equal('ok');
    expect(await codeOf(scene.fail(batch, 0, 'a')), 'of an attempt before').to.equal('ok');
    expect(scene.store.disk).to.deep.equal(before);
    await scene.complete(batch, 0, 'b', 2);
    expect(await scene.complete(batch, 0, 'b', 2)).to.include({ status: 'Completed' });
    expect(await scene.api.runner('b')).to.include({ total_jobs_completed: 1 });
    const other = { ...RESULT, output_files: ['other.csv'] };
    const asked = scene.api.complete(jobId(batch, 0), { runner_id: 'b', attempt: 2, result: other });
    expect(await codeOf(asked), 'another result').to.equal('illegal-transition');
  });

  it('refuse a repeated start as stale once its attempt is over, whatever ended it', async () => {
    const ends: [name: string, end: (runnerId: string) => Promise<unknown>][] = [
      ['failed', () => scene.fail(batch, 0, 'a')],
      ['failed for good', () => scene.fail(batch, 0, 'a', 1, 'invalid')],
      ['completed', () => scene.complete(batch, 0, 'a')],
      ['cancelled', () => scene.api.cancelJob(jobId(batch, 0))],
      ['timed out', () => scene.fail(batch, 0, 'a', 1, 'timeout')],
      ['handed back', () => scene.api.signOff('a', { instance: scene.instance('a') })],
      ['replaced', () => scene.register('a', { slots: 4, instance: 'a-2', replaces: 'a-1' })],
    ];
    for (const [name, end] of ends) {
      scene = await Scene.open();
      await scene.register('a', { slots: 4 });
      await scene.register('b', { slots: 4 });
      batch = await scene.submit({ runs: 1, maxRetries: 1 });
      await scene.running(batch, 0, 'a');
      expect(await codeOf(scene.start(batch, 0, 'a')), `${name}: while it is current`).to.equal('ok');
      await end('a');
      const before = new Map(scene.store.disk);
      expect(await codeOf(scene.start(batch, 0, 'a')), name).to.equal('stale-attempt');
      expect(scene.store.disk, name).to.deep.equal(before);
      if ((await scene.jobStatus(batch, 0)) !== 'Pending') continue;
      await scene.claim('b');
      expect(await codeOf(scene.start(batch, 0, 'a')), `${name}, claimed by another`).to.equal('stale-attempt');
      await scene.start(batch, 0, 'b', 2);
      expect(await codeOf(scene.start(batch, 0, 'a')), `${name}, started by another`).to.equal('stale-attempt');
      expect(await codeOf(scene.start(batch, 0, 'b', 1)), `${name}, by another runner`).to.equal('stale-attempt');
      expect(await codeOf(scene.start(batch, 0, 'b', 2)), `${name}, the current attempt`).to.equal('ok');
    }
  });

  it('requeue a run after an infrastructure fault without a retry, and fail it at the fifth fault', async () => {
    for (let fault = 1; fault <= 5; fault += 1) {
      const runner = fault % 2 === 1 ? 'a' : 'b';
      await scene.running(batch, 0, runner, fault);
      const status = fault < 5 ? 'Pending' : 'Failed';
      const job = await scene.fail(batch, 0, runner, fault, 'infrastructure');
      expect(job, `fault ${fault}`).to.include({ status, retries: 0 });
    }
    expect(await codeOf(scene.fail(batch, 0, 'a', 5, 'infrastructure')), 'an exact repeat').to.equal('ok');
    const history = await scene.api.jobHistory(jobId(batch, 0));
    expect(history).to.include({ retries: 0, infrastructure_faults: 5 });
    expect(await scene.api.jobResult(jobId(batch, 0))).to.include({ success: false });
  });

  it('are recognized as repeats when many arrive at once', async () => {
    await scene.claim('a');
    const outcomes = await Promise.all([0, 1, 2].map(() => codeOf(scene.start(batch, 0, 'a'))));
    expect(outcomes).to.deep.equal(['ok', 'ok', 'ok']);
    const ends = await Promise.all([codeOf(scene.complete(batch, 0, 'a')), codeOf(scene.fail(batch, 0, 'a'))]);
    expect(ends, 'the first one counts').to.deep.equal(['ok', 'illegal-transition']);
    expect(await scene.jobStatus(batch, 0)).to.equal('Completed');
  });

  it('in bulk have their own outcomes, in order', async () => {
    await scene.claim('a', 2);
    const report = (run: number, attempt = 1) => ({ job_id: jobId(batch, run), attempt });
    const judged = await scene.api.reports('a', {
      instance: scene.instance('a'),
      reports: [
        { type: 'start', ...report(0) },
        { type: 'complete', ...report(0), result: RESULT },
        { type: 'complete', ...report(1), result: RESULT },
        { type: 'start', ...report(1, 7) },
        { type: 'start', ...report(9) },
        { type: 'start', ...report(1) },
        { type: 'fail', ...report(1), reason: 'exit', error_message: 'broke' },
        { type: 'complete', ...report(0), result: RESULT },
      ],
    });
    const words = judged.map((it) => ('status' in it ? it.status : it.refusal.code));
    expect(words).to.deep.equal([
      'Running',
      'Completed',
      'illegal-transition',
      'stale-attempt',
      'unknown-job',
      'Running',
      'Pending',
      'Completed',
    ]);
    expect(await scene.status(batch)).to.equal('Running: 3 Pending, 1 Completed');
    const foreign = scene.api.reports('a', { instance: 'x', reports: [] });
    expect(await codeOf(foreign)).to.equal('wrong-instance');
  });

  it('of a cancelled run are refused, and its runner is asked to kill it', async () => {
    await scene.running(batch, 0, 'a');
    await scene.claim('a');
    await scene.api.cancelJob(jobId(batch, 0), 'a typo');
    await scene.api.cancelJob(jobId(batch, 0), 'again');
    expect(await codeOf(scene.complete(batch, 0, 'a'))).to.equal('illegal-transition');
    const { cancel, lost } = await scene.beat('a', [ref(batch, 0), ref(batch, 1), ref(batch, 2)]);
    expect(cancel).to.deep.equal([{ job_id: jobId(batch, 0), attempt: 1, reason: 'a typo' }]);
    expect(lost, 'never its own').to.deep.equal([ref(batch, 2)]);
    expect(await codeOf(scene.api.jobResult(jobId(batch, 0)))).to.equal('result-not-ready');
  });

  it('cancel the open jobs of a batch and keep the ended ones', async () => {
    await scene.running(batch, 0, 'a');
    await scene.complete(batch, 0, 'a');
    await scene.running(batch, 1, 'a');
    await scene.fail(batch, 1, 'a');
    await scene.running(batch, 1, 'b', 2);
    await scene.running(batch, 2, 'a');
    expect(await scene.api.cancelBatch(batch, 'enough')).to.include({ status: 'Cancelled', completed_jobs: 1 });
    expect(await scene.status(batch)).to.equal('Cancelled: 1 Completed, 3 Cancelled');
    expect(await scene.api.cancelBatch(batch), 'a repeat succeeds').to.include({ status: 'Cancelled' });
    expect((await scene.beat('b', [ref(batch, 1, 2)])).cancel[0]).to.include({ reason: 'enough' });
    expect(scene.api.parts.directory.jobs.size).to.equal(0);
    await scene.restart();
    expect(await scene.status(batch)).to.equal('Cancelled: 1 Completed, 3 Cancelled');
  });

  it('refuse to cancel a batch that has ended, before and after a restart', async () => {
    const one = await scene.submit({ runs: 1 });
    await scene.restart();
    await scene.api.cancelBatch(batch);
    await scene.running(one, 0, 'a');
    await scene.complete(one, 0, 'a');
    for (const restarts of [0, 1]) {
      expect(await codeOf(scene.api.cancelBatch(one)), `${restarts} restarts`).to.equal('illegal-transition');
      expect(await scene.status(one)).to.equal('Completed: 1 Completed');
      await scene.restart();
    }
    expect(await codeOf(scene.api.cancelBatch('nothing'))).to.equal('unknown-batch');
  });
});
