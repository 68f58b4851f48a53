/** Numbers, times, rates, errors and histograms of the command line: one row each. */
import { expect } from 'chai';
import { ApiError, UnreachableError } from '../../src/client/client.ts';
import { SimbatchError } from '../../src/domain/errors.ts';
import { NumberSeries } from '../../src/analysis/numeric/statistics.ts';
import { Failure } from '../../src/cli/failure.ts';
import { describeFailure } from '../../src/cli/terminal/failure-text.ts';
import { formatDuration, formatNumber, formatRate, printable } from '../../src/cli/terminal/format.ts';
import { histogramLines } from '../../src/cli/demo/histogram.ts';
import { csvField } from '../../src/base/text/csv.ts';
import { EtaEstimator } from '../../src/cli/progress/eta.ts';
import { renderPairs, renderTable } from '../../src/cli/terminal/table.ts';

const NUMBERS: [number, string][] = [
  [0, '0'],
  [-3, '-3'],
  [1234567, '1234567'],
  [1.23456789, '1.23457'],
  [0.1 + 0.2, '0.3'],
  [1e-9, '1e-9'],
  [1e21, '1e+21'],
  [NaN, 'NaN'],
  [-Infinity, '-inf'],
];
const DURATIONS: [number | undefined, string][] = [
  [undefined, '-'],
  [-1, '-'],
  [Infinity, '-'],
  [0, '0s'],
  [0.44, '0.4s'],
  [9.94, '9.9s'],
  [9.96, '10s'],
  [59.4, '59s'],
  [59.6, '1m 00s'],
  [185, '3m 05s'],
  [7620, '2h 07m'],
  [273_600, '3d 04h'],
];
const RATES: [number | undefined, string][] = [
  [undefined, '-'],
  [0, '-'],
  [12.345, '12.3/s'],
  [0.07, '4.2/min'],
  [0.0001, '0.36/h'],
];

describe('cli/terminal/format', () => {
  it('formats numbers', () => {
    for (const [value, text] of NUMBERS) expect(formatNumber(value)).to.equal(text);
  });
  it('formats durations', () => {
    for (const [secs, text] of DURATIONS) expect(formatDuration(secs)).to.equal(text);
  });
  it('formats rates', () => {
    for (const [rate, text] of RATES) expect(formatRate(rate)).to.equal(text);
  });

  it('removes control characters from untrusted text', () => {
    expect(printable('a\u001b[2Jb\nc\u202ed')).to.equal('a [2Jb c d');
    expect(printable('abcdef', 4)).to.equal('abc…');
    expect(renderTable([{ name: 'n' }], [['x\u001b[31m']])).to.not.include('\u001b');
    expect(
      renderPairs([
        ['a', 'b\r\u0007'],
        ['gone', undefined],
      ]),
    ).to.equal('a  b');
  });

  it('escapes fields of CSV', () => {
    const rows: [Parameters<typeof csvField>[0], string][] = [
      ['a', 'a'],
      ['a,b', '"a,b"'],
      ['say "x"', '"say ""x"""'],
      ['=1+1', "'=1+1"],
      [' =1+1', "' =1+1"],
      ['\uff1d1+1', "'\uff1d1+1"],
      [-1.5, '-1.5'],
      ['-1', "'-1"],
      [true, 'true'],
      [null, ''],
      [undefined, ''],
      ['a\r\nb', '"a\r\nb"'],
    ];
    for (const [value, text] of rows) expect(csvField(value)).to.equal(text);
  });
});

