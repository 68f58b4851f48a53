/** The figures of histories in a report. */
import { expect } from 'chai';
import type { HistoryBand } from '../../src/contract/types.ts';
import { bandFigure } from '../../src/report/bands.ts';

const seconds = [0, 1, 2, 3];
const curve = (values: (number | null)[]) => ({ value: values, lower: values, upper: values });

/** A band whose point at 2 s no run has. */
function bandOf(changes: Partial<HistoryBand> = {}): HistoryBand {
  const extreme = { value: seconds, run_id: seconds };
  return {
    batch_id: '0195a1b2-c3d4-8e5f-a012-345600000000',
    of: 100,
    n_used: 98,
    excluded: { crashed: 2 },
    prefix: { length: 100, of: 100 },
    warnings: [
      { code: 'not-independent', message: 'the runs are <not> independent' },
      { code: 'runs-left-out', message: 'stated elsewhere' },
    ],
    sentence: 'band of nz over 98 of 100 runs at 4 points',
    reason: null,
    history: 'nz',
    variable: 'nz',
    units: 'g',
    source: 'history',
    sample: null,
    unknown: 2,
    seconds,
    n: [98, 98, 0, 60],
    ended: [0, 0, 98, 38],
    quantiles: [
      { p: 0.05, ...curve([0, 1, null, 3]) },
      { p: 0.5, ...curve([1, 2, null, 4]) },
      { p: 0.95, ...curve([2, 3, null, 5]) },
    ],
    mean: seconds,
    least: extreme,
    greatest: extreme,
    confidence: 0.95,
    coverage: 0.9,
    tolerance: { lower: [-1, 0, null, null], upper: [3, 4, null, null], runs: 50, rank: 48, score: 1.4 },
    tolerance_reason: null,
    runs_needed: null,
    outlying: [{ run_id: 17, score: 2, replay: 'simbatch replay x/17' }],
    limits: [
      { name: '> 6 ends the run', value: 6, kind: 'condition' },
      { name: '< 900 required: far', value: 900, kind: 'requirement' },
    ],
    ...changes,
  };
}

describe('report/bands', () => {
  const pathsOf = (text: string, kind: string): string[] =>
    [...text.matchAll(new RegExp(`<path\\s+class="${kind}"\\s+d="([^"]+)"`, 'g'))].map(([, path]) => path!);
  const figureOf = (changes?: Partial<HistoryBand>): string =>
    bandFigure(bandOf(changes), new Set(['stated elsewhere'])).text.replaceAll(/\s+/g, ' ');

  it('draw the band, its median and the tolerance band, with gaps where no run has a value', () => {
    const text = figureOf();
    // The point after the gap is alone.
    expect(pathsOf(text, 'band').map((it) => it.split('L').length)).to.deep.equal([4, 2]);
    expect(pathsOf(text, 'line').map((it) => it.split('L').length)).to.deep.equal([2, 1]);
    expect(pathsOf(text, 'whole').map((it) => it.split('L').length)).to.deep.equal([2, 2]);
    const [x, y] = pathsOf(text, 'line')[0]!.slice(1).split('L')[0]!.split(',').map(Number);
    const [, upper] = pathsOf(text, 'band')[0]!.slice(1).split('L')[0]!.split(',').map(Number);
    expect(x).to.equal(44);
    expect(upper, 'P95 is above the median').to.be.below(y!);
    expect(text).to.not.match(/NaN|Infinity|undefined/);
  });

  it('draw limits that are near, and name those that are far', () => {
    const text = figureOf();
    expect(text).to.match(/class="limit"[^>]*>&gt; 6 ends the run</);
    expect(text).to.include('too far to be drawn: &lt; 900 required: far');
  });

  it('state runs, counts at the ends, the tolerance band, the farthest runs and warnings that are not stated elsewhere', () => {
    const text = figureOf();
    for (const stated of [
      'nz [g] over seconds',
      'band of nz over 98 of 100 runs at 4 points',
      '98 with a value at 0 s, 60 at 3 s, where 38 had ended',
      '2 failed or cancelled, their curves unknown',
      'holds whole curves of 90 % of future runs, confidence 95 %',
      'farthest from the centre: runs 17',
      'the runs are &lt;not&gt; independent',
    ])
      expect(text).to.include(stated);
    expect(text).to.not.include('stated elsewhere');
    const none = figureOf({ tolerance: null, tolerance_reason: '58 runs are needed' });
    expect(none).to.include('no tolerance band: 58 runs are needed').and.not.include('class="whole"');
  });

  it('state why there is no band', () => {
    const none = figureOf({ reason: 'no runs', sentence: 'no band of nz: no runs', seconds: [], n: [], ended: [] });
    expect(none).to.include('no band of nz: no runs').and.not.include('<svg');
  });

  it('draw a constant history', () => {
    const flat = curve([2, 2, 2, 2]);
    const quantiles = [0.05, 0.5, 0.95].map((p) => ({ p, ...flat }));
    const text = figureOf({ quantiles, tolerance: null, tolerance_reason: 'few', limits: [] });
    expect(text).to.not.match(/NaN|Infinity/);
    expect(pathsOf(text, 'line')[0]!.split('L')).to.have.length(4);
  });
});
