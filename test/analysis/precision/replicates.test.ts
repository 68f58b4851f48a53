/** Precisions over whole replicates: equal to their definitions, stopping at whole ones, resumed within one, and valid for dependent runs. */
import { expect } from 'chai';
import type { BatchSubmission, Precision } from '../../../src/contract/types.ts';
import { judgePrecisions, precisionsAlong } from '../../../src/analysis/precision/judge.ts';
import { precisionPlans, precisionsOf, replicateCountFaults } from '../../../src/analysis/precision/planning.ts';
import { halfWidthOf, parsePrecision, sequenceOf } from '../../../src/analysis/precision/precision.ts';
import { AsymptoticMeanSequence } from '../../../src/analysis/precision/sequences/asymptotic-mean.ts';
import { BoundedMeanSequence } from '../../../src/analysis/precision/sequences/bounded-mean.ts';
import { REPLICATE_MEANS } from '../../../src/analysis/precision/sequences/replicate-means.ts';
import { StudyPrecision } from '../../../src/analysis/precision/study-precision.ts';
import { limitedToStop } from '../../../src/analysis/stop.ts';
import { summarizeStudy } from '../../../src/analysis/summary.ts';
import { createSampler } from '../../../src/domain/sampling/sampler.ts';
import { study } from '../../support/studies.ts';
import { uniformSource } from '../synthetic.ts';
import { type Run, tableOf, times } from '../tables.ts';

const SHARE: Precision = { output: 'y', quantity: 'probability', condition: '> 50', half_width: 0.1 };
const MEAN: Precision = { output: 'y', quantity: 'mean', bounds: [0, 100], half_width: 8 };
const P90: Precision = { output: 'y', quantity: 'p90', half_width: 10 };
const FREE: Precision = { output: 'y', quantity: 'mean', half_width: 3 };
const KINDS: readonly Precision[] = [SHARE, MEAN, P90, FREE];

const meanOf = (values: readonly number[]): number => values.reduce((sum, it) => sum + it, 0) / values.length;
const replicatesOf = <T>(runs: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.floor(runs.length / size) }, (_, at) => runs.slice(at * size, (at + 1) * size));

/** Whether x may be the quantile p, by the definition: products of the factors of 8 stakes, averaged. */
function isPossible(replicates: readonly (readonly number[])[], p: number, x: number, confidence: number): boolean {
  const capital = (gainOf: (values: readonly number[]) => number): number => {
    const stakes = Array.from({ length: 8 }, (_, at) => 0.95 / 2 ** at);
    return meanOf(stakes.map((stake) => replicates.reduce((product, it) => product * (1 + stake * gainOf(it)), 1)));
  };
  const shareOf = (values: readonly number[], counts: (value: number) => boolean): number =>
    values.filter((it) => counts(it)).length / values.length;
  const above = capital((values) => shareOf(values, (it) => it < x) / p - 1);
  const small = capital((values) => (1 - shareOf(values, (it) => Number.isNaN(it) || it <= x)) / (1 - p) - 1);
  return above < 2 / (1 - confidence) && small < 2 / (1 - confidence);
}

