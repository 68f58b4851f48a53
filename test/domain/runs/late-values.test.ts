/** The note about telemetry values that came too late: its variables are read back. */
import { expect } from 'chai';
import fc from 'fast-check';
import { lateNote, lateVariables } from '../../../src/domain/runs/late-values.ts';

const read = (...notes: unknown[]): string[] => lateVariables({ simbatch_notes: notes });

describe('domain/runs/late-values', () => {
  it('notes name the variables, of which five are read back', () => {
    const names = fc.uniqueArray(fc.string({ minLength: 1, unit: 'binary' }), { minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(names, (late) => {
        const note = lateNote(new Map(late.map((it, at) => [it, at + 1])));
        expect(read('another note', note, 7)).to.deep.equal(late.slice(0, 5));
      }),
    );
    expect(lateNote(new Map([['nz "g"', 3]]))).to.match(/^3 telemetry values of "nz \\"g\\"" came too late to be put/);
  });

  it('notes of other subjects, and what a simulation wrote in their place, name none', () => {
    const late = (name: string): string => `1 telemetry values of ${name} came too late to be put in order`;
    expect(read('the history "b" has no value: 10 came too late', late('b'), late(String.raw`"\q"`))).to.deep.equal([]);
    expect(lateVariables({})).to.deep.equal([]);
    expect(lateVariables({ simbatch_notes: late('"b"') })).to.deep.equal([]);
  });
});
