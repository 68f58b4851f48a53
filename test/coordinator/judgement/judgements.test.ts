/** Requirements judged while a study runs: on the complete prefix, the same after a restart, and the stop of a settled study. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { FailReason, Report, RequirementVerdict, StudyVerdicts, Uuid } from '../../../src/contract/types.ts';
import type { VerdictsRecord } from '../../../src/coordinator/judgement/study-judgement.ts';
import { keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { CountedSlices } from '../../support/counted-slices.ts';
import { RESULT, Scene } from '../../support/scene.ts';
import { settled } from '../../support/simulated-clock.ts';
import { times } from '../../support/properties.ts';
import type { StudyOptions } from '../../support/studies.ts';

/** Three passing runs settle it. */
const EASY = { name: 'close', output: 'miss', condition: '< 50', probability: 0.5, confidence: 0.6 };
const STOPPING: StudyOptions = { requirements: [EASY], policy: { stop_when: 'settled' } };

/** How a run ends: with this output, or otherwise. */
type End = number | 'none' | 'lossy' | 'terminated' | 'crashed' | 'timeout';
const REASONS: Record<string, FailReason> = { terminated: 'early_termination', crashed: 'invalid', timeout: 'timeout' };

function reportsOf(batch: Uuid, run: number, end: End): Report[] {
  const about = { job_id: jobId(batch, run), attempt: 1 };
  const reason = typeof end === 'string' ? REASONS[end] : undefined;
  const metadata = typeof end === 'number' ? { miss: end } : end === 'lossy' ? { miss: 1 } : {};
  const telemetry = { seen: [], samples: 1, lost: end === 'lossy' ? 1 : 0, refused: 0 };
  return [
    { type: 'start', ...about },
    reason === undefined
      ? { type: 'complete', ...about, result: { ...RESULT, metadata, telemetry } }
      : { type: 'fail', ...about, reason, error_message: 'nz > 3 was met by nz = 4 at telemetry time 1 s' },
  ];
}

