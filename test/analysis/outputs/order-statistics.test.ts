/** Ranks of quantile intervals and tolerance bounds against reference values and by exact coverage. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  quantileRanks,
  toleranceRank,
  toleranceRunsNeeded,
  twoSidedToleranceRank,
} from '../../../src/analysis/outputs/order-statistics.ts';
import { binomialCdf } from '../../../src/analysis/special/binomial.ts';
import { referenceData } from '../data.ts';

interface Row {
  n: number;
  q: number;
  confidence: number;
  lower_rank: number | null;
  upper_rank: number | null;
  tolerance_upper_rank: number | null;
  tolerance_two_sided_r: number | null;
  runs_needed_one_sided: number;
}

describe('analysis/outputs: order statistics', () => {
  it('ranks agree with the reference', () => {
    for (const row of (referenceData('decisions.json') as { order_statistics: Row[] }).order_statistics) {
      const { n, q, confidence } = row;
      const found = {
        n,
        q,
        confidence,
        lower_rank: quantileRanks(n, q, confidence).lower,
        upper_rank: quantileRanks(n, q, confidence).upper,
        tolerance_upper_rank: toleranceRank(n, q, confidence),
        tolerance_two_sided_r: twoSidedToleranceRank(n, q, confidence),
        runs_needed_one_sided: toleranceRunsNeeded(q, confidence),
      };
      expect(found).to.deep.equal(row);
    }
  });

  it('59 and 93 values are the least for one- and two-sided 95/95 bounds', () => {
    expect([toleranceRank(58, 0.95, 0.95), toleranceRank(59, 0.95, 0.95)]).to.deep.equal([null, 59]);
    expect([twoSidedToleranceRank(92, 0.95, 0.95), twoSidedToleranceRank(93, 0.95, 0.95)]).to.deep.equal([null, 1]);
    expect(toleranceRank(0, 0.95, 0.95)).to.equal(null);
  });

  it('the interval of a quantile has at least its confidence, and no narrower one by ranks does on either side', () => {
    const share = fc.double({ min: 0.001, max: 0.999, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), share, share, (n, q, confidence) => {
        const { lower, upper } = quantileRanks(n, q, confidence);
        const half = (1 - confidence) / 2;
        // P(y_(r) > quantile) = P(at most r - 1 values are below it).
        const missesBelow = lower === null ? 0 : binomialCdf(lower - 1, n, q);
        const missesAbove = upper === null ? 0 : 1 - binomialCdf(upper - 1, n, q);
        expect(missesBelow).to.be.at.most(half + 1e-12);
        expect(missesAbove).to.be.at.most(half + 1e-12);
        if ((lower ?? 0) < n) expect(binomialCdf(lower ?? 0, n, q)).to.be.above(half - 1e-12);
        if ((upper ?? n + 1) > 1) expect(1 - binomialCdf((upper ?? n + 1) - 2, n, q)).to.be.above(half - 1e-12);
      }),
    );
  });

  it('the ends of the distribution have one-sided intervals', () => {
    expect(quantileRanks(10, 0, 0.95)).to.deep.equal({ lower: null, upper: 1 });
    expect(quantileRanks(10, 1, 0.95)).to.deep.equal({ lower: 10, upper: null });
  });
});
