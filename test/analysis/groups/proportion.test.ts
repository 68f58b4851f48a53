/** Intervals of proportions at confidences that are hardly below 1. */
import { expect } from 'chai';
import { newcombeInterval, wilsonInterval } from '../../../src/analysis/groups/proportion.ts';

describe('analysis/groups/proportion', () => {
  it('has everything in the interval at a confidence next to 1', () => {
    const confidence = 1 - 2 ** -53;
    for (const k of [0, 1, 6]) expect(wilsonInterval(k, 6, confidence)).to.deep.equal([0, 1]);
    expect(newcombeInterval(1, 2, 1, 2, confidence).every(Number.isFinite)).to.equal(true);
    const [low, high] = wilsonInterval(1, 6, 0.999);
    expect([low > 0, high < 1]).to.deep.equal([true, true]);
  });
});
