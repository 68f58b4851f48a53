/** Requirements in cells that are judged run by run, with a decision that is final: when it comes, and how often it is wrong. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { BatchSubmission, Requirement } from '../../../src/contract/types.ts';
import { CellsProgress } from '../../../src/analysis/requirements/cells/cells-progress.ts';
import { judgeRequirement } from '../../../src/analysis/requirements/judge.ts';
import {
  type Outcome,
  parseRequirement,
  type ParsedRequirement,
} from '../../../src/analysis/requirements/requirement.ts';
import { SequentialVerdict } from '../../../src/analysis/requirements/sequential-verdict.ts';
import { judgedUpToStop } from '../../../src/analysis/stop.ts';
import { Cells } from '../../../src/domain/scenarios/cells.ts';
import { type Run, tableOf } from '../tables.ts';

const LEVELS = ['a', 'b', 'c'];
const CELLS = new Cells({ x: Object.fromEntries(LEVELS.map((it) => [it, {}])) });

const near = (more: Partial<Requirement> = {}): Requirement => ({
  name: 'near',
  output: 'y',
  condition: '< 1',
  probability: 0.5,
  confidence: 0.9,
  look: 'continuous',
  ...more,
});

const progressOf = (requirement: Requirement, state?: ReturnType<CellsProgress['toJSON']>): CellsProgress =>
  new CellsProgress(parseRequirement(requirement) as ParsedRequirement, requirement, CELLS, state);

const terminal = fc.constantFrom<Exclude<Outcome, 'open'>>('pass', 'pass', 'pass', 'fail', 'unknown', 'excluded');

/** The decision by the definition: each cell with tests of its own, looked at after every run. */
function decided(outcomes: readonly Exclude<Outcome, 'open'>[]): [string, number] | [null, null] {
  const alone = LEVELS.map(() => new SequentialVerdict(0.5, 0.9));
  const strict = LEVELS.map(() => new SequentialVerdict(0.5, 1 - 0.1 / LEVELS.length));
  for (const [run, outcome] of outcomes.entries()) {
    alone[run % LEVELS.length]!.take(outcome, run);
    strict[run % LEVELS.length]!.take(outcome, run);
    if (strict.some((it) => it.verdict === 'violated')) return ['violated', run];
    if (alone.every((it) => it.verdict === 'met')) return ['met', run];
  }
  return [null, null];
}

/** Numbers from 0 to 1 that are the same in every execution. */
function uniforms(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** How often each decision is taken on samples of these probabilities of passing, the cells of a sample with one uniform number. */
function decisions(requirement: Requirement, rates: readonly number[]): Record<string, number> {
  const counts: Record<string, number> = { met: 0, violated: 0, none: 0 };
  const next = uniforms(7);
  for (let study = 0; study < 1000; study++) {
    const progress = progressOf(requirement);
    for (let sample = 0; sample < 100 && !progress.isSettled; sample++) {
      const u = next();
      for (const [cell, rate] of rates.entries()) progress.take(u < rate ? 'pass' : 'fail', sample * 3 + cell);
    }
    counts[progress.toJSON().verdict ?? 'none']!++;
  }
  return counts;
}

describe('analysis/requirements/cells/cells-progress', () => {
  it('decides at the run of the definition, wherever its state was stored and read', () => {
    fc.assert(
      fc.property(fc.array(terminal, { maxLength: 90 }), fc.nat(90), (outcomes, at) => {
        let progress = progressOf(near());
        for (const [run, outcome] of outcomes.entries()) {
          if (run === at) progress = progressOf(near(), JSON.parse(JSON.stringify(progress)) as never);
          progress.take(outcome, run);
        }
        const { verdict, settled_at_run_id: runId } = progress.toJSON();
        expect([verdict, runId]).to.deep.equal(decided(outcomes));
      }),
    );
  });

  it('has the same pooled decision from a stored state to the bit, in the middle of a sample too', () => {
    const pooled = near({ in: 'pooled', weights: { x: { a: 3, b: 2, c: 1 } } });
    fc.assert(
      fc.property(fc.array(terminal, { maxLength: 120 }), fc.nat(120), (outcomes, at) => {
        const whole = progressOf(pooled);
        let parts = progressOf(pooled);
        for (const [run, outcome] of outcomes.entries()) {
          if (run === at) parts = progressOf(pooled, JSON.parse(JSON.stringify(parts)) as never);
          whole.take(outcome, run);
          parts.take(outcome, run);
        }
        expect(JSON.stringify(parts)).to.equal(JSON.stringify(whole));
      }),
    );
  });

  it('is wrong at most as often as the confidence allows, whenever a study stops', () => {
    // Truths just on the other side of the requirement, where wrong decisions are most frequent.
    const least = decisions(near(), [0.499, 1, 1]);
    expect(least['met']).to.be.above(0).and.at.most(100);
    const all = decisions(near(), [0.501, 0.501, 0.501]);
    expect(all['violated']).to.be.above(0).and.at.most(100);
    const pooled = near({ in: 'pooled' });
    expect(decisions(pooled, [0.3, 0.5, 0.69])['met'])
      .to.be.above(0)
      .and.at.most(100);
    expect(decisions(pooled, [0.31, 0.5, 0.7])['violated'])
      .to.be.above(0)
      .and.at.most(100);
    expect(decisions(pooled, [0.9, 0.9, 0.9])).to.deep.equal({ met: 1000, violated: 0, none: 0 });
  });

  it('judges a study that stopped by the runs up to the stop, and any other run that has ended changes nothing', () => {
    const submission: Pick<BatchSubmission, 'requirements' | 'policy'> = {
      requirements: [near()],
      policy: { stop_when: 'settled' },
    };
    const prefix: Run[] = Array.from({ length: 90 }, (_, run) => (run % 3 === 1 ? 9 : 0));
    const expected = decided(prefix.map((it) => (it === 9 ? 'fail' : 'pass')));
    const answers = [(): Run => 'cancelled', (at: number): Run => (at % 4 === 0 ? 9 : 'cancelled')].map((rest) => {
      const runs = [...prefix, ...Array.from({ length: 30 }, (_, at) => rest(at))];
      const table = tableOf(runs, { method: 'scenarios', cells: { cells: CELLS, method: 'monte_carlo' } });
      const used = judgedUpToStop(table, submission);
      return judgeRequirement(used, near());
    });
    expect(answers[0]).to.deep.equal(answers[1]);
    expect([answers[0]!.verdict, answers[0]!.settled_at_run_id]).to.deep.equal(expected);
    expect(answers[0]!.settled).to.equal('sequential');
    // A cell takes no run after its own decision.
    expect(answers[0]!.judged).to.be.at.most(expected[1]! + 1);
    expect(answers[0]!.warnings.map((it) => it.code)).to.include('settled');
    expect(answers[0]!.warnings.map((it) => it.code)).to.not.include('bounds-not-planned');
  });
});
