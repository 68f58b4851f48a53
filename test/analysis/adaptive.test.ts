/** Answers about runs that were chosen, by results or as a canary study: no intervals, no verdicts, and a warning. */
import { expect } from 'chai';
import { conclude } from '../../src/analysis/conclusion/conclude.ts';
import { studyEvidence } from '../../src/analysis/conclusion/evidence.ts';
import { convergence } from '../../src/analysis/outputs/convergence.ts';
import { judgeStudy } from '../../src/analysis/requirements/verdicts.ts';
import { studySensitivity } from '../../src/analysis/sensitivity/study-sensitivity.ts';
import { studyAttribution } from '../../src/analysis/attribution/study-attribution.ts';
import { summarizeStudy } from '../../src/analysis/summary.ts';
import { RunTableBuilder } from '../../src/analysis/table/table-builder.ts';
import type { RunTable } from '../../src/analysis/table/run-table.ts';
import type { Requirement } from '../../src/contract/types.ts';

const REQUIREMENT: Requirement = { name: 'near', output: 'miss', condition: '<= 50', probability: 0.5 };

function tableOf(method: 'adaptive' | 'canary' | 'monte_carlo', runs = 60): RunTable {
  const builder = new RunTableBuilder({ batchId: 'b', method, runs });
  for (let row = 0; row < runs; row++) {
    const outputs = new Map<string, unknown>([['miss', row]]);
    builder.add({ row, status: 'Completed', parameters: { x: row % 7 }, outputs, executionSecs: 1 });
  }
  return builder.build();
}
const codesOf = ({ warnings }: { warnings: readonly { code: string }[] }): string[] => warnings.map(({ code }) => code);
const options = { confidence: 0.95, quantiles: [0.5], requirements: [REQUIREMENT] };

for (const [design, title, code] of [
  ['adaptive', 'an adaptive study', 'adaptive-design'],
  ['canary', 'a canary study', 'canary-design'],
] as const)
  describe(`analysis of ${title}`, () => {
    const table = tableOf(design);

    it('has the warning, and no interval of a mean, quantile or tolerance', () => {
      const summary = summarizeStudy(table, options);
      expect(codesOf(summary)).to.include(code);
      const miss = summary.outputs.find(({ name }) => name === 'miss')!;
      expect(miss.mean).to.equal(29.5);
      expect(miss.mean_interval).to.equal(null);
      expect(miss.quantiles[0]).to.deep.include({ value: 29.5, interval: [null, null] });
      expect(miss.tolerance).to.include({ lower: null, upper: null });
      const drawn = summarizeStudy(tableOf('monte_carlo'), options).outputs.find(({ name }) => name === 'miss')!;
      expect(drawn.mean_interval).to.not.equal(null);
      expect(drawn.quantiles[0]!.interval).to.not.deep.equal([null, null]);
    });

    it('warns of it in sensitivity, attribution and convergence, and has no interval there', () => {
      expect(codesOf(studySensitivity(table, 'miss'))).to.include(code);
      expect(codesOf(studyAttribution(table))).to.include(code);
      for (const quantity of ['mean', 'failure', { p: 0.5 }] as const) {
        const course = convergence(table, { output: 'miss', quantity, confidence: 0.95 });
        expect(codesOf(course)).to.include(code);
        expect(course.points.every(({ low, high }) => low === null && high === null)).to.equal(true);
      }
    });

    it('gives no verdict, with the reason, and concludes from none', () => {
      const [judged] = judgeStudy(table, [REQUIREMENT]).requirements;
      expect(judged).to.deep.include({ verdict: null, reason: code, passed: 51, failed: 9, wilson: null });
      expect(judgeStudy(tableOf('monte_carlo'), [REQUIREMENT]).requirements[0]!.verdict).to.equal('met');
      const evidence = studyEvidence(table, [REQUIREMENT], new Map());
      expect(evidence.requirements).to.deep.equal([]);
      expect(conclude(evidence, { status: 'Completed', findings: [] }).level).to.equal('ok');
      const waiting = conclude(evidence, { status: 'Running', findings: [], growing: { rounds: 2, budget: 100 } });
      expect([waiting.level, waiting.sentence]).to.deep.equal([
        'running',
        'Running: 60 of 60 runs in 2 rounds have ended. It waits for rows: append a round, or close it; 40 of 100 runs are left.',
      ]);
      const before = { ...evidence, total: 0, counts: { ...evidence.counts, completed: 0, failed: 0, open: 0 } };
      const begun = { status: 'Running', findings: [], growing: { rounds: 1, budget: 100 } } as const;
      expect(conclude(before, begun).sentence).to.equal('Running: its first round was appended just now.');
    });
  });
