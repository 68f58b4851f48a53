import { expect } from 'chai';
import fc from 'fast-check';
import { LIMITS } from '../../../../src/contract/limits.ts';
import { LiveSeries } from '../../../../src/runner/telemetry/live/series.ts';
import { times } from '../../../support/properties.ts';

type Given = readonly (readonly [time: number, value: number])[];

const MOST = 8;
const value = fc.double({ noNaN: true, noDefaultInfinity: true });
const anyTime = fc.double({ noNaN: true, min: -1e10, max: 1e10 });

function seriesOf(given: Given, most = MOST): LiveSeries {
  const series = new LiveSeries(most);
  for (const [time, at] of given) series.take(time, at);
  return series;
}

/** Gaps of very different lengths, zero among them: uneven steps, pauses, several values at one time. */
const ascending: fc.Arbitrary<Given> = fc
  .array(fc.tuple(fc.oneof(fc.constant(0), fc.constant(1e-3), fc.double({ min: 0, max: 1e6, noNaN: true })), value), {
    minLength: 1,
    maxLength: 200,
  })
  .map((steps) => {
    let now = 0;
    return steps.map(([gap, at]) => [(now += gap), at]);
  });
const unordered: fc.Arbitrary<Given> = fc.array(fc.tuple(anyTime, value), { minLength: 1, maxLength: 200 });
const toAndFro: fc.Arbitrary<Given> = fc
  .array(value, { minLength: 1, maxLength: 200 })
  .map((values) => values.map((at, index) => [index % 2, at]));

const kinds = { ascending, unordered, 'to and fro': toAndFro };

describe('runner/telemetry/live/series', () => {
  for (const [name, given] of Object.entries(kinds)) {
    describe(`with times that are ${name}`, () => {
      const holds = (judge: (given: Given, series: LiveSeries) => void): void => {
        fc.assert(
          fc.property(given, (it) => judge(it, seriesOf(it))),
          { numRuns: times(300) },
        );
      };

      it('keeps the least, the greatest, the first and the latest value, at their times', () => {
        holds((it, series) => {
          const { time_s, values } = series.points();
          const kept = new Set(values.map((at, index) => `${String(time_s[index])} ${String(at)}`));
          const numbers = it.map(([, at]) => at);
          expect(Math.min(...values)).to.equal(Math.min(...numbers));
          expect(Math.max(...values)).to.equal(Math.max(...numbers));
          for (const [time, at] of [it[0]!, it.at(-1)!]) expect(kept).to.include(`${String(time)} ${String(at)}`);
        });
      });

      it('has points that all came, at most two for each span and two more', () => {
        holds((it, series) => {
          const came = new Set(it.map(([time, at]) => `${String(time)} ${String(at)}`));
          const { time_s, values } = series.points();
          expect(values)
            .to.have.lengthOf(time_s.length)
            .and.length.at.most(2 * MOST + 2);
          for (const [index, at] of values.entries()) expect(came).to.include(`${String(time_s[index])} ${String(at)}`);
        });
      });

      it('returns points in the order of time', () => {
        holds((_, series) => {
          const { time_s } = series.points();
          expect(time_s).to.deep.equal(time_s.toSorted((a, b) => a - b));
        });
      });

      it('returns the same points however often it is asked, and counts every value', () => {
        holds((it, series) => {
          expect(series.points()).to.deep.equal(series.points());
          expect(series.count).to.equal(it.length);
        });
      });
    });
  }

  it('shows a spike of one sample at any place among a million', () => {
    for (const place of [0, 1, 77_777, 500_000, 999_998, 999_999]) {
      const series = new LiveSeries();
      for (let index = 0; index < 1_000_000; index++) series.take(index * 1e-3, index === place ? 42 : Math.sin(index));
      const { time_s, values } = series.points();
      expect(values).to.have.length.at.most(LIMITS.livePoints);
      expect(time_s[values.indexOf(42)]).to.equal(place * 1e-3);
      // Even samples fill at least a quarter of the points.
      expect(values).to.have.length.at.least(LIMITS.livePoints / 4);
    }
  });

  it('divides the time evenly, however unevenly the samples come', () => {
    const series = new LiveSeries(64);
    for (let index = 0; index < 100_000; index++) series.take(index * 1e-5, index);
    for (let second = 2; second < 1_000; second++) series.take(second, second);
    const { time_s } = series.points();
    for (let from = 100; from < 1_000; from += 100) {
      expect(time_s.filter((it) => it >= from && it < from + 100).length, String(from)).to.be.within(4, 30);
    }
  });

  it('keeps every value while they are few', () => {
    const given: Given = Array.from({ length: MOST }, (_, index) => [index, -index]);
    expect(seriesOf(given).points()).to.deep.equal({
      time_s: given.map(([it]) => it),
      values: given.map(([, it]) => it),
    });
  });

  it('counts values that are not finite, and shows none of them', () => {
    const series = seriesOf([
      [0, NaN],
      [1, Infinity],
      [2, 7],
      [3, -Infinity],
    ]);
    expect([series.count, series.notFinite]).to.deep.equal([4, 3]);
    expect(series.points()).to.deep.equal({ time_s: [2], values: [7] });
    expect(new LiveSeries().points()).to.deep.equal({ time_s: [], values: [] });
  });

  it('counts how often the time ran backwards', () => {
    const series = seriesOf([
      [0, 1],
      [5, 2],
      [0, 3],
      [1, 4],
      [0.5, 5],
    ]);
    expect(series.reversals).to.equal(2);
    expect(series.points()).to.deep.equal({ time_s: [0, 0, 0.5, 1, 5], values: [1, 3, 5, 4, 2] });
  });
});
