/** Results that runs take from finished runs with the same key: which ones, what they look like, and what counts them. */
import { expect } from 'chai';
import type { CodeIdentity, JobResult, Report, Uuid } from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { all, codeOf as codeOfRefusal, Scene } from '../../support/scene.ts';
import { study, type StudyOptions } from '../../support/studies.ts';

const code = (letter: string): CodeIdentity => ({ kind: 'entrypoint', digest: letter.repeat(64) });
const engines = (letter: string) => [{ name: '*', code: code(letter) }];
const REUSE: StudyOptions = { policy: { reuse: 'all' } };

describe('coordinator/reuse', () => {
  let scene: Scene;
  /** Runs that took a result, by turn. */
  let reused: number[];
  beforeEach(async () => {
    reused = [];
    scene = await Scene.open({
      onTurn: ({ facts }) => {
        const taken = facts.filter((it) => it.type === 'job.ended' && it.reused === true).length;
        if (taken > 0) reused.push(taken);
      },
    });
    await scene.register('r1', { slots: 100, engines: engines('a') });
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  const claim = async (letter = 'a', max = 100, id = 'r1'): Promise<string[]> => {
    const request = { instance: scene.instance(id), max_jobs: max, wait_seconds: 0, engines: engines(letter) };
    return (await scene.api.claim(id, request)).assignments.map(({ job }) => job.id);
  };
  const send = async (...reports: Report[]): Promise<void> => {
    const judged = await scene.api.reports('r1', { instance: scene.instance('r1'), reports });
    for (const it of judged) if ('refusal' in it) throw it.refusal;
  };
  /** The result of a deterministic simulation, whose duration varies. */
  const resultOf = (id: Uuid, secs = 1) => ({
    execution_time_secs: secs,
    execution_secs: secs + 0.25,
    output_files: [`/out/${id}/x.csv`],
    metadata: { miss: Number.parseInt(id.slice(-2), 16) + 0.1, text: 'é' },
    telemetry_data: null,
    telemetry: { seen: ['altitude'], samples: 9, lost: 0, refused: 0 },
  });
  /** Executes what can be claimed; every third run is ended by a condition where the study has one. Returns the executed jobs. */
  const execute = async (letter = 'a', isTerminating = false): Promise<string[]> => {
    const executed: string[] = [];
    for (let claimed = await claim(letter); claimed.length > 0; claimed = await claim(letter)) {
      executed.push(...claimed);
      await send(...claimed.map((job_id): Report => ({ type: 'start', job_id, attempt: 1, code: code(letter) })));
      await send(
        ...claimed.map((job_id): Report => {
          const own = { job_id, attempt: 1, result: resultOf(job_id) };
          if (!isTerminating || Number.parseInt(job_id.slice(-2), 16) % 3 !== 0) return { type: 'complete', ...own };
          return { type: 'fail', ...own, reason: 'early_termination', error_message: 'altitude < 0 at 3 s' };
        }),
      );
    }
    return executed;
  };
  const drained = async (letter = 'a'): Promise<string[]> => {
    const executed: string[] = [];
    // A claim that only takes results answers with nothing: the next one continues.
    for (let empty = 0; empty < 3; empty += 1) executed.push(...(await execute(letter)));
    return executed;
  };
  const results = async (batch: Uuid): Promise<JobResult[]> => all((await scene.api.batchResults(batch)).results);
  const withoutOrigin = ({ job_id: _, reused_from: __, ...it }: JobResult): object => it;

  it('gives the results of the same runs to the bit, without an attempt, and counts them', async () => {
    const first = await scene.submit({ runs: 7, timeoutSecs: 0 });
    expect(await execute()).to.have.lengthOf(7);
    const second = await scene.submit({ runs: 7, ...REUSE, name: 'again' });
    expect(await drained()).to.deep.equal([]);
    expect(await scene.status(second)).to.equal('Completed: 7 Completed');
    const { batch } = await scene.api.batch(second);
    expect(batch.reused_jobs).to.equal(7);
    expect((await scene.api.batch(first)).batch).not.to.have.property('reused_jobs');
    expect((await results(second)).map(withoutOrigin)).to.deep.equal((await results(first)).map(withoutOrigin));
    const job = await scene.api.job(jobId(second, 3));
    const { completed_at: ended } = await scene.api.job(jobId(first, 3));
    expect(job.reused_from).to.deep.equal({ job_id: jobId(first, 3), batch_id: first, ended_at: ended });
    expect((await results(second))[3]?.reused_from).to.deep.equal(job.reused_from);
    expect((await scene.api.jobHistory(job.id)).attempts).to.deep.equal([]);
    await scene.restart();
    expect((await results(second)).map(withoutOrigin)).to.deep.equal((await results(first)).map(withoutOrigin));
    expect(await scene.api.codeVersions(second)).to.deep.equal([
      { ...code('a'), runs: 7, first_run_id: 0, runners: [] },
    ]);
  });

  it('executes every run of a study that does not ask for reuse, and of a rerun, a comparison and an audit', async () => {
    const first = await scene.submit({ runs: 4, policy: { reuse: 'all' } });
    expect(await drained()).to.have.lengthOf(4);
    await scene.submit({ runs: 4 });
    expect(await drained()).to.have.lengthOf(4);
    await scene.submit({ runs: 4, policy: { reuse: 'none' } });
    expect(await drained()).to.have.lengthOf(4);
    await scene.api.rerunBatch(first);
    expect(await drained()).to.have.lengthOf(4);
    await scene.api.rerunBatch(first, { relation: 'comparison' });
    expect(await drained()).to.have.lengthOf(4);
    await scene.api.auditBatch(first, { fraction: 1 });
    // An audit waits for another runner, and there is none.
    expect(await drained()).to.have.lengthOf(4);
  });

  it('takes no result by the code of a claim that was sent before the study was submitted, or that has waited for a second', async () => {
    await scene.submit({ runs: 3 });
    await execute();
    const ask = (letter: string, wait = 0) =>
      scene.api.claim('r1', {
        instance: scene.instance('r1'),
        max_jobs: 100,
        wait_seconds: wait,
        engines: engines(letter),
      });
    await scene.world.advance(5_000);
    const second = await scene.submit({ runs: 3, ...REUSE, maxParallelJobs: 1 });
    // Sent before the submission and delayed on its way: the program may have been replaced since.
    expect((await ask('a', 25)).assignments).to.deep.equal([]);
    expect(await scene.status(second)).to.equal('Pending: 3 Pending');
    const [one] = (await ask('b')).assignments;
    expect(one?.job.batch_id).to.equal(second);
    await send({ type: 'start', job_id: one!.job.id, attempt: 1, code: code('b') });
    const waiting = ask('a', 25);
    await scene.world.advance(1_001);
    await send({ type: 'complete', job_id: one!.job.id, attempt: 1, result: resultOf(one!.job.id) });
    // The next run is there, and this code is a second old.
    expect((await waiting).assignments).to.deep.equal([]);
    expect((await scene.api.batch(second)).batch).not.to.have.property('reused_jobs');
    await drained('a');
    expect((await scene.api.batch(second)).batch).to.include({ status: 'Completed', reused_jobs: 2 });
  });

  it('takes no result of other code, also where its name and version are the same, nor of code that is not known', async () => {
    await scene.submit({ runs: 3 });
    await execute('b');
    const unknown = await scene.submit({ runs: 3 });
    for (const id of await claim('a')) {
      await send({ type: 'start', job_id: id, attempt: 1 });
      await send({ type: 'complete', job_id: id, attempt: 1, result: resultOf(id) });
    }
    expect(await scene.status(unknown)).to.equal('Completed: 3 Completed');
    const second = await scene.submit({ runs: 3, ...REUSE });
    expect(await drained('a')).to.have.lengthOf(3);
    expect((await scene.api.batch(second)).batch).not.to.have.property('reused_jobs');
    await scene.submit({ runs: 3, ...REUSE });
    expect(await drained('b')).to.deep.equal([]);
  });

  it('takes of a study that two programs executed the results of its own code alone', async () => {
    const first = await scene.submit({ runs: 4, maxParallelJobs: 2 });
    const executed = new Map<string, string[]>();
    for (const letter of ['a', 'b']) {
      const jobs = await claim(letter);
      executed.set(letter, jobs);
      await send(...jobs.map((job_id): Report => ({ type: 'start', job_id, attempt: 1, code: code(letter) })));
      await send(...jobs.map((id): Report => ({ type: 'complete', job_id: id, attempt: 1, result: resultOf(id) })));
    }
    expect(executed.get('b')).to.deep.equal([2, 3].map((run) => jobId(first, run)));
    const second = await scene.submit({ runs: 4, ...REUSE });
    expect(await drained('a')).to.deep.equal([2, 3].map((run) => jobId(second, run)));
    expect((await scene.api.batch(second)).batch.reused_jobs).to.equal(2);
  });

  const OTHERS: readonly [name: string, options: StudyOptions][] = [
    ['seed', { seed: 43 }],
    ['version', { config: { simulation: { version: '1.1' } } }],
    ['duration', { config: { simulation: { duration_minutes: 2 } } }],
    ['dispersions', { config: { dispersions: { mass: { distribution: { type: 'normal', mean: 101, std_dev: 2 } } } } }],
    ['environment', { config: { compute: { container: { environment: { A: '1' } } } } }],
    [
      'conditions',
      {
        config: {
          early_termination: {
            enabled: true,
            conditions: [{ variable: 'altitude', condition: '< 0', description: '' }],
          },
        },
      },
    ],
    ['telemetry', { config: { telemetry: { sampling_rate_hz: 11 } } }],
  ];
  for (const [name, options] of OTHERS) {
    it(`executes the runs of a study with another ${name}`, async () => {
      await scene.submit({ runs: 3 });
      await execute();
      await scene.submit({ runs: 3, ...options, ...REUSE });
      expect(await drained()).to.have.lengthOf(3);
    });
  }

  it('takes results where only the judgement differs, and of a larger study only those that exist', async () => {
    const first = await scene.submit({ runs: 40 });
    await execute();
    const requirements = [{ name: 'close', output: 'miss', condition: '< 50', probability: 0.5, confidence: 0.6 }];
    const second = await scene.submit({ runs: 52, name: 'judged', maxParallelJobs: 3, requirements, ...REUSE });
    expect((await drained()).sort()).to.deep.equal(Array.from({ length: 12 }, (_, at) => jobId(second, 40 + at)));
    const { batch, requirements: verdicts } = await scene.api.batch(second);
    expect(batch).to.include({ status: 'Completed', completed_jobs: 52, reused_jobs: 40 });
    expect(verdicts?.[0]).to.include({ verdict: 'met' });
    expect(await scene.status(first)).to.equal('Completed: 40 Completed');
  });

  it('takes scattered results in the order of the runs, also of a selection of the design, and skips cancelled runs', async () => {
    await scene.submit({ runs: 12, config: { monte_carlo: { run_ids: '1-11:2' } } });
    expect(await execute()).to.have.lengthOf(6);
    const second = await scene.submit({ runs: 12, config: { monte_carlo: { run_ids: '0-4,6-11' } }, ...REUSE });
    await scene.api.cancelJob(jobId(second, 7));
    await scene.api.cancelJob(jobId(second, 8));
    expect((await drained()).sort()).to.deep.equal([0, 2, 4, 6, 10].map((run) => jobId(second, run)));
    expect(await scene.status(second)).to.equal('Completed: 9 Completed, 2 Cancelled');
    expect((await scene.api.batch(second)).batch.reused_jobs).to.equal(4);
  });

  it('ends runs as a condition ended the others, with its error, reason and class', async () => {
    const early_termination = {
      enabled: true,
      conditions: [{ variable: 'altitude', condition: '< 0', description: 'ground' }],
    };
    const options = { runs: 6, config: { early_termination } };
    const first = await scene.submit(options);
    await execute('a', true);
    const second = await scene.submit({ ...options, policy: { reuse: 'all', max_failures: 1 } });
    expect(await drained()).to.deep.equal([]);
    expect(await scene.status(second)).to.equal(await scene.status(first));
    expect((await results(second)).map(withoutOrigin)).to.deep.equal((await results(first)).map(withoutOrigin));
    const { batch, telemetry } = await scene.api.batch(second);
    expect(batch).to.include({ terminated_jobs: 2, reused_jobs: 6 });
    expect(telemetry).to.deep.equal((await scene.api.batch(first)).telemetry);
    expect(telemetry?.reported_runs).to.equal(6);
  });

  it('takes no failed, timed out or cancelled run, and none that took longer than the time limit allows', async () => {
    const first = await scene.submit({ runs: 3, maxRetries: 0 });
    const [failed, slow] = await claim();
    await send({ type: 'start', job_id: failed!, attempt: 1, code: code('a') });
    await send({ type: 'fail', job_id: failed!, attempt: 1, reason: 'exit', error_message: 'broke' });
    await send({ type: 'start', job_id: slow!, attempt: 1, code: code('a') });
    await send({ type: 'complete', job_id: slow!, attempt: 1, result: resultOf(slow!, 60) });
    await scene.api.cancelBatch(first);
    await scene.submit({ runs: 3, timeoutSecs: 60, ...REUSE });
    expect(await drained()).to.have.lengthOf(3);
  });

  it('finds no result of a deleted study; a study that took results keeps its numbers and is not a source itself', async () => {
    const first = await scene.submit({ runs: 3 });
    await execute();
    const second = await scene.submit({ runs: 3, ...REUSE });
    await drained();
    const before = await results(second);
    await scene.api.deleteBatch(first);
    expect(await results(second)).to.deep.equal(before);
    const files = await scene.api.jobFiles(jobId(second, 0), undefined, new AbortController().signal);
    expect(files.files).to.deep.equal([]);
    expect(files.notes.join()).to.contain(first).and.to.contain('deleted');
    await scene.submit({ runs: 3, ...REUSE });
    expect(await drained()).to.have.lengthOf(3);
    await scene.restart();
    expect(scene.store.get(`!submission!${first}`)).to.equal(undefined);
  });

  it('shows the files of the run that was executed', async () => {
    const first = await scene.submit({ runs: 1 });
    await execute();
    const second = await scene.submit({ runs: 1, ...REUSE });
    await drained();
    const signal = new AbortController().signal;
    const [own, others] = await Promise.all(
      [second, first].map((batch) => scene.api.jobFiles(jobId(batch, 0), undefined, signal)),
    );
    expect(own!.files).to.deep.equal(others!.files);
    expect(own!.job_id).to.equal(jobId(second, 0));
    expect(own!.notes[0]).to.contain(jobId(first, 0));
  });

  it('takes with `family` only results of the family', async () => {
    const first = await scene.submit({ runs: 4 });
    await execute();
    await scene.submit({ runs: 4, policy: { reuse: 'family' } });
    expect(await drained()).to.have.lengthOf(4);
    // The extension of a study with the rule finds runs that a rerun has executed.
    const grown = await scene.submit({ runs: 4, seed: 7, policy: { reuse: 'family' } });
    expect(await drained()).to.have.lengthOf(4);
    const { batch_id: more } = await scene.api.extendBatch(grown, { runs: 6 });
    expect(await drained()).to.deep.equal([4, 5].map((run) => jobId(more, run)));
    expect(await scene.status(first)).to.equal('Completed: 4 Completed');
  });

  it('forecasts which runs would take results, and says why others would not', async () => {
    const early_termination = {
      enabled: true,
      conditions: [{ variable: 'altitude', condition: '< 0', description: 'ground' }],
    };
    const other = await scene.submit({ runs: 12, config: { early_termination } });
    await execute('a', true);
    const submission = study({ runs: 12, policy: { reuse: 'all' } });
    const before = await scene.api.reuseForecast(submission);
    expect(before).to.deep.include({ runs: 12, known: 0, new: 12, studies: [], codes: ['a'.repeat(12)] });
    expect(before.not_taken).to.deep.equal([
      { batch_id: other, runs: 8, why: 'other rules' },
      { batch_id: other, runs: 4, why: 'ended by a rule that has changed' },
    ]);
    const first = await scene.submit({ runs: 8 });
    await execute();
    const after = await scene.api.reuseForecast(submission);
    expect(after).to.deep.include({ known: 8, new: 4, studies: [{ batch_id: first, runs: 8, code: 'a'.repeat(12) }] });
    expect(after.sentence).to.match(
      /^12 runs: 8 are in study [0-9a-f]{8} \(same code a{12}, parameters, environment\); 4 are new; not taken: /,
    );
    await claim('b', 0);
    const changed = await scene.api.reuseForecast(submission);
    expect(changed).to.include({ known: 0, new: 12 });
    expect(changed.not_taken).to.deep.include({ batch_id: first, runs: 8, why: `other code ${'a'.repeat(12)}` });
    for (const rule of ['none', 'family'] as const) {
      expect((await scene.api.reuseForecast(study({ runs: 2, policy: { reuse: rule } }))).new).to.equal(2);
    }
    expect(
      (await scene.api.reuseForecast(study({ runs: 2, seed: null, policy: { reuse: 'all' } }))).sentence,
    ).to.contain('seed');
  });

  it('loses no run when one of the waiting runners has to look at its code again', async () => {
    await scene.submit({ runs: 2 });
    await execute();
    const second = await scene.submit({ runs: 4, ...REUSE, name: 'again' });
    await scene.api.pauseBatch(second);
    await scene.register('r2', { slots: 1, engines: engines('a') });
    const wait = (id: string) =>
      scene.api.claim(id, { instance: scene.instance(id), max_jobs: 1, wait_seconds: 30, engines: engines('a') });
    const stale = wait('r2');
    await scene.world.advance(2_000);
    expect(await claim('a', 1)).to.deep.equal([]);
    const fresh = wait('r1');
    await scene.world.advance(0);
    await scene.api.resumeBatch(second);
    expect((await stale).assignments).to.deep.equal([]);
    const [{ job, attempt } = { job: { id: '' }, attempt: 0 }] = (await fresh).assignments;
    expect(job.id).to.equal(jobId(second, 2));
    await send({ type: 'start', job_id: job.id, attempt, code: code('a') });
    await send({ type: 'complete', job_id: job.id, attempt, result: resultOf(job.id) });
    expect(await execute()).to.deep.equal([jobId(second, 3)]);
    expect(await scene.status(second)).to.equal('Completed: 4 Completed');
  });

  it('audits a drawn part of the taken results by executing it, and compares to the bit', async () => {
    await scene.submit({ runs: 20 });
    await execute();
    const second = await scene.submit({ runs: 25, ...REUSE });
    expect(await drained()).to.have.lengthOf(5);
    const { batch_id: audit, total_jobs: drawn } = await scene.api.auditBatch(second, {
      fraction: 0.2,
      reused: true,
      seed: 3,
    });
    expect(drawn).to.equal(4);
    const executed = await drained();
    expect(executed.map((id) => Number.parseInt(id.slice(-8), 16) - 1).filter((run) => run >= 20)).to.deep.equal([]);
    expect(executed).to.have.lengthOf(4);
    const answer = await scene.api.auditAnswer(audit);
    expect(answer).to.include({
      audited: second,
      compared: 4,
      identical: 4,
      differing: 0,
      not_compared: 0,
      same_runner: 4,
    });
    const none = await scene.submit({ runs: 1, seed: 5 });
    await execute();
    expect(await codeOfRefusal(scene.api.auditBatch(none, { fraction: 1, reused: true }))).to.equal('invalid-request');
  });

  it('fixes the pinned code by a result that it takes', async () => {
    await scene.submit({ runs: 2 });
    await execute();
    const second = await scene.submit({ runs: 4, policy: { reuse: 'all', code: 'pin' } });
    expect(await claim('a', 1)).to.deep.equal([]);
    expect((await scene.api.batch(second)).batch.reused_jobs).to.equal(2);
    expect(await claim('b')).to.deep.equal([]);
    expect(await claim('a')).to.have.lengthOf(2);
  });

  it('counts a canary run whose result is known as completed, and releases the others', async () => {
    await scene.submit({ runs: 3 });
    await execute();
    const second = await scene.submit({ runs: 6, policy: { reuse: 'all', canary_runs: 3 } });
    expect(await drained()).to.have.lengthOf(3);
    expect(await scene.status(second)).to.equal('Completed: 6 Completed');
    const { events } = await scene.api.batchHistory(second);
    expect(events.map(({ type }) => type)).to.include('canary-passed');
  });

  it('stops at the rule of the study as if the runs had been executed', async () => {
    const requirements = [{ name: 'close', output: 'miss', condition: '< 50', probability: 0.5, confidence: 0.6 }];
    const options = { runs: 500, requirements, maxParallelJobs: 1 };
    const first = await scene.submit({ ...options, policy: { stop_when: 'settled' } });
    await execute();
    const second = await scene.submit({ ...options, policy: { stop_when: 'settled', reuse: 'all' } });
    expect(await drained()).to.have.lengthOf.at.most(3);
    const stopped = async (batch: Uuid) => (await scene.api.batch(batch)).batch.stopped_at_run_id;
    expect(await stopped(first)).to.be.a('number');
    expect(await stopped(second)).to.equal(await stopped(first));
  });

  it('gives the runner other work while thousands of known results are taken, some milliseconds at a time', async () => {
    const first = await scene.submit({ runs: 3_000 });
    while (!(await scene.status(first)).startsWith('Completed')) await execute();
    const again = await scene.submit({ runs: 3_000, ...REUSE });
    const other = await scene.submit({ runs: 2, simulation: 'lander' });
    expect(await claim('a', 1)).to.deep.equal([jobId(other, 0)]);
    await send({ type: 'start', job_id: jobId(other, 0), attempt: 1 });
    expect(await claim('a', 1)).to.deep.equal([jobId(other, 1)]);
    await send({ type: 'start', job_id: jobId(other, 1), attempt: 1 });
    expect(await scene.status(again)).to.contain('Running: ');
    const request = { instance: scene.instance('r1'), max_jobs: 2, wait_seconds: 20, engines: engines('a') };
    const waiting = scene.api.claim('r1', request);
    await scene.world.advance(21_000);
    expect((await waiting).assignments).to.deep.equal([]);
    expect(reused.length).to.be.greaterThan(20);
    expect(Math.max(...reused)).to.be.at.most(70);
    expect(await scene.status(again)).to.equal('Completed: 3000 Completed');
  });
});