describe('cli/failure', () => {
  const problem = {
    type: 'about:blank',
    title: 't',
    status: 422,
    detail: 'd',
    code: 'invalid-request',
    errors: [{ pointer: '/a', detail: 'is bad' }],
  };
  const TABLE: [string, unknown, number, string[]][] = [
    ['its own', new Failure(65, 'no', ['x']), 65, ['no', 'x']],
    ['refused', new ApiError(422, 'invalid-request', 'not valid', problem), 65, ['not valid', '/a: is bad']],
    ['unknown', new ApiError(404, 'unknown-job', 'there is no job'), 66, ['there is no job']],
    ['conflict', new ApiError(409, 'illegal-transition', 'it is Completed'), 75, ['it is Completed']],
    [
      'no token',
      new ApiError(401, 'unauthenticated', 'no credentials'),
      77,
      ['no credentials; set SIMBATCH_TOKEN to a token of this coordinator'],
    ],
    ['stopping', new ApiError(503, 'unavailable', 'stopping'), 69, ['stopping']],
    ['fault', new ApiError(500, 'internal', 'a fault'), 1, ['a fault']],
    [
      'away',
      new UnreachableError('http://x', 'refused'),
      69,
      [
        'cannot reach the coordinator at http://x: refused; start it with `simbatch serve`, or name another with --endpoint or SIMBATCH_ENDPOINT',
      ],
    ],
    [
      'certificate',
      new UnreachableError('https://x', 'its certificate is self-signed; name a file with it in NODE_EXTRA_CA_CERTS'),
      69,
      [
        'cannot reach the coordinator at https://x: its certificate is self-signed; name a file with it in NODE_EXTRA_CA_CERTS',
      ],
    ],
    [
      'several settings',
      new SimbatchError('invalid-configuration', 'a:1:1: x\na:2:1: y'),
      78,
      ['a:1:1: x', 'a:2:1: y'],
    ],
    ['locked', new SimbatchError('store-locked', 'in use'), 73, ['in use']],
    ['configuration', new SimbatchError('invalid-configuration', 'bad'), 78, ['bad']],
    [
      'port',
      new SimbatchError('invalid-configuration', 'taken', {
        cause: Object.assign(new Error('x'), { code: 'EADDRINUSE' }),
      }),
      73,
      ['taken'],
    ],
    [
      'no file',
      Object.assign(new Error('ENOENT: x'), { code: 'ENOENT', path: 'a.yaml' }),
      66,
      ['a.yaml: no such file or directory (ENOENT)'],
    ],
    ['a bug', new Error('broken\nline'), 1, ['broken line']],
  ];
  for (const [name, error, exitCode, lines] of TABLE) {
    it(name, () => {
      const shown = describeFailure(error);
      expect(shown.exitCode).to.equal(exitCode);
      expect(shown.lines.map((line) => line.trim())).to.deep.equal(lines);
    });
  }
});

describe('cli/terminal/eta', () => {
  const TABLE: [string, [number, number][], number, string][] = [
    ['nothing seen', [], 10, '- -'],
    ['one look', [[0, 3]], 10, '- -'],
    [
      'nothing done',
      [
        [0, 3],
        [5000, 3],
      ],
      10,
      '- -',
    ],
    [
      'two a second',
      [
        [0, 0],
        [5000, 10],
      ],
      20,
      '2/s 5s',
    ],
    [
      'done',
      [
        [0, 0],
        [5000, 10],
      ],
      10,
      '2/s 0s',
    ],
    [
      'older than a minute does not count',
      [
        [0, 0],
        [1000, 1000],
        [60_000, 1000],
        [120_000, 1060],
      ],
      1120,
      '1/s 1m 00s',
    ],
    [
      'slower than one a minute',
      [
        [0, 0],
        [600_000, 1],
      ],
      2,
      '6/h 10m 00s',
    ],
  ];
  for (const [name, seen, total, expected] of TABLE) {
    it(name, () => {
      const pace = new EtaEstimator();
      for (const [atMs, done] of seen) pace.see(atMs, done);
      expect(`${formatRate(pace.perSecond)} ${formatDuration(pace.secondsLeft(total))}`).to.equal(expected);
    });
  }
});

describe('cli/demo/histogram', () => {
  it('draws a bar for every bin with a value', () => {
    const series = new NumberSeries();
    for (const value of [0, 1, 1, 1, 1, 1, 1, 1, 1, 4]) series.add(value);
    expect(histogramLines(series, 4, 4)).to.deep.equal(['0 ▌    1', '1 ████ 8', '2      0', '3 ▌    1']);
  });
});
