/** The curves of two studies that are compared: pairs of runs, bins of their differences, the distance of two distributions. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { tsImport } from 'tsx/esm/api';
import { RunSelection } from '../../src/domain/runs/run-selection.ts';

interface Rows {
  size: number;
  runAt: (row: number) => number;
  rowOf: (run: number) => number;
}
type Pair = { run: number; before: number; after: number };
type Bin = { from: number; to: number; runs: number };
type Step = { value: number; distance: number };

interface Curves {
  completedValues: (variable: { values: Float64Array }, status: Uint8Array) => Float64Array;
  pairsOf: (tables: [Rows, Rows], values: [Float64Array, Float64Array]) => Pair[];
  differenceBins: (pairs: readonly Pair[]) => { bins: Bin[]; outside: number };
  differenceAxis: (bins: readonly Bin[]) => { domain: [number, number]; note: string };
  distanceSteps: (before: Float64Array, after: Float64Array) => { steps: Step[]; greatest: Step } | undefined;
}

const rowsOf = (selection: RunSelection): Rows => ({
  size: selection.count,
  runAt: (row) => selection.nth(row),
  rowOf: (run) => selection.indexFrom(run),
});
const doubles = (...values: number[]): Float64Array => Float64Array.from(values);

describe('web/compare/curves', () => {
  let curves: Curves;
  before(async () => {
    curves = (await tsImport(
      new URL('../../../web/src/compare/curves.ts', import.meta.url).href,
      import.meta.url,
    )) as Curves;
  });

  it('takes the values of completed runs alone', () => {
    const COMPLETED = 3;
    const values = curves.completedValues({ values: doubles(1, 2, 3) }, Uint8Array.of(COMPLETED, 4, COMPLETED));
    expect([...values]).to.deep.equal([1, Number.NaN, 3]);
  });

  it('pairs the runs of one id, whatever their rows, and those with both values alone', () => {
    const [earlier, later] = [rowsOf(RunSelection.between(2, 6)), rowsOf(RunSelection.between(3, 7))];
    const pairs = curves.pairsOf([earlier, later], [doubles(20, 30, Number.NaN, 50), doubles(31, 41, 51, 61)]);
    expect(pairs).to.deep.equal([
      { run: 3, before: 30, after: 31 },
      { run: 5, before: 50, after: 51 },
    ]);
  });

  it('counts every pair once, in a bin or beyond them', () => {
    const value = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 200 }), (both) => {
        const pairs = both.map(([before, after], run) => ({ run, before, after }));
        const { bins, outside } = curves.differenceBins(pairs);
        expect(bins.reduce((sum, it) => sum + it.runs, outside)).to.equal(pairs.length);
        for (const it of bins) expect(it.from).to.be.below(it.to);
      }),
    );
  });

  it('has one bin around differences that are all equal', () => {
    const pairs = [1, 2, 3].map((run) => ({ run, before: run, after: run + 2 }));
    expect(curves.differenceBins(pairs)).to.deep.equal({ bins: [{ from: 1.9, to: 2.1, runs: 3 }], outside: 0 });
    const rounded = [0.1, 0.7, 3e5].map((before, run) => ({ run, before, after: before + 1 }));
    expect(curves.differenceBins(rounded).bins).to.have.length(1);
    expect(curves.differenceBins([])).to.deep.equal({ bins: [], outside: 0 });
  });

  it('shows 0 where that leaves room for the differences, and otherwise says where it is', () => {
    const axis = (from: number, to: number): ReturnType<Curves['differenceAxis']> =>
      curves.differenceAxis([{ from, to, runs: 1 }]);
    expect(axis(1, 3)).to.deep.equal({ domain: [0, 3], note: '' });
    expect(axis(-3, -1)).to.deep.equal({ domain: [-3, 0], note: '' });
    expect(axis(2, 3)).to.deep.equal({ domain: [0, 3], note: '' });
    expect(axis(2.1, 3)).to.deep.equal({
      domain: [2.1, 3],
      note: ' No difference, 0, is left of the axis, from 2.1 to 3.',
    });
    expect(axis(-3, -2.1).note).to.include('right of the axis');
  });

  it('finds the largest distance of two distributions, as the definition has it', () => {
    expect(curves.distanceSteps(doubles(1, 2, 2, 4), doubles(2, 3))).to.deep.equal({
      steps: [
        { value: 1, distance: -0.25 },
        { value: 2, distance: -0.25 },
        { value: 3, distance: 0.25 },
        { value: 4, distance: 0 },
      ],
      greatest: { value: 1, distance: -0.25 },
    });
    expect(curves.distanceSteps(doubles(Number.NaN), doubles(1))).to.equal(undefined);
    const values = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 1, maxLength: 60 });
    const share = (all: readonly number[], at: number): number => all.filter((it) => it <= at).length / all.length;
    fc.assert(
      fc.property(values, values, (a, b) => {
        const { greatest } = curves.distanceSteps(doubles(...a), doubles(...b))!;
        const all = [...a, ...b].map((at) => Math.abs(share(b, at) - share(a, at)));
        expect(Math.abs(greatest.distance)).to.be.closeTo(Math.max(...all), 1e-12);
      }),
    );
  });

  it('keeps the largest distance where it thins the steps out', () => {
    const many = Float64Array.from({ length: 5_000 }, (_, at) => at);
    const found = curves.distanceSteps(
      many,
      many.map((it) => it + 777.5),
    )!;
    expect(found.steps.length).to.be.below(900);
    expect(found.steps).to.include(found.greatest);
    expect(found.greatest.distance).to.be.closeTo(-778 / 5_000, 1e-12);
  });
});
