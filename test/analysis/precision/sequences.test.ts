/** The confidence sequences: equal to their definitions in reference data, valid at every number of runs, and resumed from their state to the last bit. */
import { expect } from 'chai';
import type { Precision } from '../../../src/contract/types.ts';
import { judgePrecisions, precisionsAlong } from '../../../src/analysis/precision/judge.ts';
import { isLook, precisionPlans, precisionWarnings } from '../../../src/analysis/precision/planning.ts';
import { halfWidthOf, parsePrecision, sequenceOf, targetOf } from '../../../src/analysis/precision/precision.ts';
import { BernoulliMixture } from '../../../src/analysis/precision/sequences/bernoulli-mixture.ts';
import { SortedValues } from '../../../src/analysis/precision/sequences/sorted-values.ts';
import { StudyPrecision } from '../../../src/analysis/precision/study-precision.ts';
import { limitedToStop } from '../../../src/analysis/stop.ts';
import { summarizeStudy } from '../../../src/analysis/summary.ts';
import { expectClose, referenceData } from '../data.ts';
import { uniformSource } from '../synthetic.ts';
import { type Run, tableOf, times } from '../tables.ts';

interface Reference {
  precision: Omit<Precision, 'output'>;
  values: (number | null)[];
  interval: [number | null, number | null];
}

const SHARE: Precision = { output: 'y', quantity: 'probability', condition: '> 50', half_width: 0.1 };
const MEAN: Precision = { output: 'y', quantity: 'mean', bounds: [0, 100], half_width: 8 };
const P90: Precision = { output: 'y', quantity: 'p90', half_width: 10 };
const FREE: Precision = { output: 'y', quantity: 'mean', half_width: 6 };
const KINDS: readonly Precision[] = [SHARE, MEAN, P90, FREE];

describe('analysis/precision: sequences', () => {
  it('equals the definitions', () => {
    const cases = referenceData('precision.json') as Reference[];
    expect(cases.length).to.be.above(60);
    for (const [at, { precision, values, interval }] of cases.entries()) {
      const parsed = parsePrecision({ ...precision, output: 'y', half_width: 1, condition: '> 0' });
      const sequence = sequenceOf(parsed);
      for (const value of values) sequence.take(value ?? Number.NaN);
      const found = sequence.interval();
      const label = `case ${at}: ${precision.quantity} of ${values.length}`;
      for (const side of [0, 1] as const) expectClose(found[side], interval[side], 1e-9, label, 1);
    }
  });

  it('has every probability of one run in the interval of a probability, and the same ends from either outcome', () => {
    const mixture = new BernoulliMixture(0.5, 0.5, 0.95);
    expect(mixture.interval(0, 0, 0)).to.deep.equal([0, 1]);
    expect(mixture.interval(0, 1, 0)[0]).to.equal(0);
    for (const [s, f] of [
      [3, 17],
      [0, 40],
      [500, 500],
    ] as const) {
      const [low, high] = mixture.interval(s, f, 0);
      const [mirroredLow, mirroredHigh] = mixture.interval(f, s, 0);
      expect(1 - mirroredHigh).to.be.closeTo(low, 1e-10);
      expect(1 - mirroredLow).to.be.closeTo(high, 1e-10);
      expect(mixture.isPossible(s, f, high - 1e-9)).to.equal(true);
      expect(mixture.isPossible(s, f, high + 1e-9)).to.equal(false);
    }
  });

  it('counts the numbers of runs below a quantile as a scan of all of them does', () => {
    for (const [n, p, a, b] of [
      [1, 0.95, 57, 3],
      [80, 0.95, 57, 3],
      [200, 0.001, 0.06, 59.94],
      [200, 0.5, 30, 30],
    ] as const) {
      const mixture = new BernoulliMixture(a, b, 0.9);
      const possible = Array.from({ length: n + 1 }, (_, s) => s).filter((s) => mixture.isPossible(s, n - s, p));
      expect(mixture.counts(n, p), `${n} ${p}`).to.deep.equal([possible[0], possible.at(-1)]);
    }
  });

  it('gives the k-th smallest of values added in any order', () => {
    const values = new SortedValues();
    const uniform = uniformSource(5);
    const added = Array.from({ length: 5000 }, () => Math.floor(uniform() * 700));
    for (const it of added) values.add(it);
    const sorted = Float64Array.from(added).sort();
    expect(values.count).to.equal(5000);
    expect(Array.from(sorted, (_, at) => values.at(at + 1))).to.deep.equal([...sorted]);
  });

  it('continues from its state to the last bit', () => {
    const uniform = uniformSource(6);
    for (const precision of [SHARE, MEAN, FREE]) {
      const parsed = parsePrecision(precision);
      const whole = new StudyPrecision([parsed], undefined, false);
      let resumed = new StudyPrecision([parsed], undefined, false);
      for (let run = 0; run < 300; run++) {
        const value = parsed.holds === undefined ? 100 * uniform() : Number(uniform() > 0.5);
        whole.take(() => value, run);
        resumed.take(() => value, run);
        if (run % 7 === 0)
          resumed = new StudyPrecision([parsed], JSON.parse(JSON.stringify(resumed.toJSON())) as never, false);
      }
      expect(resumed.sights(), precision.quantity).to.deep.equal(whole.sights());
    }
  });

  it('refuses a state that it has not written', () => {
    const parsed = [parsePrecision(MEAN)];
    const state = new StudyPrecision(parsed).toJSON()!;
    const broken: object[] = [
      { ...state, runs: -1 },
      { ...state, sequences: [] },
      { ...state, sequences: [{ unknown: 0, state: [1, 2] }] },
      { ...state, sequences: [{ unknown: 0.5, state: state.sequences[0]!.state }] },
    ];
    for (const it of broken) expect(() => new StudyPrecision(parsed, it as never)).to.throw(RangeError, 'not usable');
  });
});

