import { expect } from 'chai';
import { ClaimAhead } from '../../../src/runner/capacity/claim-ahead.ts';

describe('runner/capacity/claim-ahead', () => {
  it('claims nothing ahead before a run has been measured, nor after a reset', () => {
    const ahead = new ClaimAhead(4);
    expect(ahead.depth).to.equal(0);
    ahead.note(5);
    expect(ahead.depth).to.be.greaterThan(0);
    ahead.reset();
    expect(ahead.depth).to.equal(0);
  });

  const table: [slots: number, runMs: number, depth: number][] = [
    [1, 1, 16],
    [2, 3, 16],
    [16, 5, 32],
    [1, 50, 2],
    [1, 101, 0],
    [16, 1000, 1],
    [16, 60_000, 0],
  ];
  for (const [slots, runMs, depth] of table) {
    it(`lets ${String(depth)} runs of ${String(runMs)} ms wait for ${String(slots)} slots`, () => {
      const ahead = new ClaimAhead(slots);
      for (let run = 0; run < 100; run += 1) ahead.note(runMs);
      expect(ahead.depth).to.equal(depth);
    });
  }

  it('claims runs that wait when none does, or when few do and the coordinator can give several at once', () => {
    const ahead = new ClaimAhead(2);
    for (let run = 0; run < 100; run += 1) ahead.note(20);
    expect(ahead.depth).to.equal(10);
    const due = (waiting: number): number[] =>
      Array.from({ length: 13 }, (_, held) => held).filter((it) => ahead.isDue(waiting, it));
    expect(due(0)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    for (const few of [1, 5]) expect(due(few)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(due(6)).to.deep.equal([]);
  });
});
