/** Recorded studies: requests of clients and runners in order, to a real coordinator. */
import type { Assignment, CodeIdentity, RunnerCapabilities } from '../../../src/contract/types.ts';
import { encodeHistory } from '../../../src/domain/histories/values.ts';
import { adaptiveStudy } from '../rounds.ts';
import { study } from '../studies.ts';
import type { Script, StudyPlan } from './recorder.ts';

const capabilities = (jobs: number): RunnerCapabilities => ({
  max_concurrent_jobs: jobs,
  cpu_cores: 0,
  memory_gb: 0,
  gpu_available: false,
  supported_simulation_types: [],
});

async function joins(script: Script, id: string, jobs = 2, instance = `${id}-1`): Promise<void> {
  await script.ask('register', { id, capabilities: capabilities(jobs), instance });
}

async function claims(script: Script, id: string, jobs: number): Promise<Assignment[]> {
  const { assignments } = await script.ask('claim', id, { instance: `${id}-1`, max_jobs: jobs });
  return assignments;
}

const start = (script: Script, id: string, { job, attempt }: Assignment) =>
  script.ask('start', job.id, { runner_id: id, attempt });

const complete = (script: Script, id: string, { job, attempt }: Assignment) =>
  script.ask('complete', job.id, {
    runner_id: id,
    attempt,
    result: { execution_time_secs: 2, output_files: [`${job.run_config.run_id}.csv`], metadata: { apogee_m: 1200 } },
  });

const fail = (
  script: Script,
  id: string,
  { job, attempt }: Assignment,
  reason: 'exit' | 'early_termination' = 'exit',
) => script.ask('fail', job.id, { runner_id: id, attempt, reason, error_message: `ended: ${reason}` });

const beats = (script: Script, id: string, holding: readonly Assignment[]) =>
  script.ask('heartbeat', id, {
    instance: `${id}-1`,
    holding: holding.map(({ job, attempt }) => ({ job_id: job.id, attempt })),
  });

/** Completes runs until the runner gets none. */
async function finishes(script: Script, id: string): Promise<void> {
  for (;;) {
    const assignments = await claims(script, id, 2);
    if (assignments.length === 0) return;
    for (const it of assignments) await start(script, id, it);
    await script.wait(2);
    for (const it of assignments) await complete(script, id, it);
  }
}

const CODE: CodeIdentity = { kind: 'entrypoint', digest: 'c'.repeat(64) };

/** Claims and completes runs with known code until the runner gets none twice: one answer without work asks for a look at the code. */
async function finishesWithCode(script: Script, id: string, terminated = -1): Promise<void> {
  for (let empty = 0; empty < 2;) {
    const { assignments } = await script.ask('claim', id, {
      instance: `${id}-1`,
      max_jobs: 2,
      engines: [{ name: '*', code: CODE }],
    });
    empty = assignments.length === 0 ? empty + 1 : 0;
    for (const { job, attempt } of assignments)
      await script.ask('start', job.id, { runner_id: id, attempt, code: CODE });
    if (assignments.length > 0) await script.wait(2);
    for (const it of assignments) {
      if (it.job.run_config.run_id === terminated) await fail(script, id, it, 'early_termination');
      else await complete(script, id, it);
    }
  }
}

const apogee = (condition: string) => ({
  name: `apogee ${condition}`,
  output: 'apogee_m',
  condition,
  probability: 0.5,
  confidence: 0.6,
});

