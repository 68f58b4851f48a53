/** The time left of simulated studies: the share of intervals that contain the true time; stragglers. */
import { expect } from 'chai';
import { remainingEnds, remainingTime, type RemainingWork } from '../../src/analysis/remaining-time.ts';
import { stragglerLimit } from '../../src/analysis/run-durations.ts';
import { uniformSource } from './synthetic.ts';

function estimateOf({ ages, ...rest }: RemainingWork) {
  const work = { ...rest, ages: ages.toSorted((a, b) => b - a) };
  return remainingTime(work, [...remainingEnds(work)]);
}

type Draw = (uniform: () => number) => number;

const normal: Draw = (u) => Math.sqrt(-2 * Math.log(1 - u())) * Math.cos(2 * Math.PI * u());
const FAMILIES: Record<string, Draw> = {
  exponential: (u) => -100 * Math.log(1 - u()),
  lognormal: (u) => 100 * Math.exp(0.5 * normal(u)),
  uniform: (u) => 50 + 100 * u(),
  normal: (u) => 100 * (1 + 0.05 * normal(u)),
  'of two kinds': (u) => (u() < 0.1 ? 500 : 50),
};

/** A study on slots that are never idle, seen when a share of its runs has ended; and the time that is really left. */
function studyAt(draw: Draw, runs: number, slots: number, share: number, u: () => number): [RemainingWork, number] {
  const free = Array.from({ length: slots }, () => 0);
  const all = Array.from({ length: runs }, () => {
    const slot = free.indexOf(Math.min(...free));
    const start = free[slot]!;
    const end = start + draw(u);
    free[slot] = end;
    return { start, end };
  });
  const byEnd = all.toSorted((a, b) => a.end - b.end);
  const now = byEnd[Math.floor(share * runs) - 1]!.end;
  const ended = byEnd.filter(({ end }) => end <= now);
  const work = {
    finished: ended.slice(-256).map(({ start, end }) => end - start),
    finishedCount: ended.length,
    ages: all.filter(({ start, end }) => start <= now && end > now).map(({ start }) => now - start),
    waiting: all.filter(({ start }) => start > now).length,
  };
  return [work, byEnd.at(-1)!.end - now];
}

describe('analysis/remaining-time', () => {
  for (const [name, draw] of Object.entries(FAMILIES)) {
    it(`contains the true time in about 80 % of studies with ${name} durations`, () => {
      const uniform = uniformSource(7);
      let [inside, all] = [0, 0];
      for (const [runs, slots, share] of [
        [100, 1, 0.3],
        [100, 4, 0.5],
        [100, 4, 0.95],
        [400, 20, 0.9],
      ] as const) {
        for (let study = 0; study < 60; study++) {
          const [work, left] = studyAt(draw, runs, slots, share, uniform);
          const estimate = estimateOf(work)!;
          expect(estimate.low).to.be.at.most(estimate.median);
          expect(estimate.median).to.be.at.most(estimate.high);
          all += 1;
          if (left >= estimate.low * 0.999 && left <= estimate.high * 1.001) inside += 1;
        }
      }
      expect(inside / all).to.be.within(0.65, 0.95);
    });
  }

  it('gives the time that is left where all runs take the same time', () => {
    const estimate = estimateOf({ finished: [10, 10, 10, 10, 10, 10], finishedCount: 6, ages: [4, 8], waiting: 0 })!;
    expect([estimate.low, estimate.median]).to.deep.equal([6, 6]);
    expect(estimate.high).to.be.within(6, 16);
  });

  it('gives the same answer for the same runs', () => {
    const work = { finished: [10, 12, 9, 14, 30, 11], finishedCount: 6, ages: [4, 8], waiting: 20 };
    expect(estimateOf(work)).to.deep.equal(estimateOf(work));
  });

  it('widens for a run that takes longer than all before it', () => {
    const finished = [10, 10, 11, 9, 10, 10, 10, 11, 9, 10];
    const usual = estimateOf({ finished, finishedCount: 10, ages: [5], waiting: 0 })!;
    const straggling = estimateOf({ finished, finishedCount: 10, ages: [500], waiting: 0 })!;
    expect(straggling.high - straggling.low).to.be.greaterThan(10 * (usual.high - usual.low));
  });

  it('is 0 when nothing is left, and unknown while too little has ended or nothing executes', () => {
    const none = { finished: [], finishedCount: 0, ages: [], waiting: 0 };
    expect(estimateOf(none)).to.deep.equal({ low: 0, median: 0, high: 0 });
    expect(estimateOf({ ...none, waiting: 3 })).to.equal(undefined);
    expect(estimateOf({ finished: [1, 2, 3, 4], finishedCount: 4, ages: [1], waiting: 1 })).to.equal(undefined);
    const ages = [1, 1, 1, 1, 1, 1, 1];
    expect(estimateOf({ finished: [1, 2, 3, 4, 5], finishedCount: 5, ages, waiting: 0 })).to.equal(undefined);
  });

  it('takes durations of 0, and studies of any size', () => {
    const zero = estimateOf({ finished: [0, 0, 0, 0, 0], finishedCount: 5, ages: [0], waiting: 10 })!;
    expect(zero.high).to.be.closeTo(0, 1e-9);
    const finished = Array.from({ length: 256 }, (_, at) => 100 + (at % 17));
    const ages = Array.from({ length: 5_000 }, (_, at) => at % 100);
    const { low, median, high } = estimateOf({ finished, finishedCount: 1e6, ages, waiting: 1e6 })!;
    expect(median / ((1e6 * 108) / 5_000)).to.be.within(0.99, 1.05);
    expect(low).to.be.within(0.98 * median, median);
    expect(high).to.be.within(median, 1.05 * median);
  });

  it('calls a run a straggler beyond three times the median', () => {
    expect(stragglerLimit([5, 1, 2])).to.equal(6);
    expect(stragglerLimit([4, 1, 2, 3])).to.equal(7.5);
    expect(stragglerLimit([])).to.equal(undefined);
  });
});
