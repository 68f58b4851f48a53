/** The rows of `simbatch histories`: a list of histories with their counts, and runs with their values. */
import { expect } from 'chai';
import type { HistoryConfig } from '../../../src/contract/types.ts';
import { listedOf, valueCells } from '../../../src/cli/commands/histories/histories.ts';

describe('cli/commands/histories/histories', () => {
  it('lists a history with its times, the most runs that have a value, and those that have none at the end', () => {
    const counts = { units: 'g', n: [3, 9, 2], ended: [6, 0, 7] };
    expect(listedOf({ variable: 'nz', at: { from: 1, to: 2, step: 0.5 } }, counts)).to.deep.equal({
      name: 'nz',
      variable: 'nz',
      units: 'g',
      points: 3,
      from: 1,
      to: 2,
      interpolation: 'linear',
      origin: null,
      n: 9,
      ended: 7,
    });
    const whole: HistoryConfig = {
      name: 'n',
      variable: 'v',
      at: { points: [4] },
      interpolation: 'previous',
      origin: 'end',
    };
    expect(listedOf(whole, { units: null, n: [], ended: [] })).to.include({
      name: 'n',
      from: 4,
      to: 4,
      interpolation: 'previous',
      origin: 'end',
      n: 0,
      ended: 0,
    });
  });

  it('shows of a run how many values it has, the first, last, least and greatest one, and their course', () => {
    const cases: [values: (number | string | null)[], cells: (number | string)[]][] = [
      [
        [null, 2, -1, 5, 3, null],
        [4, '2', '3', '-1', '5', ' ▅▁█▆ '],
      ],
      [
        [null, null],
        [0, '-', '-', '-', '-', '  '],
      ],
      [
        ['-Infinity', 1, 2],
        [3, '-Infinity', '2', '-Infinity', '2', ' ▁█'],
      ],
    ];
    for (const [values, cells] of cases) expect(valueCells(values), String(values)).to.deep.equal(cells);
  });
});
