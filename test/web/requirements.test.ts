/** The plot of the worst requirement and the axis that the bars of all requirements share. */
import { expect } from 'chai';
import fc from 'fast-check';
import { tsImport } from 'tsx/esm/api';
import type { RequirementVerdict } from '../../src/contract/types.ts';

interface Axis {
  isLogit: boolean;
  placeOf(share: number): number;
  ticks: number[];
}
interface Plot {
  from: number;
  to: number;
  bars: { from: number; width: number; height: number }[];
  lines: { text: string; value: number; isLimit: boolean; place: number | undefined; isLeft: boolean }[];
  failing: { from: number; to: number }[];
  side: string;
}

const load = (path: string): Promise<unknown> =>
  tsImport(new URL(`../../../web/src/${path}`, import.meta.url).href, import.meta.url);

const judged = (some: Partial<RequirementVerdict>): RequirementVerdict =>
  ({
    name: 'near',
    output: 'miss',
    condition: '<= 5',
    probability: 0.9,
    estimate: 0.9,
    lower: 0.85,
    upper: 0.95,
    verdict: 'open',
    ...some,
  }) as RequirementVerdict;

describe('web/requirements/axis', () => {
  let shareAxis: (of: readonly RequirementVerdict[]) => Axis;
  before(async () => ({ shareAxis } = (await load('requirements/axis.ts')) as { shareAxis: typeof shareAxis }));

  it('is one of log-odds where more than 99 % is required', () => {
    expect(shareAxis([judged({ probability: 0.99 })]).isLogit).to.equal(false);
    const axis = shareAxis([judged({}), judged({ probability: 0.9973 })]);
    expect(axis.isLogit).to.equal(true);
    expect(axis.ticks).to.include(0.999);
    expect(axis.placeOf(0)).to.equal(0);
    expect(axis.placeOf(1)).to.equal(1);
    expect(axis.placeOf(0.9973) - axis.placeOf(0.99), 'near 1 is spread').to.be.above(
      axis.placeOf(0.6) - axis.placeOf(0.59),
    );
  });

  it('shows the required share, estimate and bounds of every requirement in their order, and has ticks', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const one = fc
      .tuple(share, share, share, fc.double({ min: 0.01, max: 0.999999, noNaN: true }))
      .map(([a, b, c, probability]) => {
        const [lower, estimate, upper] = [a, b, c].sort((x, y) => x - y) as [number, number, number];
        return judged({ lower, estimate, upper, probability });
      });
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 5 }), (some) => {
        const axis = shareAxis(some);
        for (const { lower, estimate, upper, probability } of some) {
          const places = [lower, estimate!, upper].map((it) => axis.placeOf(it));
          expect(places).to.deep.equal(places.toSorted((x, y) => x - y));
          expect(places.every((it) => it >= 0 && it <= 1)).to.equal(true);
          const place = axis.placeOf(probability);
          expect(place).to.be.above(0);
          expect(place).to.be.below(1);
        }
        expect(axis.ticks.length).to.be.within(1, 6);
        for (const tick of axis.ticks) expect(axis.placeOf(tick)).to.be.within(0, 1);
      }),
    );
  });
});

describe('web/plots/requirement-plot', () => {
  type Histogram = { from: number; to: number; counts: number[] };
  let worstFirst: (of: readonly RequirementVerdict[]) => RequirementVerdict[];
  let outputPlot: (
    of: { condition: string | null },
    histogram: Histogram,
    quantiles: { p: number; value: number | null }[],
  ) => Plot;
  before(
    async () =>
      ({ worstFirst, outputPlot } = (await load('plots/requirement-plot.ts')) as {
        worstFirst: typeof worstFirst;
        outputPlot: typeof outputPlot;
      }),
  );

  it('is a violated one before others, then the one nearest to its limit; without output or verdict none', () => {
    const found = worstFirst([
      judged({ name: 'met', verdict: 'met', estimate: 0.91 }),
      judged({ name: 'near', estimate: 0.92 }),
      judged({ name: 'no verdict', verdict: null }),
      judged({ name: 'both', output: null }),
      judged({ name: 'strict', probability: 0.99, estimate: 0.991 }),
      judged({ name: 'not shown', verdict: 'not-shown' }),
      judged({ name: 'violated', verdict: 'violated' }),
    ]);
    expect(found.map(({ name }) => name)).to.deep.equal(['violated', 'not shown', 'strict', 'near', 'met']);
  });

  const histogram = { from: 0, to: 10, counts: [1, 4, 2, 0] };
  const ROWS: [condition: string, failing: [number, number][], side: string][] = [
    ['<= 5', [[0.5, 1]], 'right'],
    ['< 5', [[0.5, 1]], 'right'],
    ['>= 2', [[0, 0.2]], 'left'],
    ['> 2', [[0, 0.2]], 'left'],
    [
      '2 .. 8',
      [
        [0, 0.2],
        [0.8, 1],
      ],
      'right',
    ],
    ['!= 3', [], 'right'],
    ['<= 1000', [], 'right'],
    ['>= 1000', [[0, 1]], 'left'],
  ];
  for (const [condition, failing, side] of ROWS)
    it(`${condition} fails at ${JSON.stringify(failing)}, and runs without a value are at the ${side}`, () => {
      const plot = outputPlot({ condition }, histogram, []);
      expect(plot.failing.map(({ from, to }) => [from, to])).to.deep.equal(failing);
      expect(plot.side).to.equal(side);
    });

  it('has an axis with a limit that is near, and none that is far away, which is named', () => {
    const near = outputPlot({ condition: '<= 12' }, histogram, [{ p: 0.95, value: 9.5 }]);
    expect(near.to).to.be.above(12);
    expect(near.bars[1]!.from).to.be.closeTo(2.5 / near.to, 1e-12);
    expect(near.bars.map(({ height }) => height)).to.deep.equal([0.25, 1, 0.5, 0]);
    const far = outputPlot({ condition: '<= 21' }, histogram, [{ p: 0.05, value: null }]);
    expect(far.to).to.equal(10);
    expect(far.lines).to.deep.equal([{ text: 'limit', value: 21, isLimit: true, place: undefined, isLeft: false }]);
  });

  it('has the label at the left of a line where the next one, or the end, is near', () => {
    const quantiles = [0.05, 0.5, 0.95].map((p, at) => ({ p, value: [0.5, 4.5, 9][at]! }));
    const { lines } = outputPlot({ condition: '<= 5' }, histogram, quantiles);
    expect(lines.map(({ text, isLeft }) => [text, isLeft])).to.deep.equal([
      ['limit', false],
      ['P5', false],
      ['P50', true],
      ['P95', true],
    ]);
  });
});
