/** Tolerance bands of whole curves: worked examples, the plain definition on drawn matrices, and why there is none. */
import { expect } from 'chai';
import fc from 'fast-check';
import { type BandRequest, type CurveBand, bandOf } from '../../../src/analysis/band/band.ts';
import { type CurveRun, anyCurves, curvesOf, plainBinomial, plainQuantile } from './curves.ts';
import { uniformSource } from '../synthetic.ts';

const NO = Number.NaN;
const REQUEST: BandRequest = { quantiles: [], confidence: 0.95, coverage: 0.9 };

const band = (runs: readonly CurveRun[], points: number, request: Partial<BandRequest> = {}): Promise<CurveBand> =>
  bandOf(curvesOf(runs, points), { ...REQUEST, ...request });

/** Fails where there is none. */
function given({ tolerance }: CurveBand) {
  if ('reason' in tolerance) throw new Error(tolerance.reason);
  return tolerance;
}

function absent({ tolerance }: CurveBand) {
  if (!('reason' in tolerance)) throw new Error('there is a band');
  return tolerance;
}

/** Even runs are -1, -0.9, ... 1 times `shape`, and odd ones `scales` times it. */
const scaled = (scales: readonly number[], shape: readonly number[]): CurveRun[] =>
  scales.flatMap((scale, i) => {
    const even = -1 + (2 * i) / (scales.length - 1);
    return [shape.map((it) => even * it), shape.map((it) => scale * it)];
  });

