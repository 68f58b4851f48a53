/** Histograms of parameters and outputs: which runs they count, and their limits. */
import { expect } from 'chai';
import { distributions } from '../../../src/analysis/outputs/distributions.ts';
import type { RunTable } from '../../../src/analysis/table/run-table.ts';
import { type Run, tableOf } from '../tables.ts';

const withParameter = (runs: readonly Run[], values: readonly number[]): RunTable => ({
  ...tableOf(runs),
  parameters: new Map([['p', Float64Array.from(values)]]),
});

describe('analysis/outputs: distributions', () => {
  it('a parameter counts every run and marks the failed ones; an output counts the completed runs', () => {
    const table = withParameter([0, 1, 2, 'crashed', 'terminated', 'open'], [0, 1, 2, 3, 4, 4]);
    const { variables } = distributions(table, { bins: 4 });
    expect(variables.map((it) => [it.kind, it.name])).to.deep.equal([
      ['parameter', 'p'],
      ['output', 'y'],
    ]);
    expect(variables[0]).to.include({ count: 6, from: 0, to: 4, below: 0, above: 0 });
    expect(variables[0]!.counts).to.deep.equal([1, 1, 1, 3]);
    expect(variables[0]!.failed).to.deep.equal([0, 0, 0, 2]);
    expect(variables[1]).to.include({ count: 3, from: 0, to: 2 });
    expect(variables[1]!.counts).to.deep.equal([1, 1 - 1, 1, 1]);
  });

  it('a variable without two different values has no histogram', () => {
    expect(distributions(withParameter([5, 5, 'open'], [1, 1, 1])).variables).to.deep.equal([]);
  });

  it('values beyond the outer fences are counted beside the bins, not in them', () => {
    const values = [...Array.from({ length: 99 }, (_, at) => at), 1e6];
    const found = distributions(tableOf(values), { bins: 10 }).variables[0]!;
    expect(found).to.include({ count: 100, above: 1, below: 0, min: 0, max: 1e6 });
    expect(found.to).to.be.below(400);
    expect(found.counts.reduce((sum, it) => sum + it, 0)).to.equal(99);
  });

  it('bins are twice the cube root of the number of values, at most 40', () => {
    const binsFor = (n: number): number =>
      distributions(tableOf(Array.from({ length: n }, (_, at) => at))).variables[0]!.counts.length;
    expect([8, 1_000, 20_000].map(binsFor)).to.deep.equal([5, 20, 40]);
  });

  it('units are those of the study', () => {
    const units = new Map([['outputs.y', 'm']]);
    expect(distributions(tableOf([1, 2]), { units }).variables[0]!.units).to.equal('m');
  });
});
