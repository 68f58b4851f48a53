/** The line of a requirement in the progress of a study: one row per kind of verdict. */
import { expect } from 'chai';
import { judgeRequirement } from '../../src/analysis/requirements/judge.ts';
import { RunTableBuilder } from '../../src/analysis/table/table-builder.ts';
import { progressLine } from '../../src/cli/study/answer-text.ts';

const requirement = {
  name: 'near',
  output: 'miss_m',
  condition: '< 50',
  probability: 0.95,
  confidence: 0.95,
  terminated: 'unknown',
  look: 'once',
} as const;

/** passed, failed, open -> line. */
const LINES: [number, number, number, RegExp][] = [
  [20, 0, 80, /^near: open, 20 of 20 runs passed, bounds .*, 39 more passing runs needed$/],
  [90, 0, 110, /^near: open, 90 of 90 runs passed, bounds .*, shown so far, \d+ more failures at most$/],
  [59, 0, 0, /^near: met, 59 of 59 runs passed, bounds 95.05 % and 100 %$/],
  [58, 0, 0, /^near: not enough runs, .*, 1 further passing run would show it$/],
  [0, 8, 20, /^near: violated \(certain\), 0 of 8 runs passed/],
];

describe('the line of a requirement', () => {
  for (const [passed, failed, open, line] of LINES) {
    it(`${passed} passed, ${failed} failed, ${open} open`, () => {
      const runs = passed + failed + open;
      const builder = new RunTableBuilder({ batchId: 'b', method: 'monte_carlo', runs });
      for (let row = 0; row < passed + failed; row++) {
        builder.add({ row, status: 'Completed', parameters: {}, outputs: [['miss_m', row < passed ? 1 : 99]] });
      }
      expect(progressLine(judgeRequirement(builder.build(), requirement))).to.match(line);
    });
  }
});
