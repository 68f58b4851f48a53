/** Studies that a rare-event method cannot answer, or not alone: each gives a warning or a reason, and never a wrong number as if it were sure. */
import { expect } from 'chai';
import { combinedRare } from '../../../src/analysis/rare/answer/combine.ts';
import type { BatchSubmission, RareEventAnswer } from '../../../src/contract/types.ts';
import { study } from '../../support/studies.ts';
import { madeRareStudy, type RareStudyMade, type Simulate } from './studies.ts';

/** Parameters x0, x1, ... are standard normals; y >= 0 violates. The sizes are the default ones. */
function madeOf(
  seed: number,
  d: number,
  simulate: (z: number[], run: number) => ReturnType<Simulate>,
  runs = 0,
): RareStudyMade {
  const submission: BatchSubmission = study({ runs: 0 });
  const { config } = submission;
  config.monte_carlo = { runs, sampling_method: 'adaptive', seed };
  config.adaptive = { algorithm: 'rare_event' };
  const distribution = { type: 'normal' as const, mean: 0, std_dev: 1 };
  config.dispersions = Object.fromEntries(
    Array.from({ length: d }, (_, at) => [`x${at}`, { distribution, units: '' }]),
  );
  submission.requirements = [REQUIREMENT];
  return madeRareStudy(submission, (parameters, run) => simulate(Object.values(parameters), run));
}

const answerOf = (...given: Parameters<typeof madeOf>): RareEventAnswer => madeOf(...given).answer();

const REQUIREMENT = { name: 'r', output: 'y', condition: '< 0', probability: 0.999, confidence: 0.95 };
const codesOf = ({ warnings }: RareEventAnswer): string[] => warnings.map(({ code }) => code);
const sum = (z: readonly number[]): number => z.reduce((all, it) => all + it, 0);
const along = (z: readonly number[]): number => sum(z) / Math.sqrt(z.length);

/** An answer without a number: the bounds are those of the nominal runs. */
function expectNoNumber(answer: RareEventAnswer, reason: string, words: RegExp): void {
  expect(answer).to.include({ reason, phase: 'ended', estimate: null, plain_monte_carlo_runs: null });
  expect([answer.lower, answer.upper]).to.deep.equal([answer.direct!.lower, answer.direct!.upper]);
  expect(answer.sentence).to.match(words);
  expect(answer.verdict).to.include({ verdict: 'not-shown', given: null });
}

