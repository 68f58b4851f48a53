/** Outcomes of runs that ended ahead of the complete prefix: which are kept, and how far runs without one reach. */
import { expect } from 'chai';
import { outcomesText, PendingOutcomes } from '../../../src/coordinator/judgement/pending-outcomes.ts';

/** The runs of one chunk. */
const CHUNK = 4096;

describe('coordinator/judgement/pending-outcomes', () => {
  it('counts runs without an outcome up to the next run with an outcome, and never beyond their chunk', () => {
    const pending = new PendingOutcomes(2, 0);
    pending.set(10, 'pf');
    expect(pending.get(10, 1)).to.equal('fail');
    expect([pending.absentFrom(0), pending.absentFrom(9), pending.absentFrom(10)]).to.deep.equal([10, 1, 0]);
    expect(pending.absentFrom(11)).to.equal(CHUNK - 11);
    expect(pending.absentFrom(CHUNK + 1), 'a chunk without any').to.equal(CHUNK - 1);
  });

  it('forgets a chunk when the prefix has passed it', () => {
    const pending = new PendingOutcomes(1, 0);
    pending.set(CHUNK - 1, 'p');
    pending.dropBefore(CHUNK - 1);
    expect(pending.get(CHUNK - 1, 0)).to.equal('pass');
    pending.dropBefore(CHUNK);
    expect(pending.get(CHUNK - 1, 0)).to.equal('open');
  });

  it('keeps the values of precisions to the last bit, beside the outcomes of requirements or alone', () => {
    for (const letters of ['pf', '']) {
      const pending = new PendingOutcomes(letters.length, 3);
      pending.set(7, outcomesText(`${letters}p`, [0.1 + 0.2, Number.NaN, -0]));
      expect(pending.get(7, letters.length)).to.equal('pass');
      const values = [0, 1, 2].map((at) => pending.value(7, at));
      expect(values).to.deep.equal([0.1 + 0.2, Number.NaN, 0]);
      expect([pending.get(8, 0), pending.absentFrom(0)]).to.deep.equal(['open', 7]);
      expect(letters === '' ? 'none' : pending.get(7, 1)).to.equal(letters === '' ? 'none' : 'fail');
    }
  });
});
