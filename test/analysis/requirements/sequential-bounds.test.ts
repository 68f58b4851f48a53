/** The bounds of a sequential verdict: the confidence sequence of its E values, and the runs that count once it is settled. */
import { expect } from 'chai';
import { convergence } from '../../../src/analysis/outputs/convergence.ts';
import { oneSidedBounds } from '../../../src/analysis/requirements/bounds.ts';
import { judgeRequirement, judgeWithCourse } from '../../../src/analysis/requirements/judge.ts';
import { SequentialTest } from '../../../src/analysis/requirements/sequential-test.ts';
import { limitedToStop } from '../../../src/analysis/stop.ts';
import { summarizeStudy } from '../../../src/analysis/summary.ts';
import type { Requirement } from '../../../src/contract/types.ts';
import { decisionRates, sequentialRule } from '../decision-rates.ts';
import { type Run, tableOf, times } from '../tables.ts';

const REQUIREMENT: Requirement = {
  name: 'r',
  output: 'y',
  condition: '< 5',
  probability: 0.9,
  confidence: 0.9,
  look: 'continuous',
};

describe('analysis/requirements: bounds of the sequential test', () => {
  it('at the moment of the decision each bound errs at most as often as its confidence allows, which exact bounds do not', () => {
    const [probability, confidence, looks] = [0.9, 0.9, 400];
    for (const truth of [0.8, 0.88, 0.9, 0.93, 0.97]) {
      const missed = { lower: 0, upper: 0, exact: 0, met: 0 };
      decisionRates(sequentialRule(probability, confidence), truth, looks, (verdict, passed, failed, mass) => {
        const counts = { passed, failed, unknown: 0 };
        const [lower, upper] = oneSidedBounds(counts, 'continuous', confidence);
        const [exact] = oneSidedBounds(counts, 'once', confidence);
        if (verdict === 'met') {
          expect(lower, `${passed} of ${passed + failed}`).to.be.at.least(probability - 1e-9);
          missed.met += mass;
          if (exact > truth) missed.exact += mass;
        } else expect(upper, `${passed} of ${passed + failed}`).to.be.at.most(probability + 1e-9);
        if (lower > truth) missed.lower += mass;
        if (upper < truth) missed.upper += mass;
      });
      expect(missed.lower, `lower, truth ${truth}`).to.be.at.most(1 - confidence);
      expect(missed.upper, `upper, truth ${truth}`).to.be.at.most(1 - confidence);
      if (truth === 0.93) expect(missed.exact / missed.met, 'exact bound').to.be.above(0.2);
    }
  });

  it('the lower bound is where the E value for `met` falls below its threshold, and the upper one mirrored', () => {
    const rows: [passed: number, failed: number, unknown: number][] = [
      [25, 0, 0],
      [90, 10, 0],
      [40, 10, 5],
      [1, 30, 2],
    ];
    for (const [passed, failed, unknown] of rows) {
      const [lower, upper] = SequentialTest.bounds({ passed, failed, unknown }, 0.95);
      for (let p = 0.002; p < 1; p += 0.002) {
        const test = new SequentialTest(p, 0.95);
        expect(test.logMet(passed, failed + unknown) >= test.threshold, `met at ${p}`).to.equal(p < lower);
        expect(test.logViolated(passed + unknown, failed) >= test.threshold, `violated at ${p}`).to.equal(p > upper);
      }
    }
    expect(SequentialTest.bounds({ passed: 0, failed: 0, unknown: 0 }, 0.95)).to.deep.equal([0, 1]);
    expect(SequentialTest.bounds({ passed: 0, failed: 9, unknown: 0 }, 0.95)[0]).to.equal(0);
  });

  it('a settled requirement has the bounds of the decision, an open one those so far, an undecided one exact ones', () => {
    const bounds = (passed: number, look: 'once' | 'continuous') =>
      oneSidedBounds({ passed, failed: 0, unknown: 0 }, look, 0.9);
    const found = (runs: Run[]) => judgeWithCourse(tableOf(runs), REQUIREMENT);
    const settled = found([...times(30, 1), ...times(5, 9)]);
    expect([settled.lower, settled.upper]).to.deep.equal(bounds(25, 'continuous'));
    const { lower, upper } = settled.course.at(-1)!;
    expect([lower, upper]).to.deep.equal(bounds(25, 'continuous'));
    const open = found([...times(10, 1), 'open']);
    expect([open.verdict, open.lower, open.upper]).to.deep.equal(['open', ...bounds(10, 'continuous')]);
    const ended = found(times(10, 1));
    expect([ended.verdict, ended.lower, ended.upper]).to.deep.equal(['not-shown', ...bounds(10, 'once')]);
    expect(ended.warnings.map((it) => it.code)).to.deep.equal(['bounds-not-planned']);
  });

  it('statistics of a study that a stop has settled are those of the runs up to its decision', () => {
    const clean = Array.from({ length: 30 }, (_, i) => i / 10);
    const runs: Run[] = [...clean.slice(0, 25), 'cancelled', 4.5, ...times(73, 'cancelled')];
    const submission = { requirements: [REQUIREMENT], policy: { stop_when: 'settled' as const } };
    const settled = limitedToStop(tableOf(runs), submission);
    const { outputs, ...found } = summarizeStudy(settled, { requirements: [REQUIREMENT], quantiles: [0.5] });
    expect(judgeRequirement(tableOf(runs), REQUIREMENT).settled_at_run_id).to.equal(24);
    expect(found).to.deep.include({ of: 100, n_used: 25, excluded: { after_settled: 75 } });
    expect(found.sentence).to.equal(
      'settled study: statistics of 25 of 100 runs: 75 after the run that settled the study and left out',
    );
    expect(found.warnings[0]).to.deep.include({ code: 'settled' });
    const alone = summarizeStudy(tableOf(clean.slice(0, 25)), { quantiles: [0.5] }).outputs;
    expect(outputs).to.deep.equal(alone);
    const curve = convergence(settled, { output: 'y', quantity: { p: 0.5 }, confidence: 0.95 });
    expect(curve.points.at(-1)).to.deep.include({ n: 25, low: alone[0]!.quantiles[0]!.interval[0] });
    expect([curve.n_used, curve.bounds]).to.deep.equal([25, null]);
  });

  it('no other study is limited: without a stop, undecided, uncancelled, or of replicates', () => {
    const policy = { stop_when: 'settled' as const };
    const stopped = [...times(30, 1), 'cancelled' as const];
    const rows: [string, Run[], object, object?][] = [
      ['without a stop', stopped, { requirements: [REQUIREMENT] }],
      ['without requirements', stopped, { policy }],
      ['undecided', [...times(5, 1), 'cancelled'], { requirements: [REQUIREMENT], policy }],
      ['of which no run was cancelled', times(30, 1), { requirements: [REQUIREMENT], policy }],
      [
        'of replicates',
        stopped,
        { requirements: [REQUIREMENT], policy },
        { replicates: new Uint16Array(31), runIds: Uint32Array.from(stopped, (_, i) => i) },
      ],
    ];
    for (const [label, runs, submission, layout] of rows)
      expect(limitedToStop(tableOf(runs, layout), submission), label).not.to.have.property('settledRows');
  });
});
