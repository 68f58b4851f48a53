/** Axis ranges of plots, and the progress lines of a study. */
import { expect } from 'chai';
import { tsImport } from 'tsx/esm/api';

type Shown = { least: number | null; most: number | null; isFilled: boolean };
type Ends = { size: number; status: Uint8Array; started: Float64Array; ended: Float64Array };

const load = (path: string): Promise<unknown> =>
  tsImport(new URL(`../../../web/src/${path}`, import.meta.url).href, import.meta.url);

describe('web/plots/range', () => {
  let verticalRange: (shown: Shown) => [number, number];
  before(async () => ({ verticalRange } = (await load('plots/range.ts')) as { verticalRange: typeof verticalRange }));

  const ROWS: [what: string, least: number | null, most: number | null, isFilled: boolean, from: number, to: number][] =
    [
      ['nothing', null, null, false, 0, 1],
      ['an area of nothing but 0', 0, 0, true, 0, 1],
      ['a line of nothing but 0', 0, 0, false, 0, 1],
      ['an area far from 0', 18_900, 19_400, true, 0, 20_000],
      ['an area that does not change', 24, 24, true, 0, 30],
      ['an area up to a round number', 0, 2_000, true, 0, 2_000],
      ['an area of small values', 0.0011, 0.0011, true, 0, 0.0015],
      ['a line that is not far from 0', 2, 4, false, 0, 4],
      ['a line far from 0', 2_060, 2_140, false, 2_060, 2_140],
      ['a line far from 0, of less round values', 2_061, 2_143, false, 2_050, 2_150],
      ['a line on both sides of 0', -47.9, 49.3, false, -50, 50],
      ['a line below 0', -7.2, -6.9, false, -7.2, -6.9],
      ['a line that does not change', 5, 5, false, 4.5, 5.5],
      ['a line that does not change, below 0', -5, -5, false, -5.5, -4.5],
      ['an area that reaches below 0', -1, 3, true, -1, 3],
    ];
  for (const [what, least, most, isFilled, from, to] of ROWS) {
    it(`of ${what}: ${from} to ${to}`, () => {
      expect(verticalRange({ least, most, isFilled })).to.deep.equal([from, to]);
    });
  }
});

describe('web/plots/course', () => {
  let paceOf: (table: Ends) => { times: number[]; perMinute: number[]; stepMs: number } | undefined;
  before(async () => ({ paceOf } = (await load('plots/course.ts')) as { paceOf: typeof paceOf }));

  /** Runs that start at 0 and end at these seconds; NaN: not yet. */
  const runs = (...secs: number[]): Ends => ({
    size: secs.length,
    status: new Uint8Array(secs.length).fill(3),
    started: new Float64Array(secs.length),
    ended: Float64Array.from(secs, (it) => it * 1_000),
  });

  it('is undefined before a run has ended', () => {
    expect(paceOf(runs(NaN, NaN))).to.equal(undefined);
  });

  const ROWS: [what: string, ends: number[], stepSecs: number, perMinute: number[]][] = [
    ['one run of 10 s', [10], 10, [6]],
    ['one run of less than a second', [0.5], 1, [60]],
    ['8 runs that end together', [5, 5, 5, 5, 5, 5, 5, 5], 5, [96]],
    ['16 runs, the last at the end of a step', Array.from({ length: 16 }, (_, at) => (at + 1) / 8), 1, [420, 540]],
  ];
  for (const [what, ends, stepSecs, perMinute] of ROWS) {
    it(`counts every end: ${what}`, () => {
      const pace = paceOf(runs(...ends));
      expect(pace?.stepMs).to.equal(stepSecs * 1_000);
      // A step is drawn up to the next time: the last value is repeated.
      expect(pace?.perMinute).to.deep.equal([...perMinute, perMinute.at(-1)]);
    });
  }
});
