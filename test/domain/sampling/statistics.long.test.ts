/** Whether samples are distributed as asked, independent where they must be, and better spread where that is the method's point. */
import { expect } from 'chai';
import { createSampler } from '../../../src/domain/sampling/sampler.ts';
import { SAMPLE_METHODS } from '../../../src/contract/enums.ts';
import type { DistributionType, SamplingMethod } from '../../../src/contract/types.ts';
import { column, dispersionsOf, names, unitSampler } from './support.ts';

// Distribution functions in closed form or as finite sums, independent of the quantiles under test.
const erlang = (x: number, stages: number) => {
  let term = 1;
  let sum = 1;
  for (let k = 1; k < stages; k++) sum += term *= x / k;
  return 1 - Math.exp(-x) * sum;
};
/** Trapezoidal rule on the density from 12 sigma below, with the first Euler-Maclaurin correction: error under 1e-7. */
const normalCdf = (z: number) => {
  const steps = 400;
  const width = (z + 12) / steps;
  let sum = 0.5 * (Math.exp(-72) + Math.exp(-z * z * 0.5));
  for (let k = 1; k < steps; k++) sum += Math.exp(-0.5 * (width * k - 12) ** 2);
  return (sum * width + (width * width * z * Math.exp(-z * z * 0.5)) / 12) / Math.sqrt(2 * Math.PI);
};
const CASES: [DistributionType, (x: number) => number][] = [
  [{ type: 'normal', mean: 10, std_dev: 2 }, (x) => normalCdf((x - 10) / 2)],
  [{ type: 'uniform', min: -3, max: 5 }, (x) => (x + 3) / 8],
  [{ type: 'exponential', lambda: 0.25 }, (x) => 1 - Math.exp(-0.25 * x)],
  [{ type: 'gamma', shape: 4, scale: 0.5 }, (x) => erlang(x / 0.5, 4)],
  [{ type: 'beta', alpha: 2, beta: 3 }, (x) => x * x * (6 - 8 * x + 3 * x * x)],
  [{ type: 'beta', alpha: 0.5, beta: 0.5 }, (x) => (2 / Math.PI) * Math.asin(Math.sqrt(x))],
];

/** The Kolmogorov-Smirnov distance of sorted values from a distribution function. */
function distance(sorted: Float64Array, cdf: (x: number) => number): number {
  let greatest = 0;
  for (const [k, x] of sorted.entries()) {
    const p = cdf(x);
    greatest = Math.max(greatest, p - k / sorted.length, (k + 1) / sorted.length - p);
  }
  return greatest;
}

const mean = (of: Float64Array) => of.reduce((sum, u) => sum + u, 0) / of.length;

function correlation(a: Float64Array, b: Float64Array): number {
  const [meanA, meanB] = [mean(a), mean(b)];
  let [aa, bb, ab] = [0, 0, 0];
  for (const [k, u] of a.entries()) {
    aa += (u - meanA) ** 2;
    bb += (b[k]! - meanB) ** 2;
    ab += (u - meanA) * (b[k]! - meanB);
  }
  return ab / Math.sqrt(aa * bb);
}

describe('sampling statistics', () => {
  const runs = 4096;

  for (const [distribution, cdf] of CASES) {
    it(`${JSON.stringify(distribution)} passes Kolmogorov-Smirnov under every method`, () => {
      for (const method of SAMPLE_METHODS) {
        const sampler = createSampler(dispersionsOf([['x', distribution]]), {
          runs,
          sampling_method: method,
          seed: 2026,
        });
        const values = Float64Array.from({ length: runs }, (_, run) => sampler.parameters(run)['x']!).sort();
        // 1.63 / sqrt(n) is the 1 % point for independent draws; one value in each of n strata is within 1 / n by construction.
        const allowed = method === 'monte_carlo' ? 1.63 / Math.sqrt(runs) : 1 / runs + 1e-6;
        expect(distance(values, cdf), method).to.be.at.most(allowed);
      }
    });
  }

  it('monte_carlo fills 256 cells evenly (chi-squared), and successive runs are uncorrelated', () => {
    const sampler = unitSampler(names(4), 'monte_carlo', 65536, 11);
    for (const parameter of [0, 1, 2, 3]) {
      const values = column(sampler, parameter);
      const counts = new Float64Array(256);
      for (const u of values) counts[Math.floor(u * 256)]! += 1;
      const chiSquared = counts.reduce((sum, count) => sum + (count - 256) ** 2 / 256, 0);
      // 255 degrees of freedom: mean 255, standard deviation 22.6.
      expect(chiSquared).to.be.within(255 - 4 * 22.6, 255 + 4 * 22.6);
      expect(Math.abs(correlation(values.subarray(1), values.subarray(0, -1)))).to.be.below(4 / 256);
    }
  });

  it('has no correlation between parameters, between methods, or between seeds but those of quasi_monte_carlo', () => {
    const columns: Float64Array[] = [];
    for (const method of SAMPLE_METHODS) {
      // Two scrambles of one Sobol' sequence share its strata: they are independent, but each pair of them is correlated.
      for (const seed of method === 'quasi_monte_carlo' ? [1] : [1, 2]) {
        const sampler = unitSampler(names(6), method, runs, seed);
        columns.push(...sampler.names.map((_, parameter) => column(sampler, parameter)));
      }
    }
    let greatest = 0;
    for (const [k, a] of columns.entries()) {
      for (const b of columns.slice(k + 1)) greatest = Math.max(greatest, Math.abs(correlation(a, b)));
    }
    // 435 pairs of independent columns: one beyond 5 standard deviations of 1 / sqrt(n) is a matter of 1 in 4000.
    expect(greatest).to.be.below(5 / Math.sqrt(runs));
  });

  it('latin_hypercube and quasi_monte_carlo integrate with far less variance than monte_carlo', () => {
    const count = 256;
    const integrands: [string, (u: Float64Array) => number, number][] = [
      ['sum of exponentials', (u) => u.reduce((sum, v) => sum + Math.exp(v), 0), 4 * (Math.E - 1)],
      ['product', (u) => u.reduce((product, v) => product * (0.5 + v), 1), 1],
    ];
    const variance = (method: SamplingMethod, integrand: (u: Float64Array) => number, exact: number) => {
      let sum = 0;
      const seeds = 60;
      for (let seed = 0; seed < seeds; seed++) {
        const sampler = unitSampler(names(4), method, count, seed);
        let total = 0;
        for (let run = 0; run < count; run++) total += integrand(sampler.uniforms(run));
        sum += (total / count - exact) ** 2;
      }
      return sum / seeds;
    };
    // The least factor by which the variance must fall: an additive integrand is what a Latin hypercube is made for (n^2); of a
    // product it removes the additive part, a quasi-random sequence most of the rest.
    const factors: Record<string, [lhs: number, qmc: number]> = {
      'sum of exponentials': [10000, 10000],
      product: [4, 100],
    };
    for (const [name, integrand, exact] of integrands) {
      const plain = variance('monte_carlo', integrand, exact);
      const [lhs, qmc] = factors[name]!;
      expect(plain / variance('latin_hypercube', integrand, exact), `${name}, lhs`).to.be.above(lhs);
      expect(plain / variance('quasi_monte_carlo', integrand, exact), `${name}, qmc`).to.be.above(qmc);
    }
  });
});