describe('analysis/precision: looks and stops', () => {
  it('looks after each run up to 1,000, then after numbers of three digits', () => {
    expect([1, 999, 1000, 1010, 10_000, 10_100, 1e6].every(isLook)).to.equal(true);
    expect([0, 1001, 1009, 10_010, 1_000_100].some(isLook)).to.equal(false);
  });

  it('stops at the first look at which every precision is reached, and no earlier', () => {
    const uniform = uniformSource(7);
    const runs = Array.from({ length: 2000 }, () => 100 * uniform());
    const parsed = KINDS.map((it) => parsePrecision(it));
    const found = precisionsAlong(tableOf(runs), parsed);
    expect(found.stopRunId).to.equal(found.runs - 1);
    const isReachedAt = (n: number): boolean =>
      precisionsAlong(tableOf(runs.slice(0, n)), parsed, { stops: false })
        .sights()
        .every(({ precision, interval }) => (halfWidthOf(interval) ?? Infinity) <= targetOf(precision, interval)!);
    expect([isReachedAt(found.runs), isReachedAt(found.runs - 1)]).to.deep.equal([true, false]);
    // Runs after the stop change nothing.
    const more = precisionsAlong(tableOf([...runs.slice(0, found.runs), ...times(500, 7)]), parsed);
    expect(more.answers(9, [], () => null)).to.deep.equal(found.answers(9, [], () => null));
  });

  it('a relative precision is a share of the end that is nearer to 0, and is not reached while the interval holds 0', () => {
    const parsed = parsePrecision({ output: 'y', quantity: 'mean', relative: 0.1 });
    expect(targetOf(parsed, [90, 110])).to.equal(9);
    expect(targetOf(parsed, [-110, -90])).to.equal(9);
    for (const interval of [
      [-1, 1],
      [0, 1],
      [null, 5],
    ] as const)
      expect(targetOf(parsed, [...interval])).to.equal(null);
  });

  it('counts unknown runs against either end of a bounded quantity, and leaves none of them out', () => {
    const known = Array.from({ length: 400 }, (_, at) => (at * 37) % 100);
    const runs: Run[] = known.flatMap((it, at): Run[] => (at % 10 === 0 ? [it, 'crashed', 'terminated'] : [it]));
    const width = (rows: Run[], it: Precision) => {
      const [sight] = precisionsAlong(tableOf(rows), [parsePrecision(it)], { stops: false }).sights();
      return { n: sight!.runs, unknown: sight!.unknown, half: halfWidthOf(sight!.interval) };
    };
    for (const it of [SHARE, MEAN]) {
      const [with_, without] = [width(runs, it), width(known, it)];
      expect([with_.n, with_.unknown]).to.deep.equal([480, 80]);
      // A sixth of the runs may be anything: alone they are a twelfth of the range to either side.
      expect(with_.half).to.be.above(
        without.half! + 0.9 * (80 / 480 / 2) * (it === MEAN ? 100 : 1) - without.half! * 0.2,
      );
    }
    expect(width(runs, P90).half, 'the upper end is beyond all values').to.equal(null);
    const free = precisionsAlong(tableOf(runs), [parsePrecision(FREE)]).answers(10, [], () => null)[0]!;
    expect(free).to.include({ state: 'out-of-reach', reason_run_id: 1 });
    expect(free.warnings.map((it) => it.code)).to.deep.equal(['asymptotic', 'unknown-runs']);
  });

  it('says that unknown runs alone prevent a precision', () => {
    const runs = [...times(50, 'crashed'), ...times(50, 10)];
    const [found] = precisionsAlong(tableOf(runs), [parsePrecision(SHARE)]).answers(0, [], () => null);
    expect(found!.state).to.equal('out-of-reach');
    expect(found!.reason).to.equal('50 runs without a value alone make it at least ± 0.25 in 100 runs');
  });

  it('an asymptotic mean has no interval of too few, equal or skewed values', () => {
    const reasonOf = (runs: Run[]): string | null =>
      precisionsAlong(tableOf(runs), [parsePrecision(FREE)], { stops: false }).sights()[0]!.reason;
    expect(reasonOf(times(99, 1))).to.match(/^an asymptotic interval needs at least 100 values/);
    expect(reasonOf(times(500, 0))).to.match(/^no value differs/);
    expect(reasonOf([...times(500, 0), 1])).to.match(/^the values are skewed/);
    expect(reasonOf(Array.from({ length: 100 }, (_, at) => at % 2))).to.equal(null);
  });

  it('gives the numbers of runs that no study and every study needs', () => {
    const plans = (...precision: Precision[]) => precisionPlans({ policy: { stop_when: 'precise', precision } });
    const [share, mean, p90, free] = plans({ ...SHARE, half_width: 0.2 }, MEAN, P90, FREE);
    expect(free).to.deep.include({ name: 'mean of y', runs_at_least: 100, runs_at_most: null });
    expect([p90!.runs_at_most, mean!.runs_at_most]).to.deep.equal([null, null]);
    const stopOf = (precision: Precision, runs: Run[]) =>
      precisionsAlong(tableOf(runs), [parsePrecision(precision)]).runs;
    // The extreme studies: all runs alike, and as mixed as they can be.
    expect(stopOf({ ...SHARE, half_width: 0.2 }, times(3000, 0))).to.equal(share!.runs_at_least);
    for (const pass of [0.5, 0.4, 0.1]) {
      const runs = Array.from({ length: 3000 }, (_, at) =>
        Math.floor((at + 1) * pass) > Math.floor(at * pass) ? 99 : 0,
      );
      expect(stopOf({ ...SHARE, half_width: 0.2 }, runs)).to.be.at.most(share!.runs_at_most!);
    }
    for (const value of [0, 50, 100]) expect(stopOf(MEAN, times(3000, value))).to.be.at.least(mean!.runs_at_least);
    expect(stopOf({ ...P90, half_width: 1e9 }, times(3000, 1))).to.equal(p90!.runs_at_least);
    const [warning] = precisionWarnings({ policy: { stop_when: 'precise', precision: [FREE] } }, 99);
    expect(warning).to.include({ code: 'precision-cannot-be-reached', pointer: '/policy/precision/0' });
    expect(precisionWarnings({ policy: { stop_when: 'precise', precision: [FREE] } }, 100)).to.deep.equal([]);
  });
});

