/** Orders, ranks, quantiles, fits and adjusted p-values against naive forms of their definitions. */
import { expect } from 'chai';
import fc from 'fast-check';
import { correlationMatrix, sampleVariance } from '../../../src/analysis/numeric/correlation.ts';
import { holm } from '../../../src/analysis/numeric/holm.ts';
import { standardisedFit } from '../../../src/analysis/numeric/least-squares.ts';
import { ascendingOrder } from '../../../src/analysis/numeric/order.ts';
import { orderedQuantile } from '../../../src/analysis/numeric/quantile.ts';
import { averageRanks } from '../../../src/analysis/numeric/ranks.ts';
import { shortestAbove, shortestBelow } from '../../../src/analysis/wording.ts';
import { expectClose } from '../data.ts';
import { uniformColumns, uniformSource } from '../synthetic.ts';

const SPECIAL = [0, -0, 1, -1, Infinity, -Infinity, Number.NaN, Number.MIN_VALUE, -Number.MIN_VALUE, 1e308, -1e308];
const cell = fc.oneof(fc.double(), fc.constantFrom(...SPECIAL), fc.integer({ min: -3, max: 3 }));

function naiveOrder(values: readonly number[]): number[] {
  const place = (it: number): number => (Number.isNaN(it) ? 1 : 0);
  return values
    .map((_, i) => i)
    .sort((a, b) => {
      const [x, y] = [values[a]!, values[b]!];
      return place(x) - place(y) || Number(x > y) - Number(x < y) || a - b;
    });
}

describe('analysis/numeric/order', () => {
  it('is the stable order by value, -0 equal to 0 and NaN last, for short columns', () => {
    fc.assert(
      fc.property(fc.array(cell, { maxLength: 60 }), (values) => {
        expect([...ascendingOrder(Float64Array.from(values))]).to.deep.equal(naiveOrder(values));
      }),
    );
  });

  it('is the same for long columns, which are sorted by radix', () => {
    fc.assert(
      fc.property(fc.array(cell, { minLength: 512, maxLength: 800 }), (values) => {
        expect([...ascendingOrder(Float64Array.from(values))]).to.deep.equal(naiveOrder(values));
      }),
      { numRuns: 30 },
    );
  });
});

describe('analysis/numeric/ranks', () => {
  it('gives equal values the mean of their ranks, and counts ties', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 50 }), (values) => {
        const { ranks, tieSum } = averageRanks(Float64Array.from(values));
        const naive = values.map((it) => {
          const below = values.filter((other) => other < it).length;
          const equal = values.filter((other) => other === it).length;
          return below + (equal + 1) / 2;
        });
        const groups = [...new Set(values)].map((it) => values.filter((other) => other === it).length);
        expect([...ranks]).to.deep.equal(naive);
        expect(tieSum).to.equal(groups.reduce((sum, t) => sum + t ** 3 - t, 0));
      }),
    );
  });
});

describe('analysis/numeric/quantile', () => {
  it('interpolates between order statistics and never leaves them', () => {
    const quantileOf = (values: number[], p: number): number =>
      orderedQuantile(Float64Array.from(values), ascendingOrder(Float64Array.from(values)), p);
    expect(quantileOf([4, 1, 3, 2], 0.5)).to.equal(2.5);
    expect(quantileOf([4, 1, 3, 2], 0)).to.equal(1);
    expect(quantileOf([4, 1, 3, 2], 1)).to.equal(4);
    expect(quantileOf([10, 0], 0.3)).to.equal(3);
    expect(quantileOf([-1.7e308, 1.7e308], 0.5)).to.equal(0);
    expect(quantileOf([], 0.5)).to.be.NaN;
  });
});

describe('analysis/numeric/correlation', () => {
  it('keeps its digits when values lie far from 0', () => {
    const values = [1, 2, 3, 4, 5, 6.5];
    const far = values.map((it) => 1e9 + it);
    const matrix = correlationMatrix([Float64Array.from(values), Float64Array.from(far)]);
    expectClose(matrix[0]![1]!, 1, 1e-12, 'correlation');
    expectClose(sampleVariance(Float64Array.from(far)), sampleVariance(Float64Array.from(values)), 1e-7, 'variance');
  });

  it('is NaN beside a column without variance', () => {
    const matrix = correlationMatrix([Float64Array.of(1, 2, 3), Float64Array.of(7, 7, 7)]);
    expect(matrix[0]![1]!).to.be.NaN;
    expect(matrix[0]![0]!).to.equal(1);
  });

  it('is one sum, whatever the number of blocks', () => {
    const [a, b] = uniformColumns(2, 5000, uniformSource(7)).map((it) => it.values) as [Float64Array, Float64Array];
    const mean = (it: Float64Array): number => it.reduce((sum, x) => sum + x, 0) / it.length;
    const [ma, mb] = [mean(a), mean(b)];
    const products = (x: Float64Array, mx: number, y: Float64Array, my: number): number =>
      x.reduce((sum, it, i) => sum + (it - mx) * (y[i]! - my), 0);
    const naive = products(a, ma, b, mb) / Math.sqrt(products(a, ma, a, ma) * products(b, mb, b, mb));
    expectClose(correlationMatrix([a, b])[0]![1]!, naive, 1e-10, 'correlation');
  });
});

