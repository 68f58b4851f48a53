/** Correlated parameters: the copula against reference data, the ranks reached, and the faults of impossible requests. */
import { expect } from 'chai';
import type { Correlation, DistributionType } from '../../../src/contract/types.ts';
import { SAMPLE_METHODS } from '../../../src/contract/enums.ts';
import { connectedGroups, copula, correlatedGroups } from '../../../src/domain/sampling/correlation.ts';
import { correlationFaults } from '../../../src/domain/sampling/dispersions.ts';
import { createSampler } from '../../../src/domain/sampling/sampler.ts';
import { UNIT, dispersionsOf, names, reference } from './support.ts';

const pair = (a: string, b: string, rank: number): Correlation => ({ parameters: [a, b], rank });

/** The ranks (0-based) of distinct values. */
function ranksOf(values: Float64Array): Float64Array {
  const order = Uint32Array.from(values, (_, k) => k).sort((a, b) => values[a]! - values[b]!);
  const ranks = new Float64Array(values.length);
  order.forEach((index, rank) => (ranks[index] = rank));
  return ranks;
}

/** Spearman's correlation of distinct values. */
function spearman(a: Float64Array, b: Float64Array): number {
  const [ra, rb] = [ranksOf(a), ranksOf(b)];
  const n = a.length;
  let sum = 0;
  for (let k = 0; k < n; k++) sum += (ra[k]! - rb[k]!) ** 2;
  return 1 - (6 * sum) / (n * (n * n - 1));
}