describe('analysis/precision: the summary of a study that stopped', () => {
  const uniform = uniformSource(8);
  const runs: Run[] = [...Array.from({ length: 1500 }, () => 100 * uniform()), ...times(20, 'cancelled')];
  const policy = { stop_when: 'precise' as const, precision: [MEAN, P90] };
  const parsed = policy.precision.map((it) => parsePrecision(it));

  it('has the intervals that hold at the stop for the quantities of the precisions, and says so', () => {
    const table = limitedToStop(tableOf(runs), { policy });
    const stop = precisionsAlong(tableOf(runs), parsed);
    expect(table).to.include({ settledRows: stop.runs, stoppedBy: 'precise' });
    const found = summarizeStudy(table, { quantiles: [0.5, 0.9], precisions: parsed });
    expect(found).to.deep.include({ n_used: stop.runs, excluded: { after_stop: 1520 - stop.runs } });
    const [y] = found.outputs;
    const [mean, p90] = stop.sights();
    expect(y).to.deep.include({ mean_method: 'anytime', mean_interval: mean!.interval });
    expect(y!.quantiles.map((it) => it.method)).to.deep.equal([undefined, 'anytime']);
    expect(y!.quantiles[1]!.interval).to.deep.equal(p90!.interval);
    expect(found.warnings.map((it) => it.code)).to.include.members(['stopped', 'anytime']);
    expect(found.precision!.map((it) => it.state)).to.deep.equal(['reached', 'reached']);
    // A fixed-sample interval at the same runs is narrower: it does not pay for the looks.
    const fixed = summarizeStudy(table, { quantiles: [0.9] }).outputs[0]!;
    expect(fixed.mean_interval![1] - fixed.mean_interval![0]).to.be.below(2 * halfWidthOf(mean!.interval)!);
  });

  it('has the course of each precision up to the stop', () => {
    const answer = judgePrecisions(limitedToStop(tableOf(runs), { policy }), parsed, new Map([['y', 'm']]));
    const [mean] = answer.precision;
    expect(answer.stop_run_id).to.equal(mean!.n - 1);
    expect(mean!.units).to.equal('m');
    expect(mean!.course.length).to.be.within(30, 64);
    expect(mean!.course.at(-1)).to.deep.equal({
      n: mean!.n,
      value: mean!.value,
      interval: mean!.interval,
      half_width: mean!.half_width,
    });
    expect(judgePrecisions(tableOf(runs), [], new Map()).reason).to.match(/does not stop at a precision/);
  });
});