describe('analysis/rare/warnings', () => {
  it('never calls a study of two distant regions met alone, bounds a lost one by its nominal runs, and finds two studies apart', function () {
    this.timeout(0);
    // The second region has 60 % of P, lies along no parameter, and gives no sign of itself.
    const p = 7.9767e-5;
    const hidden = (z: number[]): number => Math.max(z[0]! - 4, sum(z.slice(1)) / 3 < -3.9 ? 0.5 : -9);
    const answers = [1, 2, 3, 4, 5, 6].map((seed) => answerOf(seed, 10, hidden));
    for (const answer of answers) {
      expect(codesOf(answer)).to.include('rare-one-study');
      expect(answer.sentence).to.match(
        /in the regions found .* Violations in regions that were not found are excluded only above/,
      );
      expect(answer.lower).to.be.at.most(p);
      expect(answer.direct!.upper).to.be.above(p);
      expect(answer.verdict).to.include({ verdict: 'not-shown', given: null });
    }
    const lost = answers.filter(({ upper }) => upper !== null && upper < p);
    const found = answers.filter(({ lower }) => lower! > 0.6 * p);
    expect(lost, 'studies that have lost the region').not.to.deep.equal([]);
    expect(found, 'studies that have found it').not.to.deep.equal([]);
    const both = combinedRare([lost[0]!, found[0]!], REQUIREMENT);
    expect(both).to.include({ apart: true });
    expect(codesOf(both)[0]).to.equal('rare-studies-apart');
    expect(both.sentence).to.include('do not use this number');
    expect(both.verdict).to.deep.equal({ verdict: 'not-shown', reason: 'studies-apart', given: null });
  });

  it('gives no number for a flag', () => {
    expectNoNumber(
      answerOf(1, 2, (z) => (along(z) > 4 ? 1 : -1)),
      'constant-output',
      /Report a margin instead of a flag/,
    );
  });

  it('gives no number for a plateau: few values, and no run between', () => {
    const answer = answerOf(1, 2, (z) => (along(z) > 6 ? 1 : along(z) > 2 ? -0.5 : -1));
    expectNoNumber(answer, 'plateau', /takes few values, and no run is between: report a margin/);
  });

  it('gives no number for a constant output', () => {
    expectNoNumber(
      answerOf(1, 3, () => -3.2),
      'constant-output',
      /every run gave the same y/,
    );
  });

  it('has no upper bound for an output that is missing in 30 % of runs, and names the way out', () => {
    const answer = answerOf(1, 2, (z, run) => (run % 10 < 3 ? 'no-output' : along(z) - 3.5));
    expect(answer).to.include({ reason: 'confirmed', upper: null });
    // The truth of the runs with a value is 2.3263e-4: the lower bound holds for it too.
    expect(answer.lower).to.be.within(1e-5, 2.3263e-4);
    expect(codesOf(answer)).to.include.members(['rare-unknown', 'rare-unknown-outside']);
    expect(answer.warnings.find(({ code }) => code === 'rare-unknown-outside')!.message).to.include(
      '"unknown": "unrelated"',
    );
    expect(answer.direct!.upper).to.be.above(0.3);
    expect(answer.sentence).to.include('without an upper bound');
    expect(answer.verdict).to.deep.equal({ verdict: 'not-shown', reason: 'bounds', given: null });
  });

  it('says of a violation where hardly any was expected that a second attempt follows, or that there is no upper bound', () => {
    // In the confirmation alone, every second nominal draw violates near the nominal point, where the proposal is thin.
    const simulate = (z: number[], run: number): number =>
      run >= 5_000 && Math.hypot(...z) < 1 && run % 2 === 0 ? 1 : along(z) - 3.5;
    const made = madeOf(1, 2, simulate);
    const outside = ({ warnings }: RareEventAnswer): string =>
      warnings.find(({ code }) => code === 'rare-outside')?.message ?? '';
    const { runs, attempts } = made.answer();
    expect(attempts).to.have.length(2);
    // Within the first attempt, and with a budget that has no room for another one.
    const first = runs - 2_000;
    const within = made.answer(first - 10);
    expect(within).to.include({ phase: 'confirm', upper: null });
    expect(outside(within)).to.match(/^\d+ violating runs? where hardly any was expected: a second attempt with a new/);
    const last = madeOf(1, 2, simulate, first + 1_999).answer();
    expect(last).to.include({ reason: 'confirmed', upper: null, runs: first });
    expect(outside(last)).to.match(/there is no upper bound below the direct one; raise tune_runs$/);
  });

  it('gives no number for an output that is missing in 60 % of runs', () => {
    const answer = answerOf(1, 2, (z, run) => (run % 10 < 6 ? 'no-output' : along(z) - 3.5));
    expectNoNumber(answer, 'too-many-unknown', /600 of 1,000 runs have no value of y/);
  });

  it('answers as plain Monte Carlo for a threshold that 30 % of runs exceed', () => {
    const answer = answerOf(1, 2, (z) => along(z) - 0.5244);
    expect(answer).to.include({ reason: 'not-rare', runs: 1000, rounds: 1 });
    expect(answer.estimate).to.be.closeTo(0.3, 0.05);
    expect(answer.lower).to.be.within(0.2, 0.3);
    expect(answer.upper).to.be.within(0.3, 0.4);
    expect(answer.sentence).to.match(/^not rare: .* use sampling_method: monte_carlo/);
    expect(answer.verdict).to.deep.equal({ verdict: 'violated', reason: null, given: null });
  });
});