describe('analysis/numeric/least-squares', () => {
  const uniform = uniformSource(3);
  const [a, b, c] = uniformColumns(3, 300, uniform).map((it) => it.values) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const y = Float64Array.from(a, (it, i) => 2 * it - b[i]! + 0.1 * uniform());

  it('finds the coefficients of a linear model', () => {
    const fit = standardisedFit(correlationMatrix([a, b, c, y]));
    expect(fit.rank).to.equal(3);
    expect(fit.rSquared).to.be.within(0.99, 1);
    expect(fit.coefficients[0]!).to.be.within(0.8, 1);
    expect(fit.coefficients[1]!).to.be.within(-0.5, -0.4);
    expect(Math.abs(fit.coefficients[2]!)).to.be.below(0.02);
  });

  it('gives null to columns that take part in a dependence, and to no other', () => {
    const sum = a.map((it, i) => it + 3 * c[i]!);
    const fit = standardisedFit(correlationMatrix([a, b, c, sum, y]));
    const without = standardisedFit(correlationMatrix([a, b, c, y]));
    expect(fit.rank).to.equal(3);
    expect(fit.coefficients.map((it) => it === null)).to.deep.equal([true, false, true, true]);
    expect(fit.partialCorrelations.map((it) => it === null)).to.deep.equal([true, false, true, true]);
    expectClose(fit.coefficients[1]!, without.coefficients[1]!, 1e-9, 'coefficient');
    expectClose(fit.partialCorrelations[1]!, without.partialCorrelations[1]!, 1e-9, 'partial correlation');
    expectClose(fit.rSquared, without.rSquared, 1e-12, 'R^2');
  });

  it('gives partial correlations as those of the residuals', () => {
    const residualOf = (values: Float64Array): Float64Array => {
      // Given one other column, the residual has a closed form.
      const mean = (it: Float64Array): number => it.reduce((s, x) => s + x, 0) / it.length;
      const [mv, mb] = [mean(values), mean(b)];
      const cov = values.reduce((s, x, i) => s + (x - mv) * (b[i]! - mb), 0);
      const slope = cov / b.reduce((s, x) => s + (x - mb) ** 2, 0);
      return values.map((x, i) => x - mv - slope * (b[i]! - mb));
    };
    const fit = standardisedFit(correlationMatrix([a, b, y]));
    const naive = correlationMatrix([residualOf(a), residualOf(y)])[0]![1]!;
    expectClose(fit.partialCorrelations[0]!, naive, 1e-10, 'partial correlation');
  });
});

describe('analysis/numeric/holm', () => {
  it('multiplies the i-th smallest of m by m - i + 1, never below the one before, at most 1', () => {
    expect(holm([0.01, 0.04, 0.03, 0.005])).to.deep.equal([0.03, 0.06, 0.06, 0.02]);
    expect(holm([0.6, 0.7])).to.deep.equal([1, 1]);
    expect(holm([])).to.deep.equal([]);
  });

  it('leaves null as it is and does not count it', () => {
    expect(holm([null, 0.02, null, 0.5])).to.deep.equal([null, 0.04, null, 0.5]);
  });
});

describe('analysis/wording', () => {
  it('writes a bound with the fewest digits that separate the two values', () => {
    expect(shortestAbove(0.8, 1.1146)).to.equal(1);
    expect(shortestAbove(1.05, 1.1146)).to.equal(1.1);
    expect(shortestAbove(23.04, 23.14)).to.equal(23.1);
    expect(shortestAbove(-5.7, -5.24)).to.equal(-5.3);
    expect(shortestBelow(0.19, 0.22)).to.equal(0.2);
    expect(shortestBelow(3, 3.5)).to.equal(3);
  });

  it('selects the same values as the exact bound, for any two values', () => {
    const finite = fc.double({ noNaN: true, min: -1e300, max: 1e300 });
    fc.assert(
      fc.property(finite, finite, (x, y) => {
        fc.pre(x !== y);
        const [low, high] = x < y ? [x, y] : [y, x];
        const above = shortestAbove(low, high);
        expect(above > low && above <= high, `${above} in (${low}, ${high}]`).to.equal(true);
        const below = shortestBelow(low, high);
        expect(below >= low && below < high, `${below} in [${low}, ${high})`).to.equal(true);
      }),
      { numRuns: 1000 },
    );
  });
});
