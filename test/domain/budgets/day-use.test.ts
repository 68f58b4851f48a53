/** Core time by UTC day: attempts over midnight, clocks that were set back or ahead. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { charged, coreHours, DAY_MS, dayOf } from '../../../src/domain/budgets/day-use.ts';

const HOUR = 3_600_000;
const D = 20_000;
const at = (day: number, hour: number): number => day * DAY_MS + hour * HOUR;
const attempt = (fromMs: number, toMs: number, cpuMilli = 1_000) => ({ cpuMilli, fromMs, toMs });

describe('domain/budgets/day-use', () => {
  it('counts cores times hours, each part of an attempt on its own day', () => {
    expect(charged({}, attempt(at(D, 1), at(D, 3), 2_500))).to.deep.equal({ [D]: 5 * HOUR });
    expect(charged({ [D]: HOUR }, attempt(at(D, 22), at(D + 1, 1)))).to.deep.equal({ [D]: 3 * HOUR, [D + 1]: HOUR });
    expect(coreHours(3 * HOUR)).to.equal(3);
  });

  it('continues the sum of the day to which a clock is set back, and gives no hours of the other day again', () => {
    const before = charged({}, attempt(at(D, 20), at(D, 23)));
    const after = charged(before, attempt(at(D + 1, 0), at(D + 1, 2)));
    const back = charged(after, attempt(at(D, 21), at(D, 22)));
    expect(back).to.deep.equal({ [D]: 4 * HOUR, [D + 1]: 2 * HOUR });
    expect(charged(back, attempt(at(D + 1, 5), at(D + 1, 6)))[D + 1], 'the day is entered again').to.equal(3 * HOUR);
  });

  it('takes nothing for an attempt that ends before its start, on a clock that was set back', () => {
    expect(charged({ [D]: 7 }, attempt(at(D, 9), at(D, 8)))).to.deep.equal({ [D]: 7 });
  });

  it('keeps the days nearest to the clock, so that a year ahead neither takes hours for ever nor loses those of today', () => {
    const today = charged({}, attempt(at(D, 1), at(D, 3)));
    const leapt = charged(today, attempt(at(D + 365, 1), at(D + 365, 2)));
    expect(charged(leapt, attempt(at(D, 4), at(D, 5)))).to.deep.equal({ [D]: 3 * HOUR, [D + 365]: HOUR });
    let use = today;
    for (let day = D + 1; day <= D + 20; day += 1) use = charged(use, attempt(at(day, 1), at(day, 2)));
    expect(Object.keys(use).map(Number)).to.deep.equal([13, 14, 15, 16, 17, 18, 19, 20].map((it) => D + it));
  });

  it('adds up to cores times the time, however an attempt lies to midnight', () => {
    const times = fc.integer({ min: at(D, 0), max: at(D + 6, 0) });
    fc.assert(
      fc.property(times, times, fc.integer({ min: 1, max: 64 }), (a, b, cores) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        const use = charged({}, attempt(from, to, cores * 1_000));
        const sum = Object.values(use).reduce((total, it) => total + it, 0);
        expect(sum).to.equal(cores * (to - from));
        expect(Object.keys(use).every((day) => Number(day) >= dayOf(from) && Number(day) <= dayOf(to))).to.equal(true);
      }),
    );
  });
});
