/** Descriptive statistics against values computed with NumPy and by hand. */
import { expect } from 'chai';
import fc from 'fast-check';
import { NumberSeries } from '../../../src/analysis/numeric/statistics.ts';

function series(values: Iterable<number>): NumberSeries {
  const result = new NumberSeries();
  for (const value of values) result.add(value);
  return result;
}

describe('analysis/numeric/statistics', () => {
  it('returns undefined for no values', () => {
    expect(series([]).describe()).to.equal(undefined);
    expect(series([NaN, Infinity]).describe()).to.equal(undefined);
    expect(series([]).quantile(0.5)).to.be.NaN;
    expect(series([]).histogram(5)).to.deep.equal([]);
  });

  it('agrees with numpy (percentile, std with ddof 1)', () => {
    // numpy.percentile([3, 1, 4, 1, 5, 9, 2, 6], [5, 25, 50, 75, 95]); numpy.std(..., ddof=1)
    const described = series([3, 1, 4, 1, 5, 9, 2, 6]).describe()!;
    expect(
      [described.p5, described.p25, described.p50, described.p75, described.p95].map((q) => Number(q.toFixed(10))),
    ).to.deep.equal([1, 1.75, 3.5, 5.25, 7.95]);
    expect([described.count, described.min, described.max, described.mean]).to.deep.equal([8, 1, 9, 3.875]);
    expect(described.sd).to.be.closeTo(2.748376143939, 1e-9);
  });

  it('has no standard deviation for one value', () => {
    const described = series([7]).describe()!;
    expect([described.sd, described.mean, described.p5, described.p95]).to.deep.equal([undefined, 7, 7, 7]);
  });

  it('does not cancel for values far from zero', () => {
    expect(series([1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16]).describe()!.sd).to.be.closeTo(Math.sqrt(30), 1e-9);
  });

  it('counts non-finite values separately', () => {
    const described = series([1, NaN, 3, -Infinity]).describe()!;
    expect([described.count, described.nonFinite, described.mean]).to.deep.equal([2, 2, 2]);
  });

  it('accepts values after a quantile was read', () => {
    const growing = series([5]);
    expect(growing.quantile(1)).to.equal(5);
    for (let value = 0; value < 200; value++) growing.add(value);
    expect([growing.quantile(0), growing.quantile(1), growing.count]).to.deep.equal([0, 199, 201]);
  });

  it('bins the widest range of doubles', () => {
    const bins = series([-Number.MAX_VALUE, 0, Number.MAX_VALUE]).histogram(4);
    expect(bins.map((bin) => bin.count)).to.deep.equal([1, 0, 1, 1]);
    expect(bins.every((bin) => Number.isFinite(bin.from) && Number.isFinite(bin.to))).to.equal(true);
  });

  for (const [name, values] of [
    ['two next to each other near the largest', [-1.7976931348623145e308, -1.7976931348623145e308]],
    ['nine zeros between', [-1.797693134862312e308, -1.7976931348623121e308, 0, 0, 0, 0, 0, 0, 0, 0]],
    ['equal and not exact in two', [0.1, 0.1, 0.1]],
    ['the smallest', [5e-324, 5e-324, 1e-323]],
    ['opposite and largest', [-Number.MAX_VALUE, Number.MAX_VALUE, Number.MAX_VALUE]],
  ] as const) {
    it(`never leaves the two values it lies between: ${name}`, () => {
      const of = series(values);
      const sorted = values.toSorted((a, b) => a - b);
      let last = sorted[0]!;
      for (let step = 0; step <= 1000; step++) {
        const quantile = of.quantile(step / 1000);
        expect(quantile).to.be.at.least(last);
        last = quantile;
      }
      expect(last).to.equal(sorted.at(-1));
    });
  }

  it('has a finite mean for any finite values', () => {
    const { MAX_VALUE } = Number;
    expect(series([-MAX_VALUE, MAX_VALUE]).describe()!.mean).to.equal(0);
    expect(series([MAX_VALUE, MAX_VALUE]).describe()!.mean).to.equal(MAX_VALUE);
    expect(series([-MAX_VALUE, MAX_VALUE, MAX_VALUE]).describe()!.mean / MAX_VALUE).to.be.closeTo(1 / 3, 1e-15);
  });

  it('keeps order and every value (property)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 }),
        fc.integer({ min: 1, max: 30 }),
        (values, bins) => {
          const of = series(values);
          const quantiles = [0, 0.05, 0.0500001, 0.5, 0.95, 1].map((p) => of.quantile(p));
          for (let at = 1; at < quantiles.length; at++) expect(quantiles[at]).to.be.at.least(quantiles[at - 1]!);
          expect([quantiles[0], quantiles.at(-1)]).to.deep.equal([Math.min(...values), Math.max(...values)]);
          expect(of.describe()!.mean).to.satisfy(Number.isFinite);
          expect(of.histogram(bins).reduce((sum, bin) => sum + bin.count, 0)).to.equal(values.length);
        },
      ),
    );
  });
});
