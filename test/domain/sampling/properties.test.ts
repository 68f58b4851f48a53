/** Properties of every design, for any seed, names and distributions. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { createSampler } from '../../../src/domain/sampling/sampler.ts';
import { quantileFunction } from '../../../src/base/distributions/table.ts';
import { MAX_SEED, seedFromBigint } from '../../../src/domain/seed.ts';
import { SAMPLE_METHODS } from '../../../src/contract/enums.ts';
import type { DistributionType } from '../../../src/contract/types.ts';
import { UNIT, column, dispersionsOf, names, unitSampler } from './support.ts';

const seeds = fc.bigInt({ min: 0n, max: MAX_SEED }).map(seedFromBigint);
const nameSets = fc.uniqueArray(
  fc.oneof(fc.string({ unit: 'grapheme', minLength: 1 }), fc.constantFrom('__proto__', 'constructor', '10', '9', 'é')),
  { minLength: 1, maxLength: 8 },
);

/** Every distribution in its ordinary, its narrow and its extreme forms. */
const DISTRIBUTIONS: DistributionType[] = [
  { type: 'normal', mean: 100, std_dev: 15 },
  { type: 'normal', mean: 1e6, std_dev: 0 },
  { type: 'uniform', min: -1, max: 1 },
  { type: 'uniform', min: 1e9, max: 1e9 + 1 },
  { type: 'uniform', min: -1.5e308, max: 1.5e308 },
  { type: 'exponential', lambda: 0.001 },
  ...[1e-3, 0.05, 0.5, 0.99, 1, 1.01, 2, 9, 50, 1999, 2000, 1e6].map((shape): DistributionType => ({
    type: 'gamma',
    shape,
    scale: 2,
  })),
  ...[0.01, 0.5, 1, 2, 200, 1e6].flatMap((alpha) =>
    [0.02, 0.5, 1, 5, 1e5].map((beta): DistributionType => ({ type: 'beta', alpha, beta })),
  ),
];

