/** Extended studies of rare events: the same runs as those of a study that was as large from its start, and bounds of the same attempt. */
import { expect } from 'chai';
import type { BatchSubmission } from '../../../src/contract/types.ts';
import { rareStudy } from '../../support/rounds.ts';
import { madeRareStudy } from './studies.ts';

const sumOf = ({ a = 0, b = 0 }: Readonly<Record<string, number>>): number => (a + b) / Math.SQRT2;
/** Round 0 and two levels leave too little of this budget for a third one. */
const FEW = 100 + 2 * 50 + 200 + 250;

function study(adaptive: object, runs = 0): BatchSubmission {
  const submission = rareStudy({ limit: 3.5, seed: 4 });
  submission.config.monte_carlo.runs = runs;
  Object.assign(submission.config.adaptive!, adaptive);
  return submission;
}

describe('analysis/rare/extension', () => {
  it('continues a confirmed study by draws of the same attempt, whose bets and clip stay', () => {
    const short = madeRareStudy(study({ confirm_part: 100 }), sumOf);
    const before = short.answer();
    expect(before.reason).to.equal('confirmed');
    const extended = madeRareStudy(study({ confirm_part: 100 }), sumOf, [250, 1]);
    const after = extended.answer();
    expect(after).to.include({
      reason: 'confirmed',
      phase: 'ended',
      runs: before.runs + 251,
      // Rounds of 100, 100, 50 and 1.
      rounds: before.rounds + 4,
      budget: before.budget + 251,
    });
    expect(extended.parameters.slice(0, before.runs)).to.deep.equal(short.parameters);
    // The draws of a larger confirmation are the same ones: they follow from the proposal and their run ids.
    const large = madeRareStudy(study({ confirm_runs: 451, confirm_part: 100 }, 3_000), sumOf);
    expect(large.parameters).to.deep.equal(extended.parameters);
    expect(after.estimate).to.equal(large.answer().estimate);
    const [attempt] = before.attempts;
    expect(after.attempts).to.have.length(1);
    expect(after.attempts[0]).to.include({ clip: attempt!.clip, alpha: attempt!.alpha, runs: 451 });
    expect(after.lower, 'with the bets of the shorter one').not.to.equal(large.answer().lower);
    expect(after.lower).to.be.above(before.lower!);
    expect(after.upper).to.be.below(before.upper!);
    // The truth is 2.33e-4.
    expect([after.lower! < 2.33e-4, after.upper! > 2.33e-4]).to.deep.equal([true, true]);
  });

  it('continues a search as if it had had the budget from the start', () => {
    const short = madeRareStudy(study({}, FEW), sumOf);
    expect(short.answer().reason).to.equal('not-reached');
    const least = short.replay.study.leastExtension!;
    expect(() => short.replay.study.extend(least - 1)).to.throw(RangeError, 'is not extended by');
    const extended = madeRareStudy(study({}, FEW), sumOf, [least, 1_000]);
    const large = madeRareStudy(study({}, FEW + least + 1_000), sumOf);
    expect(large.answer().reason).to.equal('confirmed');
    expect(extended.parameters).to.deep.equal(large.parameters);
    expect(extended.answer()).to.deep.equal(large.answer());
  });

  it('is final at every other end', () => {
    const ends: [reason: string, value: Parameters<typeof madeRareStudy>[1]][] = [
      ['not-rare', () => 5],
      ['constant-output', () => 1],
      ['no-output', () => 'no-output'],
      ['plateau', (p) => (sumOf(p) > 1.2 ? 1 : 0)],
    ];
    for (const [reason, value] of ends) {
      const made = madeRareStudy(study({}), value);
      const { replay } = made;
      expect(made.answer().reason).to.equal(reason);
      expect(replay.study.leastExtension, reason).to.equal(undefined);
      expect(() => replay.study.extend(1_000_000), reason).to.throw(RangeError);
      // A stored extension that does not follow from the results: nothing after it can be computed.
      expect(madeRareStudy(study({}), value, [100]).replay.isBroken, reason).to.equal(true);
    }
    const far = madeRareStudy(study({ level_probability: 0.5 }, 1_000_000), (p) => sumOf(p) - 90);
    const { reason, search } = far.answer();
    expect([reason, search!.levels.length, far.replay.study.leastExtension]).to.deep.equal([
      'not-reached',
      30,
      undefined,
    ]);
    const stopped = madeRareStudy(study({ relative_half_width: 10, confirm_part: 50, confirm_runs: 400 }), sumOf);
    expect(stopped.answer().reason).to.equal('settled');
    expect(stopped.replay.study.leastExtension).to.equal(undefined);
  });
});