describe('coordinator/judgement', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 100 });
  });
  afterEach(async () => {
    expect(scene.faults).to.deep.equal([]);
    await scene.api.close();
  });

  const end = async (batch: Uuid, ...ends: [run: number, end: End][]): Promise<void> => {
    const reports = ends.flatMap(([run, how]) => reportsOf(batch, run, how));
    await scene.api.reports('a', { instance: scene.instance('a'), reports });
    await scene.api.parts.judgements.idle();
  };
  const verdicts = async (batch: Uuid): Promise<RequirementVerdict[]> => (await scene.api.batch(batch)).requirements!;
  const shortly = async (batch: Uuid): Promise<string> => {
    const { verdict, passed, failed, unknown } = (await verdicts(batch))[0]!;
    return `${verdict} ${passed}/${failed}/${unknown}`;
  };
  const judgedByWorker = async (batch: Uuid): Promise<RequirementVerdict[]> => {
    const answer = await scene.api.answer({ name: 'verdicts', batchId: batch, query: {} }, { waitMs: 1e6 });
    if (answer.state !== 'ready') throw new Error(answer.state);
    const { requirements } = JSON.parse(new TextDecoder().decode(answer.body)) as StudyVerdicts;
    return requirements.map(({ course, ...verdict }) => {
      const { lower, upper, estimate } = verdict;
      // The course leads to the verdict.
      if (course.length > 0) expect(course.at(-1)).to.include({ lower, upper, estimate });
      return verdict;
    });
  };

  it('waits for each slice of the event loop before it judges a run', async () => {
    const batch = await scene.submit({ runs: 40, requirements: [EASY] });
    await scene.claim('a', 40);
    const slices = new CountedSlices(scene.api.share);
    await end(batch, ...Array.from({ length: 40 }, (_, run): [number, End] => [run, 1]));
    expect(slices).to.include({ pending: 0, mostPending: 1 });
    expect(slices.asked).to.be.above(40);
  });

  it('is idle when what it has judged is on disk', async () => {
    let release: (() => void) | undefined;
    let isHeld = false;
    scene = await Scene.open({
      beforeWrite: () => (isHeld ? new Promise((resolve) => (release = resolve)) : Promise.resolve()),
    });
    await scene.register('a', { slots: 100 });
    const batch = await scene.submit({ runs: 3, requirements: [EASY] });
    await scene.claim('a', 3);
    await end(batch, [0, 1], [1, 1]);
    await scene.start(batch, 2, 'a');
    await scene.complete(batch, 2, 'a');
    isHeld = true;
    let isIdle = false;
    const idle = scene.api.parts.judgements.idle().then(() => (isIdle = true));
    await settled();
    expect([isIdle, release === undefined]).to.deep.equal([false, false]);
    isHeld = false;
    release?.();
    await idle;
    const record = JSON.parse(scene.store.get(keys.verdicts(batch))!) as VerdictsRecord;
    expect(record.judged).to.equal(3);
  });

  it('stops a study at the run that settles it, and says so', async () => {
    const batch = await scene.submit({ runs: 1000, ...STOPPING });
    await scene.claim('a', 5);
    await end(batch, [0, 1], [1, 1]);
    expect(await scene.status(batch)).to.equal('Running: 995 Pending, 3 Claimed, 2 Completed');
    expect(await shortly(batch)).to.equal('open 2/0/0');
    expect((await verdicts(batch))[0]).to.include({ look: 'continuous', needed_clean_runs: 1 });
    await end(batch, [2, 1]);
    expect(await scene.status(batch)).to.equal('Completed: 3 Completed, 997 Cancelled');
    const { batch: stopped } = await scene.api.batch(batch);
    expect(stopped).to.include({
      settled_at_run_id: 2,
      cancel_reason: 'every requirement was settled at run 2',
    });
    expect(await shortly(batch)).to.equal('met 3/0/0');
    expect((await verdicts(batch))[0]).to.include({ settled: 'sequential', settled_at_run_id: 2 });
    const { attempts } = await scene.api.jobHistory(jobId(batch, 3));
    expect(attempts[0]).to.include({ outcome: 'cancelled', reason: 'every requirement was settled at run 2' });
    expect(await judgedByWorker(batch)).to.deep.equal(await verdicts(batch));
  });

  it('decides on the complete prefix: runs that end ahead of it count when the prefix reaches them', async () => {
    const batch = await scene.submit({ runs: 100, ...STOPPING });
    await scene.claim('a', 10);
    await end(batch, ...[1, 2, 3, 4, 5, 6, 7].map((run): [number, End] => [run, 1]));
    expect(await shortly(batch)).to.equal('open 0/0/0');
    await end(batch, [0, 99]);
    const { batch: stopped } = await scene.api.batch(batch);
    expect(stopped.settled_at_run_id).to.equal(5);
    expect(await shortly(batch), 'runs after the decision are not judged').to.equal('met 5/1/0');
  });

  it('stops when the last of several requirements is settled, also by a violation', async () => {
    const requirements = [
      EASY,
      { ...EASY, name: 'never', condition: '< 0' },
      { ...EASY, name: 'far', confidence: 0.9 },
    ];
    const batch = await scene.submit({ runs: 100, requirements, policy: { stop_when: 'settled' } });
    await scene.claim('a', 30);
    await end(batch, ...Array.from({ length: 30 }, (_, run): [number, End] => [run, 1]));
    const found = (await verdicts(batch)).map((it) => [it.name, it.verdict, it.settled_at_run_id]);
    expect(found).to.deep.equal([
      ['close', 'met', 2],
      ['never', 'violated', 2],
      ['far', 'met', 4],
    ]);
    expect((await scene.api.batch(batch)).batch.settled_at_run_id).to.equal(4);
  });

  it('counts failed, missing and terminated runs as the requirement says', async () => {
    const requirements = (['fail', 'unknown', 'exclude'] as const).map((terminated) => ({
      ...EASY,
      name: terminated,
      terminated,
      probability: 0.99,
    }));
    const rule = { variable: 'nz', condition: '> 3', description: '' };
    const config = { early_termination: { enabled: true, check_frequency_hz: 1, conditions: [rule] } };
    const batch = await scene.submit({ runs: 20, requirements, config });
    await scene.claim('a', 20);
    const ends: End[] = [1, 99, 'none', 'lossy', 'terminated', 'crashed', 'timeout'];
    await end(batch, ...ends.map((how, run): [number, End] => [run, how]));
    expect((await verdicts(batch)).map((it) => [it.passed, it.failed, it.unknown])).to.deep.equal([
      [1, 2, 4],
      [1, 1, 5],
      [1, 1, 4],
    ]);
    expect(await judgedByWorker(batch)).to.deep.equal(await verdicts(batch));
  });

  it('does not stop a study without the policy, and judges none without requirements', async () => {
    const batch = await scene.submit({ runs: 5, requirements: [{ ...EASY, look: 'continuous' }] });
    const plain = await scene.submit({ runs: 1 });
    await scene.claim('a', 6);
    await end(batch, [0, 1], [1, 1], [2, 1], [3, 1]);
    expect(await scene.status(batch)).to.equal('Running: 1 Claimed, 4 Completed');
    expect(await shortly(batch)).to.equal('met 3/0/0');
    expect(await scene.api.batch(plain)).to.not.have.property('requirements');
  });

  it('judges a cancelled study with its cancelled runs as unknown', async () => {
    const batch = await scene.submit({ runs: 50_000, requirements: [EASY] });
    await scene.claim('a', 3);
    await end(batch, [0, 1], [2, 1]);
    await scene.api.cancelBatch(batch, 'enough');
    await scene.api.parts.judgements.idle();
    expect(await shortly(batch)).to.equal('not-shown 2/0/49998');
    expect((await verdicts(batch))[0]!.warnings.map((it) => it.code)).to.include('cancelled');
    expect((await scene.api.batch(batch)).batch.status).to.equal('Cancelled');
  });

  it('continues after a restart, reading only the runs that were not judged when it was stored', async () => {
    const batch = await scene.submit({ runs: 3000, requirements: [{ ...EASY, probability: 0.9999 }] });
    await scene.register('a', { slots: 3000 });
    await scene.claim('a', 2500);
    await end(batch, ...Array.from({ length: 2400 }, (_, run): [number, End] => [run === 1500 ? 2450 : run, run % 3]));
    const record = JSON.parse(scene.store.get(keys.verdicts(batch))!) as VerdictsRecord;
    expect(record.judged).to.equal(1000);
    // Were the first runs read again, they would count as failures.
    for (let run = 0; run < 1000; run++) scene.store.disk.delete(keys.result(jobId(batch, run)));
    await scene.restart();
    await scene.api.parts.judgements.idle();
    expect(await shortly(batch)).to.equal('open 1500/0/0');
    await scene.register('a', { slots: 3000, instance: 'a-1' });
    await end(batch, [1500, 1]);
    expect(await shortly(batch)).to.equal('open 2400/0/0');
  });

  it('judges an ended study again that was not judged to its end', async () => {
    const batch = await scene.submit({ runs: 4, requirements: [EASY] });
    await scene.claim('a', 4);
    await end(batch, [0, 1], [1, 1], [2, 99], [3, 1]);
    const before = await verdicts(batch);
    scene.store.disk.delete(keys.verdicts(batch));
    expect(await scene.api.batch(batch), 'absent until it is judged').to.not.have.property('requirements');
    await scene.api.parts.judgements.idle();
    expect(await verdicts(batch)).to.deep.equal(before);
    await scene.api.deleteBatch(batch);
    expect(scene.store.get(keys.verdicts(batch))).to.equal(undefined);
  });

  it('judges a study from its first run when its stored verdicts are not usable, and reports it', async () => {
    const batch = await scene.submit({ runs: 10, requirements: [{ ...EASY, look: 'continuous' }] });
    await scene.claim('a', 4);
    await end(batch, [0, 1], [1, 99], [2, 1]);
    const requirements = [{ passed: -1, failed: 0, unknown: 0, verdict: null, settled_at_run_id: null }];
    scene.store.disk.set(keys.verdicts(batch), JSON.stringify({ judged: 2, requirements }));
    await scene.restart();
    await scene.api.parts.judgements.idle();
    expect(await shortly(batch)).to.equal('open 2/1/0');
    expect(scene.faults.splice(0).map(String)).to.deep.equal([
      'RangeError: the state of a sequential verdict is not usable: passed is -1; expected a count',
    ]);
  });

  it('reports a study whose requirement it cannot read, and leaves it unjudged', async () => {
    const batch = await scene.submit({ runs: 2, requirements: [EASY] });
    const record = scene.store.get(keys.submission(batch))!;
    scene.store.disk.set(keys.submission(batch), record.replace('"< 50"', '"about 50"'));
    await scene.restart();
    await scene.register('a', { slots: 2 });
    await scene.claim('a', 2);
    await end(batch, [0, 1], [1, 1]);
    const { batch: over, requirements } = await scene.api.batch(batch);
    expect([over.status, requirements]).to.deep.equal(['Completed', undefined]);
    expect(scene.faults.splice(0).map(String).join()).to.match(
      /^Error: study \S+ is not judged: its requirement "close"/,
    );
  });

  it('refuses a study that cannot be stopped', async () => {
    const { submissionFaults } = await import('../../../src/domain/study/submission.ts');
    expect(submissionFaults({ policy: { stop_when: 'settled' } })).to.deep.equal([
      {
        pointer: '/policy/stop_when',
        detail: 'is "settled", and the study has no requirement; declare `requirements`, or leave it out',
      },
    ]);
    const once = submissionFaults({
      policy: { stop_when: 'settled' },
      requirements: [EASY, { ...EASY, name: 'b', look: 'once' }],
    });
    expect(once.map((it) => it.pointer)).to.deep.equal(['/requirements/1/look']);
  });

  it('agrees with the answer of the analysis for any ends in any order, with restarts in between', async () => {
    const how = fc.oneof(
      fc.constantFrom<End>('none', 'lossy', 'terminated', 'crashed', 'timeout'),
      fc.constantFrom<End>(1, 1, 1, 99),
    );
    const requirement = fc.record({
      look: fc.constantFrom('once', 'continuous'),
      terminated: fc.constantFrom('fail', 'unknown', 'exclude'),
      probability: fc.constantFrom(0.3, 0.5, 0.9),
      confidence: fc.constantFrom(0.6, 0.95),
    });
    const drawn = fc.record({
      ends: fc.array(how, { minLength: 1, maxLength: 30 }),
      order: fc.array(fc.nat(), { minLength: 30, maxLength: 30 }),
      requirements: fc.array(requirement, { minLength: 1, maxLength: 3 }),
      restartAt: fc.nat(30),
      cancelAt: fc.nat(60),
    });
    const property = fc.asyncProperty(drawn, async ({ ends, order, requirements, restartAt, cancelAt }) => {
      const rule = { variable: 'nz', condition: '> 3', description: '' };
      const batch = await scene.submit({
        runs: ends.length + 2,
        requirements: [
          ...requirements.map((it, at) => ({ ...EASY, ...it, name: `r${at}` })),
          { ...requirements[0]!, name: 'range', output: EASY.output, condition: '-1000 .. 50' },
          { ...requirements[0]!, name: 'joint', all: ['r0', 'range'] },
        ],
        config: { early_termination: { enabled: true, check_frequency_hz: 1, conditions: [rule] } },
      });
      await scene.register('a', { slots: 100, instance: 'a-1' });
      await scene.claim('a', ends.length);
      const runs = ends.map((_, run) => run).sort((a, b) => order[a]! - order[b]!);
      for (const [at, run] of runs.entries()) {
        if (at === cancelAt) await scene.api.cancelBatch(batch);
        if (at === restartAt) {
          await scene.api.parts.answers.close();
          await scene.restart();
        }
        await end(batch, [run, ends[run]!]);
      }
      await settled();
      expect(await verdicts(batch)).to.deep.equal(await judgedByWorker(batch));
      await scene.api.cancelBatch(batch).catch(() => {});
      await scene.api.parts.judgements.idle();
      expect(await verdicts(batch)).to.deep.equal(await judgedByWorker(batch));
    });
    await fc.assert(property, { numRuns: times(20) });
  });
});
