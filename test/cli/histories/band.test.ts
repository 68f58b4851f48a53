/** The lines of `simbatch band`, and curves as lines of block characters. */
import { expect } from 'chai';
import { bandLines } from '../../../src/cli/commands/histories/band.ts';
import type { HistoryBand } from '../../../src/contract/types.ts';
import { sparkline } from '../../../src/cli/commands/histories/sparkline.ts';

describe('cli/commands/histories/sparkline', () => {
  it('has a character for each part of a curve, from the least to the greatest mean', () => {
    const cases: [(number | null)[], number, string][] = [
      [[0, 1, 2, 3, 4, 5, 6, 7], 8, '▁▂▃▄▅▆▇█'],
      [[0, 2, 6, 8], 2, '▁█'],
      [[5, 5, 5], 9, '▅▅▅'],
      [[1, null, 2], 3, '▁ █'],
      [[null, null, 2, 4], 2, ' ▅'],
      [[], 5, ''],
      [[null], 5, ' '],
      [[-1e308, 1e308], 2, '▁█'],
    ];
    for (const [values, width, line] of cases) expect(sparkline(values, width), String(values)).to.equal(line);
  });

  it('takes every value into account', () => {
    const values = Array.from({ length: 1001 }, (_, at) => at % 2);
    expect(sparkline(values, 60)).to.have.length(60);
  });
});

/** A band at 0, 1, ... 20 s, whose median grows from 0 to 20. */
function bandOf(changes: Partial<HistoryBand> = {}): HistoryBand {
  const seconds = Array.from({ length: 21 }, (_, at) => at);
  const extreme = { value: seconds, run_id: seconds };
  return {
    batch_id: '0195a1b2-c3d4-8e5f-a012-345600000000',
    of: 100,
    n_used: 98,
    excluded: { crashed: 2 },
    prefix: { length: 100, of: 100 },
    warnings: [{ code: 'not-independent', message: 'the runs are not independent' }],
    sentence: 'band of nz over 98 of 100 runs at 21 points',
    reason: null,
    history: 'nz',
    variable: 'nz',
    units: 'g',
    source: 'history',
    sample: null,
    unknown: 2,
    seconds,
    n: seconds.map((it) => 98 - it),
    ended: seconds,
    quantiles: [
      { p: 0.5, value: seconds, lower: seconds, upper: seconds },
      { p: 0.999, value: seconds.map((it) => (it < 20 ? it + 0.5 : null)), lower: seconds, upper: seconds },
    ],
    mean: seconds,
    least: extreme,
    greatest: extreme,
    confidence: 0.95,
    coverage: 0.9,
    tolerance: { lower: seconds, upper: seconds.map((it) => it + 2), runs: 50, rank: 48, score: 1.4 },
    tolerance_reason: null,
    runs_needed: null,
    outlying: [
      { run_id: 17, score: 2.345, replay: 'simbatch replay x/17' },
      { run_id: 3, score: null, replay: 'simbatch replay x/3' },
    ],
    limits: [{ name: '> 9 ends the run', value: 9, kind: 'condition' }],
    ...changes,
  };
}

describe('cli/commands/histories/band', () => {
  const linesOf = (changes?: Partial<HistoryBand>): string[] =>
    bandLines(bandOf(changes), { width: 100 }).join('\n').split('\n');

  it('shows the sentence, its limits, the median as a line, eleven points, the farthest runs and the limits', () => {
    const lines = linesOf();
    expect(lines[0]).to.equal('band of nz over 98 of 100 runs at 21 points');
    expect(lines[1]).to.equal('note: the runs are not independent');
    expect(lines[3]).to.match(/^P50 {2}[▁▂▃▄▅▆▇█]{21} {2}0 to 20 g, 0 to 20 s$/);
    expect(lines[5]!.trim().split(/\s{2,}/)).to.deep.equal([
      'SECONDS',
      'RUNS',
      'ENDED',
      'P50',
      'P99.9',
      'BAND FROM',
      'BAND TO',
    ]);
    const points = lines.slice(6).filter((it) => /^ *\d+ /.test(it));
    expect(points.map((it) => Number(it.trim().split(/\s+/)[0]))).to.deep.equal([
      0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20,
    ]);
    expect(points.at(-1)!.trim().split(/\s+/)).to.deep.equal(['20', '78', '20', '20', '-', '20', '22']);
    expect(lines.slice(-2)).to.deep.equal([
      'farthest from the centre, in half-widths: runs 17 (2.35), 3 (infinite)',
      'limit on nz: > 9 ends the run',
    ]);
  });

  it('has no columns of a tolerance band where there is none', () => {
    expect(linesOf({ tolerance: null }).join('\n')).to.not.include('BAND FROM');
  });

  it('shows the sentence alone where there is no band', () => {
    expect(
      linesOf({
        reason: 'the study has no runs yet',
        sentence: 'no band of nz: the study has no runs yet',
        warnings: [],
      }),
    ).to.deep.equal(['no band of nz: the study has no runs yet']);
  });
});
