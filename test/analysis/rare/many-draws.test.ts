/** A confirmation of the most runs: more violating draws than a call of a function takes arguments. */
import { expect } from 'chai';
import { Attempt, attemptOf, type ConfirmingDraw } from '../../../src/analysis/rare/confirmation.ts';
import { leastOf } from '../../../src/analysis/rare/component.ts';
import { Proposal } from '../../../src/analysis/rare/proposal.ts';
import { rareSettings } from '../../../src/domain/study/rare-event/settings.ts';
import { rareStudy } from '../../support/rounds.ts';

const DRAWS = 200_000;

describe('analysis/rare: confirmations with many violating draws', () => {
  it('have the share of their largest weight', () => {
    const found = [Float64Array.of(3)];
    const known = { points: found, weights: [1e-3], estimate: 1e-3, effectiveSize: 1 };
    const plan = attemptOf(0, new Proposal([], 1), known, found, rareSettings(rareStudy()));
    const draw: ConfirmingDraw = { weight: 1, isViolating: true, isUnknown: false, isNominal: true };
    for (let at = 0; at < DRAWS; at += 1) plan.draws.push(at === 7 ? { ...draw, weight: DRAWS + 1 } : draw);
    expect(plan).to.be.instanceOf(Attempt);
    expect(plan.largestShare).to.equal((DRAWS + 1) / (2 * DRAWS));
  });

  it('have a least length', () => {
    const lengths = Array.from({ length: 2 * DRAWS }, (_, at) => 1 + Math.abs(at - DRAWS));
    expect([leastOf(lengths), leastOf([])]).to.deep.equal([1, Infinity]);
  });
});