export const STUDIES: readonly StudyPlan[] = [
  {
    name: 'study-completed',
    about: 'Three runs on two runners: one is tried again, one is ended by the watchdog, one succeeds at once.',
    async script(script) {
      await joins(script, 'r1');
      await joins(script, 'r2');
      await script.ask('submit', study({ runs: 3, maxRetries: 1, timeoutSecs: 60 }));
      const [first, second] = (await claims(script, 'r1', 2)) as [Assignment, Assignment];
      const [third] = (await claims(script, 'r2', 1)) as [Assignment];
      await start(script, 'r1', first);
      await start(script, 'r1', second);
      await start(script, 'r2', third);
      await script.wait(2);
      await fail(script, 'r1', first);
      await complete(script, 'r1', second);
      await fail(script, 'r2', third, 'early_termination');
      await script.refused('illegal-transition', 'complete', third.job.id, {
        runner_id: 'r2',
        attempt: 1,
        result: { execution_time_secs: 2, output_files: [], metadata: {} },
      });
      await finishes(script, 'r2');
    },
  },
  {
    name: 'study-amended',
    about:
      'A requirement is stated before the first run, another when two of three have ended, a third one after the end.',
    async script(script) {
      await joins(script, 'r1');
      const { batch_id: batchId } = await script.ask('submit', study({ runs: 3, requirements: [apogee('< 1500')] }));
      const [first, second] = (await claims(script, 'r1', 2)) as [Assignment, Assignment];
      for (const it of [first, second]) await start(script, 'r1', it);
      await script.wait(2);
      for (const it of [first, second]) await complete(script, 'r1', it);
      const both = [apogee('< 1500'), apogee('> 1000')];
      await script.ask('amendJudgement', batchId, { requirements: both, labels: { campaign: 'q4' } });
      await script.refused('judgement-changed', 'amendJudgement', batchId, { requirements: [], revision: 0 });
      await finishes(script, 'r1');
      await script.ask('amendJudgement', batchId, {
        requirements: [...both, apogee('> 1100')],
        outputs: { apogee_m: { units: 'm' } },
      });
    },
  },
  {
    name: 'study-cancelled',
    about: 'Cancelled with one run running, one claimed, one waiting to be tried again and two untouched.',
    async script(script) {
      await joins(script, 'r1', 3);
      const { batch_id: batchId } = await script.ask('submit', study({ runs: 5, maxRetries: 2 }));
      const [first, second, third] = (await claims(script, 'r1', 3)) as [Assignment, Assignment, Assignment];
      await start(script, 'r1', first);
      await start(script, 'r1', second);
      await fail(script, 'r1', second);
      await script.ask('cancelBatch', batchId, 'wrong mass');
      await script.refused('stale-attempt', 'start', third.job.id, { runner_id: 'r1', attempt: 1 });
      await beats(script, 'r1', [first]);
      await beats(script, 'r1', []);
    },
  },
  {
    name: 'study-runner-lost',
    about: 'A runner dies with a run started and another claimed; after its lease another one does both.',
    async script(script) {
      await joins(script, 'r1');
      await script.ask('submit', study({ runs: 2 }));
      const [first] = (await claims(script, 'r1', 2)) as [Assignment, Assignment];
      await start(script, 'r1', first);
      await script.wait(61);
      await joins(script, 'r2');
      await finishes(script, 'r2');
    },
  },
  {
    name: 'study-restarted',
    about: 'The coordinator dies in the middle and is started again; a claim, a running run and a drain live on.',
    async script(script) {
      await joins(script, 'r1');
      await joins(script, 'r2');
      await script.ask('submit', study({ runs: 3, timeoutSecs: 30 }));
      const [first, second] = (await claims(script, 'r1', 2)) as [Assignment, Assignment];
      await start(script, 'r1', first);
      await script.ask('drain', 'r2', 'a new disk');
      await script.wait(10);
      await script.restart();
      await beats(script, 'r1', [first, second]);
      await complete(script, 'r1', first);
      await start(script, 'r1', second);
      await script.wait(10);
      await script.restart();
      await beats(script, 'r1', [second]);
      await complete(script, 'r1', second);
      await beats(script, 'r2', []);
      await script.ask('resume', 'r2');
      await finishes(script, 'r2');
      await beats(script, 'r1', []);
    },
  },
  {
    name: 'study-time-limit',
    about: 'One run exceeds its time limit, one is never started and goes to another runner.',
    async script(script) {
      await joins(script, 'r1');
      await joins(script, 'r2');
      await script.ask('submit', study({ runs: 2, timeoutSecs: 20 }));
      const held = await claims(script, 'r1', 2);
      await start(script, 'r1', held[0] as Assignment);
      for (let seconds = 0; seconds < 65; seconds += 5) {
        await script.wait(5);
        await beats(script, 'r1', held);
        await beats(script, 'r2', []);
      }
      await finishes(script, 'r2');
    },
  },
  {
    name: 'study-settled',
    about:
      'Stops when its requirement is settled: three clean runs, judged in their order over a restart, with one running and six untouched.',
    async script(script) {
      await joins(script, 'r1', 4);
      const requirement = { name: 'high', output: 'apogee_m', condition: '> 1000', probability: 0.5, confidence: 0.6 };
      const policy = { stop_when: 'settled' as const };
      await script.ask('submit', { ...study({ runs: 10 }), requirements: [requirement], policy });
      const held = (await claims(script, 'r1', 4)) as [Assignment, Assignment, Assignment, Assignment];
      const [first, second, third, fourth] = held;
      for (const it of held) await start(script, 'r1', it);
      await complete(script, 'r1', third);
      await complete(script, 'r1', first);
      await script.restart();
      await beats(script, 'r1', [second, fourth]);
      await complete(script, 'r1', second);
      await script.refused('stale-attempt', 'start', fourth.job.id, { runner_id: 'r1', attempt: 1 });
      await beats(script, 'r1', [fourth]);
      await beats(script, 'r1', []);
    },
  },
  {
    name: 'study-grown',
    about:
      'Holds a selection of its design and labels; is extended, its failure runs again, and the extension waits for its canary run, is released and paused.',
    async script(script) {
      await joins(script, 'r1', 3);
      const design = { monte_carlo: { run_ids: '3-9:3', sampling_method: 'quasi_monte_carlo' as const } };
      const policy = { canary_runs: 1 };
      const submission = { ...study({ runs: 12, maxRetries: 0, config: design }), policy, labels: { campaign: 'q4' } };
      const { batch_id: batchId } = await script.ask('submit', submission);
      const [first] = (await claims(script, 'r1', 3)) as [Assignment];
      await start(script, 'r1', first);
      await complete(script, 'r1', first);
      const [second, third] = (await claims(script, 'r1', 3)) as [Assignment, Assignment];
      await start(script, 'r1', second);
      await fail(script, 'r1', second);
      await script.restart();
      await beats(script, 'r1', [third]);
      await start(script, 'r1', third);
      await complete(script, 'r1', third);
      const { batch_id: more } = await script.ask('extendBatch', batchId, { runs: 15, name: 'more' });
      const changes = { select: { states: ['Failed' as const] }, simulation_version: '1.1' };
      await script.ask('rerunBatch', batchId, changes, { idempotencyKey: 'k', bodyDigest: 'd' });
      await script.ask('rerunBatch', batchId, changes, { idempotencyKey: 'k', bodyDigest: 'd' });
      await script.refused('invalid-request', 'extendBatch', batchId, { runs: 15 });
      const [canary, again] = (await claims(script, 'r1', 2)) as [Assignment, Assignment];
      await start(script, 'r1', canary);
      await fail(script, 'r1', canary);
      await start(script, 'r1', again);
      await complete(script, 'r1', again);
      await script.ask('releaseBatch', more, 'the failure is known');
      await script.ask('pauseBatch', more, 'a look');
      await script.ask('resumeBatch', more);
      await finishes(script, 'r1');
    },
  },
  {
    name: 'study-canary',
    about:
      'Three studies wait for their canary studies: the first passes over a restart, the second fails and the runs are released, the third is cancelled with its study.',
    async script(script) {
      await joins(script, 'r1', 3);
      const policy = { canary: 'nominal' as const };
      await script.ask('submit', { ...study({ runs: 2, maxRetries: 0 }), policy });
      const [passes] = (await claims(script, 'r1', 3)) as [Assignment];
      await start(script, 'r1', passes);
      await script.restart();
      await beats(script, 'r1', [passes]);
      await complete(script, 'r1', passes);
      const second = { ...study({ runs: 2, maxRetries: 0 }), policy: { canary: 'corners' as const, priority: 1 } };
      const { batch_id: released } = await script.ask('submit', second);
      const [nominal, low, high] = (await claims(script, 'r1', 3)) as [Assignment, Assignment, Assignment];
      for (const it of [nominal, low, high]) await start(script, 'r1', it);
      await complete(script, 'r1', nominal);
      await fail(script, 'r1', low);
      await complete(script, 'r1', high);
      await script.ask('releaseBatch', released, 'the failure is known');
      const { batch_id: cancelled } = await script.ask('submit', { ...study({ runs: 2 }), policy });
      await script.ask('cancelBatch', cancelled, 'enough');
      await finishes(script, 'r1');
    },
  },
  {
    name: 'study-rounds',
    about:
      'Grows by rounds: two under keys, one of which is repeated over a restart, and one by its number; is closed with a run open.',
    async script(script) {
      await joins(script, 'r1', 2);
      const { batch_id: batchId } = await script.ask('submit', adaptiveStudy({ runs: 5 }));
      const rows = [
        { r: 1, x: -0 },
        { r: 2.5, x: 1e-300 },
      ];
      await script.ask('appendRound', batchId, { key: 'generation-0', rows, draws: [null, 7], label: 'first' });
      const [first, second] = (await claims(script, 'r1', 2)) as [Assignment, Assignment];
      await start(script, 'r1', first);
      await complete(script, 'r1', first);
      await script.restart();
      await beats(script, 'r1', [second]);
      await script.ask('appendRound', batchId, { key: 'generation-0', rows, draws: [null, 7], label: 'first' });
      await script.ask('appendRound', batchId, { key: 'generation-1', columns: { r: [3], x: [4] } });
      await script.refused('round-key-reused', 'appendRound', batchId, { key: 'generation-1', rows });
      await script.ask('appendRound', batchId, { round: 2, rows: [{ r: 5, x: 6 }] });
      await script.refused('round-out-of-order', 'appendRound', batchId, { round: 4, rows: [{ r: 5, x: 6 }] });
      await start(script, 'r1', second);
      await fail(script, 'r1', second, 'early_termination');
      const [third] = (await claims(script, 'r1', 1)) as [Assignment];
      await script.ask('closeBatch', batchId);
      await script.refused('study-closed', 'appendRound', batchId, { key: 'late', rows });
      await start(script, 'r1', third);
      await complete(script, 'r1', third);
      await finishes(script, 'r1');
    },
  },
  {
    name: 'study-reuse',
    about:
      'Takes the results of three runs of another study, one of which a rule ended, and executes a fourth; after a restart a third one takes all four.',
    async script(script) {
      await joins(script, 'r1');
      const reuse = { policy: { reuse: 'all' as const } };
      await script.ask('submit', study({ runs: 3 }));
      await finishesWithCode(script, 'r1', 1);
      await script.ask('submit', study({ name: 'again', runs: 4, ...reuse }));
      await finishesWithCode(script, 'r1');
      await script.restart();
      await beats(script, 'r1', []);
      await script.ask('submit', study({ name: 'later', runs: 4, ...reuse }));
      await finishesWithCode(script, 'r1');
    },
  },
  {
    name: 'study-histories',
    about:
      'Four runs leave two histories and derived outputs: one all of them, one none after its peak, one fails with what it had, one lost both. A history of another length is refused.',
    async script(script) {
      const instance = 'r1-1';
      const features = ['histories'];
      await script.ask('register', { id: 'r1', capabilities: { ...capabilities(4), features }, instance });
      const histories = [
        { name: 'load', variable: 'nz_g', at: { from: 0, to: 1, step: 0.5 }, units: 'g' },
        { variable: 'alt_m', at: { points: [-1, 0] }, origin: 'first(alt_m < 0)' },
      ];
      const derived = [
        { name: 'peak', telemetry: 'nz_g', take: 'max' as const, units: 'g' },
        { name: 'margin', expression: '9 - outputs.peak' },
      ];
      await script.ask('submit', study({ runs: 4, maxRetries: 0, config: { histories, derived } }));
      const held = await claims(script, 'r1', 4);
      for (const it of held) await start(script, 'r1', it);
      const [whole, short, failed, bare] = held as [Assignment, Assignment, Assignment, Assignment];
      const own = ({ attempt }: Assignment) => ({ runner_id: 'r1', attempt });
      const result = { execution_time_secs: 2, output_files: [] };
      const values = (load: number[], altitude: number[]) => ({
        load: encodeHistory(load),
        alt_m: encodeHistory(altitude),
      });
      await script.refused('invalid-request', 'complete', whole.job.id, {
        ...own(whole),
        result: { ...result, metadata: {}, histories: values([1, 2], [3, 4]) },
      });
      await script.ask('complete', whole.job.id, {
        ...own(whole),
        result: {
          ...result,
          metadata: { apogee_m: 1200, peak: 3.5, margin: 5.5 },
          histories: values([1, 3.5, -0], [12.5, 0]),
        },
      });
      await script.restart();
      await beats(script, 'r1', [short, failed, bare]);
      await script.ask('complete', short.job.id, {
        ...own(short),
        result: {
          ...result,
          metadata: { apogee_m: 1300, peak: 4, margin: 5 },
          histories: values([1, 4, Number.NaN], [Number.NaN, Number.NaN]),
        },
      });
      await script.ask('fail', failed.job.id, {
        ...own(failed),
        reason: 'exit',
        error_message: 'no solution',
        result: {
          ...result,
          metadata: { peak: 2 },
          histories: values([2, Number.NaN, Number.NaN], [Number.NaN, Number.NaN]),
          derived_missing: { margin: 'the run failed' },
        },
      });
      await complete(script, 'r1', bare);
      await beats(script, 'r1', []);
    },
  },
];
