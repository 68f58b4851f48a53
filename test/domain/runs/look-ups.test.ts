/** Look-ups of parameters as records have them, and what follows from those of all runs. */
import { expect } from 'chai';
import fc from 'fast-check';
import { addLookUps, decodeRead, encodeRead, inputsRead } from '../../../src/domain/runs/look-ups.ts';
import { sortedNames } from '../../../src/base/text/sorted-names.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const dispersed = { distribution: { type: 'uniform' as const, min: 0, max: 1 }, units: '' };

describe('domain/runs: look-ups', () => {
  it('writes a digit for four parameters, and nothing where all were looked up', () => {
    expect(encodeRead(NAMES, [])).to.equal('00');
    expect(encodeRead(NAMES, ['a', 'e'])).to.equal('11');
    expect(encodeRead(NAMES, ['b', 'c', 'd', 'e', 'unknown'])).to.equal('e1');
    expect(encodeRead(NAMES, NAMES)).to.equal('');
    expect(encodeRead(NAMES, 'all')).to.equal('');
    expect(encodeRead([], [])).to.equal('');
    expect(
      encodeRead(
        Array.from({ length: 200 }, (_, at) => `p${at}`),
        ['p3'],
      ),
    ).to.have.length(50);
  });

  it('gives any names again, and the union of runs has the names of each', () => {
    const name = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toString', ''));
    const study = fc.uniqueArray(name, { maxLength: 30 }).chain((names) => {
      const run = fc.subarray(names);
      return fc.tuple(fc.constant(sortedNames(names)), fc.array(run, { minLength: 1, maxLength: 5 }));
    });
    fc.assert(
      fc.property(study, ([names, runs]) => {
        const whole = (read: readonly string[]): string[] | 'all' =>
          read.length === names.length ? 'all' : names.filter((it) => read.includes(it));
        const texts = runs.map((read) => encodeRead(names, read));
        expect(texts.map((text) => decodeRead(names, text))).to.deep.equal(runs.map(whole));
        const tally = texts.reduce(
          (sum, read) => addLookUps(sum, { read }),
          undefined as ReturnType<typeof addLookUps> | undefined,
        );
        expect(tally?.runs).to.equal(runs.length);
        const together = decodeRead(names, tally!.read);
        const all = new Set(runs.flat());
        expect(together === 'all' ? names : together).to.deep.equal(names.filter((it) => all.has(it)));
      }),
    );
  });

  it('keeps the first names that runs asked for', () => {
    const first = addLookUps(undefined, { read: '00', asked: ['x', 'y'] });
    expect(addLookUps(first, { read: '00', asked: ['y', 'z'] }).asked).to.deep.equal(['x', 'y', 'z']);
    const many = Array.from({ length: 40 }, (_, at) => `n${at}`);
    expect(addLookUps(first, { read: '00', asked: many }).asked).to.have.length(16);
  });

  it('says of each dispersed parameter whether a run has looked it up, and nothing of fixed ones', () => {
    const dispersions = {
      a: dispersed,
      b: dispersed,
      c: { distribution: { type: 'fixed' as const, value: 1 }, units: '' },
    };
    const names = ['a', 'b', 'c'];
    const tally = (runs: number, read: string) => ({ runs, read, asked: [] });
    const readOf = (it: ReturnType<typeof tally> | undefined) =>
      inputsRead(dispersions, names, it).map(({ read }) => read);
    expect(readOf(undefined)).to.deep.equal(['unknown', 'unknown']);
    expect(readOf(tally(2, '1'))).to.deep.equal(['read', 'unknown']);
    expect(readOf(tally(3, '1'))).to.deep.equal(['read', 'never']);
    expect(readOf(tally(3, '4'))).to.deep.equal(['never', 'never']);
    expect(readOf(tally(3, ''))).to.deep.equal(['read', 'read']);
  });
});
