/** The finding about an owner whose core hours are used: before what the pool lacks, since launchers start nothing then. */
import { expect } from 'chai';
import { findingsOf } from '../../../src/domain/findings/findings.ts';
import type { Situation } from '../../../src/domain/findings/finding.ts';
import { situation } from './support.ts';

const budget: NonNullable<Situation['budget']> = {
  owner: 'alice',
  usedHours: 104.26,
  limitHours: 100,
  isUsed: true,
  resetsAt: '2026-01-02T00:00:00.000Z',
};

describe('domain/findings: budget', () => {
  it('says how much is used, what waits until when, and the option that gives more', () => {
    const [found, ...more] = findingsOf(situation({ Pending: 7 }, [], { budget }));
    expect(found).to.deep.equal({
      code: 'budget-used',
      severity: 'waiting',
      message: 'alice has used 104 of 100 core hours of today: 7 pending runs must wait until 2026-01-02T00:00:00.000Z',
      remedy: 'wait; or ask the operator for a larger `serve --budget "alice=HOURS"`',
      count: 7,
    });
    expect(
      more.map(({ code }) => code),
      'no runner is missed',
    ).to.not.include('no-runner');
  });

  it('is silent while hours are left, and without a run that waits', () => {
    const codes = (it: Situation): string[] => findingsOf(it).map(({ code }) => code);
    expect(codes(situation({ Pending: 7 }, [], { budget: { ...budget, isUsed: false } }))).to.include('no-runner');
    expect(codes(situation({ Running: 1 }, [{}], { budget }))).to.not.include('budget-used');
  });
});
