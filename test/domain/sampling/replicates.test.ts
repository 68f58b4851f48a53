/** Replicates: independent randomisations of one design, each an unbiased estimate. */
import { expect } from 'chai';
import { SAMPLE_METHODS } from '../../../src/contract/enums.ts';
import type { SamplingMethod } from '../../../src/contract/types.ts';
import { deriveKey } from '../../../src/domain/sampling/key.ts';
import { createSampler } from '../../../src/domain/sampling/sampler.ts';
import { UNIT, column, dispersionsOf, names } from './support.ts';

const sampler = (method: SamplingMethod, runs: number, replicate?: number | null) =>
  createSampler(dispersionsOf(names(3).map((name) => [name, UNIT] as const)), {
    runs,
    sampling_method: method,
    seed: 12,
    ...(replicate === undefined ? {} : { replicate }),
  });

/** Pearson's correlation of uniforms, whose mean is 1/2 and variance 1/12. */
const correlation = (a: Float64Array, b: Float64Array) =>
  a.reduce((sum, u, k) => sum + (u - 0.5) * (b[k]! - 0.5), 0) / (a.length / 12);

describe('replicates', () => {
  it('are the study itself for replicate 0, null or none', () => {
    for (const method of SAMPLE_METHODS) {
      const expected = sampler(method, 16).uniforms(5);
      for (const replicate of [0, null]) expect(sampler(method, 16, replicate).uniforms(5)).to.deep.equal(expected);
    }
  });

  it('differ in the key alone: the method is written as method#r', () => {
    const key = deriveKey('mc-sampler/1', 'monte_carlo', '12', 'p0', 3);
    expect(key).to.deep.equal(deriveKey('mc-sampler/1', 'monte_carlo#3' as SamplingMethod, '12', 'p0'));
    expect(key).to.not.deep.equal(deriveKey('mc-sampler/1', 'monte_carlo', '12', 'p0'));
  });

  it('follow one another in a study that has several, whatever the order of reading', () => {
    for (const method of ['latin_hypercube', 'quasi_monte_carlo'] as const) {
      const whole = createSampler(dispersionsOf(names(3).map((name) => [name, UNIT] as const)), {
        runs: 5 * 16,
        sampling_method: method,
        seed: 12,
        replicates: 5,
      });
      for (const run of [0, 79, 16, 15, 33, 33, 1, 64]) {
        const alone = sampler(method, 16, Math.floor(run / 16));
        expect(whole.uniforms(run), `${method} ${run}`).to.deep.equal(alone.uniforms(run % 16));
      }
      expect(() => whole.uniforms(80)).to.throw(RangeError);
    }
  });

  it('are uncorrelated between replicates and parameters under monte_carlo and latin_hypercube', () => {
    const runs = 4096;
    for (const method of ['monte_carlo', 'latin_hypercube'] as const) {
      const columns = [0, 1, 2, 3].flatMap((replicate) => {
        const one = sampler(method, runs, replicate);
        return one.names.map((_, parameter) => column(one, parameter));
      });
      let greatest = 0;
      for (const [k, a] of columns.entries()) {
        for (const b of columns.slice(k + 1)) greatest = Math.max(greatest, Math.abs(correlation(a, b)));
      }
      // 66 pairs: one beyond 4.5 standard deviations is a matter of 1 in 2000.
      expect(greatest, method).to.be.below(4.5 / Math.sqrt(runs));
    }
  });

  it('keep the strata of their method, each replicate in its own order', () => {
    for (const method of ['latin_hypercube', 'quasi_monte_carlo'] as const) {
      const orders = [1, 2].map((replicate) => {
        const strata = [...column(sampler(method, 256, replicate), 1)].map((u) => Math.floor(u * 256));
        expect(
          strata.toSorted((a, b) => a - b),
          method,
        ).to.deep.equal(Array.from({ length: 256 }, (_, k) => k));
        return strata.join();
      });
      expect(orders[0], method).to.not.equal(orders[1]);
    }
  });

  it('give independent, unbiased estimates: the errors of neighbouring replicates are uncorrelated', () => {
    const replicates = 400;
    for (const method of SAMPLE_METHODS) {
      const errors = Float64Array.from({ length: replicates }, (_, replicate) => {
        const one = sampler(method, 64, replicate);
        let sum = 0;
        for (let run = 0; run < 64; run++) sum += one.uniforms(run).reduce((product, u) => product * (0.5 + u), 1);
        return sum / 64 - 1;
      });
      const variance = errors.reduce((sum, error) => sum + error * error, 0) / replicates;
      const mean = errors.reduce((sum, error) => sum + error, 0) / replicates;
      expect(Math.abs(mean), method).to.be.below(4 * Math.sqrt(variance / replicates));
      const lagged = errors.subarray(1).reduce((sum, error, k) => sum + error * errors[k]!, 0) / (replicates - 1);
      expect(Math.abs(lagged) / variance, method).to.be.below(4 / Math.sqrt(replicates));
    }
  });
});
