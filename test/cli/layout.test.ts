/** The layout of the terminal: columns that fit, wrapped lines, colours, formats and files. */
import { expect } from 'chai';
import { placeOf } from '../../src/cli/output-command.ts';
import { hasColour, type ColourChoice } from '../../src/cli/terminal/colour.ts';
import { fitColumns, type Flexible } from '../../src/cli/terminal/columns.ts';
import { formatAgo } from '../../src/cli/terminal/format.ts';
import { columnsOf, cutTo, wrap } from '../../src/cli/terminal/screen.ts';
import { renderTable } from '../../src/cli/terminal/table.ts';
import { LiveBlock } from '../../src/cli/progress/live-block.ts';
import { leftText } from '../../src/cli/progress/progress-text.ts';

describe('cli/terminal/columns', () => {
  const rows: [string, Flexible[], number[], number, string][] = [
    ['all fit', [{}, {}], [3, 4], 9, '0:3 1:4'],
    ['no limit', [{ rank: 1 }, {}], [300, 4], Infinity, '0:300 1:4'],
    ['a long one is shortened', [{}, { shrink: 5 }], [3, 40], 20, '0:3 1:15'],
    ['the highest rank goes first', [{}, { rank: 1 }, { rank: 2 }], [5, 5, 5], 14, '0:5 1:5'],
    ['then the next one', [{}, { rank: 1 }, { rank: 2 }], [5, 5, 5], 9, '0:5'],
    ['a shortened one gets the room back', [{ shrink: 4 }, { rank: 1 }], [12, 10], 15, '0:12'],
    ['nothing may give way: all are cut', [{}, {}], [10, 10], 14, '0:6 1:6'],
  ];
  for (const [name, columns, natural, available, expected] of rows) {
    it(name, () => {
      const { kept, widths } = fitColumns(columns, natural, available);
      expect(kept.map((at, index) => `${at}:${widths[index]}`).join(' ')).to.equal(expected);
    });
  }

  it('keeps every table within the terminal, whatever its cells are', () => {
    const columns = [{ name: 'id' }, { name: 'name', shrink: 8 }, { name: 'n', align: 'right', rank: 1 }] as const;
    const table = [
      ['01a1fd51-c34f', '火箭 recovery area with a long name', 3],
      ['01a1fd51-c350', 'x'.repeat(400), 123456789],
    ];
    for (let width = 20; width < 100; width += 7) {
      for (const line of renderTable(columns, table, { width }).split('\n'))
        expect(columnsOf(line), line).to.be.at.most(width);
    }
    expect(renderTable(columns, table)).to.include('x'.repeat(400));
  });
});

describe('cli/terminal/screen', () => {
  it('wraps at words, with a hanging indentation, and keeps longer words', () => {
    expect(wrap('a bb ccc dddd', 6)).to.equal('a bb\n  ccc\n  dddd');
    expect(wrap('  -> start one', 9)).to.equal('  ->\n    start\n    one');
    expect(wrap('short', 80)).to.equal('short');
    expect(wrap('x '.repeat(9).trim(), Infinity)).to.equal('x '.repeat(9).trim());
  });

  it('cuts by columns and not by characters', () => {
    expect([cutTo('abcdef', 4), cutTo('火箭火箭', 5), cutTo('abc', 3)]).to.deep.equal(['abc…', '火箭…', 'abc']);
  });
});

