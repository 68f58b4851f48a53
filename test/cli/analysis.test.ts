/** The commands that print answers about a study: the exit code of a verdict, and limits beside the figures. */
import { expect } from 'chai';
import { judgeStudy } from '../../src/analysis/requirements/verdicts.ts';
import { summarizeStudy } from '../../src/analysis/summary.ts';
import { RunTableBuilder } from '../../src/analysis/table/table-builder.ts';
import { verdictLines } from '../../src/cli/study/answer-text.ts';
import { summaryLines } from '../../src/cli/study/summary-lines.ts';
import { verdictReport } from '../../src/cli/commands/analysis/verdict.ts';
import { verdictExitCode } from '../../src/cli/study/verdicts.ts';
import { Cells } from '../../src/domain/scenarios/cells.ts';
import { BATCH_ID } from '../support/fake-api.ts';

/** Runs with the output `miss` equal to their number; the last one crashed. */
function table(runs: number) {
  const builder = new RunTableBuilder({ batchId: BATCH_ID, method: 'monte_carlo', runs });
  for (let row = 0; row < runs - 1; row++) builder.add({ row, status: 'Completed', outputs: [['miss', row]] });
  builder.add({ row: runs - 1, status: 'Failed', reason: 'exit', errorMessage: 'exit code 3' });
  return builder.build();
}

describe('cli/commands/analysis', () => {
  const CODES: [verdicts: string[], code: number][] = [
    [['met', 'met'], 0],
    [['met', 'violated', 'open'], 4],
    [['met', 'not-shown'], 5],
    [['open'], 5],
  ];
  for (const [verdicts, code] of CODES) {
    it(`ends with ${code} for ${verdicts.join(', ')}`, () => expect(verdictExitCode(verdicts)).to.equal(code));
  }

  it('prints the sentence of a verdict before its counts, with the runs that are unknown', () => {
    const requirement = { name: 'close', output: 'miss', condition: '< 50', probability: 0.5 };
    const lines = verdictReport(judgeStudy(table(40), [requirement]));
    expect(lines[0]).to.match(/^close: met: miss < 50 with probability 50 % .* 39 of 40 runs passed, 1 unknown/);
    expect(lines.at(-1)).to.match(/close +met +39 +0 +1 /);
  });

  it('prints the cells of scenarios by axes, with their verdicts alone and called', () => {
    const cells = new Cells({ site: { north: {}, south: {} }, wind: { calm: {} } });
    const layout = { batchId: BATCH_ID, method: 'scenarios' as const, runs: 80 };
    const builder = new RunTableBuilder({ ...layout, cells: { cells, method: 'monte_carlo' } });
    for (let row = 0; row < 80; row++)
      builder.add({ row, status: 'Completed', outputs: [['miss', row % 2 === 1 ? 99 : 1]] });
    const requirement = { name: 'close', output: 'miss', condition: '< 50', probability: 0.5 };
    const study = judgeStudy(builder.build(), [requirement], ['site', 'wind']);
    const text = verdictReport(study).join('\n');
    expect(text).to.match(
      /^close: violated: .*; not in 1 of 2 cells, corrected for their number: \(site=south, wind=calm\)/,
    );
    expect(text).to.match(/SITE +WIND +VERDICT +CALLED +PASSED/i);
    expect(text).to.match(/north +calm +met +met +40 +0 +0 +100 %/);
    expect(text).to.match(/south +calm +violated +violated +0 +40 +0 +0 %/);
  });

  it('says the grounds of a verdict once: not again below a sentence that has them', () => {
    const requirement = judgeStudy(table(40), [{ name: 'close', output: 'miss', condition: '< 50', probability: 0.5 }])
      .requirements[0]!;
    const grounds = requirement.sentence.replace(/^[^:]*: /, '');
    const [line] = verdictLines([requirement]);
    expect(line).to.include(grounds);
    expect(verdictLines([requirement], { headline: 'OK: something else' })).to.deep.equal([line]);
    const said = verdictLines([requirement], {
      headline: `OK: ${grounds.charAt(0).toUpperCase()}${grounds.slice(1)}.`,
    });
    expect(said).to.deep.equal([line!.slice(0, -grounds.length - 2)]);
  });

  it('prints how many runs a summary uses, and the failures by pattern', () => {
    const text = summaryLines(summarizeStudy(table(40))).join('\n');
    expect(text).to.match(/^statistics of 39 of 40 runs: 1 crashed and left out\n[^]*miss +39 +19 /);
    expect(text).to.match(/failures\n +1 x crashed: exit code … \(e\.g\. run 39\)$/);
  });

  it('never prints a quantile that the threshold of a rule excludes', () => {
    const builder = new RunTableBuilder({ batchId: BATCH_ID, method: 'monte_carlo', runs: 200 });
    const rule = { variable: 'max_nz', condition: '> 3.8' };
    for (let row = 0; row < 200; row++) {
      const record = { row, outputs: [['max_nz', 3 + (row % 66) / 88]] as const };
      if (row < 66) builder.add({ ...record, status: 'Completed' });
      else builder.add({ ...record, status: 'Failed', reason: 'early_termination', terminatedBy: rule });
    }
    const text = summaryLines(summarizeStudy(builder.build())).join('\n');
    expect(text).to.match(/^statistics of 66 of 200 runs: 134 terminated early and left out\n/);
    expect(text).to.match(/max_nz +66 .* > 3\.8 +> 3\.8 /);
    expect(text).to.match(
      /\[ \]: 95 % interval of the quantile of all runs, whatever the values of the runs without one are/,
    );
  });
});