describe('analysis/band/tolerance', () => {
  it('is the centre and the half-widths of the even runs, times the score of an odd run', async () => {
    // Even runs: P5 is -0.9, P95 is 0.9 of the shape.
    const scales = Array.from({ length: 61 }, (_, i) => i / 30);
    const found = await band(scaled(scales, [1, 2, 10]), 3);
    const { n, rank, score, lower, upper } = given(found);
    expect([n, rank]).to.deep.equal([61, 59]);
    expect(score).to.be.closeTo(58 / 30 / 0.9, 1e-12);
    for (const [at, width] of [0.9, 1.8, 9].entries()) {
      expect(lower[at]).to.be.closeTo(-score * width, 1e-12);
      expect(upper[at]).to.be.closeTo(score * width, 1e-12);
    }
    expect(found.outlying.map((it) => it.row)).to.deep.equal([121, 119, 117, 115, 113]);
    expect(found.outlying[0]!.score).to.be.closeTo(2 / 0.9, 1e-12);
  });

  it('has half-widths of at least 5 % of the greatest', async () => {
    const { lower, upper, score } = given(await band(scaled(Array<number>(41).fill(0.5), [0, 0.01, 1]), 3));
    expect(upper[0]! / score).to.be.closeTo(0.045, 1e-12);
    expect(upper[1]! / score).to.be.closeTo(0.045, 1e-12);
    expect(upper[2]! / score).to.be.closeTo(0.9, 1e-12);
    expect(lower[0]).to.equal(-upper[0]!);
  });

  it('is wider on the side to which the even runs spread', async () => {
    const runs = Array.from({ length: 82 }, (_, i) => [i % 2 === 0 ? (i / 80) ** 4 : 0]);
    const outside = runs.map((it, i) => (i === 1 || i === 3 || i === 5 ? [-0.1] : it));
    const { lower, upper, score } = given(await band(outside, 1));
    const median = 0.5 ** 4;
    expect(score * (median - 0.05 ** 4)).to.be.closeTo(median - lower[0]!, 1e-12);
    expect(score * (0.95 ** 4 - median)).to.be.closeTo(upper[0]! - median, 1e-12);
  });

  it('is a line where all runs agree', async () => {
    const { lower, upper, score } = given(
      await band(
        Array.from({ length: 58 }, (): CurveRun => [3, 4]),
        2,
      ),
    );
    expect([score, [...lower], [...upper]]).to.deep.equal([0, [3, 4], [3, 4]]);
  });

  it('is given where 90 % of the completed even runs have a value', async () => {
    // 30 even runs; the last 3 lack the second point, the last 4 the third one.
    const runs = Array.from({ length: 60 }, (_, i): CurveRun => {
      const place = i % 2 === 0 ? i / 2 : 0;
      return [i, place >= 27 ? NO : i, place >= 26 ? NO : i];
    });
    const { lower } = given(await band(runs, 3));
    expect([...lower].map((it) => Number.isNaN(it))).to.deep.equal([false, false, true]);
  });

  it('does not look at an odd run where the band is not given', async () => {
    const runs = Array.from({ length: 60 }, (_, i): CurveRun => (i % 2 === 0 ? [i, NO] : [30, 1e9]));
    const found = await band(runs, 2);
    expect(given(found).score).to.be.below(0.1);
    const late = runs.map((it, i): CurveRun => (i % 2 === 0 ? it : [NO, 5]));
    expect(given(await band(late, 2)).score, 'a run with values there alone stays inside').to.equal(0);
  });

  it('takes the least rank with the confidence', async () => {
    for (const [n, coverage, confidence, rank] of [
      // scipy.stats.beta.sf(coverage, k, n - k + 1) >= confidence
      [29, 0.9, 0.95, 29],
      [30, 0.9, 0.95, 30],
      [100, 0.9, 0.95, 96],
      [500, 0.9, 0.95, 462],
      [5000, 0.9, 0.95, 4536],
      [100, 0.5, 0.9, 57],
      [300, 0.99, 0.95, 300],
      [1000, 0.95, 0.99, 966],
    ] as const) {
      const found = await band(
        Array.from({ length: 2 * n }, (): CurveRun => [1]),
        1,
        { coverage, confidence },
      );
      expect(given(found), `${n} odd runs`).to.include({ n, rank });
    }
  });

  const fine = (count: number): CurveRun[] => Array.from({ length: count }, (_, i) => [i % 7]);
  const replaced = (runs: CurveRun[], by: CurveRun, places: readonly number[]): CurveRun[] =>
    runs.map((it, i) => (places.includes(i) ? by : it));

  it('is finite as long as failed runs and runs without a value are after the rank', async () => {
    // Of 100 odd runs the rank is 96: four may be infinite.
    const four: CurveRun[] = replaced(replaced(fine(200), 'failed', [1, 3]), [NO], [5, 7]);
    expect(given(await band(four, 1)).score).to.be.finite;
    const { reason, runsNeeded } = absent(await band(replaced(four, 'failed', [9]), 1));
    expect(reason).to.equal(
      '5 of the 100 runs with an odd id failed, have no value or leave a centre that has no width, and the band has to leave out 4 at most: with this share of them it takes about 258 runs in all',
    );
    expect(runsNeeded).to.equal(258);
    expect(given(await band(replaced(four, 'failed', [0, 2, 4]), 1)).n, 'failed even runs have no part').to.equal(100);
  });

  it('says why there is none, and how many runs it takes', async () => {
    const odd = Array.from({ length: 100 }, (_, i) => 2 * i + 1);
    const cases: [string, readonly CurveRun[], RegExp, number | null][] = [
      ['no run', [], /no run with an odd id/, 58],
      ['one run', fine(1), /no run with an odd id/, 58],
      ['57 runs', fine(57), /^28 runs have an odd id.* 29 of them: 58 runs in all$/, 58],
      [
        'no even run',
        replaced(
          fine(200),
          'failed',
          odd.map((it) => it - 1),
        ),
        /no run with an even id has completed/,
        58,
      ],
      [
        'no value',
        Array.from({ length: 200 }, (): CurveRun => [NO]),
        /at no point do 90 % of the 100 completed runs/,
        null,
      ],
      ['many failures', replaced(fine(200), 'failed', odd.slice(0, 20)), /more runs give none either/, null],
      [
        'no width',
        replaced(
          Array.from({ length: 200 }, (): CurveRun => [1]),
          [2],
          odd,
        ),
        /centre that has no width/,
        null,
      ],
    ];
    for (const [name, runs, reason, needed] of cases) {
      const found = absent(await band(runs, 1));
      expect(found.reason, name).to.match(reason);
      expect(found.runsNeeded, name).to.equal(needed);
    }
    const even = await bandOf(curvesOf(fine(3), 1, [1, 3, 5]), REQUEST);
    expect(absent(even).reason).to.match(/no run with an even id/);
  });

  it('gives a band with the number of runs that it says', async () => {
    const some = (count: number): CurveRun[] =>
      replaced(
        fine(count),
        'failed',
        Array.from({ length: Math.ceil(0.05 * (count / 2)) }, (_, i) => 2 * i + 1),
      );
    const { runsNeeded } = absent(await band(some(200), 1));
    expect(given(await band(some(runsNeeded!), 1)).n).to.equal(runsNeeded! / 2);
    absent(await band(some(runsNeeded! - 2), 1));
  });

  it('agrees with the plain definition', () =>
    fc.assert(
      fc.asyncProperty(
        anyCurves,
        fc.constantFrom(0.3, 0.5, 0.8),
        fc.constantFrom(0.5, 0.8),
        async ({ points, runs, runIds, most }, coverage, confidence) => {
          const found = await bandOf(curvesOf(runs, points, runIds), { quantiles: [], confidence, coverage }, most);
          const { outlying, band: plain } = plainBand(runs, runIds, points, coverage, confidence);
          const completed = runIds.filter((_, row) => runs[row] !== 'failed');
          expect(found.outlying.map((it) => completed[it.row])).to.deep.equal(outlying);
          if (plain === undefined) return void absent(found);
          const { lower, upper } = given(found);
          for (const [at, ends] of plain.entries()) {
            const own = [lower[at]!, upper[at]!];
            if (ends === undefined) expect(own).to.deep.equal([NO, NO]);
            else for (const side of [0, 1] as const) expect(own[side]).to.be.closeTo(ends[side], 1e-9);
          }
        },
      ),
    ));

  it('holds the coverage with the confidence', async () => {
    // Lines with a uniform slope: the content of a band is known exactly, and its probability to be at least 0.8 too.
    const uniform = uniformSource(5);
    const studies = 400;
    let held = 0;
    for (let study = 0; study < studies; study++) {
      const runs = Array.from({ length: 60 }, (): CurveRun => {
        const slope = uniform();
        return [0, slope, 2 * slope];
      });
      const { lower, upper } = given(await band(runs, 3, { coverage: 0.8, confidence: 0.9 }));
      if (Math.min(1, upper[1]!) - Math.max(0, lower[1]!) >= 0.8) held++;
    }
    // 30 odd runs, rank 28: P(Beta(28, 3) >= 0.8) = 0.956.
    expect(held / studies).to.be.within(0.925, 0.985);
  });
});

