/** The log of problems: one line at the beginning and one at the end of each. */
import { expect } from 'chai';
import { ProblemLog } from '../../src/launcher/problem-log.ts';

describe('launcher/problem log', () => {
  it('says each problem once when it begins, whatever its reason becomes, and once when it is over', () => {
    const lines: string[] = [];
    const log = new ProblemLog((level, text) => lines.push(`${level} ${text}`));
    log.note(['the engine of a at h1 gives no answer: timed out'], 0);
    log.note(['the engine of a at h1 gives no answer: no route: x', 'the coordinator gives no answer: refused'], 5_000);
    log.note(['the coordinator gives no answer: refused'], 65_000);
    log.note([], 70_000);
    log.note([], 75_000);
    log.note(['the engine of a at h1 gives no answer: timed out'], 80_000);
    expect(lines).to.deep.equal([
      'warn problem: the engine of a at h1 gives no answer: timed out',
      'warn problem: the coordinator gives no answer: refused',
      'info no longer a problem, after 1m5s: the engine of a at h1 gives no answer',
      'info no longer a problem, after 1m5s: the coordinator gives no answer',
      'warn problem: the engine of a at h1 gives no answer: timed out',
    ]);
  });
});
