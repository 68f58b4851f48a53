import { expect } from 'chai';
import { standardNormalQuantile } from '../../../src/base/distributions/normal.ts';
import { outputBox } from '../../../src/analysis/scenarios/box.ts';
import { cellsOf } from '../../../src/domain/scenarios/cells.ts';
import type { RunTable } from '../../../src/analysis/table/run-table.ts';
import { type Run, tableOf } from '../tables.ts';
import { normalCdf } from './normal.ts';

const [A, B, S] = [-1, 2, 0.5];

/** A study with the input mu, in [A, B] at some levels, and a run for each sample and cell. */
function tableOfLevels(levels: number, samples: number, runOf: (sample: number, mu: number) => Run): RunTable {
  const epistemic = { mu: { interval: [A, B] as [number, number], levels } };
  const cells = cellsOf({ epistemic })!;
  const runs = Array.from({ length: samples * levels }, (_, run) =>
    runOf(cells.sampleOf(run), Number(cells.scenarioOf(cells.cellOf(run))['mu'])),
  );
  return tableOf(runs, { method: 'scenarios', cells: { cells, epistemic: ['mu'], method: 'monte_carlo' } });
}

const normal = (samples: number) => (sample: number, mu: number) =>
  mu + S * standardNormalQuantile((sample + 0.5) / samples);

describe('analysis/scenarios/box', () => {
  it('bounds the distribution of N(mu, s), mu in an interval, by those of its ends', () => {
    const samples = 2000;
    const at = [-3, -1.5, -1, -0.2, 0, 0.7, 1.9, 2, 2.4, 4];
    const { curve, warnings } = outputBox(tableOfLevels(4, samples, normal(samples)), { output: 'y', at });
    for (const [place, x] of at.entries()) {
      expect(curve.least[place]).to.be.closeTo(normalCdf((x - B) / S), 1 / samples);
      expect(curve.greatest[place]).to.be.closeTo(normalCdf((x - A) / S), 1 / samples);
    }
    expect(warnings.find(({ code }) => code === 'epistemic-inner')?.message).to.contain(
      'inner approximation of the intervals of mu',
    );
  });

  it('has means, quantiles and probabilities between cells, each with its own interval', () => {
    const samples = 400;
    const near = { name: 'near', output: 'y', condition: '< 1', probability: 0.5 };
    const answer = outputBox(tableOfLevels(4, samples, normal(samples)), {
      output: 'y',
      quantiles: [0.5],
      requirements: [near],
    });
    expect([answer.cells, answer.epistemic]).to.deep.equal([4, ['mu']]);
    const { least, greatest } = answer.mean!;
    expect([least.scenario, greatest.scenario]).to.deep.equal([{ mu: '-1' }, { mu: '2' }]);
    expect(least.value).to.be.closeTo(A, 1e-3);
    expect(greatest.interval![0]).to.be.lessThan(B);
    expect(greatest.interval![1]).to.be.greaterThan(B);
    expect(answer.quantiles[0]!.envelope.greatest.value).to.be.closeTo(B, 1e-3);
    const probability = answer.requirements[0]!.envelope!;
    expect([probability.least.scenario, probability.greatest.scenario]).to.deep.equal([{ mu: '2' }, { mu: '-1' }]);
    expect(probability.least.value).to.be.closeTo(normalCdf((1 - B) / S), 1 / samples);
    expect(answer.sentence).to.equal('y: mean from -1 (mu=-1) to 2 (mu=2) over 4 cells');
  });

  it('says that its curves are at some of many values, and how much they rise between two of them', () => {
    const thinned = (samples: number, at?: number[]) =>
      outputBox(
        tableOfLevels(2, samples, (sample) => sample),
        { output: 'y', ...(at === undefined ? {} : { at }) },
      );
    const { curve, warnings } = thinned(1025);
    expect([curve.values.length, curve.values[0], curve.values.at(-1)]).to.deep.equal([257, 0, 1024]);
    expect(warnings.find(({ code }) => code === 'curve-thinned')?.message).to.equal(
      'the curves are at 257 of 1025 different values of y: between two of these a share is up to 0.39 % greater than at the lower one; ask with `at` for other values',
    );
    const codes = (box: typeof answers) => box.warnings.map(({ code }) => code);
    const answers = thinned(257);
    expect([answers.curve.values.length, codes(answers)]).to.deep.equal([257, ['epistemic-inner']]);
    expect(codes(thinned(258))).to.include('curve-thinned');
    expect(codes(thinned(1025, [3, 1]))).to.deep.equal(['epistemic-inner']);
  });

  it('takes runs without a value as any, and says which cells have none', () => {
    const box = outputBox(
      tableOfLevels(2, 4, (sample, mu) => (mu === B ? 'crashed' : sample === 0 ? 'timeout' : sample)),
      { output: 'y', at: [0, 2, 3] },
    );
    expect([box.cells, box.cells_without_values]).to.deep.equal([1, 1]);
    expect(box.warnings.map(({ code }) => code)).to.include('cells-without-values');
    expect(box.curve).to.deep.equal({ values: [0, 2, 3], least: [0, 0.5, 0.75], greatest: [0.25, 0.75, 1] });
  });

  it('is of the cells within levels, written as any number that is the same', () => {
    const table = tableOfLevels(4, 10, normal(10));
    const box = outputBox(table, { output: 'y', within: ['mu:2.0'] });
    expect([box.cells, box.within, box.mean!.least.scenario]).to.deep.equal([1, { mu: '2' }, { mu: '2' }]);
    const refused = (within: string[]) => () => outputBox(table, { output: 'y', within });
    expect(refused(['2'])).to.throw(RangeError, 'within is "2", which has no axis; write axis:level, such as mu:-1');
    expect(refused(['nu:2'])).to.throw(
      RangeError,
      'within names "nu", which is not an axis of the study; name one of mu',
    );
    expect(refused(['mu:7'])).to.throw(RangeError, 'within names "7", which is not a level of mu');
    expect(refused(['mu:2', 'mu:-1'])).to.throw(RangeError, 'two levels of mu');
  });

  it('is of one cell for a study without scenarios, whose two curves are one', () => {
    const requirements = [{ name: 'small', output: 'y', condition: '< 2', probability: 0.5 }];
    const box = outputBox(tableOf([1, 2, 2, 3]), { output: 'y', requirements });
    expect([box.cells, box.mean!.least.scenario, box.requirements[0]!.envelope!.greatest.value]).to.deep.equal([
      1,
      {},
      0.25,
    ]);
    expect(box.curve).to.deep.equal({ values: [1, 2, 3], least: [0.25, 0.75, 1], greatest: [0.25, 0.75, 1] });
    expect(box.sentence).to.contain('mean 2; the study has one cell');
    expect(() => outputBox(tableOf([1, 2]), { output: 'y', within: ['mu:2'] })).to.throw(
      RangeError,
      'within is for studies with scenarios or epistemic inputs, and this one has none',
    );
  });

  it('has at most 257 values of a curve, the extremes among them', () => {
    const { curve } = outputBox(tableOfLevels(2, 1000, normal(1000)), { output: 'y' });
    expect(curve.values).to.have.length(257);
    expect([curve.least.at(-1), curve.greatest[0]]).to.deep.equal([1, 0.001]);
  });
});
