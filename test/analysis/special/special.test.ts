/** The special functions against values computed to 60 digits (data/make-special.py), and their identities. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  betaTails,
  incompleteBeta,
  incompleteBetaComplement,
  incompleteBetaInverse,
  logBeta,
} from '../../../src/analysis/special/beta.ts';
import { binomialCdf, binomialSf } from '../../../src/analysis/special/binomial.ts';
import { kolmogorovSf } from '../../../src/analysis/special/kolmogorov.ts';
import { normalTails } from '../../../src/base/distributions/normal.ts';
import { normalQuantile, normalTwoSided } from '../../../src/analysis/special/normal.ts';
import { studentQuantile, studentTwoSided } from '../../../src/analysis/special/student.ts';
import { expectClose, referenceData } from '../data.ts';

type Row<Names extends string> = Record<Names, number>;
interface Reference {
  beta: Row<
    'x' | 'a' | 'b' | 'log_beta' | 'lower' | 'upper' | 'log_lower' | 'log_upper' | 'log_lower_ratio' | 'log_upper_ratio'
  >[];
  beta_inverse: Row<'u' | 'a' | 'b' | 'x'>[];
  binomial: Row<'k' | 'n' | 'q' | 'cdf' | 'sf'>[];
  normal: Row<'z' | 'cdf' | 'sf'>[];
  student: Row<'nu' | 't' | 'sf'>[];
  student_quantile: Row<'nu' | 'u' | 't'>[];
  kolmogorov: Row<'x' | 'sf'>[];
}

const PRECISE = 1e-12;

describe('analysis/special', () => {
  const data = referenceData('special.json') as Reference;

  it('log-beta and both tails of the beta distribution agree with the reference', () => {
    expect(data.beta).to.have.length.above(30);
    for (const row of data.beta) {
      const { x, a, b } = row;
      const label = JSON.stringify({ x, a, b });
      const tails = betaTails(x, a, b);
      // A small tail that is the complement of a fraction near 1: the docstring's exception.
      const precise = Math.min(a, b) < 1e-3 ? 1e-11 : PRECISE;
      expectClose(logBeta(a, b), row.log_beta, 1e-13, `${label} log-beta`, Math.max(1, Math.abs(row.log_beta)));
      expectClose(tails.lower, row.lower, precise, `${label} lower`);
      expectClose(tails.upper, row.upper, precise, `${label} upper`);
      for (const [name, found, expected] of [
        ['log lower', tails.logLower, row.log_lower],
        ['log upper', tails.logUpper, row.log_upper],
        ['log lower ratio', tails.logLowerRatio, row.log_lower_ratio],
        ['log upper ratio', tails.logUpperRatio, row.log_upper_ratio],
      ] as const)
        expectClose(found, expected, precise, `${label} ${name}`, Math.max(1, Math.abs(expected)));
    }
  });

  it('the inverse of the incomplete beta function agrees with the reference', () => {
    for (const { u, a, b, x } of data.beta_inverse) {
      const label = JSON.stringify({ u, a, b });
      expectClose(incompleteBetaInverse(u, a, b), x, PRECISE, label);
      expectClose(1 - incompleteBetaInverse(u, a, b), 1 - x, PRECISE, `1 - ${label}`, Math.max(1 - x, 1e-4));
    }
    expect([incompleteBetaInverse(0, 2, 3), incompleteBetaInverse(1, 2, 3)]).to.deep.equal([0, 1]);
  });

  it('the beta distribution ends at 0 and 1 and refuses parameters outside its range', () => {
    expect([incompleteBeta(0, 2, 3), incompleteBeta(1, 2, 3)]).to.deep.equal([0, 1]);
    expect([incompleteBetaComplement(0, 2, 3), incompleteBetaComplement(1, 2, 3)]).to.deep.equal([1, 0]);
    for (const [x, a, b] of [
      [0.5, 0, 1],
      [0.5, 1, -1],
      [-0.1, 1, 1],
      [NaN, 1, 1],
    ] as const)
      expect(incompleteBeta(x, a, b)).to.be.NaN;
  });

  it('the tails of the beta distribution are monotone and complementary', () => {
    const parameter = fc.double({ min: 1e-3, max: 1e5, noNaN: true });
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), parameter, parameter, (x, a, b) => {
        const here = betaTails(x, a, b);
        expect(here.lower + here.upper).to.be.closeTo(1, 1e-14);
        expectClose(incompleteBetaComplement(1 - x, b, a), incompleteBeta(1 - (1 - x), a, b), 1e-11, 'mirrored', 1);
        expect(betaTails(Math.min(1, x + 1e-3), a, b).lower).to.be.at.least(here.lower - 1e-14);
      }),
    );
  });

  it('binomial tails agree with the reference, and with the sum of the probabilities', () => {
    for (const { k, n, q, cdf, sf } of data.binomial) {
      expectClose(binomialCdf(k, n, q), cdf, PRECISE, JSON.stringify({ k, n, q, tail: 'lower' }));
      expectClose(binomialSf(k, n, q), sf, PRECISE, JSON.stringify({ k, n, q, tail: 'upper' }));
    }
    let mass = 0.7 ** 5;
    let sum = 0;
    for (let k = 0; k <= 5; k++) {
      sum += mass;
      expectClose(binomialCdf(k, 5, 0.3), sum, PRECISE, `k = ${k}`);
      expectClose(binomialCdf(k + 0.5, 5, 0.3), sum, PRECISE, `k = ${k} and a half`);
      mass *= (((5 - k) / (k + 1)) * 0.3) / 0.7;
    }
    expect([binomialCdf(-1, 5, 0.3), binomialSf(-1, 5, 0.3), binomialCdf(0, 0, 0.3)]).to.deep.equal([0, 1, 1]);
  });

  it('normal tails agree with the reference, and the quantile inverts them', () => {
    for (const { z, cdf, sf } of data.normal) {
      const tails = { p: Number.NaN, q: Number.NaN };
      normalTails(z, tails);
      expectClose(tails.p, cdf, PRECISE, `cdf(${z})`);
      expectClose(tails.q, sf, PRECISE, `sf(${z})`);
      expectClose(normalTwoSided(z), 2 * Math.min(sf, cdf), PRECISE, `two-sided(${z})`);
      // Below -37.5 the tail is a subnormal number of few digits.
      if (z < 0 && z > -37.5) expectClose(normalQuantile(cdf), z, PRECISE, `quantile(${cdf})`);
    }
    expect([normalQuantile(0), normalQuantile(1), normalTwoSided(50), normalTwoSided(0)]).to.deep.equal([
      -Infinity,
      Infinity,
      0,
      1,
    ]);
    expect(normalTwoSided(NaN)).to.be.NaN;
  });

  it("Student's t agrees with the reference, tails and quantiles", () => {
    for (const { nu, t, sf } of data.student) {
      for (const side of [t, -t]) expectClose(studentTwoSided(side, nu), 2 * sf, PRECISE, JSON.stringify({ nu, side }));
    }
    for (const { nu, u, t } of data.student_quantile) {
      expectClose(studentQuantile(u, nu), t, PRECISE, JSON.stringify({ nu, u }));
      expectClose(studentQuantile(1 - u, nu), -t, 1e-9, JSON.stringify({ nu, u: 1 - u }));
    }
    expect([studentTwoSided(Infinity, 3), studentTwoSided(-Infinity, 3), studentQuantile(1, 3)]).to.deep.equal([
      0,
      0,
      Infinity,
    ]);
    expect(studentTwoSided(NaN, 3)).to.be.NaN;
  });

  it("Kolmogorov's distribution agrees with the reference", () => {
    for (const { x, sf } of data.kolmogorov) expectClose(kolmogorovSf(x), sf, PRECISE, `x = ${x}`);
    expect([kolmogorovSf(0), kolmogorovSf(100)]).to.deep.equal([1, 0]);
    expect(kolmogorovSf(NaN)).to.be.NaN;
  });
});
