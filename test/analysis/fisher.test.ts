/** Fisher's exact test and the runners it finds, against SciPy 1.x `fisher_exact(alternative='greater')`. */
import { expect } from 'chai';
import { failingRunners, LEVEL } from '../../src/analysis/groups/failing-runners.ts';
import { fisherGreater } from '../../src/analysis/groups/fisher.ts';

/** k1, n1, k2, n2 and the p-value of SciPy. */
const REFERENCE: [number, number, number, number, number][] = [
  [3, 5, 1, 20, 0.016205533596837948],
  [8, 10, 2, 40, 3.456000646836066e-6],
  [0, 7, 3, 9, 1],
  [1, 1, 0, 3, 0.25],
  [5, 5, 0, 5, 0.003968253968253969],
  [20, 400, 3, 4000, 1.3093537819655614e-18],
  [120, 1000, 800, 10000, 2.097064927526676e-5],
  [1000, 500000, 800, 500000, 1.3054081958093715e-6],
  [3, 3, 2997, 2997, 1],
  [40, 100, 60, 900, 6.940175420722337e-18],
  [2, 9, 4, 5, 0.997002997002997],
];

describe('analysis/groups/fisher', () => {
  for (const [k1, n1, k2, n2, p] of REFERENCE) {
    it(`gives ${p} for ${k1} of ${n1} against ${k2} of ${n2}`, () => {
      expect(fisherGreater(k1, n1, k2, n2)).to.be.closeTo(p, 2e-10 * p);
    });
  }

  it('adds up to 1 with the tail of the other group and the observed table', () => {
    for (let k1 = 1; k1 < 9; k1++) {
      const atLeast = fisherGreater(k1, 9, 9 - k1, 12);
      expect(fisherGreater(9 - k1 + 1, 12, k1 - 1, 9) + atLeast).to.be.closeTo(1, 1e-12);
    }
  });
});

describe('analysis/groups/failing-runners', () => {
  const runner = (runnerId: string, failed: number, succeeded: number) => ({ runnerId, failed, succeeded });

  it('finds the runner whose attempts fail where others do not', () => {
    const [found, ...others] = failingRunners([runner('a', 1, 99), runner('b', 12, 8), runner('c', 0, 100)]);
    expect(others).to.deep.equal([]);
    expect(found).to.include({ runnerId: 'b', failed: 12, finished: 20, othersFailed: 1, othersFinished: 200 });
    expect(found?.p).to.be.lessThan(1e-9);
  });

  it('finds none where all fail alike, for one runner, or without attempts', () => {
    expect(failingRunners([runner('a', 50, 50), runner('b', 55, 45), runner('c', 10, 0)])).to.deep.equal([]);
    expect(failingRunners([runner('a', 50, 0)])).to.deep.equal([]);
    expect(failingRunners([runner('a', 50, 0), runner('b', 0, 0)])).to.deep.equal([]);
    expect(failingRunners([])).to.deep.equal([]);
  });

  it('adjusts for the number of runners', () => {
    const others = Array.from({ length: 70 }, (_, at) => runner(`o${at}`, 0, 1));
    expect(fisherGreater(2, 2, 0, 70)).to.be.lessThan(LEVEL / 2);
    expect(failingRunners([runner('a', 2, 0), runner('b', 0, 70)])).to.have.lengthOf(1);
    expect(failingRunners([runner('a', 2, 0), ...others])).to.deep.equal([]);
  });

  it('leaves out a difference that is significant and small', () => {
    const [one, two] = [runner('a', 1_500, 98_500), runner('b', 1_000, 99_000)];
    expect(fisherGreater(1_500, 100_000, 1_000, 100_000)).to.be.lessThan(1e-20);
    expect(failingRunners([one, two])).to.deep.equal([]);
  });
});
