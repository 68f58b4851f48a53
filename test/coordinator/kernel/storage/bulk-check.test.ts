/** Tests that records verified together are those that match their checksums one by one. */
import { expect } from 'chai';
import fc from 'fast-check';
import { linesOf, verifiedLines } from '../../../../src/coordinator/kernel/storage/integrity/bulk-check.ts';
import { seal } from '../../../../src/coordinator/kernel/storage/integrity/checksum.ts';
import { times } from '../../../support/properties.ts';

const text = (unit: 'grapheme-ascii' | 'grapheme'): fc.Arbitrary<string> => fc.string({ unit, maxLength: 60 });
const records = fc.array(fc.tuple(text('grapheme-ascii'), text('grapheme-ascii')), { minLength: 1, maxLength: 6 });
const sealed = (all: readonly [string, string][]): [string, string][] =>
  all.map(([key, value]) => [key, seal(key, value)]);

describe('coordinator/kernel/storage/bulk-check', () => {
  it('gives the lines of records that match', () => {
    fc.assert(
      fc.property(records, (all) => {
        expect(verifiedLines(sealed(all))).to.deep.equal(linesOf(all));
      }),
    );
    const long: [string, string][] = [
      ['!result!1', 'x'.repeat(200_000)],
      ['!result!2', ''],
    ];
    expect(verifiedLines(sealed(long))).to.deep.equal(linesOf(long));
  });

  it('refuses a chunk in which a character of a checksum, key or value is another', () => {
    fc.assert(
      fc.property(records, fc.nat(), fc.nat(), fc.integer({ min: 1, max: 94 }), (all, which, where, by) => {
        const entries = sealed(all);
        const entry = entries[which % entries.length]!;
        const whole = entry[0] + entry[1];
        const at = where % whole.length;
        const code = 32 + ((whole.charCodeAt(at) - 32 + by) % 95);
        const changed = whole.slice(0, at) + String.fromCharCode(code) + whole.slice(at + 1);
        entries[which % entries.length] = [changed.slice(0, entry[0].length), changed.slice(entry[0].length)];
        expect(verifiedLines(entries)).to.equal(undefined);
      }),
      { numRuns: times(1_000) },
    );
  });

  it('refuses values that are too short or in the place of each other', () => {
    expect(verifiedLines([['a', 'ffff']])).to.equal(undefined);
    expect(verifiedLines([['a', '']])).to.equal(undefined);
    const [[, first], [, second]] = sealed([
      ['a', '1'],
      ['b', '2'],
    ]) as [[string, string], [string, string]];
    expect(
      verifiedLines([
        ['a', second],
        ['b', first],
      ]),
    ).to.equal(undefined);
  });

  it('leaves records beyond ASCII to be verified one by one', () => {
    fc.assert(
      fc.property(text('grapheme'), (value) => {
        const lines = verifiedLines(sealed([['a', value]]));
        // oxlint-disable-next-line no-control-regex
        const isAscii = /^[\0-\x7f]*$/.test(value);
        expect(lines === undefined).to.equal(!isAscii);
      }),
    );
  });
});
