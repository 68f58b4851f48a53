/** Exact bounds, Wilson's interval and the sequential test against reference values. */
import { expect } from 'chai';
import fc from 'fast-check';
import { wilsonInterval } from '../../../src/analysis/groups/proportion.ts';
import {
  failuresAllowed,
  lowerBound,
  moreCleanRuns,
  showsAtLeast,
  showsBelow,
  upperBound,
} from '../../../src/analysis/special/exact-bounds.ts';
import { SequentialTest } from '../../../src/analysis/requirements/sequential-test.ts';
import { expectClose, referenceData } from '../data.ts';
import { decisionRates, repeatedBoundsRule, sequentialRule } from '../decision-rates.ts';

type Interval = [number, number];
interface Decisions {
  proportions: { k: number; n: number; confidence: number; lower: number; upper: number; wilson: Interval }[];
  sequential: { k: number; n: number; p0: number; log_e_met: number; log_e_violated: number }[];
  more_clean_runs: { k: number; n: number; p0: number; confidence: number; more: number }[];
}
interface Special {
  sequential: { passed: number; failed: number; p: number; log_e_met: number; log_e_violated: number }[];
}

const TOLERANCE = 1e-9;

describe('analysis/requirements: bounds and tests', () => {
  const data = referenceData('decisions.json') as Decisions;

  it('exact bounds and the Wilson interval agree with the reference', () => {
    for (const { k, n, confidence, lower, upper, wilson } of data.proportions) {
      const label = JSON.stringify({ k, n, confidence });
      expectClose(lowerBound(k, n, confidence), lower, TOLERANCE, `${label} lower`);
      expectClose(upperBound(k, n, confidence), upper, TOLERANCE, `${label} upper`);
      const found = wilsonInterval(k, n, confidence);
      expectClose(found[0], wilson[0], TOLERANCE, `${label} Wilson low`);
      expectClose(found[1], wilson[1], TOLERANCE, `${label} Wilson high`);
    }
  });

  it('the number of further clean runs agrees with the reference', () => {
    for (const { k, n, p0, confidence, more } of data.more_clean_runs)
      expect(moreCleanRuns(k, n, p0, confidence), JSON.stringify({ k, n, p0 })).to.equal(more);
  });

  it('both E values agree with the reference', () => {
    for (const { k, n, p0, log_e_met: met, log_e_violated: violated } of data.sequential) {
      const test = new SequentialTest(p0, 0.9);
      expectClose(test.logMet(k, n - k), met, TOLERANCE, JSON.stringify({ k, n, p0, side: 'met' }));
      expectClose(test.logViolated(k, n - k), violated, TOLERANCE, JSON.stringify({ k, n, p0, side: 'violated' }));
    }
  });

  it('both E values agree with 60-digit values up to 10^6 runs', () => {
    const rows = (referenceData('special.json') as Special).sequential;
    expect(rows).to.have.length.above(15);
    for (const { passed, failed, p, log_e_met: met, log_e_violated: violated } of rows) {
      const test = new SequentialTest(p, 0.9);
      const label = JSON.stringify({ passed, failed, p });
      expectClose(test.logMet(passed, failed), met, 2e-11, `${label} met`, Math.max(1, Math.abs(met)));
      expectClose(
        test.logViolated(passed, failed),
        violated,
        2e-11,
        `${label} violated`,
        Math.max(1, Math.abs(violated)),
      );
    }
  });

  it('a pass raises the E value for met and lowers the one for violated, a failure the reverse', () => {
    const share = fc.double({ min: 0.01, max: 0.9999, noNaN: true });
    fc.assert(
      fc.property(share, fc.nat(100_000), fc.nat(5_000), (p, passed, failed) => {
        const test = new SequentialTest(p, 0.95);
        const [met, violated] = [test.logMet(passed, failed), test.logViolated(passed, failed)];
        expect(test.logMet(passed + 1, failed)).to.be.above(met);
        expect(test.logMet(passed, failed + 1)).to.be.below(met);
        expect(test.logViolated(passed + 1, failed)).to.be.below(violated);
        expect(test.logViolated(passed, failed + 1)).to.be.above(violated);
      }),
    );
  });

  it('the verdicts of the bounds are those of comparing the bounds themselves', () => {
    const share = fc.double({ min: 0.01, max: 0.999, noNaN: true });
    const counts = fc.nat(3_000).chain((n) => fc.tuple(fc.nat(n), fc.constant(n)));
    fc.assert(
      fc.property(counts, share, share, ([k, n], p, confidence) => {
        const [low, high] = [lowerBound(k, n, confidence), upperBound(k, n, confidence)];
        if (Math.abs(low - p) > 1e-11) expect(showsAtLeast(k, n, p, confidence)).to.equal(low >= p);
        if (Math.abs(high - p) > 1e-11) expect(showsBelow(k, n, p, confidence)).to.equal(high < p);
      }),
    );
  });

  it('a bound equal to the probability shows it, whatever the rounding', () => {
    // 0.5^2 = 0.25 exactly.
    expect(lowerBound(2, 2, 0.75)).to.be.closeTo(0.5, 1e-15);
    expect(showsAtLeast(2, 2, 0.5, 0.75)).to.equal(true);
    expect(showsBelow(0, 2, 0.5, 0.75)).to.equal(false);
  });

  it('the allowed number of failures is the largest that still shows the probability', () => {
    for (const [n, p, c, expected] of [
      [58, 0.95, 0.95, -1],
      [59, 0.95, 0.95, 0],
      [92, 0.95, 0.95, 0],
      [93, 0.95, 0.95, 1],
      [0, 0.95, 0.95, -1],
    ] as const)
      expect(failuresAllowed(n, p, c), `${n} runs`).to.equal(expected);
  });

  it('without failures the sequential test needs 25, 232 and 855 runs at 90 % confidence', () => {
    for (const [p, runs] of [
      [0.9, 25],
      [0.99, 232],
      [0.9973, 855],
    ] as const)
      expect(new SequentialTest(p, 0.9).cleanRunsToMet(0, 0), `p = ${p}`).to.equal(runs);
  });

  it('the exact error of the sequential test at the boundary is at most alpha after 5000 looks', () => {
    const alpha = 0.1;
    for (const [probability, met, violated] of [
      [0.9, 0.0922, 0.065],
      [0.99, 0.099, 0.0503],
      [0.9973, 0.0993, 0.0436],
    ] as const) {
      const rule = sequentialRule(probability, 1 - alpha);
      const rates = decisionRates(rule, probability, 5000);
      expect(rates.met, `met at ${probability}`).to.be.below(alpha).and.closeTo(met, 1e-4);
      expect(rates.violated, `violated at ${probability}`).to.be.below(alpha).and.closeTo(violated, 1e-4);
      const below = decisionRates(rule, 1 - 1.5 * (1 - probability), 1000);
      expect(below.met, `met below ${probability}`).to.be.below(met);
      const above = decisionRates(rule, 1 - 0.5 * (1 - probability), 1000);
      expect(above.violated, `violated above ${probability}`).to.be.below(violated);
    }
  });

  it('the bounds for one look err far more often than alpha when they are taken after every run', () => {
    for (const [probability, looks, error] of [
      [0.9, 500, 0.384],
      [0.99, 2000, 0.303],
    ] as const) {
      const rule = { ...repeatedBoundsRule(probability, 0.9), isViolated: () => false };
      const { met } = decisionRates(rule, probability, looks);
      expect(met, `met at ${probability}`).to.be.closeTo(error, 0.0005);
    }
  });

  it('the dynamic programming agrees with every sequence of ten runs', () => {
    const [probability, confidence, truth, looks] = [0.5, 0.8, 0.7, 10];
    const test = new SequentialTest(probability, confidence);
    let [met, violated, expectedRuns] = [0, 0, 0];
    for (let outcomes = 0; outcomes < 2 ** looks; outcomes++) {
      let [passed, failed, weight, decided] = [0, 0, 1, ''];
      let judged = 0;
      for (let i = 0; i < looks; i++) {
        const isPass = ((outcomes >> i) & 1) === 1;
        weight *= isPass ? truth : 1 - truth;
        if (decided !== '') continue;
        judged++;
        if (isPass) passed++;
        else failed++;
        if (test.logMet(passed, failed) >= test.threshold) decided = 'met';
        else if (test.logViolated(passed, failed) >= test.threshold) decided = 'violated';
      }
      if (decided === 'met') met += weight;
      if (decided === 'violated') violated += weight;
      expectedRuns += weight * judged;
    }
    const found = decisionRates(sequentialRule(probability, confidence), truth, looks);
    expect(met).to.be.above(0.1);
    expectClose(found.met, met, 1e-12, 'met');
    expectClose(found.violated, violated, 1e-12, 'violated');
    expectClose(found.expectedRuns, expectedRuns, 1e-12, 'expected runs');
  });
});
