import { expect } from 'chai';
import * as fc from 'fast-check';
import {
  counted,
  EMPTY_WINDOW,
  isStale,
  jobsPerMinute,
  minutesLeft,
  type RateWindow,
} from '../../../src/domain/runs/progress.ts';

const NOW = 1_000_000_000_000;

/** Returns a window with `perSecond` ends a second for some seconds up to NOW. */
function steady(perSecond: number, seconds: number): RateWindow {
  let window = EMPTY_WINDOW;
  for (let ago = seconds; ago > 0; ago -= 1) window = counted(window, perSecond, NOW - ago * 1000);
  return window;
}

describe('domain/runs/progress', () => {
  it('returns the rate of the last minute once enough runs ended, and of the whole study before', () => {
    const table: [string, Parameters<typeof jobsPerMinute>[0], number][] = [
      ['not begun', { ended: 0, remaining: 5, startedAtMs: undefined, window: EMPTY_WINDOW }, 0],
      ['over', { ended: 5, remaining: 0, startedAtMs: NOW - 60_000, window: steady(1, 60) }, 0],
      ['slow: the whole study', { ended: 6, remaining: 5, startedAtMs: NOW - 180_000, window: EMPTY_WINDOW }, 2],
      ['steady', { ended: 600, remaining: 5, startedAtMs: NOW - 600_000, window: steady(1, 600) }, 60],
      ['faster of late', { ended: 120, remaining: 5, startedAtMs: NOW - 600_000, window: steady(2, 60) }, 120],
      ['young', { ended: 20, remaining: 5, startedAtMs: NOW - 10_000, window: steady(2, 10) }, 120],
    ];
    for (const [name, progress, rate] of table) {
      expect(jobsPerMinute(progress, NOW), name).to.be.closeTo(rate, rate * 0.1);
    }
  });

  it('drops counts older than its window', () => {
    const window = steady(5, 60);
    expect(isStale(window, NOW)).to.equal(false);
    // The last end was in the slot of 5 s before NOW.
    expect(isStale(window, NOW + 54_999)).to.equal(false);
    expect(isStale(window, NOW + 55_000)).to.equal(true);
    const progress = { ended: 300, remaining: 1, startedAtMs: NOW - 60_000, window };
    expect(jobsPerMinute(progress, NOW + 240_000), 'the whole study again').to.equal(60);
  });

  it('returns the minutes left, rounded up, within an int32', () => {
    const table: [remaining: number, rate: number, minutes: number | undefined][] = [
      [0, 0, 0],
      [0, 5, 0],
      [10, 0, undefined],
      [10, 10, 1],
      [11, 10, 2],
      [1, 1000, 1],
      [2 ** 31, 0.01, 2 ** 31 - 1],
    ];
    for (const [remaining, rate, minutes] of table) expect(minutesLeft(remaining, rate)).to.equal(minutes);
  });

  it('never loses an end within the window, and gives finite rates for any clock', () => {
    const steps = fc.array(fc.record({ ms: fc.integer({ min: -20_000, max: 20_000 }), ended: fc.nat(5) }), {
      maxLength: 50,
    });
    fc.assert(
      fc.property(steps, (events) => {
        let window = EMPTY_WINDOW;
        let now = NOW;
        let sum = 0;
        for (const { ms, ended } of events) {
          now += ms;
          window = counted(window, ended, now);
          sum += ended;
        }
        expect(window.counts.length).to.be.at.most(12);
        const kept = window.counts.reduce((a, b) => a + b, 0);
        expect(kept).to.be.at.most(sum);
        const rate = jobsPerMinute({ ended: sum, remaining: 1, startedAtMs: NOW, window }, now);
        expect(Number.isFinite(rate) && rate >= 0).to.equal(true);
      }),
    );
  });
});
