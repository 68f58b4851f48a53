import { expect } from 'chai';
import { groupFailures, normalizeMessage } from '../../src/domain/failure-groups.ts';

describe('domain/failure-groups', () => {
  const SAME: [a: string, b: string, pattern: string][] = [
    ['step 12 diverged', 'step 3401 diverged', 'step … diverged'],
    ['x = -1.5e-3 at t=2', 'x = 7 at t=0.25', 'x = … at t=…'],
    ['bad pointer 0x7ffe01', 'bad pointer 0xAB', 'bad pointer …'],
    ['cannot read /data/a/7.csv', 'cannot read /tmp/run-2/x.csv', 'cannot read …'],
    ['cannot read C:\\data\\1.csv', 'cannot read D:\\e\\2.csv', 'cannot read …'],
    ['job 01a1fd5f-8e55-8ba2-be0c-44cf00000023 gone', 'job 00000000-0000-8000-8000-000000000001 gone', 'job … gone'],
    ['at 2026-01-01T00:00:00.000Z', 'at 2026-02-03 04:05:06', 'at …'],
    ['runner lab-7 was restarted', 'runner ws.anna was restarted', 'runner … was restarted'],
    ['Traceback\n  File "a"\nValueError: x 1\n', 'Traceback\n  File "b"\nValueError: x 2', 'ValueError: x …'],
    [
      'terminated early: x < 0 by x = -1\nnoise 1',
      'terminated early: x < 0 by x = -7',
      'terminated early: x < … by x = …',
    ],
    [
      'killed after its time limit of 60 s\nstep 7',
      'killed after its time limit of 60 s',
      'killed after its time limit of … s',
    ],
    [
      'terminated early: q > 1 was met\nlanded 14 m away',
      'terminated early: q > 2 was met',
      'terminated early: q > … was met',
    ],
    [
      'the simulation was killed by signal SIGKILL\nstep 7',
      'the simulation was killed by signal SIGKILL',
      'the simulation was killed by signal SIGKILL',
    ],
    [
      'the simulation exited with code 1\nValueError: 3',
      'the simulation exited with code 2\nValueError: 4',
      'ValueError: …',
    ],
  ];
  for (const [a, b, pattern] of SAME) {
    it(`puts together as ${JSON.stringify(pattern)}`, () => {
      expect(normalizeMessage(a)).to.equal(pattern);
      expect(normalizeMessage(b)).to.equal(pattern);
    });
  }

  const APART: [string, string][] = [
    ['ValueError: x', 'TypeError: x'],
    ['exited with code 1', 'killed by signal 9'],
    ['x1 is missing', 'y1 is missing'],
  ];
  for (const [a, b] of APART) {
    it(`keeps apart ${a} and ${b}`, () => expect(normalizeMessage(a)).to.not.equal(normalizeMessage(b)));
  }

  it('orders groups by size, then by first run, and keeps an example', () => {
    const groups = groupFailures([
      [1, 'b 1'],
      [2, 'a 1'],
      [5, 'a 2'],
      [7, 'c'],
    ]);
    expect(groups).to.deep.equal([
      { pattern: 'a …', example: 'a 1', runs: [2, 5] },
      { pattern: 'b …', example: 'b 1', runs: [1] },
      { pattern: 'c', example: 'c', runs: [7] },
    ]);
  });

  it('groups any text in bounded time', () => {
    for (const text of ['', '\n\n', '1'.repeat(1e6), '/a'.repeat(1e5), '-'.repeat(1e5), '….\u0000']) {
      expect(normalizeMessage(text)).to.be.a('string').and.have.lengthOf.below(400);
    }
    expect(normalizeMessage('')).to.equal('(no message)');
  });
});
