/** Statistics of curves at each point: a worked table, and the plain definitions on drawn matrices. */
import { expect } from 'chai';
import fc from 'fast-check';
import { type BandRequest, bandOf } from '../../../src/analysis/band/band.ts';
import { CurveBlocks, blockWidth } from '../../../src/analysis/band/curves.ts';
import { type CurveRun, anyCurves, curvesOf, plainBinomial, plainQuantile } from './curves.ts';

const NO = Number.NaN;
const REQUEST: BandRequest = { quantiles: [0, 0.25, 0.5, 1], confidence: 0.9, coverage: 0.9 };

const statistics = async (runs: readonly CurveRun[], points: number, request: Partial<BandRequest> = {}) =>
  (await bandOf(curvesOf(runs, points), { ...REQUEST, ...request })).points;

describe('analysis/band/points', () => {
  it('has the statistics of the runs that have a value at each point', async () => {
    const found = await statistics([[1, 5, NO], [3, NO, NO], 'failed', [2, 9, NO], [3, 5, NO]], 3);
    expect([...found.n]).to.deep.equal([4, 3, 0]);
    expect([...found.ended]).to.deep.equal([0, 1, 4]);
    expect([...found.mean]).to.deep.equal([2.25, 19 / 3, NO]);
    expect(found.quantiles.map(({ p, value }) => [p, ...value])).to.deep.equal([
      [0, 1, 5, NO],
      [0.25, 1.75, 5, NO],
      [0.5, 2.5, 5, NO],
      [1, 3, 9, NO],
    ]);
    expect([[...found.least.value], [...found.least.runIds]]).to.deep.equal([
      [1, 5, NO],
      [0, 0, -1],
    ]);
    expect([[...found.greatest.value], [...found.greatest.runIds]]).to.deep.equal([
      [3, 9, NO],
      [1, 3, -1],
    ]);
  });

  it('has -0 before 0, whichever half of the runs has it', async () => {
    const least: number[][] = [];
    for (const runs of [
      [[0], [-0], [0], [0]],
      [[-0], [0], [0], [0]],
      [[0], [0], [0], [-0]],
    ]) {
      const { quantiles } = await statistics(runs, 1, { quantiles: [0, 1 / 3, 1] });
      least.push(quantiles.map(({ value }) => value[0]!));
    }
    expect(least).to.deep.equal([
      [-0, 0, 0],
      [-0, 0, 0],
      [-0, 0, 0],
    ]);
  });

  it('has the interval of the median of ten runs between the 2nd and the 9th value', async () => {
    const runs = Array.from({ length: 10 }, (_, i) => [10 * (i + 1)]);
    const [median] = (await statistics(runs, 1, { quantiles: [0.5], confidence: 0.95 })).quantiles;
    expect([median!.lower[0], median!.value[0], median!.upper[0]]).to.deep.equal([20, 55, 90]);
  });

  it('takes each failed run as the least value for the lower end and as the greatest for the upper one', async () => {
    const values = Array.from({ length: 10 }, (_, i) => [10 * (i + 1)]);
    const runs: CurveRun[] = [...values, 'failed', 'failed'];
    // Of 12 runs the ranks are 3 and 10: 2 unknown ones leave the 1st value, and the 10th.
    const [median] = (await statistics(runs, 1, { quantiles: [0.5], confidence: 0.95 })).quantiles;
    expect([median!.lower[0], median!.value[0], median!.upper[0]]).to.deep.equal([10, 55, 100]);
  });

  it('has no end where the unknown runs reach the rank', async () => {
    const runs: CurveRun[] = [...Array.from({ length: 10 }, (_, i) => [i]), ...Array<'failed'>(5).fill('failed')];
    const [median] = (await statistics(runs, 1, { quantiles: [0.5], confidence: 0.95 })).quantiles;
    expect([median!.lower[0], median!.upper[0]]).to.deep.equal([NO, NO]);
  });

  it('keeps infinite values as values', async () => {
    const found = await statistics([[Infinity], [1], [-Infinity], [Infinity]], 1, { quantiles: [0.5, 0.75] });
    expect([found.n[0], found.least.runIds[0], found.greatest.runIds[0]]).to.deep.equal([4, 2, 0]);
    expect(found.quantiles.map((it) => it.value[0])).to.deep.equal([Infinity, Infinity]);
  });

  it('has the mean of values near the greatest doubles', async () => {
    const [most, least] = [Number.MAX_VALUE, -Number.MAX_VALUE];
    expect((await statistics([[most], [most], [most]], 1)).mean[0]).to.be.closeTo(most, most / 1e15);
    expect((await statistics([[most], [least]], 1)).mean[0]).to.equal(0);
  });

  it('agrees with the plain definitions', () =>
    fc.assert(
      fc.asyncProperty(
        anyCurves,
        fc.double({ min: 0.01, max: 0.99, noNaN: true }),
        fc.double({ min: 0.5, max: 0.99, noNaN: true }),
        async ({ points, runs, runIds, most }, p, confidence) => {
          const curves = curvesOf(runs, points, runIds);
          const found = (await bandOf(curves, { quantiles: [p], confidence, coverage: 0.5 }, most)).points;
          for (let at = 0; at < points; at++) {
            const present = runs.flatMap((it, row) =>
              it === 'failed' || Number.isNaN(it[at]) ? [] : [{ value: it[at]!, runId: runIds[row]! }],
            );
            const failed = runs.filter((it) => it === 'failed').length;
            const values = present.map((it) => it.value);
            expect([found.n[at], found.ended[at]]).to.deep.equal([
              present.length,
              runs.length - failed - present.length,
            ]);
            if (values.length === 0) continue;
            const [quantile] = found.quantiles;
            expect(quantile!.value[at]).to.be.closeTo(plainQuantile(values, p), 1e-12);
            expect(found.mean[at]).to.be.closeTo(values.reduce((a, b) => a + b) / values.length, 1e-12);
            const least = present.find((it) => it.value === Math.min(...values))!;
            const greatest = present.find((it) => it.value === Math.max(...values))!;
            expect([found.least.runIds[at], found.greatest.runIds[at]]).to.deep.equal([least.runId, greatest.runId]);
            const ends = plainEnds(values, failed, p, confidence);
            expect([quantile!.lower[at]! + 0, quantile!.upper[at]! + 0]).to.deep.equal(ends);
          }
        },
      ),
    ));
});