describe('cli/terminal/colour', () => {
  const rows: [ColourChoice, boolean, Record<string, string>, boolean][] = [
    ['auto', true, {}, true],
    ['auto', false, {}, false],
    ['auto', true, { TERM: 'dumb' }, false],
    ['auto', true, { NO_COLOR: '1' }, false],
    ['auto', true, { NO_COLOR: '' }, true],
    ['auto', false, { FORCE_COLOR: '1' }, true],
    ['auto', false, { FORCE_COLOR: '' }, true],
    ['auto', true, { FORCE_COLOR: '0' }, false],
    ['auto', true, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
    ['always', false, { NO_COLOR: '1' }, true],
    ['never', true, { FORCE_COLOR: '1' }, false],
  ];
  for (const [choice, isTerminal, env, expected] of rows) {
    it(`${choice}, ${isTerminal ? 'terminal' : 'pipe'}, ${JSON.stringify(env)}: ${expected}`, () => {
      expect(hasColour(choice, isTerminal, env)).to.equal(expected);
    });
  }
});

describe('cli/output-command', () => {
  const formats = ['table', 'wide', 'json', 'csv', 'parquet'];
  const rows: [Partial<Parameters<typeof placeOf>[0]>, string][] = [
    [{}, 'table'],
    [{ format: 'csv' }, 'csv'],
    [{ file: 'a.json' }, 'json > a.json'],
    [{ file: 'a.txt' }, 'table > a.txt'],
    [{ file: 'a.csv', format: 'json' }, 'json > a.csv'],
    [{ format: 'runs.parquet' }, 'parquet > runs.parquet'],
    [{ format: 'runs.parquet', isTerminal: true }, 'parquet > runs.parquet'],
    // As the options were called before.
    [{ file: 'csv' }, 'csv'],
    [{ output: 'csv' }, 'csv'],
    [{ file: 'csv', format: 'a.dat' }, 'csv > a.dat'],
    [{ output: 'csv', file: 'csv', format: 'csv' }, 'csv'],
    [{ format: 'csv', file: '-' }, 'csv'],
    [{ format: 'tabel' }, 'refused: --format tabel is not a format'],
    [{ output: 'miss_m' }, 'refused: --output miss_m is not a format'],
    [{ format: 'b.csv', file: 'a.csv' }, 'refused: --format b.csv is not a format'],
    [{ file: 'a.xlsx' }, 'refused: the format of a.xlsx is unknown'],
    [{ format: 'parquet', isTerminal: true }, 'refused: Parquet is binary'],
    [{ file: 'csv', format: 'json' }, 'refused: the format is given twice: json and csv'],
  ];
  for (const [given, expected] of rows) {
    it(`${JSON.stringify(given)}: ${expected}`, () => {
      let found: string;
      try {
        const place = placeOf({ formats, format: undefined, file: undefined, isTerminal: false, ...given });
        found = `${place.format}${place.file === undefined ? '' : ` > ${place.file}`}`;
      } catch (error) {
        found = `refused: ${(error as Error).message}`.slice(0, expected.length);
      }
      expect(found).to.equal(expected);
    });
  }
});

describe('cli/progress', () => {
  it('draws lines over the former ones, cut at the width, and writes others above', () => {
    let written = '';
    const block = new LiveBlock({ isTTY: true, columns: 11, rows: 24, write: (text) => (written += text) });
    block.show([{ text: 'progress of a study' }, { text: 'a finding in words', isProse: true }]);
    expect(written).to.equal('\r\u001b[2Kprogress…\n\u001b[2Ka finding\n\u001b[2K  in words\n\u001b[0J');
    written = '';
    block.show([{ text: 'done' }]);
    expect(written, 'no finding is left').to.equal('\u001b[3A\r\u001b[2Kdone\n\u001b[0J');
    written = '';
    block.say('news');
    expect(written).to.equal('\u001b[1A\r\u001b[0Jnews\n');
  });

  it('gives the time left with the time of day, and with the day beyond one', () => {
    const noon = new Date(2026, 10, 22, 12, 0, 0).getTime();
    expect(leftText(77, noon)).to.equal('1m 17s left (12:01)');
    expect(leftText(100_000, noon)).to.equal('1d 03h left (Mon Nov 23 15:46)');
    expect(leftText(undefined, noon)).to.equal(undefined);
  });

  it('gives times relative to now in their largest unit', () => {
    const now = Date.parse('2026-11-22T12:00:00Z');
    const ago = ['2026-11-22T11:59:58Z', '2026-11-22T11:01:00Z', '2026-11-22T02:00:00Z', '2026-11-01T00:00:00Z'];
    expect(ago.map((at) => formatAgo(at, now))).to.deep.equal(['2s ago', '59m ago', '10h ago', '21d ago']);
    expect(formatAgo('2026-11-22T12:00:05Z', now), 'a clock ahead of this one').to.equal('0s ago');
  });
});
