/** The lines of the plot of a band. */
import { expect } from 'chai';
import { tsImport } from 'tsx/esm/api';
import type { HistoryBand } from '../../src/contract/types.ts';
import type * as Series from '../../web/src/histories/series.ts';

const values = [1, 2, null];
const quantile = (p: number) => ({ p, value: values.map((it) => it && it + p), lower: values, upper: values });

/** The members that are drawn. */
const band = (changes: Partial<HistoryBand> = {}): HistoryBand =>
  ({
    seconds: [0, 1, 2],
    quantiles: [0.05, 0.5, 0.95].map(quantile),
    tolerance: { lower: [0, 1, null], upper: [3, 4, null], runs: 50, rank: 48, score: 1.5 },
    coverage: 0.9,
    confidence: 0.95,
    limits: [
      { name: '> 5 ends the run', value: 5, kind: 'condition' },
      { name: '< 5000 required: far', value: 5000, kind: 'requirement' },
    ],
    ...changes,
  }) as HistoryBand;

describe('web/histories', () => {
  let bandSeries: typeof Series.bandSeries;
  let lineOf: typeof Series.lineOf;
  let comparedSeries: typeof Series.comparedSeries;
  before(async () => {
    const url = new URL('../../../web/src/histories/series.ts', import.meta.url).href;
    ({ bandSeries, comparedSeries, lineOf } = (await tsImport(url, import.meta.url)) as typeof Series);
  });

  it('draws the band, its median, the tolerance band and near limits, and names those that are too far', () => {
    const { series, far } = bandSeries(band(), []);
    expect(series.filter((it) => it.edge === true).map((it) => [it.name, it.values[0]])).to.deep.equal([
      ['P5', 1.05],
      ['P95', 1.95],
    ]);
    expect(series.find((it) => it.name.startsWith('median'))!.values).to.deep.equal([1.5, 2.5, null]);
    expect(series.filter((it) => it.dash === true && it.limit === undefined).map((it) => it.values[1])).to.deep.equal([
      1, 4,
    ]);
    expect(series.filter((it) => it.limit !== undefined).map((it) => it.limit)).to.deep.equal([5]);
    expect(far).to.deep.equal(['< 5000 required: far']);
  });

  it('says the share and the confidence of the tolerance band, where there is one', () => {
    const names = bandSeries(band(), []).series.map((it) => it.name);
    expect(names).to.include('holds whole curves of 90 % of future runs, confidence 95 %');
    expect(
      bandSeries(band({ tolerance: null }), []).series.some((it) => it.dash === true && it.limit === undefined),
    ).to.equal(false);
  });

  it('draws curves of runs, selected ones in another colour, by the names that a click finds', () => {
    const { series } = bandSeries(band(), [
      { runId: 7, values, isSelected: false },
      { runId: 8, values, isSelected: true },
    ]);
    const [far, chosen] = [7, 8].map((it) => series.find(({ name }) => name === lineOf(it))!);
    expect([far!.isQuiet, chosen!.values]).to.deep.equal([true, values]);
    expect(far!.colour).to.not.equal(chosen!.colour);
    const bandColours = series.filter((it) => it.name.startsWith('median') || it.edge === true).map((it) => it.colour);
    expect(bandColours, 'blue is the colour of selected runs').to.deep.equal(['text', 'text', 'text']);
  });

  it('draws the bands of two studies over the times of both, each with its tolerance band where it has one', () => {
    const other = { ...band({ tolerance: null }), seconds: [1, 1.5, 3] };
    const { times, series } = comparedSeries(band(), other);
    expect(times).to.deep.equal([0, 1, 1.5, 2, 3]);
    const line = (name: string) => series.find((it) => it.name === name)?.values;
    expect(line('before: median, band P5 to P95')).to.deep.equal([1.5, 2.5, null, null, null]);
    expect(line('after: median, band P5 to P95')).to.deep.equal([null, 1.5, 2.5, null, null]);
    expect(line('before: upper limit of the tolerance band')).to.deep.equal([3, 4, null, null, null]);
    expect(line('after: upper limit of the tolerance band')).to.equal(undefined);
    // Edges come in pairs, the lower one first.
    expect(series.filter((it) => it.edge === true).map((it) => it.name)).to.deep.equal([
      'before: P5',
      'before: P95',
      'after: P5',
      'after: P95',
    ]);
    expect(new Set(series.map((it) => it.name)).size).to.equal(series.length);
  });
});