/** The ends by counting: NaN for an end that no value gives. */
function plainEnds(values: readonly number[], failed: number, p: number, confidence: number): [number, number] {
  const unknown = Array<number>(failed).fill(Infinity);
  const n = values.length + failed;
  const level = ((1 - confidence) / 2) * (1 + 1e-9);
  const low = [...unknown.map((it) => -it), ...values].sort((a, b) => a - b);
  const high = [...values, ...unknown].sort((a, b) => a - b);
  let [lower, upper] = [-Infinity, Infinity];
  for (let r = 1; r <= n; r++) if (plainBinomial(r - 1, n, p) <= level) lower = low[r - 1]!;
  for (let s = n; s >= 1; s--) if (1 - plainBinomial(s - 1, n, p) <= level) upper = high[s - 1]!;
  return [Number.isFinite(lower) ? lower + 0 : Number.NaN, Number.isFinite(upper) ? upper + 0 : Number.NaN];
}

describe('analysis/band/curves', () => {
  it('reads a matrix that fits once, and a larger one in blocks of bounded size', async () => {
    const runs = Array.from({ length: 10 }, () => Array<number>(7).fill(1));
    const small = curvesOf(runs, 7);
    await bandOf(small, REQUEST, 70);
    expect(small.reads).to.deep.equal([[0, 7]]);
    const large = curvesOf(runs, 7);
    await bandOf(large, REQUEST, 39);
    const once = [
      [0, 3],
      [3, 6],
      [6, 7],
    ];
    expect(large.reads, 'once for the widths, once for the scores').to.deep.equal([...once, ...once]);
  });

  it('has a block of one point at least', () => {
    for (const [runs, points, most, width] of [
      [10, 7, 70, 7],
      [10, 7, 69, 6],
      [10, 7, 3, 1],
      [0, 7, 3, 3],
      [1_000_000, 2048, 5_000_000, 5],
    ] as const)
      expect(blockWidth(runs, points, most), `${runs} x ${points}`).to.equal(width);
  });

  it('has no block without points', async () => {
    const seen: unknown[] = [];
    for await (const it of new CurveBlocks(curvesOf([[]], 0))) seen.push(it);
    expect(seen).to.deep.equal([]);
  });
});
