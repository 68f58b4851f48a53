/** The sampler against data from elsewhere: uniforms and Sobol' points to the bit, quantiles within their promised error. */
import { expect } from 'chai';
import { deriveKey } from '../../../src/domain/sampling/key.ts';
import { philox } from '../../../src/domain/sampling/philox.ts';
import { quantileFunction } from '../../../src/base/distributions/table.ts';
import { quasiMonteCarloUniforms } from '../../../src/domain/sampling/designs/quasi-monte-carlo.ts';
import { SAMPLING_SCHEME } from '../../../src/domain/sampling/sampler.ts';
import { SOBOL_DIMENSIONS, directionNumbers, sobolPoint } from '../../../src/domain/sampling/designs/sobol.ts';
import { seedFromDecimal } from '../../../src/domain/seed.ts';
import type { DistributionType, SamplingMethod } from '../../../src/contract/types.ts';
import { reference, unitSampler } from './support.ts';

interface Vector {
  method: SamplingMethod;
  seed: string;
  name: string;
  i: number;
  n?: number;
  rank?: number;
  u: number;
}

/** Hexadecimal words. */
const words = (text: string) => text.split(' ').map((word) => Number.parseInt(word, 16));

describe('sampling against references', () => {
  it('philox gives the published blocks', () => {
    const blocks: [string, string, string][] = [
      ['00000000 00000000 00000000 00000000', '00000000 00000000', '6627e8d5 e169c58d bc57ac4c 9b00dbd8'],
      ['ffffffff ffffffff ffffffff ffffffff', 'ffffffff ffffffff', '408f276d 41c83b0e a20bc7c6 6d5451fd'],
      ['243f6a88 85a308d3 13198a2e 03707344', 'a4093822 299f31d0', 'd16cfe09 94fdcceb 5001e420 24126ea1'],
    ];
    const out = new Uint32Array(4);
    for (const [counter, key, expected] of blocks) {
      const [c0, c1, c2, c3] = words(counter);
      const [k0, k1] = words(key);
      philox(k0!, k1!, c0!, c1!, c2!, c3!, out);
      expect([...out]).to.deep.equal(words(expected));
    }
  });

  it('gives every reference uniform to the bit', () => {
    let compared = 0;
    for (const { method, seed, name, i, n, rank, u } of reference('sampler_vectors.json') as Vector[]) {
      if (rank !== undefined && rank >= SOBOL_DIMENSIONS) continue;
      const found =
        rank === undefined
          ? unitSampler([name], method, n ?? 2147483647, seedFromDecimal(seed)).uniforms(i)[0]
          : quasiMonteCarloUniforms(deriveKey(SAMPLING_SCHEME, method, seed, name), directionNumbers(rank))(i);
      expect(found, JSON.stringify({ method, seed, name, i, n, rank })).to.equal(u);
      compared++;
    }
    expect(compared).to.equal(571);
  });

  it("gives every reference Sobol' point", () => {
    const { dims0, points } = reference('sobol_reference.json') as { dims0: number[]; points: number[][] };
    for (const [column, dimension] of dims0.entries()) {
      const directions = directionNumbers(dimension);
      const found = points.map((_, index) => sobolPoint(directions, index) >>> 0);
      expect(found, `dimension ${dimension}`).to.deep.equal(points.map((point) => point[column]));
    }
    expect(points.length * dims0.length).to.equal(2560);
    expect(() => directionNumbers(SOBOL_DIMENSIONS)).to.throw(RangeError, '1111');
  });

  it('gives every reference quantile within 1e-12, beta within 1e-11', () => {
    const rows = reference('ppf_reference.json') as {
      dist: string;
      params: Record<string, number>;
      p: number;
      x: number;
    }[];
    for (const { dist, params, p, x } of rows) {
      const found = quantileFunction({ type: dist, ...params } as DistributionType)(p);
      const scale = dist === 'normal' ? Math.max(Math.abs(x), Math.abs(params['mean']!)) : Math.abs(x);
      const allowed = (dist === 'beta' ? 1e-11 : 1e-12) * scale;
      expect(Math.abs(found - x), JSON.stringify({ dist, params, p, x, found })).to.be.at.most(allowed);
    }
    expect(rows.length).to.equal(849);
  });
});