describe('sampling properties', () => {
  for (const runs of [1, 2, 7, 100, 1000, 65537]) {
    it(`latin_hypercube fills each of ${runs} strata once`, () => {
      const sampler = unitSampler(names(2), 'latin_hypercube', runs, 42);
      for (const parameter of [0, 1]) {
        const strata = column(sampler, parameter).map((u) => Math.floor(u * runs));
        expect([...strata.sort()]).to.deep.equal(Array.from({ length: runs }, (_, stratum) => stratum));
      }
    });
  }

  it('latin_hypercube shuffles each parameter otherwise', () => {
    const sampler = unitSampler(names(2), 'latin_hypercube', 1000, 42);
    const same = Array.from({ length: 1000 }, (_, run) => sampler.uniforms(run)).filter(
      ([a, b]) => Math.floor(a! * 1000) === Math.floor(b! * 1000),
    );
    expect(same.length).to.be.below(10);
  });

  it('quasi_monte_carlo fills every elementary interval of 2^10 points once', () => {
    const levels = 10;
    const sampler = unitSampler(names(2), 'quasi_monte_carlo', 2 ** levels, 7);
    const [first, second] = [column(sampler, 0), column(sampler, 1)];
    // The first two Sobol' dimensions are a (0, m, 2)-net: so is every Owen scramble of them.
    for (let split = 0; split <= levels; split++) {
      const cells = new Set<number>();
      for (const [run, u] of first.entries()) {
        cells.add(
          Math.floor(u * 2 ** split) * 2 ** (levels - split) + Math.floor(second[run]! * 2 ** (levels - split)),
        );
      }
      expect(cells.size, `${split} bits of the first`).to.equal(2 ** levels);
    }
  });

  it('quasi_monte_carlo fills 2^8 strata once in each of 100 dimensions, in every block of 2^8 runs', () => {
    const sampler = unitSampler(names(100), 'quasi_monte_carlo', 1024, 3);
    for (let start = 0; start < 1024; start += 256) {
      const seen = Array.from({ length: 100 }, () => new Set<number>());
      for (let run = start; run < start + 256; run++) {
        for (const [parameter, u] of sampler.uniforms(run).entries()) seen[parameter]!.add(Math.floor(u * 256));
      }
      expect(new Set(seen.map((strata) => strata.size))).to.deep.equal(new Set([256]));
    }
  });

  it('never gives a uniform of 0 or 1', () => {
    fc.assert(
      fc.property(
        seeds,
        fc.constantFrom(...SAMPLE_METHODS),
        fc.integer({ min: 1, max: 2147483647 }),
        (seed, method, runs) => {
          const sampler = unitSampler(['a', 'b'], method, runs, seed);
          for (const run of [0, runs >>> 1, runs - 1]) {
            for (const u of sampler.uniforms(run)) expect(u).to.be.within(2 ** -53, 1 - 2 ** -53);
          }
        },
      ),
    );
  });

  it('does not depend on other parameters under monte_carlo and latin_hypercube, nor on the order of keys or runs', () => {
    fc.assert(
      fc.property(seeds, fc.constantFrom('monte_carlo', 'latin_hypercube'), nameSets, (seed, method, all) => {
        const together = unitSampler(all, method, 100, seed);
        const reversed = unitSampler(all.toReversed(), method, 100, seed);
        expect(reversed.names).to.deep.equal(together.names);
        for (const run of [99, 0, 57]) {
          expect([...reversed.uniforms(run)]).to.deep.equal([...together.uniforms(run)]);
          for (const [at, name] of together.names.entries()) {
            expect(unitSampler([name], method, 100, seed).uniforms(run)[0]).to.equal(together.uniforms(run)[at]);
          }
        }
      }),
    );
  });

  it('under quasi_monte_carlo redraws only the names after a new one', () => {
    const before = unitSampler(['a', 'b', 'd', 'e'], 'quasi_monte_carlo', 64).uniforms(5);
    const after = unitSampler(['a', 'b', 'c', 'd', 'e'], 'quasi_monte_carlo', 64).uniforms(5);
    expect([after[0], after[1]]).to.deep.equal([before[0], before[1]]);
    expect(after[3]).to.not.equal(before[2]);
  });

  for (const method of SAMPLE_METHODS) {
    it(`${method}: fixing a parameter or changing a distribution leaves all other samples`, () => {
      const plan = { runs: 64, sampling_method: method, seed: 5 } as const;
      const uniform = dispersionsOf([
        ['a', UNIT],
        ['b', UNIT],
        ['c', UNIT],
      ]);
      const changed = dispersionsOf([
        ['a', { type: 'fixed', value: 3 }],
        ['b', { type: 'exponential', lambda: 2 }],
        ['c', UNIT],
      ]);
      for (let run = 0; run < 64; run++) {
        const [, b, c] = createSampler(uniform, plan).uniforms(run);
        const [fixed, ...rest] = createSampler(changed, plan).uniforms(run);
        expect(fixed).to.be.NaN;
        expect(rest).to.deep.equal([b, c]);
      }
      expect(createSampler(changed, plan).parameters(9)['a']).to.equal(3);
    });
  }

  for (const method of ['monte_carlo', 'quasi_monte_carlo'] as const) {
    it(`${method}: a study with more runs begins with the same runs`, () => {
      const short = unitSampler(names(3), method, 50, 9);
      const long = unitSampler(names(3), method, 5000, 9);
      for (let run = 0; run < 50; run++) expect([...long.uniforms(run)]).to.deep.equal([...short.uniforms(run)]);
    });
  }

  it('has quantiles that grow with the uniform and stay in the support', () => {
    const uniforms = [2 ** -53, 1e-15, 1e-12, 1e-9, 1e-6, 1e-4];
    for (let k = 1; k < 400; k++) uniforms.push(k / 400);
    uniforms.push(...uniforms.slice(1, 6).map((u) => 1 - u), 1 - 2 ** -53);
    uniforms.sort((a, b) => a - b);
    for (const distribution of DISTRIBUTIONS) {
      const values = uniforms.map(quantileFunction(distribution));
      for (const [k, x] of values.entries()) {
        const label = `${JSON.stringify(distribution)} at ${uniforms[k]}: ${x}`;
        expect(Number.isFinite(x), label).to.equal(true);
        if (distribution.type === 'beta') expect(x, label).to.be.within(0, 1);
        if (distribution.type === 'gamma' || distribution.type === 'exponential') expect(x, label).to.be.at.least(0);
        if (k > 0) expect(x, label).to.be.at.least(values[k - 1]! - Math.abs(values[k - 1]!) * 1e-12);
      }
    }
  });

  it('continues a design: under monte_carlo and quasi_monte_carlo the first runs do not depend on how many there are', () => {
    const dispersions = dispersionsOf([
      ['a', { type: 'normal', mean: 0, std_dev: 1, lower: -1 }],
      ['b', { type: 'weibull', shape: 2, scale: 3 }],
      ['c', { type: 'empirical', data: [3, 1, 2] }],
    ]);
    const correlations = [{ parameters: ['a', 'b'] as [string, string], rank: -0.4 }];
    fc.assert(
      fc.property(
        seeds,
        fc.constantFrom('monte_carlo' as const, 'quasi_monte_carlo' as const),
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 1, max: 2 ** 31 - 1001 }),
        fc.nat({ max: 5 }),
        (seed, method, runs, more, replicate) => {
          const plan = { sampling_method: method, seed, replicate, correlations };
          const short = createSampler(dispersions, { ...plan, runs });
          const long = createSampler(dispersions, { ...plan, runs: runs + more });
          for (const run of [0, runs >> 1, runs - 1]) {
            expect(long.parameters(run)).to.deep.equal(short.parameters(run));
          }
        },
      ),
    );
  });

  it('writes every name, `__proto__` too, into serializable parameters', () => {
    fc.assert(
      fc.property(nameSets, (all) => {
        const sampler = unitSampler(all, 'monte_carlo', 1);
        const read = JSON.parse(JSON.stringify(sampler.parameters(0))) as object;
        expect(Object.keys(read).toSorted()).to.deep.equal(all.toSorted());
        expect(new Map(Object.entries(read))).to.deep.equal(
          new Map(sampler.names.map((name, at) => [name, sampler.uniforms(0)[at]!])),
        );
      }),
    );
  });

  it('refuses what it cannot reproduce', () => {
    const plan = { runs: 3, sampling_method: 'latin_hypercube', seed: 1 } as const;
    expect(() => createSampler({}, plan, 'mc-sampler/2')).to.throw(RangeError, 'mc-sampler/1');
    expect(() => createSampler({}, { ...plan, seed: -1 })).to.throw(RangeError, 'seed');
    expect(() => unitSampler(names(1112), 'quasi_monte_carlo', 3)).to.throw(RangeError, '1111');
    for (const run of [-1, 3, 1.5, Number.NaN]) {
      expect(() => createSampler({}, plan).parameters(run), String(run)).to.throw(RangeError, 'run');
    }
    expect(createSampler({}, plan).parameters(2)).to.deep.equal({});
  });
});
