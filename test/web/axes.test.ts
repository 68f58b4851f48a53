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

interface Course {
  times: number[];
  completed: number[];
  failed: number[];
}
interface Projected {
  times: number[];
  ended: (number | null)[];
  projection: (number | null)[] | undefined;
}

describe('web/plots/course', () => {
  let courseOf: (table: Ends) => Course | undefined;
  let projected: (course: Course, total: number, endMs: number | undefined) => Projected;
  before(
    async () =>
      ({ courseOf, projected } = (await load('plots/course.ts')) as {
        courseOf: typeof courseOf;
        projected: typeof projected;
      }),
  );

  /** Runs that start at 0 and end at these seconds; NaN: not yet. The last one fails. */
  const runs = (...secs: number[]): Ends => ({
    size: secs.length,
    status: Uint8Array.from(secs, (_, at) => (at === secs.length - 1 ? 4 : 3)),
    started: new Float64Array(secs.length),
    ended: Float64Array.from(secs, (it) => it * 1_000),
  });

  it('is undefined before a run has ended', () => {
    expect(courseOf(runs(NaN, NaN))).to.equal(undefined);
  });

  it('counts every end, completed and failed ones apart', () => {
    const course = courseOf(runs(0.1, 0.2, 1, 2))!;
    expect([course.completed.at(-1), course.failed.at(-1)]).to.deep.equal([3, 1]);
    expect([course.completed[0], course.failed[0]]).to.deep.equal([0, 0]);
  });

  it('is projected from the last end to all runs at the estimated end', () => {
    const course = courseOf(runs(1, 2))!;
    const last = course.times.at(-1)!;
    const { times, ended, projection } = projected(course, 10, (last + 5) * 1_000);
    expect(times.at(-1)).to.equal(last + 5);
    expect(ended.slice(-2)).to.deep.equal([2, null]);
    expect(projection!.slice(-2)).to.deep.equal([2, 10]);
    expect(projection!.slice(0, -2).every((it) => it === null)).to.equal(true);
  });

  it('has no projection without an estimate, nor to a time before the last end', () => {
    const course = courseOf(runs(1, 2))!;
    expect(projected(course, 10, undefined).projection).to.equal(undefined);
    expect(projected(course, 10, 1).projection).to.equal(undefined);
  });
});
