/** Convergence: each point is the estimate of its beginning of the runs. */
import { expect } from 'chai';
import fc from 'fast-check';
import { wilsonInterval } from '../../../src/analysis/groups/proportion.ts';
import { type Quantity, convergence, logSpaced, runsForHalfWidth } from '../../../src/analysis/outputs/convergence.ts';
import { summarizeOutput } from '../../../src/analysis/outputs/output-summary.ts';
import { RankedValues } from '../../../src/analysis/outputs/ranked-values.ts';
import type { TableLayout } from '../../../src/analysis/table/layout.ts';
import { type Run, tableOf } from '../tables.ts';

function converge(runs: readonly Run[], quantity: Quantity, layout: Partial<TableLayout> = {}, halfWidth?: number) {
  const request = { output: 'y', quantity, confidence: 0.9, ...(halfWidth === undefined ? {} : { halfWidth }) };
  return convergence(tableOf(runs, layout), request);
}

describe('analysis/outputs: convergence', () => {
  it('each point of the mean and of a quantile is the summary of the runs so far', () => {
    const run = fc.oneof(fc.integer({ min: -9, max: 9 }), fc.constant<Run>('crashed'));
    fc.assert(
      fc.property(fc.array(run, { minLength: 1, maxLength: 60 }), (runs) => {
        const used = runs.flatMap((it, row) => (typeof it === 'number' ? [row] : []));
        const [means, medians] = [converge(runs, 'mean'), converge(runs, { p: 0.5 })];
        expect([means.points.length, medians.points.length]).to.deep.equal([used.length, used.length]);
        for (const [i, row] of used.entries()) {
          const upTo = tableOf(runs.slice(0, row + 1));
          const {
            mean,
            mean_interval: interval,
            quantiles,
          } = summarizeOutput(upTo, 'y', { confidence: 0.9, quantiles: [0.5] });
          const median = quantiles[0]!;
          expect(means.points[i]).to.deep.equal({
            n: i + 1,
            value: mean,
            low: interval?.[0] ?? null,
            high: interval?.[1] ?? null,
          });
          expect(medians.points[i]).to.deep.equal({
            n: i + 1,
            value: median.value,
            low: median.interval[0],
            high: median.interval[1],
          });
        }
      }),
      { numRuns: 30 },
    );
  });

  it('uses the complete prefix only', () => {
    const found = converge([1, 2, 'open', 3], 'mean');
    expect(found.points.map((it) => it.n)).to.deep.equal([1, 2]);
    expect(found).to.deep.include({ of: 4, n_used: 2, excluded: { after_prefix: 2 }, prefix: { length: 2, of: 4 } });
    expect(converge(['open'], 'mean').points).to.deep.equal([]);
    expect(convergence(tableOf([1]), { output: 'z', quantity: 'mean', confidence: 0.9 }).points).to.deep.equal([]);
  });

  it('failures are terminated, crashed and timed-out runs; lost and cancelled ones are left out', () => {
    const found = converge([1, 'terminated', 'lost', 'crashed', 'cancelled', 'timeout', NaN], 'failure');
    expect(found.points.map((it) => [it.n, it.value])).to.deep.equal([
      [1, 0],
      [2, 1 / 2],
      [3, 2 / 3],
      [4, 3 / 4],
      [5, 3 / 5],
    ]);
    const { low, high } = found.points.at(-1)!;
    expect([low, high]).to.deep.equal(wilsonInterval(3, 5, 0.9));
    expect(found).to.deep.include({ n_used: 5, excluded: { lost: 1, cancelled: 1 } });
  });

  it('one sequence has no interval; replicates have one, with a point after each', () => {
    const sequence = converge([1, 2, 3], 'mean', { method: 'quasi_monte_carlo' }, 0.1);
    expect(sequence.points.every((it) => it.low === null && it.high === null)).to.equal(true);
    expect(sequence.runs_for_half_width).to.equal(null);
    const layout = {
      method: 'quasi_monte_carlo',
      replicates: Uint16Array.of(0, 0, 1, 1),
      runIds: Uint32Array.of(0, 1, 0, 1),
    } as const;
    const found = converge([1, 3, 5, 7], 'mean', layout);
    expect(found.points.map((it) => [it.n, it.value, it.low === null])).to.deep.equal([
      [2, 2, true],
      [4, 4, false],
    ]);
    expect(found.warnings.map((it) => it.code)).to.deep.equal(['not-independent']);
  });

  it('points are at most 200, each once, the first and the last run among them', () => {
    for (const n of [0, 1, 200, 201, 1000, 1_000_000]) {
      const places = [...logSpaced(n)];
      expect(places.length).to.be.at.most(200);
      if (n === 0) continue;
      expect([places[0], places.at(-1)]).to.deep.equal([1, n]);
      expect(places.every((it, i) => i === 0 || it > places[i - 1]!)).to.equal(true);
    }
  });

  it('the number of runs for a half-width grows with the square of the precision', () => {
    expect(runsForHalfWidth({ n: 100, value: 5, low: 4, high: 6 }, 0.5)).to.equal(400);
    expect(runsForHalfWidth({ n: 100, value: 5, low: null, high: 6 }, 0.5)).to.equal(null);
    expect(runsForHalfWidth(undefined, 0.5)).to.equal(null);
    const found = converge([1, 2, 3, 4], 'mean', {}, 0.1);
    const { low, high } = found.points.at(-1)!;
    expect(found.runs_for_half_width).to.equal(Math.ceil(4 * ((high! - low!) / 0.2) ** 2));
  });

  it('a request out of its range is refused with the member and its value', () => {
    const ask = (more: object) => () =>
      convergence(tableOf([1]), { output: 'y', quantity: 'mean', confidence: 0.9, ...more });
    expect(ask({ confidence: 90 })).to.throw(RangeError, 'confidence is 90: it must be between 0 and 1');
    expect(ask({ quantity: { p: 95 } })).to.throw(RangeError, 'p is 95: it must be between 0 and 1');
    expect(ask({ halfWidth: 0 })).to.throw(RangeError, 'half_width is 0: it must be above 0');
  });

  it('the k-th smallest of the values so far is found with ties', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 40 }), (values) => {
        const ranked = new RankedValues(Float64Array.from(values));
        for (const [i, value] of values.entries()) {
          ranked.add(value);
          const sorted = values.slice(0, i + 1).sort((a, b) => a - b);
          for (let k = 1; k <= i + 1; k++) expect(ranked.at(k)).to.equal(sorted[k - 1]);
        }
      }),
    );
  });

  it('a quantile has the bounds of the summary of the complete prefix, where runs have no value', () => {
    const ended: Run = {
      status: 'Failed',
      reason: 'early_termination',
      terminatedBy: { variable: 'y', condition: '> 3' },
    };
    const run = fc.oneof(
      fc.integer({ min: -9, max: 9 }),
      fc.constantFrom<Run>('crashed', 'cancelled', Number.NaN, ended),
    );
    fc.assert(
      fc.property(fc.array(run, { maxLength: 40 }), fc.array(run, { maxLength: 5 }), (prefix, rest) => {
        const runs: Run[] = [1, ...prefix];
        const expected = summarizeOutput(tableOf(runs), 'y', { confidence: 0.9, quantiles: [0.8] }).quantiles[0]!;
        expect(converge([...runs, 'open', ...rest], { p: 0.8 }).bounds).to.deep.equal(expected.bounds);
        expect(converge(runs, 'mean').bounds).to.equal(null);
      }),
    );
  });
});
