/** Matrices of curves for the tests of bands, and a band computed the plain way. */
import fc from 'fast-check';
import type { Curves } from '../../../src/analysis/band/curves.ts';

/** A run: its values, or why it has none. */
export type CurveRun = readonly number[] | 'failed';

/** Runs 0, 1, 2, ... or with the given ids; `reads` has the ranges of points that were asked for. */
export function curvesOf(
  runs: readonly CurveRun[],
  points: number,
  runIds: readonly number[] = runs.map((_, row) => row),
): Curves & { reads: [number, number][] } {
  const reads: [number, number][] = [];
  const completed = runs.flatMap((values, row) => (values === 'failed' ? [] : [{ values, runId: runIds[row]! }]));
  const failed = runIds.filter((_, row) => runs[row] === 'failed');
  const even = failed.filter((it) => it % 2 === 0).length;
  return {
    runs: {
      runIds: Uint32Array.from(completed, (it) => it.runId),
      unknown: { even, odd: failed.length - even },
    },
    points,
    reads,
    read(from, to) {
      reads.push([from, to]);
      return Float64Array.from(completed.flatMap(({ values }) => values.slice(from, to)));
    },
  };
}

/** Type 7, by its definition. */
export function plainQuantile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = p * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  return low === high ? low : low + (place - Math.floor(place)) * (high - low);
}

const sumTo = (n: number, term: (k: number) => number): number =>
  Array.from({ length: Math.max(0, n + 1) }, (_, k) => term(k)).reduce((a, b) => a + b, 0);

/** P(B(n, q) <= k), term by term. */
export function plainBinomial(k: number, n: number, q: number): number {
  const logChoose = (r: number): number => sumTo(r - 1, (i) => Math.log((n - i) / (i + 1)));
  return sumTo(Math.min(k, n), (r) => Math.exp(logChoose(r) + r * Math.log(q) + (n - r) * Math.log1p(-q)));
}

/** Some runs of some points: with missing and equal values, failed runs and ids with gaps. */
export const anyCurves = fc
  .record({ points: fc.integer({ min: 1, max: 7 }), count: fc.integer({ min: 0, max: 40 }) })
  .chain(({ points, count }) => {
    const value = fc.oneof(
      { weight: 6, arbitrary: fc.double({ min: -10, max: 10, noNaN: true }) },
      { weight: 3, arbitrary: fc.integer({ min: -2, max: 2 }) },
      { weight: 1, arbitrary: fc.constant(Number.NaN) },
    );
    const curve = fc.array(value, { minLength: points, maxLength: points });
    const run = fc.oneof({ weight: 9, arbitrary: curve }, { weight: 1, arbitrary: fc.constant('failed' as const) });
    return fc.record({
      points: fc.constant(points),
      runs: fc.array(run, { minLength: count, maxLength: count }),
      gaps: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: count, maxLength: count }),
      most: fc.integer({ min: 1, max: 200 }),
    });
  })
  .map(({ gaps, ...it }) => ({ ...it, runIds: gaps.map((_, row) => sumTo(row, (i) => gaps[i]!)) }));
