/** The distributions of the table and their bounds: against reference data, and inside their support for any uniform. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { normalTails } from '../../../src/base/distributions/normal.ts';
import { DISTRIBUTIONS, quantileFunction } from '../../../src/base/distributions/table.ts';
import type { Distribution } from '../../../src/base/distributions/entry.ts';
import type { DistributionType } from '../../../src/contract/types.ts';
import { createSampler } from '../../../src/domain/sampling/sampler.ts';
import { dispersionsOf, reference } from './support.ts';

interface Row {
  distribution: DistributionType;
  u: number;
  x: number;
}

const uniforms = fc.oneof(
  fc.integer({ min: 0, max: 2 ** 32 - 1 }).map((k) => (k + 0.5) * 2 ** -32),
  fc.constantFrom(2 ** -53, 1e-9, 0.5, 1 - 1e-9, 1 - 2 ** -53),
);

describe('distributions', () => {
  it('give every reference quantile within 1e-12, and a normal in [8, 9] sigma within 1e-10', () => {
    const { quantiles } = reference('studies_reference.json') as { quantiles: Row[] };
    expect(quantiles.length).to.equal(126);
    for (const { distribution, u, x } of quantiles) {
      const found = quantileFunction(distribution)(u);
      const scale = Math.max(Math.abs(x), distribution.type === 'normal' ? Math.abs(distribution.mean) : 0);
      expect(Math.abs(found - x), JSON.stringify({ distribution, u, x, found })).to.be.at.most(1e-12 * scale);
    }
  });

  it('give every reference quantile between bounds, far tails and large shapes included, within 1e-11', () => {
    const { quantiles } = reference('truncated_reference.json') as { quantiles: Row[] };
    expect(quantiles.length).to.equal(108);
    for (const { distribution, u, x } of quantiles) {
      const found = quantileFunction(distribution)(u);
      expect(Math.abs(found - x), JSON.stringify({ distribution, u, x, found })).to.be.at.most(1e-11 * Math.abs(x));
    }
  });

  it('give both normal tails within 1e-13 from -38 to 38 sigma', () => {
    const { normal_tails: rows } = reference('truncated_reference.json') as {
      normal_tails: { z: number; p: number; q: number }[];
    };
    const tails = { p: 0, q: 0 };
    for (const { z, p, q } of rows) {
      normalTails(z, tails);
      expect(Math.abs(tails.p - p), `P at ${z}`).to.be.at.most(1e-13 * p);
      expect(Math.abs(tails.q - q), `Q at ${z}`).to.be.at.most(1e-13 * q);
    }
    expect(rows.length).to.equal(19);
  });

  const bounded = fc.constantFrom<DistributionType>(
    { type: 'normal', mean: 3, std_dev: 2 },
    { type: 'lognormal', mu: 0.2, sigma: 0.7 },
    { type: 'exponential', lambda: 0.5 },
    { type: 'gamma', shape: 0.4, scale: 3 },
    { type: 'gamma', shape: 7, scale: 0.5 },
    { type: 'gamma', shape: 4000, scale: 0.001 },
    { type: 'weibull', shape: 1.7, scale: 2 },
  );

  it('stay inside their bounds and increase with the uniform', () => {
    const positions = fc.tuple(
      fc.double({ min: 0.001, max: 0.999, noNaN: true }),
      fc.double({ min: 0.001, max: 0.999, noNaN: true }),
    );
    fc.assert(
      fc.property(bounded, positions, uniforms, uniforms, (distribution, [a, b], u, v) => {
        fc.pre(Math.abs(a - b) > 1e-6);
        const plain = quantileFunction(distribution);
        const [lower, upper] = [plain(Math.min(a, b)), plain(Math.max(a, b))];
        for (const bounds of [{ lower, upper }, { lower }, { upper }, { lower: null, upper }]) {
          const values = quantileFunction({ ...distribution, ...bounds });
          const [x, y] = [values(Math.min(u, v)), values(Math.max(u, v))];
          expect(x).to.be.at.most(y);
          expect(x).to.be.at.least(bounds.lower ?? -Infinity);
          expect(y).to.be.at.most(bounds.upper ?? Infinity);
        }
        // The definition: the bounded quantile of u is the plain quantile of F(lower) + u (F(upper) - F(lower)).
        const middle = quantileFunction({ ...distribution, lower, upper } as DistributionType)(0.5);
        expect(middle).to.be.closeTo(plain((a + b) / 2), 1e-9 * Math.abs(middle));
      }),
    );
  });

  it('sample as without bounds when the bounds are null, to the bit', () => {
    fc.assert(
      fc.property(bounded, uniforms, (distribution, u) => {
        const open = { ...distribution, lower: null, upper: null } as DistributionType;
        expect(quantileFunction(open)(u)).to.equal(quantileFunction(distribution)(u));
      }),
    );
  });

  it('give the constant of a distribution without spread, bounded or not', () => {
    const cases: [DistributionType, number][] = [
      [{ type: 'normal', mean: 7, std_dev: 0, lower: 0, upper: 7 }, 7],
      [{ type: 'lognormal', mu: 0, sigma: 0, lower: 0.5 }, 1],
      [{ type: 'triangular', min: 2, mode: 2, max: 2 }, 2],
      [{ type: 'loguniform', min: 3, max: 3 }, 3],
      [{ type: 'discrete', values: [{ value: 5, weight: 0.1 }] }, 5],
      [{ type: 'empirical', data: [4, 4] }, 4],
    ];
    for (const [distribution, value] of cases) {
      fc.assert(
        fc.property(uniforms, (u) => {
          expect(quantileFunction(distribution)(u)).to.equal(value);
        }),
      );
    }
  });

  it('take discrete values in proportion to their weights', () => {
    const values = [
      { value: 10, weight: 1 },
      { value: -5, weight: 2 },
      { value: 7, weight: 1 },
    ];
    const quantile = quantileFunction({ type: 'discrete', values });
    const found = [0.01, 0.25, 0.2500001, 0.74, 0.75, 0.76, 0.99].map(quantile);
    expect(found).to.deep.equal([10, 10, -5, -5, -5, 7, 7]);
  });

  it('take empirical quantiles of type 7, as NumPy computes them', () => {
    const quantile = quantileFunction({ type: 'empirical', data: [3, 1, 10, 2] });
    for (const [u, x] of [
      [0.1, 1.3],
      [0.25, 1.75],
      [0.5, 2.5],
      [0.9, 7.9],
    ] as const) {
      expect(quantile(u)).to.be.closeTo(x, 1e-14);
    }
    const wide = quantileFunction({ type: 'empirical', data: [-1.5e308, 1.5e308] });
    expect(wide(0.5)).to.equal(0);
    expect(quantile(2 ** -53)).to.be.at.least(1);
    expect(quantile(1 - 2 ** -53)).to.be.at.most(10);
  });

  it('give run k the number k of a table, and leave the other parameters as they are', () => {
    const plan = { runs: 3, sampling_method: 'quasi_monte_carlo', seed: 1 } as const;
    const x: DistributionType = { type: 'uniform', min: 0, max: 1 };
    const sampler = createSampler(
      dispersionsOf([
        ['t', { type: 'table', values: [5, -2, 9] }],
        ['x', x],
      ]),
      plan,
    );
    const fixed = createSampler(
      dispersionsOf([
        ['t', { type: 'fixed', value: 0 }],
        ['x', x],
      ]),
      plan,
    );
    for (const run of [0, 1, 2]) {
      expect(sampler.parameters(run)['t']).to.equal([5, -2, 9][run]);
      expect(sampler.parameters(run)['x']).to.equal(fixed.parameters(run)['x']);
      expect(sampler.uniforms(run)[0]).to.be.NaN;
    }
  });

  it('describe themselves: every entry has a summary, a support and members with examples that sample', () => {
    for (const [type, entry] of Object.entries<Distribution>(DISTRIBUTIONS)) {
      expect(entry.summary, type).to.match(/\.$/);
      expect(entry.support, type).to.not.equal('');
      const example = Object.entries(entry.members).map(([name, member]) => [name, member.example] as const);
      const distribution = { type, ...Object.fromEntries(example) } as DistributionType;
      expect(quantileFunction(distribution)(entry.argument === 'run' ? 0 : 0.5), type).to.be.a('number').and.not.NaN;
    }
  });
});
