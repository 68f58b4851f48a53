/** Studies that stop at a precision: on the complete prefix, at the same run for any order of ends and after restarts, with the figures of the analysis. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { precisionsAlong } from '../../../src/analysis/precision/judge.ts';
import { parsePrecision } from '../../../src/analysis/precision/precision.ts';
import type { Precision, Report, StudyPrecisions, StudyVerdicts, Uuid } from '../../../src/contract/types.ts';
import type { VerdictsRecord } from '../../../src/coordinator/judgement/study-judgement.ts';
import { keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { CountedSlices } from '../../support/counted-slices.ts';
import { times } from '../../support/properties.ts';
import { RESULT, Scene } from '../../support/scene.ts';
import { settled } from '../../support/simulated-clock.ts';
import { tableOf } from '../../analysis/tables.ts';

/** How a run ends: with this output, or otherwise. */
type End = number | 'none' | 'crashed';

const SHARE: Precision = { output: 'miss', quantity: 'probability', condition: '< 50', half_width: 0.35 };
const MEAN: Precision = { output: 'miss', quantity: 'mean', bounds: [0, 100], half_width: 45 };
const MEDIAN: Precision = { output: 'miss', quantity: 'p50', half_width: 90 };
const LIMIT: Precision = { output: 'miss', quantity: 'mean', half_width: 1 };

function reportsOf(batch: Uuid, run: number, end: End): Report[] {
  const about = { job_id: jobId(batch, run), attempt: 1 };
  const metadata = typeof end === 'number' ? { miss: end } : {};
  return [
    { type: 'start', ...about },
    end === 'crashed'
      ? { type: 'fail', ...about, reason: 'invalid', error_message: 'bad wind' }
      : { type: 'complete', ...about, result: { ...RESULT, metadata } },
  ];
}