describe('analysis/precision: replicates', () => {
  it('take the mean of each whole replicate as one value', () => {
    const uniform = uniformSource(21);
    const values = Array.from({ length: 403 }, () => 100 * uniform());
    for (const [precision, means] of [
      [MEAN, new BoundedMeanSequence([0, 100], 0.95)],
      [FREE, new AsymptoticMeanSequence(0.95, undefined, REPLICATE_MEANS)],
    ] as const) {
      const sequence = sequenceOf(parsePrecision(precision, 8));
      for (const it of values) sequence.take(it);
      for (const it of replicatesOf(values, 8)) means.take(meanOf(it));
      for (const side of [0, 1] as const)
        expect(sequence.interval()[side]).to.be.closeTo(means.interval()[side]!, 1e-9);
      expect(sequence.value()).to.be.closeTo(meanOf(values.slice(0, 400)), 1e-9);
    }
    const share = sequenceOf(parsePrecision(SHARE, 8));
    const shares = new BoundedMeanSequence([0, 1], 0.95);
    for (const it of values) share.take(Number(it > 50));
    for (const it of replicatesOf(values, 8)) shares.take(it.filter((value) => value > 50).length / 8);
    expect(share.interval()).to.deep.equal(shares.interval());
  });

  it('give runs without a value the bound that is the worse for each end', () => {
    const known = Array.from({ length: 160 }, (_, run) => 40 + (run % 7));
    const worst = (value: number): number[] => known.map((it, run) => (run % 16 === 3 ? value : it));
    const intervalOf = (values: readonly number[]) => {
      const sequence = sequenceOf(parsePrecision(MEAN, 4));
      for (const it of values) sequence.take(it);
      return sequence.interval();
    };
    const found = intervalOf(worst(Number.NaN));
    expect(found[0]).to.be.closeTo(intervalOf(worst(0))[0]!, 1e-9);
    expect(found[1]).to.be.closeTo(intervalOf(worst(100))[1]!, 1e-9);
    const quantile = (values: readonly number[]) => {
      const sequence = sequenceOf(parsePrecision({ ...P90, quantity: 'p50' }, 4));
      for (const it of values) sequence.take(it);
      return sequence.interval();
    };
    const [low, high] = quantile(worst(Number.NaN));
    expect([low, high]).to.deep.equal([quantile(worst(-1e9))[0], quantile(worst(1e9))[1]]);
  });

  it('have as the interval of a quantile every value that the bets leave possible, and no other', () => {
    const uniform = uniformSource(22);
    for (const [size, p, replicates] of [
      [1, 0.5, 40],
      [3, 0.9, 90],
      [5, 0.25, 30],
      [4, 0.5, 7],
    ] as const) {
      // Many ties, and some runs without a value.
      const values = Array.from({ length: size * replicates }, () =>
        uniform() < 0.03 ? Number.NaN : Math.floor(20 * uniform()),
      );
      const sequence = sequenceOf(parsePrecision({ ...P90, quantity: `p${100 * p}`, confidence: 0.9 }, size));
      for (const [run, it] of values.entries()) {
        sequence.take(it);
        // Intervals in between leave their ranks, from which later ones are searched.
        if (run % (3 * size) === 0) sequence.interval();
      }
      const grouped = replicatesOf(values, size);
      const known = values.filter((it) => !Number.isNaN(it)).sort((a, b) => a - b);
      const possible = known.filter((it) => isPossible(grouped, p, it, 0.9));
      const low = isPossible(grouped, p, -1, 0.9) ? null : (possible[0] ?? null);
      const high = isPossible(grouped, p, 21, 0.9) ? null : (possible.at(-1) ?? null);
      expect(sequence.interval(), `${size} runs, p ${p}`).to.deep.equal([low, high]);
    }
  });

  it('hold at every number of replicates at once, for runs that depend on each other', () => {
    const dispersions = Object.fromEntries(
      ['a', 'b'].map((name) => [name, { distribution: { type: 'uniform' as const, min: 0, max: 1 }, units: '' }]),
    );
    const uniforms = new Float64Array(2);
    let failed = 0;
    for (let seed = 0; seed < 100; seed++) {
      const plan = { runs: 320, replicates: 80, sampling_method: 'latin_hypercube' as const, seed };
      const sampler = createSampler(dispersions, plan);
      const sequences = [
        { sequence: sequenceOf(parsePrecision({ ...P90, quantity: 'p50', confidence: 0.8 }, 4)), truth: 1 },
        {
          sequence: sequenceOf(parsePrecision({ ...MEAN, bounds: [0, 2], half_width: 0.1, confidence: 0.8 }, 4)),
          truth: 1,
        },
      ];
      let isExcluded = false;
      for (let run = 0; run < 320; run++) {
        sampler.sampleInto(run, uniforms);
        for (const { sequence, truth } of sequences) {
          sequence.take(uniforms[0]! + uniforms[1]!);
          const [low, high] = sequence.interval();
          isExcluded ||= (low ?? -1) > truth || (high ?? 3) < truth;
        }
      }
      failed += Number(isExcluded);
    }
    // Two sequences that each fail with probability 0.2 at most: 0.4, and far less of a stratified sample.
    expect(failed).to.be.below(40);
  });

  it('stop the study at the last run of a replicate, and look at no part of one', () => {
    const uniform = uniformSource(23);
    const values = Array.from({ length: 4000 }, () => 100 * uniform());
    for (const size of [4, 10]) {
      const parsed = KINDS.map((it) => parsePrecision(it, size));
      const found = precisionsAlong(tableOf(values), parsed);
      expect((found.stopRunId! + 1) % size).to.equal(0);
      const widthsAt = (n: number) =>
        precisionsAlong(tableOf(values.slice(0, n)), parsed, { stops: false })
          .sights()
          .map(({ interval }) => halfWidthOf(interval) ?? Infinity);
      const isReached = (n: number) => widthsAt(n).every((it, at) => it <= KINDS[at]!.half_width!);
      expect([isReached(found.runs), isReached(found.runs - size)]).to.deep.equal([true, false]);
      expect(widthsAt(found.runs + size - 1)).to.deep.equal(widthsAt(found.runs));
      const [share] = precisionsAlong(tableOf(values.slice(0, 10 * size + 3)), parsed).answers(0, [], () => null);
      expect(share).to.include({ n: 10 * size, replicates: 10 });
    }
  });

  it('continue from a state within a replicate to the last bit', () => {
    const uniform = uniformSource(24);
    for (const precision of [SHARE, MEAN, FREE]) {
      const parsed = parsePrecision(precision, 9);
      const whole = new StudyPrecision([parsed], undefined, false);
      let resumed = new StudyPrecision([parsed], undefined, false);
      for (let run = 0; run < 600; run++) {
        const drawn = uniform();
        const isUnknown = precision !== FREE && drawn < 0.05;
        const value = isUnknown ? Number.NaN : precision === SHARE ? Number(drawn > 0.5) : 100 * drawn;
        whole.take(() => value, run);
        resumed.take(() => value, run);
        if (run % 7 === 0)
          resumed = new StudyPrecision([parsed], JSON.parse(JSON.stringify(resumed.toJSON())) as never, false);
      }
      expect(resumed.sights(), precision.quantity).to.deep.equal(whole.sights());
    }
  });

  it('name the run of a value outside the bounds, and of an unknown one of a mean without bounds', () => {
    const faultOf = (precision: Precision, runs: Run[]) =>
      precisionsAlong(tableOf(runs), [parsePrecision(precision, 4)]).sights()[0]!.fault;
    expect(faultOf(MEAN, [...times(5, 50), 101, ...times(10, 50)])).to.include({ code: 'outside-bounds', run_id: 5 });
    expect(faultOf(FREE, [...times(5, 50), 'crashed', ...times(10, 50)])).to.include({
      code: 'unknown-run',
      run_id: 5,
    });
  });

  it('take a number of replicates at least, with which the least varied runs reach a precision, and fewer do not', () => {
    const submission = (precision: Precision, replicates: number): BatchSubmission => ({
      ...study({ config: { monte_carlo: { sampling_method: 'latin_hypercube', runs: 4 * replicates, replicates } } }),
      policy: { stop_when: 'precise', precision: [precision] },
    });
    for (const [precision, valueOf] of [
      [SHARE, () => 1],
      [MEAN, () => 0],
      [FREE, (run: number) => (run % 2 ? run / 1e9 : 0)],
      [P90, (run: number) => run % 4],
    ] as const) {
      const [plan] = precisionPlans(submission(precision, 3000));
      const { runs_at_least: runs, replicates_at_least: replicates } = plan!;
      expect(runs).to.equal(4 * replicates!);
      const parsed = precisionsOf(submission(precision, 3000));
      const values = Array.from({ length: runs }, (_, run) => valueOf(run));
      const before = precisionsAlong(tableOf(values.slice(0, runs - 4)), parsed);
      expect(before.stopRunId, precision.quantity).to.equal(null);
      if (precision === P90)
        expect(precisionsAlong(tableOf(values), parsed).sights()[0]!.interval).not.to.include(null);
      else if (precision === FREE) expect(precisionsAlong(tableOf(values), parsed).stopRunId).to.equal(runs - 1);
      expect(replicateCountFaults(submission(precision, replicates!), runs)).to.deep.equal([]);
      const [fault] = replicateCountFaults(submission(precision, replicates! - 1), runs - 4);
      expect(fault!.pointer).to.equal('/config/monte_carlo/replicates');
      expect(fault!.detail).to.match(
        new RegExp(
          `^is ${replicates! - 1}, too few for the precision of the .*; raise replicates to ${replicates} or more`,
        ),
      );
    }
    expect(replicateCountFaults(submission({ ...SHARE, half_width: 1e-5 }, 3000), 12_000)[0]!.detail).to.match(
      /use monte_carlo/,
    );
  });

  it('show in the answers the replicates used, the interval at whole ones, and why the study did not stop', () => {
    const uniform = uniformSource(25);
    const values = Array.from({ length: 400 }, () => 100 * uniform());
    const layout = { method: 'latin_hypercube' as const, replicateRuns: 10 };
    const narrow = parsePrecision({ ...MEAN, half_width: 10 }, 10);
    const { precision, n_used: used } = judgePrecisions(tableOf(values.slice(0, 395), layout), [narrow], new Map());
    expect([used, precision[0]!.n, precision[0]!.replicates]).to.deep.equal([390, 390, 39]);
    expect(precision[0]!.course.map(({ n }) => n % 10)).to.deep.equal(precision[0]!.course.map(() => 0));
    const [ended] = judgePrecisions(tableOf(values, layout), [narrow], new Map()).precision;
    expect(ended!.warnings).to.deep.equal([]);
    expect(ended!.state).to.equal('not-reached');
    expect(ended!.reason).to.match(/^not precise enough: half-width [\d.]+ of 10 wanted; about \d+ runs more$/);
    expect(ended!.sentence).to.match(/after 400 runs \(40 replicates\); not precise enough/);
    const [free] = judgePrecisions(tableOf(values, layout), [parsePrecision(FREE, 10)], new Map()).precision;
    expect(free!.warnings[0]!.message).to.match(/is approximate: it holds in the limit of many replicates/);
  });

  it('give the summary of one study of replicates the mean over them, and the intervals of its precisions at the stop', () => {
    const uniform = uniformSource(26);
    const values = Array.from({ length: 2000 }, () => 100 * uniform());
    const layout = { method: 'quasi_monte_carlo' as const, replicateRuns: 8 };
    const [y] = summarizeStudy(tableOf(values, layout)).outputs;
    expect(y!.mean_method).to.equal('replicates');
    const parsed = [parsePrecision(MEAN, 8)];
    const submission = {
      ...study({ config: { monte_carlo: { sampling_method: 'quasi_monte_carlo', runs: 2000, replicates: 250 } } }),
      policy: { stop_when: 'precise' as const, precision: [MEAN] },
    };
    const limited = limitedToStop(tableOf([...values, ...times(48, 'cancelled')], layout), submission);
    expect(limited.settledRows! % 8).to.equal(0);
    const stopped = summarizeStudy(limited, { precisions: parsed }).outputs[0]!;
    expect(stopped.mean_method).to.equal('anytime');
  });
});