/** The definition, without blocks, buffers or searches. Undefined: there is no band. */
function plainBand(
  runs: readonly CurveRun[],
  runIds: readonly number[],
  points: number,
  coverage: number,
  confidence: number,
): { outlying: number[]; band: ([number, number] | undefined)[] | undefined } {
  const every = Array.from({ length: points }, (_, at) => at);
  const even = runs.filter((it, i) => runIds[i]! % 2 === 0 && it !== 'failed') as (readonly number[])[];
  const shape = every.map((at) => {
    const values = even.map((it) => it[at]!).filter((it) => !Number.isNaN(it));
    if (values.length === 0 || values.length < 0.9 * even.length) return undefined;
    const m = plainQuantile(values, 0.5);
    return { m, a: m - plainQuantile(values, 0.05), b: plainQuantile(values, 0.95) - m };
  });
  const greatest = Math.max(0, ...shape.flatMap((it) => (it === undefined ? [] : [it.a, it.b])));
  const widths = shape.map(
    (it) => it && { m: it.m, a: Math.max(it.a, greatest / 20), b: Math.max(it.b, greatest / 20) },
  );
  const scored = runs.map((run, i) => {
    const runId = runIds[i]!;
    if (run === 'failed' || run.every((it) => Number.isNaN(it))) return { runId, score: Infinity, hasValue: false };
    const distances = every.map((at) => {
      const [it, y] = [widths[at], run[at]!];
      if (it === undefined || Number.isNaN(y) || y === it.m) return 0;
      return y > it.m ? (y - it.m) / it.b : (it.m - y) / it.a;
    });
    return { runId, score: Math.max(...distances), hasValue: true };
  });
  const isGiven = shape.some((it) => it !== undefined);
  const farthest = scored.filter((it) => isGiven && it.hasValue).sort((a, b) => b.score - a.score || a.runId - b.runId);
  const outlying = farthest.slice(0, 5).map((it) => it.runId);
  const scores = scored.filter((it) => it.runId % 2 === 1).map((it) => it.score);
  scores.sort((a, b) => a - b);
  const n = scores.length;
  // P(Beta(k, n - k + 1) >= coverage) = P(B(n, coverage) <= k - 1).
  const k = scores.findIndex((_, i) => plainBinomial(i, n, coverage) >= confidence - 1e-12);
  const s = scores[k];
  if (s === undefined || s === Infinity || !isGiven) return { outlying, band: undefined };
  return { outlying, band: widths.map((it) => it && [it.m - s * it.a, it.m + s * it.b]) };
}