describe('coordinator/judgement: studies that stop at a precision', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 4000 });
  });
  afterEach(async () => {
    expect(scene.faults).to.deep.equal([]);
    await scene.api.close();
  });

  const submit = (runs: number, precision: readonly Precision[], more: object = {}): Promise<Uuid> =>
    scene.submit({ runs, ...more, policy: { stop_when: 'precise', precision: [...precision] } });
  const end = async (batch: Uuid, ...ends: [run: number, end: End][]): Promise<void> => {
    const reports = ends.flatMap(([run, how]) => reportsOf(batch, run, how));
    await scene.api.reports('a', { instance: scene.instance('a'), reports });
    await scene.api.parts.judgements.idle();
  };
  const all = (ends: readonly End[]) => ends.map((it, run): [number, End] => [run, it]);
  const asked = async <A>(batch: Uuid, name: 'precision' | 'verdicts'): Promise<A> => {
    const answer = await scene.api.answer({ name, batchId: batch, query: {} }, { waitMs: 1e6 });
    if (answer.state !== 'ready') throw new Error(answer.state);
    return JSON.parse(new TextDecoder().decode(answer.body)) as A;
  };
  /** The answer of the analysis, without the courses. */
  const byWorker = async (batch: Uuid) => {
    const answer = await asked<StudyPrecisions>(batch, 'precision');
    return { stop: answer.stop_run_id, precision: answer.precision.map(({ course: _, ...it }) => it) };
  };

  it('stops at the first run at which every precision is reached, and says so', async () => {
    const batch = await submit(1000, [SHARE, MEAN]);
    await scene.claim('a', 60);
    const values = Array.from({ length: 60 }, (_, run) => (run * 37) % 100);
    const found = precisionsAlong(
      tableOf(values.map((y) => y)),
      [
        { ...SHARE, output: 'y' },
        { ...MEAN, output: 'y' },
      ].map((it) => parsePrecision(it)),
    );
    expect(found.stopRunId).to.be.within(10, 50);
    const stop = found.stopRunId!;
    await end(batch, ...all(values.slice(0, stop)));
    expect(await scene.status(batch)).to.match(/^Running/);
    const before = (await scene.api.batch(batch)).precision!;
    expect(before.map((it) => it.n)).to.deep.equal([stop, stop]);
    expect(before.some((it) => it.state === 'open')).to.equal(true);
    await end(batch, [stop, values[stop]!]);
    expect(await scene.status(batch)).to.equal(`Completed: ${stop + 1} Completed, ${999 - stop} Cancelled`);
    const { batch: stopped, precision } = await scene.api.batch(batch);
    expect(stopped).to.include({
      stopped_at_run_id: stop,
      cancel_reason: `every precision was reached at run ${stop}`,
    });
    expect(stopped).not.to.have.property('settled_at_run_id');
    expect(precision!.map((it) => it.state)).to.deep.equal(['reached', 'reached']);
    expect(await byWorker(batch)).to.deep.equal({ stop, precision });
    const { events } = await scene.api.batchHistory(batch);
    expect(events.map((it) => it.type)).to.deep.equal(['submitted', 'started', 'precise', 'ended']);
  });

  it('decides on the complete prefix, whatever has ended beyond it', async () => {
    const batch = await submit(200, [SHARE]);
    await scene.claim('a', 100);
    await end(batch, ...all(Array.from({ length: 60 }, () => 1)).slice(1));
    expect((await scene.api.batch(batch)).precision![0]).to.include({ n: 0, state: 'open', value: null });
    await end(batch, [0, 99]);
    const alone = precisionsAlong(tableOf([99, ...Array.from({ length: 59 }, () => 1)]), [
      parsePrecision({ ...SHARE, output: 'y' }),
    ]);
    expect((await scene.api.batch(batch)).batch.stopped_at_run_id).to.equal(alone.stopRunId);
  });

  const restarts: [title: string, precision: Precision[], judged: number][] = [
    [
      'continues after a restart from what is stored',
      [
        { ...MEAN, half_width: 0.1 },
        { ...SHARE, half_width: 0.001 },
      ],
      1000,
    ],
    ['judges a study with a quantile from its first run after a restart', [{ ...MEDIAN, half_width: 0.001 }], 0],
  ];
  for (const [title, precision, judged] of restarts) {
    it(title, async () => {
      const batch = await submit(3000, precision);
      await scene.claim('a', 2500);
      await end(batch, ...all(Array.from({ length: 1400 }, (_, run) => (run * 61) % 97)));
      const before = (await scene.api.batch(batch)).precision;
      expect(before![0]!.n).to.equal(1400);
      expect((JSON.parse(scene.store.get(keys.verdicts(batch))!) as VerdictsRecord).judged).to.equal(1000);
      // Were these runs read again, they would have no value.
      for (let run = 0; run < judged; run++) scene.store.disk.delete(keys.result(jobId(batch, run)));
      await scene.restart();
      await scene.api.parts.judgements.idle();
      expect((await scene.api.batch(batch)).precision).to.deep.equal(before);
    });
  }

  it('has no sequence after a value outside the bounds, and never stops because of one', async () => {
    const batch = await submit(60, [{ ...MEAN, half_width: 40 }]);
    await scene.claim('a', 60);
    await end(batch, ...all([50, 50, 120]));
    const [found] = (await scene.api.batch(batch)).precision!;
    expect(found).to.deep.include({ state: 'out-of-reach', interval: [null, null], half_width: null, n: 3 });
    expect(found!.reason).to.equal('run 2 gives 120, outside the bounds 0 to 100');
    await end(batch, ...Array.from({ length: 57 }, (_, at): [number, End] => [at + 3, 50]));
    expect(await scene.status(batch)).to.equal('Completed: 60 Completed');
    expect((await scene.api.batch(batch)).precision![0]!.state).to.equal('out-of-reach');
    const findings = await scene.api.findings(batch);
    expect(findings.find((it) => it.code === 'precision-out-of-bounds')).to.deep.include({
      severity: 'doubtful',
      runs: [2],
    });
  });

  it('a mean without bounds has no interval once a run has no value, and says which', async () => {
    const batch = await submit(150, [LIMIT]);
    await scene.claim('a', 150);
    await end(batch, ...all(Array.from({ length: 120 }, (_, run) => (run === 7 ? 'crashed' : run % 2))));
    const [found] = (await scene.api.batch(batch)).precision!;
    expect(found).to.include({ state: 'out-of-reach', unknown: 1, n: 120 });
    expect(found!.reason).to.equal('run 7 has no value, and a mean without bounds may then be any number');
    expect((await scene.api.findings(batch)).map((it) => it.code)).to.include('precision-out-of-reach');
  });

  it('ends the sequence before a cancelled run, which may have been cancelled for how it went', async () => {
    const batch = await submit(400, [{ ...SHARE, half_width: 0.01 }]);
    await scene.claim('a', 20);
    await end(batch, ...all([1, 1, 99, 1]));
    await scene.api.cancelBatch(batch);
    await scene.api.parts.judgements.idle();
    const { precision } = await scene.api.batch(batch);
    expect(precision![0]).to.include({
      n: 4,
      unknown: 0,
      value: 0.75,
      reason: 'run 4 was cancelled: the sequence ends before it',
    });
    expect(precision![0]!.interval[0]).to.be.above(0);
    expect(await byWorker(batch)).to.deep.equal({ stop: null, precision });
  });

  it('judges in slices of the event loop', async () => {
    const batch = await submit(40, [
      { ...SHARE, half_width: 0.01 },
      { ...MEDIAN, half_width: 0.01 },
    ]);
    await scene.claim('a', 40);
    const slices = new CountedSlices(scene.api.share);
    await end(batch, ...all(Array.from({ length: 40 }, (_, run) => run)));
    expect(slices).to.include({ pending: 0, mostPending: 1 });
    expect(slices.asked).to.be.above(40);
  });

  it('agrees with the analysis, and stops at the same run, for any ends in any order, with restarts in between', async () => {
    const how = fc.oneof(
      { weight: 1, arbitrary: fc.constantFrom<End>('none', 'crashed') },
      { weight: 9, arbitrary: fc.double({ min: 0, max: 100, noNaN: true }) },
      { weight: 9, arbitrary: fc.constantFrom<End>(1, 99, 50) },
    );
    const drawn = fc.record({
      ends: fc.array(how, { minLength: 20, maxLength: 60 }),
      order: fc.array(fc.nat(), { minLength: 60, maxLength: 60 }),
      precision: fc.constantFrom([SHARE], [MEAN], [MEDIAN], [SHARE, MEAN, MEDIAN], [SHARE, LIMIT]),
      hasRequirement: fc.boolean(),
      replicateRuns: fc.constantFrom(undefined, undefined, 1, 2, 3),
      restartAt: fc.nat(60),
      cancelAt: fc.nat(120),
    });
    const requirement = { name: 'close', output: 'miss', condition: '< 50', probability: 0.5, confidence: 0.6 };
    let stops = 0;
    const property = fc.asyncProperty(
      drawn,
      async ({ ends, order, precision, hasRequirement, replicateRuns, restartAt, cancelAt }) => {
        const requirements = hasRequirement ? [requirement] : [];
        const size = replicateRuns ?? 1;
        const replicates = Math.ceil((ends.length + 2) / size);
        const design = { sampling_method: 'latin_hypercube', replicates };
        const more = replicateRuns === undefined ? {} : { config: { monte_carlo: design } };
        const batch = await submit(replicates * size, precision, { requirements, ...more });
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
        const check = async (): Promise<void> => {
          const { batch: so, precision: shown, requirements: verdicts = [] } = await scene.api.batch(batch);
          const worker = await byWorker(batch);
          expect(shown).to.deep.equal(worker.precision);
          if (so.stopped_at_run_id !== undefined) expect(so.stopped_at_run_id).to.equal(worker.stop);
          const judged = await asked<StudyVerdicts>(batch, 'verdicts');
          expect(verdicts).to.deep.equal(judged.requirements.map(({ course: _, ...it }) => it));
        };
        await check();
        const { stop } = await byWorker(batch);
        if (cancelAt > ends.length) {
          // In order, and without a coordinator: the stop is a function of the prefix.
          const rows = ends.map((it) => (typeof it === 'number' ? it : it === 'none' ? NaN : 'crashed'));
          const alone = precisionsAlong(
            tableOf(rows),
            precision.map((it) => parsePrecision({ ...it, output: 'y' }, replicateRuns)),
          );
          expect(stop).to.equal(alone.stopRunId);
          if (stop !== null) expect((stop + 1) % size, 'runs of a part of a replicate').to.equal(0);
          if (stop !== null) stops++;
        }
        await scene.api.cancelBatch(batch).catch(() => {});
        await scene.api.parts.judgements.idle();
        await check();
      },
    );
    await fc.assert(property, { numRuns: times(20) });
    expect(stops, 'studies that stopped').to.be.above(0);
  });
});
