/** The table of problems that were new to the method: the same numbers in the answer and in the documentation. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { MEASURED } from '../../../src/analysis/rare/answer/measured.ts';
import { packageRoot } from '../../../src/base/package.ts';

describe('analysis/rare/answer/measured', () => {
  it('is the table of docs/rare-events.md, the worst first', () => {
    const page = readFileSync(join(packageRoot, 'docs/rare-events.md'), 'utf8');
    const rows = MEASURED.map(
      (it) => `| ${it.problem} | ${it.probability.toExponential(2)} | ${it.held_by_one} | ${it.held_by_two} |`,
    );
    expect(page).to.include(['| --- | --- | --- | --- |', ...rows].join('\n'));
    expect(MEASURED.map((it) => it.held_by_one)).to.deep.equal(
      MEASURED.map((it) => it.held_by_one).toSorted((a, b) => a - b),
    );
  });
});