describe('correlation', () => {
  it('gives every reference uniform within 1e-12', () => {
    const { correlation: rows } = reference('studies_reference.json') as {
      correlation: { names: string[]; correlations: Correlation[]; u: number[]; u_out: number[] }[];
    };
    expect(rows.length).to.equal(20);
    for (const { names: given, correlations, u, u_out: expected } of rows) {
      const [group] = correlatedGroups(correlations);
      const found = Float64Array.from(u);
      copula(
        group!.factor,
        group!.names.map((name) => given.indexOf(name)),
      )(found);
      for (const [k, value] of found.entries()) expect(value, JSON.stringify(u)).to.be.closeTo(expected[k]!, 1e-12);
    }
  });

  it('reaches the ranks asked for within 0.01 over 100,000 runs, under every method', () => {
    const correlations = [pair('a', 'b', 0.6), pair('b', 'c', -0.5), pair('d', 'e', -0.95)];
    const kinds: [string, DistributionType][] = [
      ['a', { type: 'normal', mean: 0, std_dev: 1 }],
      ['b', { type: 'exponential', lambda: 2 }],
      ['c', { type: 'weibull', shape: 2, scale: 1 }],
      ['d', { type: 'uniform', min: 0, max: 1 }],
      ['e', { type: 'lognormal', mu: 0, sigma: 1 }],
    ];
    const runs = 100_000;
    for (const method of SAMPLE_METHODS) {
      const plan = { runs, sampling_method: method, seed: 5, correlations };
      const sampler = createSampler(dispersionsOf(kinds), plan);
      const columns = kinds.map(() => new Float64Array(runs));
      const values = new Float64Array(kinds.length);
      for (let run = 0; run < runs; run++) {
        sampler.sampleInto(run, values);
        for (const [k, value] of values.entries()) columns[k]![run] = value;
      }
      const column = (name: string) => columns[sampler.names.indexOf(name)]!;
      for (const { parameters, rank } of correlations) {
        const found = spearman(column(parameters[0]), column(parameters[1]));
        expect(found, `${method} ${parameters.join(' ')}`).to.be.closeTo(rank, 0.01);
      }
      expect(spearman(column('a'), column('d')), `${method} a d`).to.be.closeTo(0, 0.02);
    }
  });

  it('keeps the first parameter of a group and every parameter outside it to the bit, and each run alone', () => {
    const dispersions = dispersionsOf(names(4).map((name) => [name, UNIT] as const));
    const correlations = [pair('p1', 'p2', 0.7)];
    for (const method of SAMPLE_METHODS) {
      const plan = { runs: 64, sampling_method: method, seed: 3 };
      const plain = createSampler(dispersions, plan);
      const joined = createSampler(dispersions, { ...plan, correlations });
      for (const run of [63, 0, 17, 63]) {
        const [before, after] = [plain.uniforms(run), joined.uniforms(run)];
        for (const kept of [0, 1, 3]) expect(after[kept], method).to.equal(before[kept]);
        expect(after[2], method).to.not.equal(before[2]);
        expect(joined.parameters(run)['p2'], method).to.equal(after[2]);
      }
      const none = createSampler(dispersions, { ...plan, correlations: [pair('p1', 'p2', 0)] });
      expect(none.uniforms(9)[2], method).to.be.closeTo(plain.uniforms(9)[2]!, 1e-12);
    }
  });

  it('joins what is connected, directly or through others, sorted by name', () => {
    expect(connectedGroups([pair('z', 'b', 0), pair('a', 'y', 0), pair('b', 'a', 0), pair('q', 'p', 0)])).to.deep.equal(
      [
        ['a', 'b', 'y', 'z'],
        ['p', 'q'],
      ],
    );
    const chain = Array.from({ length: 1000 }, (_, k) => pair(`n${k}`, `n${k + 1}`, 0.1));
    expect(connectedGroups(chain)).to.have.length(1);
  });

  const study = dispersionsOf([
    ...['mass', 'drag', 'wind'].map((name) => [name, UNIT] as const),
    ['area', { type: 'fixed', value: 1 }],
    ['case', { type: 'table', values: [1] }],
    ['gust', { type: 'discrete', values: [{ value: 1, weight: 1 }] }],
  ]);
  const refused: [Correlation[], string, string][] = [
    [[pair('mass', 'darg', 0.5)], '/0/parameters/1', 'is not a dispersion of this study; did you mean "drag"?'],
    [[pair('area', 'mass', 0.5)], '/0/parameters/0', 'has the distribution fixed'],
    [[pair('mass', 'case', 0.5)], '/0/parameters/1', 'has the distribution table'],
    [[pair('mass', 'mass', 0.5)], '/0/parameters/1', 'another dispersion'],
    [[pair('mass', 'drag', 1)], '/0/rank', 'above -1 and below 1, not 1'],
    [[pair('mass', 'drag', NaN)], '/0/rank', 'not NaN'],
    [[pair('mass', 'drag', 0.5), pair('drag', 'mass', 0.5)], '/1', 'repeats the pair of item 0'],
    [
      [pair('mass', 'drag', 0.9), pair('drag', 'wind', 0.9), pair('mass', 'wind', -0.9)],
      '',
      'contradict each other for drag, mass, wind',
    ],
  ];
  for (const [correlations, pointer, detail] of refused) {
    it(`refuses ${JSON.stringify(correlations)}`, () => {
      const faults = correlationFaults(correlations, study);
      expect(faults).to.have.length(1);
      expect(faults[0]!.pointer).to.equal(`/config/correlations${pointer}`);
      expect(faults[0]!.detail).to.include(detail);
    });
  }

  it('names the factor by which contradictory ranks shrink to possible ones', () => {
    const ranks: [string, string, number][] = [
      ['mass', 'drag', 0.9],
      ['drag', 'wind', 0.9],
      ['mass', 'wind', -0.9],
    ];
    const faults = (factor: number) =>
      correlationFaults(
        ranks.map(([a, b, rank]) => pair(a, b, rank * factor)),
        study,
      );
    const factor = Number(/by ([\d.]+) or less/.exec(faults(1)[0]!.detail)![1]);
    expect(factor).to.be.within(0.5, 0.6);
    expect(faults(factor)).to.deep.equal([]);
    expect(faults(factor + 0.002)).to.have.length(1);
  });

  it('accepts discrete parameters and correlations that are possible', () => {
    expect(correlationFaults([pair('mass', 'gust', 0.5), pair('drag', 'wind', -0.99)], study)).to.deep.equal([]);
    expect(correlationFaults([], study)).to.deep.equal([]);
  });

  it('refuses a group that is too large', () => {
    const many = dispersionsOf(names(200).map((name) => [name, UNIT] as const));
    const chain = names(150).map((name, k) => pair(name, `p${k + 1}`, 0.1));
    expect(correlationFaults(chain, many)[0]!.detail).to.include('151 dispersions').and.include('at most 100');
  });
});
