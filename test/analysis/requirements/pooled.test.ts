import { expect } from 'chai';
import fc from 'fast-check';
import type { Requirement } from '../../../src/contract/types.ts';
import { CountedValues, lowerMean, upperMean } from '../../../src/analysis/requirements/cells/pooled.ts';
import { planningWarnings, runsNeeded } from '../../../src/analysis/requirements/planning.ts';
import { judgeRequirement } from '../../../src/analysis/requirements/judge.ts';
import { judgeTable } from '../../../src/analysis/requirements/judge-table.ts';
import { upperBound } from '../../../src/analysis/special/exact-bounds.ts';
import { Cells } from '../../../src/domain/scenarios/cells.ts';
import { type Run, tableOf } from '../tables.ts';

const SITES = new Cells({ site: { a: {}, b: {} } });

/** A table of samples, each with a run in the two cells. */
const sampled = (samples: readonly (readonly [Run, Run])[]) =>
  tableOf(samples.flat(), { method: 'scenarios', cells: { cells: SITES, method: 'monte_carlo' } });

const pooled = (more: Partial<Requirement> = {}): Requirement => ({
  name: 'near',
  output: 'y',
  condition: '< 1',
  probability: 0.8,
  in: 'pooled',
  ...more,
});

const valuesOf = (values: readonly number[]): CountedValues => {
  const counted = new CountedValues();
  for (const it of values) counted.add(it);
  return counted;
};

describe('analysis/requirements/pooled', () => {
  it('estimates the weighted share of the cells, whatever cells a sample passes', () => {
    const samples = Array.from({ length: 400 }, (_, at): [Run, Run] => [at % 10 === 0 ? 9 : 0, at % 2 === 0 ? 9 : 0]);
    const equal = judgeRequirement(sampled(samples), pooled());
    expect(equal.estimate).to.be.closeTo((0.9 + 0.5) / 2, 1e-9);
    expect([equal.in, equal.verdict, equal.cells!.met]).to.deep.equal(['pooled', 'violated', 1]);
    const weighted = judgeRequirement(sampled(samples), pooled({ weights: { site: { a: 19, b: 1 } } }));
    expect(weighted.estimate).to.be.closeTo(0.95 * 0.9 + 0.05 * 0.5, 1e-9);
    expect(weighted.verdict).to.equal('met');
    expect(weighted.sentence).to.contain('from 400 samples of 2 cells');
    expect(weighted.lower).to.be.above(0.8).and.below(weighted.estimate!);
    expect(weighted.upper).to.be.above(weighted.estimate!);
  });

  it('is planned by the samples that show it when some of them fail in every cell', () => {
    const needed = runsNeeded({ requirements: [pooled()] }, 100)[0]!;
    expect([needed.pooled, needed.can_be_met]).to.deep.equal([true, true]);
    for (const [failures, samples] of needed.runs_needed.entries()) {
      const verdictOf = (count: number): unknown => {
        const runs = Array.from({ length: count }, (_, at): [Run, Run] => (at < failures ? [9, 9] : [0, 0]));
        return judgeRequirement(sampled(runs), pooled()).verdict;
      };
      expect([verdictOf(samples!), verdictOf(samples! - 1)]).to.deep.equal(['met', 'not-shown']);
    }
    const [warning] = planningWarnings({ requirements: [pooled()] }, needed.runs_needed[0]! - 1);
    expect(warning!.detail).to.contain(`takes ${needed.runs_needed[0]} samples without a failure`);
  });

  it('counts a sample with an unknown cell against either bound, and is open while a run is', () => {
    const clean = Array.from({ length: 100 }, (): [Run, Run] => [0, 0]);
    const whole = judgeRequirement(sampled(clean), pooled());
    const hurt = judgeRequirement(sampled([...clean.slice(1), [0, 'crashed']]), pooled());
    expect([whole.upper, hurt.upper, hurt.estimate]).to.deep.equal([1, 1, 1]);
    expect(hurt.lower).to.be.below(whole.lower);
    expect(hurt.sentence).to.contain('1 of them with unknown cells');
    const failing = Array.from({ length: 100 }, (): [Run, Run] => [9, 9]);
    const unknown = judgeRequirement(sampled([...failing.slice(1), [9, 'lost']]), pooled());
    expect(unknown.upper).to.be.above(judgeRequirement(sampled(failing), pooled()).upper);
    expect(judgeRequirement(sampled([...clean, [0, 'open']]), pooled()).verdict).to.equal('open');
  });

  it('has bounds that exact enumeration finds wrong at most as often as the confidence allows', () => {
    // Two cells that pass with 0.9 and 0.6, dependent on each other: Z is 1, 1/2 or 0.
    const chances = [0.55, 0.4, 0.05];
    const mean = chances[0]! + chances[1]! / 2;
    const n = 24;
    const factorial = (k: number): number => (k < 2 ? 1 : k * factorial(k - 1));
    for (const confidence of [0.8, 0.95]) {
      const wrong = { lower: 0, upper: 0 };
      for (let one = 0; one <= n; one++)
        for (let half = 0; one + half <= n; half++) {
          const zero = n - one - half;
          const p =
            (factorial(n) / (factorial(one) * factorial(half) * factorial(zero))) *
            chances[0]! ** one *
            chances[1]! ** half *
            chances[2]! ** zero;
          const counted = valuesOf([
            ...Array(one).fill(1),
            ...Array(half).fill(0.5),
            ...Array(zero).fill(0),
          ] as number[]);
          if (lowerMean(counted, confidence) > mean) wrong.lower += p;
          if (upperMean(counted, confidence) < mean) wrong.upper += p;
        }
      expect(wrong.lower).to.be.at.most(1 - confidence);
      expect(wrong.upper).to.be.at.most(1 - confidence);
      expect(wrong.lower + wrong.upper).to.be.above(0);
    }
  });

  it('has bounds on either side of the mean, that mirror each other', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 60 }), (values) => {
        const [counted, mirrored] = [valuesOf(values), valuesOf(values.map((it) => 1 - it))];
        const mean = counted.sum / counted.count;
        const [low, high] = [lowerMean(counted, 0.9), upperMean(counted, 0.9)];
        expect(low).to.be.within(0, mean + 1e-9);
        expect(high).to.be.within(mean - 1e-9, 1);
        expect(1 - upperMean(mirrored, 0.9)).to.be.closeTo(low, 1e-6);
      }),
    );
  });

  it('bounds the worst cell from above with the correction for the number of cells', () => {
    const samples = Array.from({ length: 60 }, (_, at): [Run, Run] => [0, at < 50 ? 0 : 9]);
    const worst = judgeRequirement(sampled(samples), pooled({ in: 'worst' }));
    const alone = judgeTable(tableOf(samples.map(([, it]) => it)), pooled({ in: 'each' }));
    expect([worst.in, worst.estimate, worst.lower]).to.deep.equal(['worst', alone.estimate, alone.lower]);
    expect(worst.upper)
      .to.equal(upperBound(50, 60, 0.975))
      .and.above(alone.upper);
  });

  it('refuses cells of a table without scenarios', () => {
    expect(() => judgeRequirement(tableOf([1]), pooled())).to.throw(RangeError, 'in is for studies with scenarios');
  });
});
